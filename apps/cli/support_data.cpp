#include "support_data.h"

#include <algorithm>
#include <cctype>
#include <unordered_set>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/random.h"
#include "support_grammar.h"

namespace heed::cli {
namespace {

constexpr std::size_t kLeastSize = 100, kMostSize = 1'000'000;

template <class List>
auto pick(RandomStream& random, const List& list) {
  return list[random.uniform_integer(list.size())];
}

bool happens(RandomStream& random, double probability) {
  return random.uniform_double() < probability;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  std::erase(parts, "");
  return parts;
}

std::string lowered(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// Replaces each (a|b) of the text by one of its alternatives.
std::string choose_alternatives(std::string_view text, RandomStream& random) {
  std::string chosen;
  while (!text.empty()) {
    const std::size_t open = std::min(text.find('('), text.size());
    chosen += text.substr(0, open);
    if (open == text.size()) break;
    const std::size_t close = text.find(')', open);
    const std::string_view inside = text.substr(open + 1, close - open - 1);
    std::vector<std::string> alternatives = split(inside, '|');
    if (inside.ends_with('|')) alternatives.emplace_back();
    chosen += pick(random, alternatives);
    text.remove_prefix(close + 1);
  }
  return chosen;
}

std::string slot_value(const detail::SupportSlot& slot, RandomStream& random) {
  std::string_view pattern = pick(random, slot.patterns);
  std::string value;
  while (!pattern.empty()) {
    const char next = pattern[0];
    std::size_t length = 1;
    switch (next) {
      case '{':
        length = pattern.find('}') + 1;
        value += pick(random, detail::support_list(pattern.substr(1, length - 2)));
        break;
      case '*': value += static_cast<char>('0' + random.uniform_integer(10)); break;
      case '%': value += static_cast<char>('1' + random.uniform_integer(9)); break;
      case '!': value += static_cast<char>('A' + random.uniform_integer(26)); break;
      default: value += next;
    }
    pattern.remove_prefix(length);
  }
  if (slot.name == "email") {
    value = lowered(value);
    std::erase(value, ' ');
  }
  return value;
}

void add_words(SupportMessage& message, std::string_view text, const std::string& tag = "") {
  const char* prefix = "B-";
  for (std::string& word : split(text, ' ')) {
    message.tags.push_back(tag.empty() ? "O" : prefix + tag);
    message.words.push_back(std::move(word));
    prefix = "I-";
  }
}

// The words of a template, slots filled.
SupportMessage fill_template(const detail::SupportIntent& intent, std::string_view pattern, RandomStream& random) {
  SupportMessage message;
  message.intent = intent.name;
  message.made_of = pattern;
  const std::string chosen = choose_alternatives(pattern, random);
  bool slots = false;
  for (const std::string& word : split(chosen, ' ')) {
    if (!word.starts_with('{')) {
      add_words(message, word);
      continue;
    }
    const std::string name = word.substr(1, word.size() - 2);
    const auto all = detail::support_slots();
    const auto slot = std::ranges::find(all, name, &detail::SupportSlot::name);
    HEED_CHECK_AS(internal, slot != all.end(), "[make_support_data] there is no slot \"", name, "\" in \"", pattern,
                  '"');
    const std::string value = slot_value(*slot, random);
    add_words(message, value, std::string(slot->tag));
    message.made_of += "|" + lowered(value);
    slots = true;
  }
  if (!slots) message.made_of += "|" + chosen;
  std::vector<std::string>& words = message.words;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == "a" && std::string_view("aeiouAEIOU").find(words[i + 1][0]) != std::string_view::npos)
      words[i] += 'n';
  }
  return message;
}

// A slip of the fingers: a letter lost, doubled, or swapped with the next.
void misspell(std::string& word, RandomStream& random) {
  const std::size_t place = 1 + random.uniform_integer(word.size() - 2);
  switch (random.uniform_integer(3)) {
    case 0: word.erase(place, 1); break;
    case 1: word.insert(place, 1, word[place]); break;
    default: std::swap(word[place], word[place + 1]); break;
  }
}

// People write as they please: short forms, no capitals, slips, no full stop.
void make_casual(SupportMessage& message, RandomStream& random) {
  const bool hurried = happens(random, 0.3), small = happens(random, 0.4), shouting = happens(random, 0.02);
  const bool careless = happens(random, 0.3);
  if (message.words.back() == "." && happens(random, 0.4)) {
    message.words.pop_back();
    message.tags.pop_back();
  }
  for (std::size_t i = 0; i < message.words.size(); ++i) {
    std::string& word = message.words[i];
    const auto forms = detail::support_casual_forms();
    const auto form = std::ranges::find(forms, word, &detail::CasualForm::word);
    if (hurried && form != forms.end() && message.tags[i] == "O") word = form->casual;
    const bool letters = std::ranges::all_of(word, [](unsigned char c) { return std::isalpha(c) != 0; });
    if (careless && letters && word.size() > 3 && message.tags[i] == "O" && happens(random, 0.15))
      misspell(word, random);
    if (small) word = lowered(word);
    if (shouting) std::ranges::transform(word, word.begin(), [](unsigned char c) { return std::toupper(c); });
  }
  char& first = message.words[0][0];
  if (!small) first = static_cast<char>(std::toupper(static_cast<unsigned char>(first)));
}

// Words with spaces between, but none before punctuation.
std::string spaced(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    const bool punctuation = word == "." || word == "," || word == "?" || word == "!";
    if (!text.empty() && !punctuation) text += ' ';
    text += word;
  }
  return text;
}

SupportMessage make_message(RandomStream& random) {
  const detail::SupportIntent intent = pick(random, detail::support_intents());
  SupportMessage message = fill_template(intent, pick(random, intent.templates), random);
  if (happens(random, 0.3)) {
    SupportMessage opening;
    add_words(opening, pick(random, detail::support_openings()));
    message.words.insert(message.words.begin(), opening.words.begin(), opening.words.end());
    message.tags.insert(message.tags.begin(), opening.tags.begin(), opening.tags.end());
  }
  if (happens(random, 0.25)) add_words(message, pick(random, detail::support_closings()));
  make_casual(message, random);
  message.text = spaced(message.words);
  return message;
}

}  // namespace

SupportData make_support_data(std::uint64_t seed, std::size_t size) {
  HEED_CHECK(size >= kLeastSize && size <= kMostSize, "the number of messages, --size, is ", size, ", expected ",
             kLeastSize, " to ", kMostSize);
  const std::size_t tenth = size / 10;
  SupportData data;
  std::unordered_set<std::string> texts;
  RandomStream random{.seed = seed, .stream = stream_id("support data")};
  while (data.train.size() + data.dev.size() + data.test.size() < size) {
    SupportMessage message = make_message(random);
    const std::uint64_t part =
        uniform_integer(seed, stream_id("support part", std::string_view(message.made_of)), 0, 10);
    auto& list = part == 0 ? data.dev : part == 1 ? data.test : data.train;
    if (list.size() == (part <= 1 ? tenth : size - 2 * tenth)) continue;
    if (texts.insert(lowered(message.text)).second) list.push_back(std::move(message));
  }
  return data;
}

Json to_json(const SupportMessage& message) {
  return {{"text", message.text}, {"intent", message.intent}, {"words", message.words}, {"tags", message.tags}};
}

void write_support_data(const SupportData& data, const std::filesystem::path& folder) {
  make_folder(folder);
  const std::vector<SupportMessage>* parts[] = {&data.train, &data.dev, &data.test};
  for (std::size_t i = 0; i < std::size(parts); ++i) {
    std::string text;
    for (const SupportMessage& message : *parts[i]) text += to_json(message).dump() + "\n";
    replace_file(folder / kSupportFiles[i], text);
  }
}

}  // namespace heed::cli
