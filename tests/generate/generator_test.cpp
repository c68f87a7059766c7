#include "heed/generate/generator.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "generate/exact_result.h"
#include "generate/tiny_decoder.h"
#include "heed/base/parallel.h"
#include "heed/generate/generate.h"
#include "heed/generate/sample.h"
#include "heed/tensor/autograd.h"
#include "support/error_of.h"

namespace heed {
namespace {

using test::exact;
using test::Ids;
using test::prompt_of;

// Every kind of search, prompts of many lengths.
std::vector<GenerateRequest> requests() {
  std::vector<GenerateRequest> list;
  for (const std::int64_t length : {3, 1, 90, 17, 40, 130, 5, 33, 8}) {
    const auto number = list.size();
    GenerateRequest request{.prompt = prompt_of(length, number), .seed = 11, .sequence = number, .alternatives = 2};
    GenerateOptions& options = request.options;
    options.max_new_tokens = 8 + static_cast<std::int64_t>(number);
    options.eos_token_id = {0, 7};
    options.repetition_penalty = number % 2 ? 1.3 : 1;
    if (number % 3 == 1) {
      options.do_sample = true;
      options.top_p = 0.9;
      options.num_return_sequences = number == 4 ? 3 : 1;
    }
    if (number % 3 == 2) {
      options.num_beams = 3;
      options.num_return_sequences = 2;
      options.num_beam_groups = number == 5 ? 3 : 1;
      options.diversity_penalty = number == 5 ? 0.5 : 0;
    }
    request.score_prompt = number % 4 == 0;
    list.push_back(std::move(request));
  }
  return list;
}

// Adds a request before each of the first steps, in this order; what each gives, by its place in `list`.
std::vector<std::string> run(const Model& model, const std::vector<GenerateRequest>& list,
                             const std::vector<std::size_t>& order, std::size_t at_once, std::int64_t chunk) {
  Generator generator(model, nullptr, {.prompt_chunk = chunk});
  std::vector<std::string> results(list.size());
  std::size_t added = 0;
  while (added < order.size() || !generator.idle()) {
    for (std::size_t i = 0; i < at_once && added < order.size(); ++i) generator.add(list[order[added++]]);
    for (const GenerateResult& result : generator.step()) {
      results[order[static_cast<std::size_t>(result.request)]] = exact(result);
    }
  }
  return results;
}

TEST(GeneratorParallel, SameBitsAloneTogetherShuffledChunkedOnAnyThreads) {
  const Model model = test::tiny_decoder();
  const std::vector<GenerateRequest> list = requests();
  std::vector<std::string> alone;
  for (const GenerateRequest& request : list) alone.push_back(run(model, {request}, {0}, 1, 512)[0]);
  for (const std::string& each : alone) EXPECT_NE(each.find(":"), std::string::npos);
  std::vector<std::size_t> order(list.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (int round = 0; round < 4; ++round) {
    for (const int threads : {1, 2}) {
      const ThreadLimit limit(threads);
      for (const std::int64_t chunk : {7, 64, 512}) {
        EXPECT_EQ(run(model, list, order, round % 2 ? 1 : list.size(), chunk), alone)
            << "round " << round << ", " << threads << " threads, chunks of " << chunk;
      }
    }
    std::rotate(order.begin(), order.begin() + 4, order.end());
    std::swap(order[0], order[5]);
  }
}

// The same loop in plain: all tokens again at every step, and the best of their scores.
TEST(Generator, GreedyIsWhatFullRecomputationGives) {
  const NoGrad no_grad;
  const Model model = test::tiny_decoder();
  const auto& backbone = static_cast<const test::TinyDecoder&>(*model.backbone());
  for (const std::int64_t length : {1, 20, 70}) {
    Ids ids = prompt_of(length, 5);
    const Ids prompt = ids;
    std::vector<float> scores;
    for (int i = 0; i < 12; ++i) {
      const auto count = std::ssize(ids);
      const Tensor hidden = backbone.full(Packed(Tensor::from(ids, {count}), {count}));
      const Tensor logits = model.logits_of_rows(hidden.detached_slice(0, count - 1, count), Context());
      const auto row = logits.to_vector<float>();
      const auto best = std::ranges::max_element(row) - row.begin();
      double total = 0;
      for (const float each : row) total += std::exp(static_cast<double>(each));
      scores.push_back(static_cast<float>(row[static_cast<std::size_t>(best)] - std::log(total)));
      ids.push_back(static_cast<TokenId>(best));
    }
    GenerateOptions options;
    options.max_new_tokens = 12;
    const Generation found = generate(model, {prompt}, options)[0].generations.at(0);
    EXPECT_EQ(found.reason, FinishReason::length);
    EXPECT_EQ(found.ids(), Ids(ids.begin() + length, ids.end()));
    for (std::size_t i = 0; i < scores.size(); ++i) EXPECT_NEAR(found.tokens[i].log_probability, scores[i], 1e-5);
  }
}

TEST(Generator, ScoresPromptsAsItScoresAnswers) {
  const Model model = test::tiny_decoder();
  Generator generator(model);
  const Ids prompt = prompt_of(90, 1);
  GenerateOptions options;
  options.max_new_tokens = 10;
  const Generation answer = generate(model, {prompt}, options)[0].generations.at(0);
  Ids whole = prompt;
  for (const TokenId id : answer.ids()) whole.push_back(id);
  options.max_new_tokens = 0;
  generator.add({.prompt = whole, .options = options, .score_prompt = true});
  const GenerateResult scored = generator.step().at(0);
  EXPECT_EQ(scored.generations.at(0).reason, FinishReason::length);
  EXPECT_TRUE(scored.generations.at(0).tokens.empty());
  ASSERT_EQ(scored.prompt_log_probabilities.size(), whole.size() - 1);
  for (std::size_t i = 0; i < answer.tokens.size(); ++i) {
    EXPECT_EQ(scored.prompt_log_probabilities[prompt.size() - 1 + i], answer.tokens[i].log_probability) << i;
  }
}

TEST(Generator, SampledForksDifferAndRepeat) {
  const Model model = test::tiny_decoder();
  GenerateOptions options;
  options.do_sample = true;
  options.top_k = 0;
  options.temperature = 2;
  options.num_return_sequences = 4;
  options.max_new_tokens = 16;
  const auto texts = [&](std::uint64_t seed) {
    std::vector<Ids> list;
    const auto results = generate(model, {{1, 2, 3}}, options, seed);
    for (const Generation& each : results[0].generations) list.push_back(each.ids());
    return list;
  };
  const std::vector<Ids> first = texts(1);
  EXPECT_EQ(first, texts(1));
  EXPECT_NE(first, texts(2));
  EXPECT_EQ(std::set<Ids>(first.begin(), first.end()).size(), 4u);
}

TEST(Generator, OneDecodeCallAStepForAll) {
  const Model model = test::tiny_decoder();
  const auto& backbone = static_cast<const test::TinyDecoder&>(*model.backbone());
  Generator generator(model);
  for (GenerateRequest& request : requests()) generator.add(std::move(request));
  int steps = 0;
  for (; !generator.idle(); ++steps) generator.step();
  EXPECT_EQ(backbone.calls, steps);
}

TEST(Generator, StopsByCallbackTokenAndTime) {
  const Model model = test::tiny_decoder();
  Generator generator(model);
  GenerateOptions options;
  options.max_new_tokens = 50;
  const StopSource source;
  int told = 0;
  const auto third = [&](const TokenEvent&) { return ++told < 3; };
  const std::int64_t by_callback = generator.add({.prompt = {1, 2}, .options = options, .on_token = third});
  const std::int64_t by_token = generator.add({.prompt = {3, 4}, .options = options, .stop = source.token()});
  const std::int64_t by_cancel = generator.add({.prompt = {3, 4}, .options = options});
  options.max_time = 0;
  const std::int64_t by_time = generator.add({.prompt = {5}, .options = options});
  std::map<std::int64_t, Generation> found;
  for (int step = 0; !generator.idle(); ++step) {
    for (GenerateResult& result : generator.step()) found[result.request] = std::move(result.generations.at(0));
    if (step == 4) source.request_stop(), generator.cancel(by_cancel);
  }
  EXPECT_EQ(found[by_callback].tokens.size(), 3u);
  EXPECT_EQ(found[by_callback].reason, FinishReason::stop);
  EXPECT_EQ(found[by_token].tokens.size(), 5u);
  EXPECT_EQ(found[by_token].reason, FinishReason::cancelled);
  EXPECT_EQ(found[by_cancel].ids(), found[by_token].ids());
  EXPECT_EQ(found[by_time].reason, FinishReason::time);
  EXPECT_TRUE(found[by_time].tokens.empty());
}

TEST(Generator, AStepThatIsCancelledMayBeRepeated) {
  const Model model = test::tiny_decoder();
  const std::vector<GenerateRequest> list = requests();
  Generator generator(model, nullptr, {.prompt_chunk = 64});
  for (const GenerateRequest& request : list) generator.add(request);
  const StopSource source;
  source.request_stop();
  for (int step = 0; !generator.idle(); ++step) {
    if (step % 2 == 0) {
      test::error_of(ErrorKind::cancelled, [&] { generator.step(Context().stopping(source.token())); });
    }
    for (const GenerateResult& result : generator.step()) {
      const auto place = static_cast<std::size_t>(result.request);
      EXPECT_EQ(exact(result), run(model, {list[place]}, {0}, 1, 512)[0]);
    }
  }
}

TEST(Generator, NanScoresFailTheirRequestAlone) {
  Model model = test::tiny_decoder();
  auto& backbone = static_cast<test::TinyDecoder&>(*model.backbone());
  GenerateOptions options;
  options.max_new_tokens = 4;
  backbone.broken = true;
  const std::string message = test::error_of(ErrorKind::internal, [&] { generate(model, {{1, 2, 3}}, options); });
  EXPECT_NE(message.find("request 0"), std::string::npos) << message;
  EXPECT_NE(message.find("NaN at position 3"), std::string::npos) << message;
  options.remove_invalid_values = true;
  EXPECT_EQ(generate(model, {{1, 2, 3}}, options)[0].generations[0].ids(), (Ids{0, 0, 0, 0}));
}

TEST(Generator, NanScoresOfOneRequestLeaveTheOthersTheirBits) {
  const Model model = test::tiny_decoder();
  auto& backbone = static_cast<test::TinyDecoder&>(*model.backbone());
  backbone.broken_by = 60;
  GenerateOptions options;
  options.max_new_tokens = 6;
  const std::vector<GenerateRequest> list = {{.prompt = {5, 6, 7}, .options = options},
                                             {.prompt = {1, 2, 60}, .options = options},
                                             {.prompt = {9, 8}, .options = options}};
  const auto found = run(model, list, {0, 1, 2}, 3, 512);
  EXPECT_EQ(found[1], "error");
  for (const std::size_t i : {0, 2}) {
    EXPECT_NE(found[i].find(":"), std::string::npos);
    EXPECT_EQ(found[i], run(model, {list[i]}, {0}, 1, 512)[0]) << i;
  }
}

TEST(Generator, RefusesWhatCannotWork) {
  const Model model = test::tiny_decoder();
  Generator generator(model);
  const auto refused = [&](GenerateRequest request) {
    return test::error_of(ErrorKind::invalid_argument, [&] { generator.add(std::move(request)); });
  };
  EXPECT_NE(refused({.prompt = {}}).find("empty"), std::string::npos);
  EXPECT_NE(refused({.prompt = {1, 61}}).find("token 61"), std::string::npos);
  EXPECT_NE(refused({.prompt = {-1}}).find("token -1"), std::string::npos);
  EXPECT_NE(refused({.prompt = Ids(201, 1)}).find("201 tokens"), std::string::npos);
  GenerateOptions options;
  options.max_length = 2;
  EXPECT_NE(refused({.prompt = {1, 2}, .options = options}).find("max_length"), std::string::npos);
  options = {};
  options.num_return_sequences = 2;
  EXPECT_NE(refused({.prompt = {1}, .options = options}).find("greedy"), std::string::npos);
  options = {};
  options.num_beams = 4;
  options.num_beam_groups = 3;
  EXPECT_NE(refused({.prompt = {1}, .options = options}).find("multiple"), std::string::npos);
  options = {};
  options.stop_strings = {"x"};
  EXPECT_NE(refused({.prompt = {1}, .options = options}).find("tokenizer"), std::string::npos);
  EXPECT_TRUE(generator.idle());
  // The model's own limit, 200 tokens that are read and the one after them, ends what the options would let go on.
  options = {};
  options.max_new_tokens = 1000;
  const Generation found = generate(model, {Ids(195, 1)}, options)[0].generations[0];
  EXPECT_EQ(found.tokens.size(), 6u);
  EXPECT_EQ(found.reason, FinishReason::length);
}

// Counts up from 10 and may end after 13.
class Counting : public RowConstraint {
 public:
  std::unique_ptr<RowConstraint> clone() const override { return std::make_unique<Counting>(*this); }
  void apply(std::span<float> scores, std::int64_t /*left*/) const override {
    for (std::size_t i = 0; i < scores.size(); ++i) {
      if (static_cast<TokenId>(i) != next_ || next_ > 13) scores[i] = -INFINITY;
    }
  }
  void accept(TokenId id) override { next_ = id + 1; }
  bool can_end() const override { return next_ > 13; }

 private:
  TokenId next_ = 10;
};

TEST(Generator, ConstraintsRuleEveryRow) {
  const Model model = test::tiny_decoder();
  Generator generator(model);
  for (const std::int64_t beams : {1, 3}) {
    for (const bool with_end : {true, false}) {
      if (beams > 1 && !with_end) continue;
      GenerateOptions options;
      options.max_new_tokens = 20;
      options.num_beams = beams;
      if (with_end) options.eos_token_id = {0};
      generator.add({.prompt = {1, 2}, .options = options, .constraint = std::make_shared<Counting>()});
      while (true) {
        const auto done = generator.step();
        if (done.empty()) continue;
        ASSERT_FALSE(done[0].error);
        Ids expected = {10, 11, 12, 13};
        if (with_end) expected.push_back(0);
        EXPECT_EQ(done[0].generations.at(0).ids(), expected);
        EXPECT_EQ(done[0].generations[0].reason, FinishReason::stop);
        break;
      }
    }
  }
}

}  // namespace
}  // namespace heed
