// The formats of strings that schemas may name, as regular expressions for the whole string.
#pragma once

#include <array>
#include <string_view>

namespace heed::constrain {

struct SchemaFormat {
  std::string_view name, pattern;
};

// Months have their days, leap years are told apart; seconds end at 59. Addresses are those in daily use, not all that
// the standards allow.
#define HEED_DATE                                                                                             \
  R"((?:[1-9]\d{3}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0)" \
  R"([1-9]|1\d|2[0-8]))|(?:[1-9]\d(?:0[48]|[2468][048]|[13579][26])|(?:[2468][048]|[13579][26])00)-02-29))"
#define HEED_TIME R"((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d))"
#define HEED_OCTET R"((?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d))"
#define HEED_LABEL R"((?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?))"
inline constexpr std::array<SchemaFormat, 10> kSchemaFormats = {{
    {"date", HEED_DATE},
    {"time", HEED_TIME},
    {"date-time", HEED_DATE "T" HEED_TIME},
    {"duration",
     R"(P(?:\d{1,4}W|(?:\d{1,4}Y(?:\d{1,4}M(?:\d{1,4}D)?)?|\d{1,4}M(?:\d{1,4}D)?|\d{1,4}D)(?:T(?:\d{1,4}H(?:\d{1,4}M)"
     R"((?:\d{1,4}S)?)?|\d{1,4}M(?:\d{1,4}S)?|\d{1,4}S))?|T(?:\d{1,4}H(?:\d{1,4}M(?:\d{1,4}S)?)?|\d{1,4}M(?:\d{1,4}S)?)"
     R"(|\d{1,4}S)))"},
    {"email", R"([A-Za-z0-9_+-]{1,32}(?:\.[A-Za-z0-9_+-]{1,31})?@)" HEED_LABEL R"((?:\.)" HEED_LABEL R"(){0,4})"},
    {"hostname", HEED_LABEL R"((?:\.)" HEED_LABEL R"(){0,3})"},
    {"ipv4", HEED_OCTET R"((?:\.)" HEED_OCTET R"(){3})"},
    {"ipv6", R"((?:[0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4})"},
    {"uri",
     R"([A-Za-z][A-Za-z0-9+.-]{0,20}://)" HEED_LABEL R"((?:\.)" HEED_LABEL R"(){0,4}(?::\d{1,5})?)"
     R"((?:/[A-Za-z0-9._~!$&'()*+,;=:@-]*)*(?:\?[A-Za-z0-9._~!$&'()*+,;=:@/?-]*)?(?:#[A-Za-z0-9._~!$&'()*+,;=:@/?-]*)?)"},
    {"uuid", R"([0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})"},
}};
#undef HEED_DATE
#undef HEED_TIME
#undef HEED_OCTET
#undef HEED_LABEL

}  // namespace heed::constrain
