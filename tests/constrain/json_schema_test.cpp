#include <cmath>

#include "constrain/constrain_support.h"
#include "support/error_of.h"

namespace heed::constrain {
namespace {

using test::error_of;

// A schema, values that it allows and values that it does not; all are tried compact and with single spaces.
struct Case {
  const char* schema;
  std::vector<const char*> good, bad;
};

const Case kCases[] = {
    {"true", {"1", "null", "{\"a\":[]}", "\"x\""}, {}},
    {"{}", {"-1.5e3", "[[],{}]", "true"}, {}},
    {R"({"type":"null"})", {"null"}, {"0", "\"null\""}},
    {R"({"type":"boolean","title":"t","description":"d","default":true})", {"true", "false"}, {"1"}},
    {R"({"type":"integer"})", {"0", "-7", "123456789012345678"}, {"1.5", "\"1\""}},
    {R"({"type":"number"})", {"0", "-7.25", "1e-07", "1.5e+100", "1e289"}, {"\"1\""}},
    {R"({"type":"string"})", {R"("")", R"("é漢😀\n\"\\\u001f")", R"("/")"}, {"1"}},
    {R"({"type":["string","null"]})", {"null", "\"a\""}, {"1"}},
    {R"({"type":"string","minLength":2,"maxLength":4})", {R"("ab")", R"("é😀\n\"")"}, {R"("a")", R"("abcde")"}},
    {R"({"type":"string","minLength":3})", {R"("abc")", R"("abcdefghijklmnopqrstuvwxyz")"}, {R"("ab")"}},
    {R"({"type":"string","maxLength":200})", {R"("")", R"("abc")"}, {}},
    {R"({"type":"string","pattern":"^a+b?$"})", {R"("a")", R"("aaab")"}, {R"("b")", R"("ab\n")", R"("xab")"}},
    {R"({"type":"string","pattern":"b"})", {R"("b")", R"("aé\nbc")"}, {R"("a")"}},
    {R"({"type":"string","pattern":"^a|b$"})", {R"("ax")", R"("xb")"}, {R"("xa")", R"("bx")"}},
    {R"({"type":"string","pattern":"^[\"\\\\\n]{2}$"})", {R"("\"\\")", R"("\n\"")"}, {R"("a\\")"}},
    {R"({"type":"string","format":"date"})",
     {R"("2024-02-29")", R"("1999-12-31")"},
     {R"("2023-02-29")", R"("2023-04-31")", R"("1900-02-29")"}},
    {R"({"type":"string","format":"time"})", {R"("12:34:56Z")", R"("23:59:59.123+05:30")"}, {R"("24:00:00Z")"}},
    {R"({"type":"string","format":"date-time"})", {R"("2024-02-29T12:34:56Z")"}, {R"("2024-02-29 12:34:56Z")"}},
    {R"({"type":"string","format":"uuid"})", {R"("123e4567-e89b-12d3-a456-426614174000")"}, {R"("123e4567")"}},
    {R"({"type":"string","format":"ipv4"})", {R"("192.168.0.255")"}, {R"("192.168.0.256")"}},
    {R"({"type":"string","format":"ipv6"})", {R"("2001:db8:0:0:0:0:0:1")"}, {R"("2001:db8")"}},
    {R"({"type":"string","format":"email"})", {R"("jo.x@example.org")"}, {R"("jo")"}},
    {R"({"type":"string","format":"hostname"})", {R"("www.example.org")"}, {}},
    {R"({"type":"string","format":"uri"})", {R"("https://example.org/a?b=c#d")"}, {}},
    {R"({"type":"string","format":"duration"})", {R"("P1Y2M3DT4H5M6S")", R"("PT5M")", R"("P2W")"}, {}},
    {R"({"type":"integer","minimum":-5,"maximum":123})", {"-5", "0", "9", "10", "99", "123"}, {"-6", "124", "1000"}},
    {R"({"type":"integer","exclusiveMinimum":0,"exclusiveMaximum":100})", {"1", "99"}, {"0", "100", "-1"}},
    {R"({"type":"integer","minimum":1997})", {"1997", "2000", "9999", "10000", "123456789"}, {"1996", "0", "-1997"}},
    {R"({"type":"integer","maximum":-17})", {"-17", "-20", "-100"}, {"-16", "0", "17"}},
    {R"({"type":"integer","minimum":-9223372036854775808,"maximum":9223372036854775807})", {"0", "-12"}, {"1.5"}},
    {R"({"type":"integer","minimum":1.5,"maximum":3.5})", {"2", "3"}, {"1", "4"}},
    {R"({"type":"number","minimum":0,"maximum":1})",
     {"0", "1", "0.5", "0.0", "1.0", "1.000", "0.999999"},
     {"-0.1", "1.001", "2", "10"}},
    {R"({"type":"number","exclusiveMinimum":0})", {"0.001", "1", "17.25"}, {"0", "0.0", "-1"}},
    {R"({"type":"number","minimum":-2.75,"exclusiveMaximum":3.125})",
     {"-2.75", "-2.7", "0", "3.1", "3.1249", "3", "3.12"},
     {"-2.76", "3.125", "3.1250", "3.2", "4", "-3"}},
    {R"({"type":"number","minimum":1e-7,"maximum":2.5e3})",
     {"0.0000001", "2500", "2500.0", "1"},
     {"0", "0.00000001", "2500.1"}},
    {R"({"type":"number","minimum":0.25,"maximum":0.5})",
     {"0.25", "0.3", "0.49999", "0.5", "0.50"},
     {"0.2", "0.24", "0.51", "0", "1"}},
    {R"({"enum":["a","b\"c",1,null,{"k":[1,2]}]})",
     {R"("a")", R"("b\"c")", "1", "null", R"({"k":[1,2]})"},
     {R"("b")", "2"}},
    {R"({"type":"string","enum":["a",1]})", {R"("a")"}, {"1"}},
    {R"({"const":{"x":1.5}})", {R"({"x":1.5})"}, {"1"}},
    {R"({"type":"object"})", {"{}", R"({"z":1,"a":[{}]})"}, {"[]"}},
    {R"({"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"}},"required":["name","age"],"additionalProperties":false})",
     {R"({"name":"Jo","age":3})"},
     {"{}", R"({"name":"Jo"})", R"({"name":"Jo","age":3,"x":1})", R"({"name":1,"age":3})"}},
    {R"({"type":"object","properties":{"b":{"type":"integer"},"a":{"type":"integer"},"c":{"type":"null"}},"additionalProperties":false})",
     {"{}", R"({"b":1})", R"({"a":1})", R"({"c":null})", R"({"b":1,"c":null})", R"({"b":1,"a":2,"c":null})"},
     {R"({"x":1})", R"({"c":1})"}},
    {R"({"type":"object","properties":{"a":{},"b":{},"c":{}},"required":["b"],"additionalProperties":false})",
     {R"({"b":1})", R"({"a":1,"b":[]})", R"({"b":1,"c":2})"},
     {"{}", R"({"a":1})", R"({"a":1,"c":1})"}},
    {R"({"type":"object","properties":{"id":{"type":"integer"}},"required":["id"],"additionalProperties":{"type":"string"}})",
     {R"({"id":1})", R"({"id":1,"x":"y"})", R"({"id":1,"i":"y","idx":"z","":"e"})"},
     {R"({"id":"a"})", R"({"id":1,"x":2})"}},
    {R"({"type":"object","additionalProperties":{"type":"boolean"}})",
     {"{}", R"({"a":true,"b":false})"},
     {R"({"a":1})"}},
    {R"({"type":"object","properties":{"é":{},"é\n":{}},"additionalProperties":true})",
     {R"({"é":1,"é\n":2,"e":3,"éa":4})"},
     {}},
    {R"({"type":"object","patternProperties":{"^x-":{"type":"integer"}},"properties":{"a":{"type":"null"}},"additionalProperties":false})",
     {R"({"a":null,"x-1":1,"x-":2})", "{}"},
     {R"({"x-1":"a"})", R"({"y":1})"}},
    {R"({"type":"object","required":["a"]})", {R"({"a":1})"}, {"{}"}},
    {R"({"properties":{"a":{"type":"integer"}},"required":["a"]})", {R"({"a":1})"}, {}},
    {R"({"type":"array"})", {"[]", "[1,\"a\",[null]]"}, {"{}"}},
    {R"({"type":"array","items":{"type":"integer"},"minItems":2,"maxItems":4})",
     {"[1,2]", "[1,2,3,4]"},
     {"[1]", "[1,2,3,4,5]", "[1,\"a\"]"}},
    {R"({"type":"array","items":{"type":"integer"},"minItems":1})", {"[1]", "[1,2,3]"}, {"[]"}},
    {R"({"type":"array","items":{"type":"integer"},"maxItems":1})", {"[]", "[1]"}, {"[1,2]"}},
    {R"({"type":"array","prefixItems":[{"type":"integer"},{"type":"string"}],"items":false})",
     {"[]", "[1]", "[1,\"a\"]"},
     {"[\"a\"]", "[1,\"a\",2]"}},
    {R"({"type":"array","prefixItems":[{"type":"integer"}],"items":{"type":"string"},"minItems":2,"maxItems":3})",
     {"[1,\"a\"]", "[1,\"a\",\"b\"]"},
     {"[1]", "[1,2]", "[1,\"a\",\"b\",\"c\"]"}},
    {R"({"type":"array","items":false})", {"[]"}, {"[1]"}},
    {R"({"anyOf":[{"type":"integer"},{"type":"array","items":{"type":"null"}}]})",
     {"1", "[null,null]"},
     {"[1]", "null"}},
    {R"({"oneOf":[{"type":"integer"},{"type":"string"}]})", {"1", "\"a\""}, {"null"}},
    {R"({"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"additionalProperties":false,"anyOf":[{"required":["a"]},{"required":["b"]}]})",
     {R"({"a":1})", R"({"b":1})", R"({"a":1,"b":2})"},
     {"{}"}},
    {R"({"allOf":[{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]},{"properties":{"b":{"type":"string"},"a":{"minimum":3}},"required":["b"]}]})",
     {R"({"a":3,"b":"x"})"},
     {R"({"a":2,"b":"x"})", R"({"a":3})"}},
    {R"({"allOf":[{"type":["integer","null"]},{"type":["number","string"]}]})", {"1"}, {"null", "\"a\""}},
    {R"({"$defs":{"node":{"type":"object","properties":{"value":{"type":"integer"},"next":{"anyOf":[{"type":"null"},{"$ref":"#/$defs/node"}]}},"required":["value","next"],"additionalProperties":false}},"$ref":"#/$defs/node"})",
     {R"({"value":1,"next":null})", R"({"value":1,"next":{"value":2,"next":{"value":3,"next":null}}})"},
     {R"({"value":1})", R"({"value":1,"next":{}})"}},
    {R"({"type":"object","properties":{"children":{"type":"array","items":{"$ref":"#"}}},"additionalProperties":false})",
     {"{}", R"({"children":[{},{"children":[{}]}]})"},
     {R"({"children":[1]})"}},
    {R"({"definitions":{"p":{"type":"integer","minimum":0}},"type":"array","items":{"$ref":"#/definitions/p","maximum":9}})",
     {"[0,9]"},
     {"[10]", "[-1]"}},
    {R"({"$defs":{"a/b~c":{"type":"null"}},"$ref":"#/$defs/a~1b~0c"})", {"null"}, {"1"}},
    {R"({"type":"array","items":{"type":"object","properties":{"tag":{"enum":["red","green","blue"]},"score":{"type":"number","minimum":0,"maximum":1},"note":{"type":["string","null"],"maxLength":30}},"required":["tag","score"],"additionalProperties":false},"maxItems":3})",
     {R"([{"tag":"red","score":0.25},{"tag":"blue","score":1,"note":"ok"}])"},
     {R"([{"tag":"pink","score":0.5}])"}},
};

// With single spaces after commas and colons outside strings.
std::string spaced(const std::string& text) {
  std::string result;
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    result += text[i];
    if (inside && text[i] == '\\') {
      result += text[++i];
    } else if (text[i] == '"') {
      inside = !inside;
    } else if (!inside && (text[i] == ',' || text[i] == ':')) {
      result += ' ';
    }
  }
  return result;
}

TEST(JsonSchema, AcceptsAndRefusesValues) {
  for (const Case& test : kCases) {
    SCOPED_TRACE(test.schema);
    const Constraint constraint = json_schema_constraint(std::string_view(test.schema));
    for (const std::string text : test.good) {
      EXPECT_TRUE(constraint.matches(text)) << text;
      EXPECT_TRUE(constraint.matches(spaced(text))) << spaced(text);
      EXPECT_FALSE(constraint.matches(text + " "));
      EXPECT_FALSE(constraint.matches(" " + text));
    }
    for (const std::string text : test.bad) EXPECT_FALSE(constraint.matches(text)) << text;
  }
}

TEST(JsonSchema, WhatIsWrittenIsValid) {
  if (!test::has_python_modules("jsonschema")) {
    GTEST_SKIP() << test::kPython << " has no jsonschema (Debian package python3-jsonschema): nothing to compare with";
  }
  const auto gpt2 = test::vocabulary_of(test::kGpt2Folder), llama = test::vocabulary_of(test::kLlamaFolder);
  RandomStream random{.seed = 7};
  Json questions = Json::array();
  int written = 0;
  for (const Case& test : kCases) {
    SCOPED_TRACE(test.schema);
    std::vector<std::string> texts(test.good.begin(), test.good.end());
    for (const auto& [vocabulary, end] : {std::pair(test::byte_vocabulary(), 268), {gpt2, 50256}, {llama, 2}}) {
      if (!vocabulary) continue;
      const TokenConstraint constraint(json_schema_constraint(std::string_view(test.schema)), vocabulary, {end});
      for (int i = 0; i < 12; ++i) {
        const auto text = test::random_text(constraint, end, random, 5 + 3 * i);
        if (!text) continue;
        texts.push_back(*text);
        ++written;
        try {
          parse_json(*text, "written");
        } catch (const Error& error) {
          // Names of additional properties may come twice, which our reader refuses.
          EXPECT_NE(std::string(error.what()).find("appears twice"), std::string::npos) << *text << error.what();
        }
      }
    }
    questions.push_back({{"schema", parse_json(test.schema, "schema")}, {"texts", texts}});
  }
  EXPECT_GT(written, 12 * static_cast<int>(std::size(kCases)) * 9 / 10);
  const Json answers = test::python_answers(questions);
  ASSERT_EQ(answers.size(), questions.size());
  for (std::size_t i = 0; i < questions.size(); ++i) {
    for (std::size_t k = 0; k < answers[i].size(); ++k) {
      EXPECT_EQ(answers[i][k], "") << questions[i]["schema"] << " on " << questions[i]["texts"][k];
    }
  }
  // The other opinion can tell.
  Json wrong = Json::array();
  int count = 0;
  for (const Case& test : kCases) wrong.push_back({{"schema", parse_json(test.schema, "schema")}, {"texts", test.bad}});
  for (const Json& answer : test::python_answers(wrong)) {
    for (const Json& message : answer) count += message != "";
  }
  EXPECT_GT(count, 100);
}

// Every integer near the bounds, for bounds of all kinds.
TEST(JsonSchema, IntegerBoundsAreExact) {
  RandomStream random{.seed = 3};
  for (int round = 0; round < 60; ++round) {
    const auto draw = [&] {
      const auto size = static_cast<std::int64_t>(std::pow(10.0, static_cast<double>(random.uniform_integer(5))));
      return static_cast<std::int64_t>(random.uniform_integer(static_cast<std::uint64_t>(2 * size + 1))) - size;
    };
    std::int64_t low = draw(), high = draw();
    if (low > high) std::swap(low, high);
    const Constraint constraint = json_schema_constraint({{"type", "integer"}, {"minimum", low}, {"maximum", high}});
    const auto check = [&](std::int64_t value) {
      EXPECT_EQ(constraint.matches(std::to_string(value)), low <= value && value <= high)
          << low << " " << value << " " << high;
    };
    for (std::int64_t i = -12; i <= 12; ++i) check(low + i), check(high + i), check(i);
    for (int i = 0; i < 30; ++i) check(draw());
  }
}

TEST(JsonSchema, NumberBoundsAreExact) {
  RandomStream random{.seed = 4};
  for (int round = 0; round < 60; ++round) {
    const auto draw = [&](int scale) { return (static_cast<double>(random.uniform_integer(4001)) - 2000) / scale; };
    const int scale = round % 3 == 0 ? 1000 : round % 3 == 1 ? 64 : 1;
    double low = draw(scale), high = draw(scale);
    if (low > high) std::swap(low, high);
    if (low == high) continue;
    const bool strict = round % 2 == 0;
    const Constraint constraint = json_schema_constraint({{"type", "number"},
                                                          {strict ? "exclusiveMinimum" : "minimum", low},
                                                          {strict ? "exclusiveMaximum" : "maximum", high}});
    for (int i = 0; i < 200; ++i) {
      const double value = i % 5 == 0 ? low : i % 5 == 1 ? high : draw(scale * (i % 3 + 1));
      if (value == 0 && std::signbit(value)) continue;
      const bool expected = strict ? low < value && value < high : low <= value && value <= high;
      const std::string text = Json(value).dump();
      if (text.find('e') != std::string::npos || text.size() > 18) continue;
      EXPECT_EQ(constraint.matches(text), expected) << low << " " << text << " " << high;
      EXPECT_EQ(constraint.matches(text + "0"), expected && text.find('.') != std::string::npos) << text;
    }
  }
}

TEST(JsonSchema, PropertiesKeepTheirOrder) {
  const Constraint constraint = json_schema_constraint(std::string_view(
      R"({"type":"object","properties":{"b":{"type":"null"},"a":{"type":"null"}},"required":["a","b"]})"));
  EXPECT_TRUE(constraint.matches(R"({"b":null,"a":null})"));
  EXPECT_FALSE(constraint.matches(R"({"a":null,"b":null})"));
}

TEST(JsonSchema, RefusesByName) {
  const std::pair<std::string, const char*> kBad[] = {
      {R"({"typ":"string"})", "the keyword typ is not supported"},
      {R"({"properties":{"a":{"not":{}}}})", "#/properties/a: the keyword not is not supported"},
      {R"({"type":"array","uniqueItems":true})", "uniqueItems"},
      {R"({"type":"number","multipleOf":2})", "multipleOf"},
      {R"({"if":{},"then":{}})", "if"},
      {R"({"type":"strin"})", "unknown type \"strin\""},
      {R"({"type":"string","format":"color"})", "the format \"color\" is not supported"},
      {R"s({"type":"string","pattern":"(?=a)"})s", "lookahead"},
      {R"({"type":"string","pattern":"a","minLength":3})", "one at a time"},
      {R"({"enum":["a"],"pattern":"a"})", "enum or const together with pattern"},
      {R"({"enum":[]})", "no value"},
      {R"({"$ref":"http://example.org/x"})", "expected a place in this schema"},
      {R"({"$ref":"#/$defs/x"})", "leads nowhere"},
      {R"({"$ref":"#"})", "left recursion"},
      {R"({"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"})", "left recursion"},
      {R"({"anyOf":[{"$ref":"#"},{"type":"null"}]})", "left recursion"},
      {R"({"allOf":[{"$ref":"#"}]})", "circles"},
      {R"({"type":"object","properties":{"a":{"$ref":"#"}},"required":["a"]})", "can never end"},
      {R"({"allOf":[{"pattern":"a"},{"pattern":"b"}]})", "cannot merge two different pattern"},
      {R"({"allOf":[{"prefixItems":[{}]},{"items":{"type":"null"}}]})", "cannot merge prefixItems and items"},
      {R"({"allOf":[{"additionalProperties":false},{"patternProperties":{"a":true}}]})",
       "cannot merge patternProperties and additionalProperties"},
      {R"({"type":"array","items":[{}]})", "prefixItems"},
      {R"({"type":"array","minItems":3,"maxItems":2})", "minItems is above maxItems"},
      {R"({"type":"array","minItems":-1})", "minItems is -1"},
      {R"({"type":"string","maxLength":1e9})", "maxLength"},
      {R"({"type":"integer","minimum":5,"maximum":4})", "no text fits"},
      {R"({"type":"integer","minimum":"5"})", "minimum is string"},
      {R"({"type":"object","properties":{},"required":["a"],"additionalProperties":false})", "required names a"},
      {R"({"type":"object","properties":{"xa":{}},"patternProperties":{"a":{}}})", "matches patternProperties too"},
      {"false", "no text fits"},
      {"3", "a schema is an object or a boolean"},
      {"{", "JSON schema:1"},
      {std::string(10000, '['), "nested deeper"},
  };
  for (const auto& [schema, expected] : kBad) {
    const std::string message =
        error_of(ErrorKind::bad_format, [&text = schema] { json_schema_constraint(std::string_view(text)); });
    EXPECT_NE(message.find(expected), std::string::npos) << schema << ": " << message;
  }
}

TEST(JsonSchema, DeepAndLargeOnes) {
  std::string deep = R"({"type":"integer"})";
  for (int i = 0; i < 60; ++i) deep = R"({"properties":{"a":)" + deep + R"(},"required":["a"]})";
  EXPECT_TRUE(json_schema_constraint(std::string_view(deep)).matches_start(R"({"a":{"a":{"a":)"));
  OrderedJson nested = OrderedJson::object();
  for (int i = 0; i < 10000; ++i) nested = OrderedJson{{"not", std::move(nested)}};
  error_of(ErrorKind::bad_format, [&] { json_schema_constraint(nested); });
  OrderedJson wide{{"type", "object"}, {"additionalProperties", false}};
  for (int i = 0; i < 2000; ++i) wide["properties"]["name" + std::to_string(i)] = {{"type", "integer"}};
  EXPECT_TRUE(json_schema_constraint(wide).matches(R"({"name7":1,"name1999":2})"));
  // As deep as the reader of JSON goes, and no deeper.
  const Constraint any = json_constraint();
  EXPECT_TRUE(any.matches(std::string(kJsonDepth, '[') + std::string(kJsonDepth, ']')));
  EXPECT_FALSE(any.matches_start(std::string(kJsonDepth + 1, '[')));
}

}  // namespace
}  // namespace heed::constrain
