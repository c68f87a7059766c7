#include "heed/base/json.h"

#include <gtest/gtest.h>

#include <string>

namespace heed {
namespace {

std::string parse_error(const std::string& text) {
  try {
    parse_json(text, "config.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_format);
    return error.what();
  }
  return "";
}

TEST(Json, OrderedKeepsTheOrderOfKeys) {
  const OrderedJson json = parse_ordered_json(R"({"b": 1, "a": {"z": [2], "y": null}, "c": ""})", "f");
  EXPECT_EQ(json.dump(), R"({"b":1,"a":{"z":[2],"y":null},"c":""})");
  for (const char* text : {R"({"a": 1, "b": 2, "a": 3})", "{", "[1, ]"}) {
    EXPECT_THROW(parse_ordered_json(text, "f"), Error) << text;
  }
}

TEST(Json, ParsesWhatNlohmannParses) {
  for (const char* text :
       {"null", "true", " 12 ", "-3", "18446744073709551615", "1.5e3", "\"\\u00e9\\ud83d\\ude00\"", "[]", "{}",
        "[1, [2, {\"a\": [3, {}]}], \"x\"]", "{\"b\": {\"c\": [null]}, \"a\": false, \"d\": 1}"}) {
    EXPECT_EQ(parse_json(text, "x"), Json::parse(text)) << text;
  }
}

TEST(Json, ErrorsHaveFileLineAndColumn) {
  EXPECT_TRUE(parse_error("{\n  \"a\": 1,\n  \"b\": ?\n}").starts_with("config.json:3:8: "))
      << parse_error("{\n\"b\": ?");
  EXPECT_TRUE(parse_error("{\"a\": 1,}").starts_with("config.json:1:9: "));
  EXPECT_TRUE(parse_error("").starts_with("config.json:1:1: "));
  EXPECT_EQ(parse_error("{\"a\": 1,\n \"b\": {\"a\": 2, \"a\": 3}}"),
            "config.json:2:18: the key \"a\" appears twice in one object");
}

TEST(Json, RefusesWhatIsNotStrictJson) {
  for (const std::string text :
       {"{", "[1,]", "[1 2]", "nul", "01", "'a'", "NaN", "1e999", "[1]]", "{} {}", "\"\\ud800\"", "\"\xFF\"",
        "\"\xC0\x80\"", "\"\xED\xA0\x80\"", "\"a\nb\"", "// c\n1", "{1: 2}", "\xFF"}) {
    EXPECT_NE(parse_error(text), "") << text;
  }
  EXPECT_EQ(parse_error(std::string("[1]\n\0x", 6)), "config.json:2:1: a NUL character");
}

TEST(Json, DepthIsLimited) {
  const auto nested = [](int depth) {
    return std::string(static_cast<std::size_t>(depth), '[') + std::string(static_cast<std::size_t>(depth), ']');
  };
  EXPECT_EQ(parse_error(nested(kJsonDepth)), "");
  EXPECT_EQ(parse_error(nested(kJsonDepth + 1)), "config.json:1:201: nested deeper than 200 levels");
  EXPECT_NE(parse_error(std::string(1000000, '[')), "");
  std::string objects;
  for (int i = 0; i < 300; ++i) objects += "{\"a\":";
  EXPECT_NE(parse_error(objects), "");
}

template <class T>
std::string field_error(const std::string& text) {
  try {
    json_required<T>(parse_json(text, "x"), "f", "config.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_format);
    return error.what();
  }
  return "";
}

TEST(Json, FieldsHaveTheirTypes) {
  const Json object = parse_json(R"({"n": 12, "x": 0.5, "s": "t", "b": true, "l": [1, 2], "z": null})", "x");
  EXPECT_EQ(json_required<std::int64_t>(object, "n", "c"), 12);
  EXPECT_EQ(json_required<std::uint8_t>(object, "n", "c"), 12);
  EXPECT_EQ(json_required<double>(object, "n", "c"), 12.0);
  EXPECT_EQ(json_required<float>(object, "x", "c"), 0.5f);
  EXPECT_EQ(json_required<std::string>(object, "s", "c"), "t");
  EXPECT_EQ(json_required<bool>(object, "b", "c"), true);
  EXPECT_EQ(json_required<std::vector<int>>(object, "l", "c"), (std::vector<int>{1, 2}));
  EXPECT_EQ(json_required<Json>(object, "z", "c"), Json());
  EXPECT_EQ(json_optional<int>(object, "n", 3, "c"), 12);
  EXPECT_EQ(json_optional<int>(object, "absent", 3, "c"), 3);
  EXPECT_EQ(json_optional<int>(object, "z", 3, "c"), 3);
  EXPECT_THROW(json_optional<int>(object, "s", 3, "c"), Error);
}

TEST(Json, FieldErrorsNameFieldFoundAndExpected) {
  EXPECT_EQ(field_error<bool>("{}"), "config.json: f is missing");
  EXPECT_EQ(field_error<bool>("[1]"), "config.json: is a list, expected an object with f");
  EXPECT_EQ(field_error<bool>("{\"f\": 1}"), "config.json: f is the number 1, expected true or false");
  EXPECT_EQ(field_error<std::string>("{\"f\": {}}"), "config.json: f is an object, expected a string");
  EXPECT_EQ(field_error<double>("{\"f\": \"1\"}"), "config.json: f is a string, expected a number");
  EXPECT_EQ(field_error<std::int8_t>("{\"f\": 128}"),
            "config.json: f is the number 128, expected an integer from -128 to 127");
  EXPECT_EQ(field_error<std::int8_t>("{\"f\": -128}"), "");
  EXPECT_EQ(field_error<std::uint32_t>("{\"f\": -1}"),
            "config.json: f is the number -1, expected an integer from 0 to 4294967295");
  EXPECT_NE(field_error<std::int64_t>("{\"f\": 1.0}"), "");
  EXPECT_NE(field_error<std::int64_t>("{\"f\": 9223372036854775808}"), "");
  EXPECT_NE(field_error<std::int64_t>("{\"f\": true}"), "");
  EXPECT_EQ(field_error<std::vector<int>>("{\"f\": [1, null]}"),
            "config.json: f[1] is null, expected an integer from -2147483648 to 2147483647");
}

}  // namespace
}  // namespace heed
