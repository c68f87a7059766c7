#include <gtest/gtest.h>

#include <numeric>

#include "generate/suite_lines.h"
#include "generate/tiny_decoder.h"
#include "heed/generate/generator.h"
#include "heed/generate/stop_text.h"
#include "support/shared_data.h"

namespace heed {
namespace {

// One token per byte or word: "a" 0, "b" 1, ... and some longer ones.
text::Tokenizer letters() {
  Json vocabulary = Json::object();
  for (int i = 0; i < 61; ++i)
    vocabulary[i < 26 ? std::string(1, static_cast<char>('a' + i)) : "<" + std::to_string(i) + ">"] = i;
  const Json json = {{"version", "1.0"},
                     {"added_tokens", Json::array()},
                     {"normalizer", nullptr},
                     {"pre_tokenizer", nullptr},
                     {"post_processor", nullptr},
                     {"decoder", {{"type", "Fuse"}}},
                     {"model", {{"type", "WordLevel"}, {"vocab", vocabulary}, {"unk_token", "a"}}}};
  return text::Tokenizer::from_parsed_json(json, "letters");
}

// What is given out token by token, "|" between.
std::string streamed(const text::Tokenizer& tokenizer, const std::vector<std::string>& stops, const std::string& text) {
  StopText stream(tokenizer, stops);
  std::string given;
  for (const char c : text) given += stream.push(c - 'a') + "|";
  given += stream.finish();
  return given + (stream.stopped() ? "!" : "");
}

TEST(StopText, HoldsBackWhatMayBeAStopString) {
  const text::Tokenizer tokenizer = letters();
  EXPECT_EQ(streamed(tokenizer, {}, "abc"), "a|b|c|");
  EXPECT_EQ(streamed(tokenizer, {"bcd"}, "abcx"), "a|||bcx|");
  EXPECT_EQ(streamed(tokenizer, {"bcd"}, "abcdx"), "a|||||!");
  EXPECT_EQ(streamed(tokenizer, {"bcd"}, "abc"), "a|||bc");
  // The beginning again inside itself.
  EXPECT_EQ(streamed(tokenizer, {"aab"}, "aaab"), "||a||!");
  // The earliest of several.
  EXPECT_EQ(streamed(tokenizer, {"xyz", "yb"}, "axyby"), "a|||x||!");
}

TEST(StopText, ItsCopiesGoTheirOwnWays) {
  const text::Tokenizer tokenizer = letters();
  StopText first(tokenizer, {"bc"});
  EXPECT_EQ(first.push(1), "");
  StopText second(first);
  EXPECT_EQ(first.push(2), "");
  EXPECT_TRUE(first.stopped());
  EXPECT_EQ(second.push(3), "bd");
  EXPECT_FALSE(second.stopped());
}

// A generation ends with its stop string, wherever that falls, in every kind of search.
TEST(Generator, EndsAtStopStrings) {
  const Model model = test::tiny_decoder();
  const text::Tokenizer tokenizer = letters();
  const auto run = [&](GenerateOptions options, std::string* told = nullptr) {
    Generator generator(model, &tokenizer);
    GenerateRequest request{.prompt = {1, 2}, .options = options};
    if (told) request.on_token = [told](const TokenEvent& event) { return *told += event.text, true; };
    generator.add(request);
    while (true) {
      auto done = generator.step();
      if (!done.empty()) return done.at(0).generations.at(0);
    }
  };
  for (const bool beams : {false, true}) {
    GenerateOptions options;
    options.max_new_tokens = 12;
    options.num_beams = beams ? 3 : 1;
    options.suppress_tokens.resize(35);
    std::iota(options.suppress_tokens.begin(), options.suppress_tokens.end(), 26);
    const Generation whole = run(options);
    ASSERT_EQ(whole.text.size(), 12u) << whole.text;
    options.stop_strings = {whole.text.substr(5, 3), "nothing of this"};
    if (beams) {  // which may come out another way
      EXPECT_EQ(run(options).text.find(options.stop_strings[0]), std::string::npos);
      continue;
    }
    const std::size_t place = whole.text.find(options.stop_strings[0]);
    std::string told;
    const Generation found = run(options, &told);
    EXPECT_EQ(found.text, whole.text.substr(0, place));
    EXPECT_EQ(found.tokens.size(), place + 3);
    EXPECT_EQ(found.reason, FinishReason::stop);
    EXPECT_EQ(told, found.text);
  }
}

// What is told piece by piece is the text of the result, also what waits at the end because it may begin a stop string.
TEST(Generator, WhatIsToldIsTheTextOfTheResult) {
  const Model model = test::tiny_decoder();
  const text::Tokenizer tokenizer = letters();
  struct Told {
    std::vector<std::string> told{}, texts{};
    FinishReason reason = FinishReason::none;
  };
  const auto run = [&](const GenerateOptions& options, std::int64_t most = 100) {
    Told result;
    result.told.resize(static_cast<std::size_t>(options.num_return_sequences));
    Generator generator(model, &tokenizer);
    std::int64_t tokens = 0;
    const auto on_token = [&](const TokenEvent& event) {
      result.told[static_cast<std::size_t>(event.generation)] += event.text;
      return !event.token || ++tokens < most;
    };
    generator.add({.prompt = {1, 2}, .options = options, .seed = 3, .on_token = on_token});
    while (!generator.idle()) {
      for (const GenerateResult& done : generator.step()) {
        for (const Generation& each : done.generations) result.texts.push_back(each.text);
        result.reason = done.generations.at(0).reason;
      }
    }
    return result;
  };
  GenerateOptions options;
  options.max_new_tokens = 12;
  options.suppress_tokens.resize(35);
  std::iota(options.suppress_tokens.begin(), options.suppress_tokens.end(), 26);
  const std::string whole = run(options).texts[0];
  ASSERT_EQ(whole.size(), 12U);

  options.stop_strings = {whole.substr(10) + "<"};
  Told length = run(options);
  EXPECT_EQ(length.texts[0], whole);
  EXPECT_EQ(length.told, length.texts);
  EXPECT_EQ(length.reason, FinishReason::length);

  // The first end id comes after a character that waits.
  std::size_t end = 1;
  while (whole.find(whole[end]) < end) ++end;
  options.stop_strings = {whole.substr(end - 1, 1) + "<"};
  options.eos_token_id = {whole[end] - 'a'};
  const Told at_end = run(options);
  EXPECT_EQ(at_end.texts[0], whole.substr(0, end));
  EXPECT_EQ(at_end.told, at_end.texts);
  EXPECT_EQ(at_end.reason, FinishReason::stop);

  options.eos_token_id = {};
  options.stop_strings = {whole.substr(3, 1) + "<"};
  const Told by_caller = run(options, 4);
  EXPECT_EQ(by_caller.texts[0], whole.substr(0, 4));
  EXPECT_EQ(by_caller.told, by_caller.texts);

  options.stop_strings = {"a<", "b<", "c<", "d<", "e<", "f<", "g<", "h<", "i<", "j<", "k<", "l<", "m<", "n<"};
  options.num_return_sequences = 3;
  options.do_sample = true;
  const Told several = run(options);
  EXPECT_EQ(several.told, several.texts);
  options.do_sample = false;
  options.num_beams = 4;
  const Told beams = run(options);
  EXPECT_EQ(beams.texts.size(), 3U);
  EXPECT_EQ(beams.told, beams.texts);
}

TEST(StopSuite, EveryRecordedCall) {
  const auto file = test::shared_data("suites/logits-processors/stopping.jsonl");
  if (!std::filesystem::exists(file)) GTEST_SKIP() << file << " is not there";
  int calls = 0;
  for (const Json& recorded : test::suite_lines(file)) {
    SCOPED_TRACE(recorded.dump());
    const Json& p = recorded["params"];
    for (std::size_t r = 0; r < recorded["input_ids"].size(); ++r) {
      auto ids = recorded["input_ids"][r].get<std::vector<TokenId>>();
      // The search is given all but the last id, and then nothing but that.
      const TokenId last = ids.back();
      ids.pop_back();
      GenerateOptions options;
      if (recorded["criterion"] == "EosTokenCriteria") {
        options.eos_token_id = {p["eos_token_id"].get<std::int64_t>()};
      } else {
        ASSERT_EQ(recorded["criterion"], "MaxLengthCriteria");
        options.max_length = p["max_length"].get<std::int64_t>();
      }
      const auto search = make_search({.prompt = ids, .options = options, .vocabulary = 250});
      std::vector<float> scores(250, 0);
      scores[static_cast<std::size_t>(last)] = 1;
      search->advance(scores);
      EXPECT_EQ(search->done(), recorded["expected"][r].get<bool>());
    }
    ++calls;
  }
  EXPECT_GT(calls, 0);
}

}  // namespace
}  // namespace heed
