#include "support_grammar.h"

#include "heed/base/error.h"

namespace heed::cli::detail {
namespace {

using Text = std::string_view;

constexpr Text kOrderStatus[] = {
    "(where is|where's|what happened to) my order {order_number} ?",
    "(can|could) you (tell me|check) (where|when) order {order_number} (is|will arrive) ?",
    "(I ordered|I bought) a {product} {past_date} and (have not|still haven't) (heard anything|received any news) .",
    "any (news|update) on {order_number} ?",
    "(is there|do you have) a tracking (number|link) for my {product} ?",
    "what is the status of (the order|my order) from {past_date} ?",
    "has {order_number} (shipped|been sent|left the warehouse) (yet|) ?",
    "my name is {name} , I (want|would like) to know when my {product} (arrives|gets here) .",
    "(when|what day) will the {product} (arrive|be delivered) (in|to) {place} ?",
};
constexpr Text kCancelOrder[] = {
    "(please|) cancel (my order|order) {order_number} .",
    "I (want|need|would like) to cancel the {product} I ordered {past_date} .",
    "(can|could) I (still|) cancel {order_number} ?",
    "I changed my mind about the {product} , please cancel it .",
    "(stop|cancel) order {order_number} (before it ships|right now|immediately) .",
    "I ordered a {product} (by mistake|twice) {past_date} , how do I cancel (it|one) ?",
    "this is {name} , (do not|don't) send the {product} , I no longer need it .",
    "is it too late to cancel (the order|what I ordered) from {past_date} ?",
};
constexpr Text kReturnItem[] = {
    "(how do|how can) I (return|send back) (my|the) {product} ?",
    "I (want|would like) to (return|send back) the {product} from order {order_number} .",
    "the {product} (does not|doesn't) fit , (can|may) I return it ?",
    "I bought a {product} {past_date} , (is it|am I) (still|) (returnable|allowed to return it) ?",
    "where do I send the {product} (back|if I do not want it) ? I live in {place} .",
    "(please|) send a return label to {email} .",
    "I need a return label for {order_number} .",
    "the {product} is not what I expected , I am sending it back .",
};
constexpr Text kRefundStatus[] = {
    "(where is|when do I get) my refund (of {amount}|for {order_number}|) ?",
    "I returned the {product} {past_date} and (have not|still haven't) got my money (back|) .",
    "you (promised|owe) me a refund of {amount} .",
    "(has|was) the refund for order {order_number} (been processed|sent|paid) (yet|) ?",
    "only {amount} came back , the {product} (was|cost) {amount} .",
    "how long (does|will) a refund take ? I have waited since {past_date} .",
    "(please|) check the refund of {amount} for {name} .",
    "my bank (says|tells me) there is no refund of {amount} .",
};
constexpr Text kChangeAddress[] = {
    "(can|could) you (change|update) the delivery address of {order_number} to {place} ?",
    "I (moved|am moving) to {place} , (please|) update my address .",
    "(please|) send order {order_number} to {place} instead .",
    "the address (on|of) my order is wrong , it should be {place} .",
    "I (gave|typed) the wrong address , I live at {place} .",
    "from {future_date} (on|) my new address is {place} .",
    "ship the {product} to {place} (and not to my old address|please) .",
    "deliver it to {name} at {place} , (please|not to me) .",
};
constexpr Text kLateDelivery[] = {
    "my {product} (was due|should have come|was supposed to arrive) {past_date} .",
    "order {order_number} is (late|overdue|days late) (again|) .",
    "(why is|why's) the delivery to {place} (taking so long|so slow) ?",
    "you wrote {past_date} and (there is|I have) (still|) no {product} .",
    "you (said|promised) {past_date} , where is the parcel ?",
    "nobody came {past_date} , I waited (all day|at home all afternoon) for the {product} .",
    "the courier never (came|showed up) {past_date} with {order_number} .",
    "the tracking of {order_number} (has not moved|is stuck) since {past_date} .",
};
constexpr Text kDamagedItem[] = {
    "the {product} (arrived|came) (broken|damaged|cracked|scratched) .",
    "my {product} (stopped working|broke) {past_date} .",
    "order {order_number} came with a (broken|torn|wet) box and a damaged {product} .",
    "the {product} (does not|doesn't) (turn on|work|charge) (any more|at all|) .",
    "(there is|I found) a (crack|scratch|hole) in the {product} I got {past_date} .",
    "I paid {amount} for a {product} that (fell apart|is broken) (after a week|) .",
    "parts of the {product} are missing .",
    "the {product} you sent to {place} was (smashed|in pieces) .",
};
constexpr Text kWrongItem[] = {
    "I (ordered|paid for) a {product} but (got|received) a {product} .",
    "you sent me the wrong (item|thing|colour) , I ordered a {product} .",
    "order {order_number} (contains|has) a {product} that I never ordered .",
    "this is not the {product} I (ordered|bought) {past_date} .",
    "wrong (item|product|size) in parcel {order_number} .",
    "the parcel was for {name} , (not me|someone else) , and had a {product} in it .",
    "I (got|received) somebody else's {product} .",
    "instead of the {product} there was a {product} in the box .",
};
constexpr Text kPaymentProblem[] = {
    "my card was (charged|billed) {amount} twice .",
    "(why|how come) was I charged {amount} for {order_number} ?",
    "the payment of {amount} (failed|did not go through|keeps failing) .",
    "I (see|have) a charge of {amount} from {past_date} that I (don't recognise|did not make) .",
    "your shop (does not|won't) accept my (card|credit card|payment) for the {product} .",
    "I was charged {amount} but the {product} costs {amount} .",
    "I paid {amount} {past_date} and (the order|{order_number}) still says unpaid .",
    "(can|could) I pay for the {product} (in instalments|by bank transfer|with two cards) ?",
};
constexpr Text kDeliveryDate[] = {
    "(can|could) you deliver {order_number} {future_date} instead ?",
    "I am not (at home|here) {future_date} , (please|) choose another day .",
    "(move|change|reschedule) the delivery of my {product} to {future_date} .",
    "is it possible to get the {product} {future_date} (already|) ?",
    "I will be away from {future_date} , please hold order {order_number} .",
    "the courier should (come|call) {future_date} , call {phone} before .",
    "(please|) deliver to {place} {future_date} (in the morning|after five|) .",
    "which day (suits|works) for a delivery in {place} ? {future_date} would be (good|perfect) .",
};
constexpr Text kAvailability[] = {
    "(do you have|is there) a {product} in stock ?",
    "when (will|is) the {product} (be back|back in stock) ?",
    "(do you|can you) ship (the {product}|a {product}) to {place} ?",
    "is the {product} (available|sold) in (other colours|a larger size|your shop in {place}) ?",
    "how much is (a|the) {product} ?",
    "does the {product} cost more than {amount} ?",
    "I am looking for a {product} (under|for about|below) {amount} .",
    "will the {product} be (cheaper|on sale) {future_date} ?",
};
constexpr Text kAccountAccess[] = {
    "I (can't|cannot) (log in|sign in|get into my account) with {email} .",
    "I forgot (my password|the password of {email}) .",
    "the (code|reset link|mail) never (arrives|comes) at {email} .",
    "my account is (locked|blocked) since {past_date} .",
    "(please|) (reset|send) the password for {email} .",
    "somebody (logged in|ordered) with my account {past_date} , my name is {name} .",
    "the login code is sent to {phone} , (but|and) I no longer have that number .",
    "your (app|site) (says|tells me) {email} is not registered .",
};
constexpr Text kUpdateContact[] = {
    "(please|) change my (e-mail|email|mail address) to {email} .",
    "my new (phone|mobile) number is {phone} .",
    "(call|text) me on {phone} , (the old number is wrong|not on the old number) .",
    "I (married|changed my name) , my name is now {name} .",
    "replace {email} (by|with) {email} in my account .",
    "my (old|) number {phone} (does not work|is no longer mine) , use {phone} .",
    "(please|) (delete|remove) {email} from your (list|records) .",
    "the name on my account should be {name} (not {name}|) .",
};
constexpr Text kInvoice[] = {
    "(please|) send (me|) the invoice (for|of) {order_number} .",
    "I need (a receipt|an invoice|a bill) for the {product} from {past_date} .",
    "(can|could) you mail the invoice to {email} ?",
    "the invoice for {order_number} shows {amount} , (that is wrong|why) .",
    "the invoice must be made out to {name} , {place} .",
    "where (can|do) I (download|find) the (receipt|invoice) of {past_date} ?",
    "my (accountant|company) needs an invoice over {amount} .",
    "there was no (receipt|invoice) with the {product} .",
};
constexpr Text kDiscount[] = {
    "my (code|voucher|gift card) of {amount} (does not|doesn't) work .",
    "(is there|do you have) a (discount|code|coupon) for the {product} ?",
    "I (forgot|was not able) to (enter|use) my voucher for {order_number} .",
    "the {product} was {amount} {past_date} , now it is {amount} .",
    "(can|could) I get {amount} off the {product} ?",
    "until when is the (code|voucher|offer) valid ? {future_date} ?",
    "(please|) add the discount of {amount} to order {order_number} .",
    "I (got|received) a voucher at {email} , how do I use it ?",
};
constexpr Text kTalkToAgent[] = {
    "(can|could|may) I (talk|speak) to (a human|a person|somebody|an agent) ?",
    "(please|) call me (back|) on {phone} (about {order_number}|) .",
    "I (want|need) to (talk|speak) to {name} again , we spoke {past_date} .",
    "is there (a number|someone) I can call ? mine is {phone} .",
    "this (bot|chat) is (useless|no help) , give me (a human|an agent|your manager) .",
    "(let|have) somebody call {phone} {future_date} .",
    "(who|which person) is responsible for (complaints|orders) in {place} ?",
    "connect me with (support|customer service|a supervisor) (now|please|) .",
};

constexpr SupportIntent kIntents[] = {
    {"order_status", kOrderStatus},
    {"cancel_order", kCancelOrder},
    {"return_item", kReturnItem},
    {"refund_status", kRefundStatus},
    {"change_address", kChangeAddress},
    {"late_delivery", kLateDelivery},
    {"damaged_item", kDamagedItem},
    {"wrong_item", kWrongItem},
    {"payment_problem", kPaymentProblem},
    {"delivery_date", kDeliveryDate},
    {"availability", kAvailability},
    {"account_access", kAccountAccess},
    {"update_contact", kUpdateContact},
    {"invoice", kInvoice},
    {"discount", kDiscount},
    {"talk_to_agent", kTalkToAgent},
};

constexpr Text kOrderNumbers[] = {"#%****", "#%*****", "%*******", "!!-*****", "ORD-*****", "!***-****"};
constexpr Text kProducts[] = {"{color} {thing}",        "{thing}",         "{size} {thing}",
                              "{size} {color} {thing}", "{brand} {thing}", "{brand} {thing} {model}"};
constexpr Text kPastDates[] = {"yesterday",     "last {weekday}",    "{month} {day}",    "the {ordinal} of {month}",
                               "{day} {month}", "{ordinal} {month}", "{small} days ago", "last week",
                               "this morning",  "{small} weeks ago", "{weekday}"};
constexpr Text kFutureDates[] = {"tomorrow",      "next {weekday}",    "{month} {day}", "the {ordinal} of {month}",
                                 "{day} {month}", "{ordinal} {month}", "next week",     "this {weekday}",
                                 "{weekday}",     "in {small} days"};
constexpr Text kAmounts[] = {"$%*.**", "$%*", "€%*", "€%*.**", "£%*.**", "%* euros", "%* dollars", "%*.** EUR", "$%**"};
constexpr Text kNames[] = {"{first} {last}", "{first} {last}", "{first}", "Mr {last}", "Mrs {last}", "Dr {last}"};
constexpr Text kPlaces[] = {"{city}", "{number} {street}", "{number} {street} , {city}", "{number} {street} in {city}"};
constexpr Text kEmails[] = {"{first}.{last}@{host}", "{first}{day}@{host}", "{last}-**@{host}", "{city}.{last}@{host}"};
constexpr Text kPhones[] = {"555-01**", "555 01**", "+1 555 01**", "020 7946 0***", "(555) 555-01**", "55501**"};

constexpr SupportSlot kSlots[] = {
    {"order_number", "order_number", kOrderNumbers},
    {"product", "product", kProducts},
    {"past_date", "date", kPastDates},
    {"future_date", "date", kFutureDates},
    {"amount", "amount", kAmounts},
    {"name", "name", kNames},
    {"place", "place", kPlaces},
    {"email", "email", kEmails},
    {"phone", "phone", kPhones},
};

constexpr Text kColors[] = {"black", "white", "red", "blue", "green", "grey", "yellow", "pink", "brown", "silver"};
constexpr Text kThings[] = {"kettle",   "toaster",     "headset",      "keyboard",    "desk lamp",      "office chair",
                            "backpack", "rain jacket", "raincoat",     "belt",        "coffee grinder", "phone case",
                            "charger",  "tent",        "sleeping bag", "bike helmet", "bookshelf",      "mattress",
                            "blender",  "monitor",     "mouse",        "speaker",     "wall clock",     "lampshade",
                            "rug",      "teapot",      "hoodie",       "watch",       "camera bag",     "drill"};
constexpr Text kSizes[] = {"small", "large", "medium", "extra large", "mini"};
constexpr Text kBrands[] = {"Norvik", "Altano", "Brightly", "Kestrel", "Mondo", "Pinecrest", "Zenta", "Hallmere"};
constexpr Text kModels[] = {"2", "X", "Pro", "Mini", "S", "Plus", "300", "Max"};
constexpr Text kWeekdays[] = {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"};
constexpr Text kMonths[] = {"January", "February", "March",     "April",   "May",      "June",
                            "July",    "August",   "September", "October", "November", "December"};
constexpr Text kDays[] = {"1", "2", "3", "5", "7", "8", "11", "12", "14", "17", "19", "20", "22", "24", "26", "28"};
constexpr Text kOrdinals[] = {"1st", "2nd", "3rd", "5th", "9th", "12th", "14th", "18th", "21st", "23rd", "27th"};
constexpr Text kSmall[] = {"two", "three", "four", "2", "3", "5", "10"};
constexpr Text kFirst[] = {"Anna", "Ben",  "Chloe", "David", "Elif",  "Farid", "Grace", "Hugo",   "Ines",  "Jonas",
                           "Kira", "Liam", "Maria", "Nadia", "Oskar", "Priya", "Rosa",  "Samuel", "Tomas", "Yuki"};
constexpr Text kLast[] = {"Adler",  "Bianchi", "Costa",  "Dubois", "Evans",  "Fischer", "Garcia",
                          "Hughes", "Ivanova", "Jensen", "Khan",   "Lopez",  "Moore",   "Novak",
                          "Okafor", "Patel",   "Rossi",  "Silva",  "Tanaka", "Walker"};
constexpr Text kCities[] = {"Leeds", "Lyon",  "Hamburg",  "Porto",     "Austin",    "Oslo",   "Turin", "Denver",
                            "Ghent", "Malmo", "New York", "San Diego", "Cape Town", "Krakow", "Cork",  "Bristol"};
constexpr Text kStreets[] = {"Elm Street", "Mill Lane",   "Station Road", "Park Avenue", "High Street",
                             "Oak Drive",  "Church Road", "River Walk",   "Maple Court", "King Street"};
constexpr Text kNumbers[] = {"1", "3", "8", "12", "17", "24", "31", "46", "58", "73", "102", "119"};
constexpr Text kHosts[] = {"example.com", "mail.example.com", "example.org", "post.example.net"};

struct NamedList {
  Text name;
  std::span<const Text> entries;
};
constexpr NamedList kLists[] = {
    {"color", kColors},     {"thing", kThings},     {"size", kSizes},     {"brand", kBrands},
    {"model", kModels},     {"weekday", kWeekdays}, {"month", kMonths},   {"day", kDays},
    {"ordinal", kOrdinals}, {"small", kSmall},      {"first", kFirst},    {"last", kLast},
    {"city", kCities},      {"street", kStreets},   {"number", kNumbers}, {"host", kHosts},
};

constexpr Text kOpenings[] = {"hi ,",        "hello ,",     "hey ,",           "good morning ,",        "hi there ,",
                              "dear team ,", "excuse me ,", "hello support ,", "sorry to bother you ,", "ok so"};
constexpr Text kClosings[] = {"thanks !",        "thank you .",      "please help .",       "cheers",
                              "it is urgent .",  "I am not happy .", "thanks in advance .", "please answer soon .",
                              "what can I do ?", "best regards"};

constexpr CasualForm kCasualForms[] = {
    {"please", "pls"},     {"you", "u"},         {"your", "ur"},        {"thanks", "thx"},     {"thank", "thx"},
    {"are", "r"},          {"tomorrow", "tmrw"}, {"because", "cuz"},    {"going", "goin"},     {"cannot", "cant"},
    {"can't", "cant"},     {"don't", "dont"},    {"doesn't", "doesnt"}, {"haven't", "havent"}, {"won't", "wont"},
    {"where's", "wheres"}, {"want", "wanna"},    {"about", "abt"},      {"number", "nr"},      {"delivery", "delivry"},
};

}  // namespace

std::span<const SupportIntent> support_intents() {
  return kIntents;
}

std::span<const SupportSlot> support_slots() {
  return kSlots;
}

std::span<const Text> support_list(Text name) {
  for (const NamedList& list : kLists) {
    if (list.name == name) return list.entries;
  }
  fail(ErrorKind::internal, "[support_list] there is no list \"", name, "\"");
}

std::span<const Text> support_openings() {
  return kOpenings;
}

std::span<const Text> support_closings() {
  return kClosings;
}

std::span<const CasualForm> support_casual_forms() {
  return kCasualForms;
}

}  // namespace heed::cli::detail
