// Texts about a source: generators of models with an encoder.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "generate/exact_result.h"
#include "heed/base/parallel.h"
#include "heed/generate/generate.h"
#include "heed/kernels/softmax.h"
#include "heed/models/model.h"
#include "heed/tensor/autograd.h"
#include "models/small_seq2seq.h"
#include "support/error_of.h"

namespace heed {
namespace {

using test::error_of, test::exact, test::Ids, test::prompt_of, test::small_seq2seq;

Model reader(const std::string& model_type) {
  Model model(parse_model_config(small_seq2seq(model_type), "config.json"), HeadKind::seq2seq_lm);
  initialize(model, 3);
  return model;
}

// Every kind of search; sources of many lengths, some of them with the same prompt.
std::vector<GenerateRequest> requests() {
  std::vector<GenerateRequest> list;
  for (const std::int64_t length : {3, 1, 90, 17, 150, 33, 5, 64, 8}) {
    const auto number = list.size();
    GenerateRequest request{.prompt = number == 6 ? prompt_of(40, 1) : Ids{2},
                            .seed = 11,
                            .sequence = number,
                            .alternatives = 2,
                            .source = prompt_of(length, number)};
    GenerateOptions& options = request.options;
    options.max_new_tokens = 8 + static_cast<std::int64_t>(number);
    options.eos_token_id = {0, 7};
    options.encoder_no_repeat_ngram_size = number % 4 == 1 ? 2 : 0;
    if (number % 3 == 1) {
      options.do_sample = true;
      options.num_return_sequences = number == 4 ? 3 : 1;
    }
    if (number % 3 == 2) {
      options.num_beams = 3;
      options.num_return_sequences = 2;
    }
    request.score_prompt = number % 4 == 0;
    list.push_back(std::move(request));
  }
  return list;
}

// Adds `at_once` requests before each of the first steps, in this order; what each gives, by its place in `list`.
std::vector<GenerateResult> run(const Model& model, const std::vector<GenerateRequest>& list,
                                const std::vector<std::size_t>& order, std::size_t at_once, std::int64_t chunk) {
  Generator generator(model, nullptr, {.prompt_chunk = chunk});
  std::vector<GenerateResult> results(list.size());
  std::size_t added = 0;
  while (added < order.size() || !generator.idle()) {
    for (std::size_t i = 0; i < at_once && added < order.size(); ++i) generator.add(list[order[added++]]);
    for (GenerateResult& result : generator.step()) {
      EXPECT_EQ(result.known_tokens, 0);
      results[order[static_cast<std::size_t>(result.request)]] = std::move(result);
    }
  }
  return results;
}

// Every token's log-probability by a pass over source and tokens, which knows no cache.
void expect_full_passes_agree(const Model& model, const GenerateRequest& request, const Generation& found) {
  const NoGrad no_grad;
  Ids ids = request.prompt;
  for (const TokenId id : found.ids()) ids.push_back(id);
  const auto packed = [](const Ids& list) {
    return Packed(Tensor::from(list, {std::ssize(list)}), {std::ssize(list)});
  };
  const Tensor logits =
      model.forward({.ids = packed(ids), .source = packed(request.source)}, Context()).logits.detached_contiguous();
  const std::int64_t vocabulary = logits.size(1);
  for (std::size_t i = 0; i < found.tokens.size(); ++i) {
    const float* row = logits.data<float>() + static_cast<std::int64_t>(request.prompt.size() + i - 1) * vocabulary;
    float total = 0;
    kernels::log_sum_exp(row, &total, 1, vocabulary, vocabulary);
    ASSERT_EQ(found.tokens[i].log_probability, row[found.tokens[i].id] - total) << "token " << i;
  }
}

TEST(ReaderParallel, SameBitsAloneTogetherLateChunkedOnAnyThreads) {
  const std::vector<GenerateRequest> list = requests();
  for (const char* type : {"t5", "bart", "m2m_100"}) {
    SCOPED_TRACE(type);
    const Model model = reader(type);
    std::vector<std::string> alone;
    for (const GenerateRequest& request : list) {
      const GenerateResult result = run(model, {request}, {0}, 1, 512)[0];
      alone.push_back(exact(result));
      for (const Generation& found : result.generations) expect_full_passes_agree(model, request, found);
    }
    std::vector<std::size_t> order(list.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (const int threads : {1, 2}) {
      const ThreadLimit limit(threads);
      for (const std::int64_t chunk : {7, 100, 512}) {
        for (const std::size_t at_once : {std::size_t{1}, list.size()}) {
          const std::vector<GenerateResult> found = run(model, list, order, at_once, chunk);
          for (std::size_t i = 0; i < list.size(); ++i) {
            EXPECT_EQ(exact(found[i]), alone[i]) << i << ": " << threads << " threads, chunks of " << chunk;
          }
          std::rotate(order.begin(), order.begin() + 4, order.end());
        }
      }
    }
  }
}

TEST(Reader, AStepThatIsStoppedWhileItReadsCanBeRepeated) {
  const Model model = reader("t5");
  const GenerateRequest request = requests()[2];
  Generator generator(model), other(model);
  generator.add(request);
  other.add(request);
  const StopSource stop;
  stop.request_stop();
  EXPECT_THROW(generator.step(Context().stopping(stop.token())), Error);
  std::vector<GenerateResult> found, expected;
  while (found.empty()) found = generator.step();
  while (expected.empty()) expected = other.step();
  EXPECT_EQ(exact(found[0]), exact(expected[0]));
}

TEST(Reader, BeamsShareWhatTheSourceGave) {
  const NoGrad no_grad;
  const Model model = reader("t5");
  const Ids source = prompt_of(150, 1);
  DecodeState state = model.backbone()->decodes()->start();
  model.backbone()->reads()->join(Packed(Tensor::from(source, {150}), {150}), state, Context());
  const std::int64_t bytes = state.bytes();
  state.reorder(std::vector<std::int64_t>(16, 0));
  EXPECT_EQ(state.bytes(), bytes);
}

TEST(Reader, WhatDoesNotFitIsRefused) {
  const Model model = reader("bart");
  Generator generator(model);
  const auto message = [&](const GenerateRequest& request) {
    return error_of(ErrorKind::invalid_argument, [&] { generator.add(request); });
  };
  EXPECT_NE(message({.prompt = {2}}).find("has no source"), std::string::npos);
  EXPECT_NE(message({.prompt = {2}, .source = {3, 61}}).find("token 61 in its source"), std::string::npos);
  EXPECT_NE(message({.prompt = {2}, .source = {-1}}).find("token -1 in its source"), std::string::npos);
  EXPECT_NE(message({.prompt = {2}, .source = Ids(201, 1)}).find("a source of 201 tokens"), std::string::npos);
  EXPECT_NE(message({.prompt = {61}, .source = {1}}).find("61"), std::string::npos);
  message({.prompt = {}, .source = {1}});
  EXPECT_TRUE(generator.idle());
}

TEST(Reader, WhatTheDecoderBeginsWith) {
  EXPECT_EQ(decoder_start({{"decoder_start_token_id", 3}, {"bos_token_id", 4}}, "x"), 3);
  EXPECT_EQ(decoder_start({{"bos_token_id", 4}}, "x"), 4);
  EXPECT_NE(error_of(ErrorKind::bad_format, [] { decoder_start(Json::object(), "x"); }).find("x: neither"),
            std::string::npos);
  error_of(ErrorKind::bad_format, [] { decoder_start({{"bos_token_id", "a"}}, "x"); });
  error_of(ErrorKind::bad_format, [] { decoder_start({{"bos_token_id", std::int64_t{1} << 40}}, "x"); });
}

TEST(Reader, FoldersWithoutGenerationConfigSayItInConfig) {
  const Json config = {{"num_beams", 4},        {"max_length", 142},           {"min_length", 56}, {"d_model", 8},
                       {"length_penalty", 2.0}, {"decoder_start_token_id", 2}, {"top_k", nullptr}};
  const Json settings = generation_settings(Json(), config);
  EXPECT_FALSE(settings.contains("d_model"));
  EXPECT_FALSE(settings.contains("top_k"));
  EXPECT_EQ(decoder_start(settings, "x"), 2);
  const GenerateOptions options = read_generation_config(settings, "x");
  EXPECT_EQ(options.num_beams, 4);
  EXPECT_EQ(options.max_length, 142);
  EXPECT_EQ(generation_settings({{"num_beams", 3}}, config), Json({{"num_beams", 3}}));
}

}  // namespace
}  // namespace heed
