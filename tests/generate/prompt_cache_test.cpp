// Prompts that begin alike share what was read of them, and no bit of any result tells.
#include "heed/generate/prompt_cache.h"

#include <gtest/gtest.h>

#include "generate/exact_result.h"
#include "generate/tiny_decoder.h"
#include "heed/tensor/autograd.h"
#include "support/error_of.h"

namespace heed {
namespace {

using test::exact;
using test::Ids;
using test::prompt_of;

constexpr std::int64_t kLong = 420;  // two pages of 192 tokens and a part

// The first `shared` tokens of one prompt, then others.
Ids beginning_with(const Ids& first, std::int64_t shared, std::int64_t length, std::uint64_t seed) {
  Ids ids(first.begin(), first.begin() + shared);
  for (const TokenId id : prompt_of(length - shared, seed)) ids.push_back(id);
  if (shared < std::ssize(first) && shared < length) {
    TokenId& differs = ids[static_cast<std::size_t>(shared)];
    if (differs == first[static_cast<std::size_t>(shared)]) differs = differs == 1 ? 2 : differs - 1;
  }
  return ids;
}

std::vector<GenerateOptions> kinds_of_search() {
  GenerateOptions greedy, sampled, beams;
  greedy.max_new_tokens = sampled.max_new_tokens = beams.max_new_tokens = 5;
  sampled.do_sample = true;
  sampled.num_return_sequences = 2;
  beams.num_beams = 3;
  beams.num_return_sequences = 2;
  return {greedy, sampled, beams};
}

GenerateResult only_result(Generator& generator, GenerateRequest request) {
  generator.add(std::move(request));
  while (true) {
    auto done = generator.step();
    if (!done.empty()) return std::move(done[0]);
  }
}

GenerateResult alone(const Model& model, const GenerateRequest& request) {
  Generator generator(model, nullptr, {.prompt_cache_bytes = 0});
  return only_result(generator, request);
}

TEST(PromptCache, ASharedBeginningChangesNoBit) {
  const Model model = test::tiny_decoder({.longest = 600});
  const Ids first = prompt_of(kLong, 1);
  for (const GenerateOptions& options : kinds_of_search()) {
    for (const std::int64_t shared : {0, 1, 15, 16, 17, 191, 192, 193, 384, 419, 420}) {
      for (const bool scored : {false, true}) {
        if (scored && options.do_sample) continue;
        Generator generator(model, nullptr, {.prompt_chunk = 100});
        static_cast<void>(only_result(generator, {.prompt = first, .options = options}));
        // One that goes on otherwise, and one that ends there.
        for (const std::int64_t more : {0, 40}) {
          if (shared + more == 0) continue;
          const GenerateRequest request{.prompt = beginning_with(first, shared, shared + more, 9),
                                        .options = options,
                                        .seed = 5,
                                        .score_prompt = scored};
          const GenerateResult found = only_result(generator, request);
          EXPECT_EQ(exact(found), exact(alone(model, request))) << shared << " shared, " << more << " more";
          // The last token is read for its scores, and with scores of the prompt all are. An answer may go on alike.
          if (scored) {
            EXPECT_EQ(found.known_tokens, 0);
          } else {
            EXPECT_GE(found.known_tokens, more > 0 ? shared : shared - 1);
          }
        }
      }
    }
  }
}

// All are there from the first step on: the first is read, the others wait for what they share with it.
TEST(PromptCache, PromptsOfABatchAreReadOnce) {
  const Model model = test::tiny_decoder({.longest = 600});
  const auto& backbone = static_cast<const test::TinyDecoder&>(*model.backbone());
  const Ids first = prompt_of(kLong, 1);
  std::vector<GenerateRequest> requests;
  for (int i = 0; i < 12; ++i) {
    const GenerateOptions options = kinds_of_search()[static_cast<std::size_t>(i % 3)];
    requests.push_back({.prompt = beginning_with(first, 400, 410, static_cast<std::uint64_t>(i)), .options = options});
  }
  requests[7].prompt = prompt_of(30, 99);  // nothing in common; does not wait
  Generator generator(model);
  std::vector<std::int64_t> ids;
  for (const GenerateRequest& request : requests) ids.push_back(generator.add(request));
  backbone.tokens = 0;
  std::size_t done = 0;
  std::int64_t known = 0, step = 0, prompt_tokens = 0;
  for (const GenerateRequest& request : requests) prompt_tokens += std::ssize(request.prompt);
  for (; !generator.idle(); ++step) {
    for (const GenerateResult& result : generator.step()) {
      const auto number = static_cast<std::size_t>(std::ranges::find(ids, result.request) - ids.begin());
      const auto counted = backbone.tokens;
      EXPECT_EQ(exact(result), exact(alone(model, requests[number]))) << number;
      backbone.tokens = counted;
      known += result.known_tokens;
      EXPECT_EQ(step, number == 0 || number == 7 ? 4 : 5) << number;
      ++done;
    }
  }
  EXPECT_EQ(done, requests.size());
  EXPECT_GE(known, 10 * 400);
  // Prompts without what is shared, and at most 5 tokens of 3 rows each.
  EXPECT_LE(backbone.tokens, prompt_tokens - known + std::ssize(requests) * 5 * 3);
}

// A conversation: every prompt begins with the one before and its answer.
TEST(PromptCache, AConversationGoesOnWhereItWas) {
  for (const std::vector<std::int64_t>& windows : {std::vector<std::int64_t>{}, {50, 0}, {50, 60}}) {
    const Model model = test::tiny_decoder({.longest = 2000, .windows = windows});
    GenerateOptions options;
    options.max_new_tokens = 20;
    Generator generator(model);
    Ids conversation = prompt_of(300, 1);
    for (std::uint64_t turn = 0; turn < 5; ++turn) {
      const GenerateRequest request{.prompt = conversation, .options = options};
      const GenerateResult found = only_result(generator, request);
      ASSERT_EQ(exact(found), exact(alone(model, request))) << "turn " << turn;
      // All that was said, without the last token, which was never read.
      EXPECT_EQ(found.known_tokens, turn == 0 ? 0 : std::ssize(conversation) - 30 - 1);
      const GenerateResult again = only_result(generator, request);
      EXPECT_EQ(exact(again), exact(found));
      EXPECT_EQ(again.known_tokens, std::ssize(conversation) - 1);
      for (const TokenId id : found.generations[0].ids()) conversation.push_back(id);
      for (const TokenId id : prompt_of(30, turn)) conversation.push_back(id);
    }
  }
}

TEST(PromptCache, WhatAClearedGeneratorReadStays) {
  const Model model = test::tiny_decoder({.longest = 600});
  GenerateOptions options;
  options.max_new_tokens = 50;
  const GenerateRequest request{.prompt = prompt_of(300, 1), .options = options};
  Generator generator(model, nullptr, {.prompt_chunk = 100});
  generator.add(request);
  generator.add({.prompt = prompt_of(20, 2), .options = options});
  for (int i = 0; i < 2; ++i) static_cast<void>(generator.step());
  generator.clear();
  EXPECT_TRUE(generator.idle());
  const GenerateResult found = only_result(generator, request);
  EXPECT_EQ(found.known_tokens, 200);
  EXPECT_EQ(exact(found), exact(alone(model, request)));
}

// States made by decoding, for the cache itself.
class PromptCacheTest : public testing::Test {
 protected:
  const Decodes& decodes() const { return *model_.backbone()->decodes(); }
  DecodeState state_of(const Ids& tokens) const {
    const NoGrad no_grad;
    DecodeState state = decodes().start();
    const auto count = std::ssize(tokens);
    static_cast<void>(decodes().decode({.ids = Packed(Tensor::from(tokens, {count}), {count})}, state, Context()));
    return state;
  }
  Model model_ = test::tiny_decoder({.longest = 1000});
};

TEST_F(PromptCacheTest, KeepsWhatFitsAndWasUsedLast) {
  const std::int64_t page = state_of(prompt_of(192, 1)).bytes();
  PromptCache cache(decodes().start(), 3 * page);
  const auto keep = [&](const Ids& tokens) { cache.keep(tokens, state_of(tokens), 0); };
  const std::vector<Ids> prompts = {prompt_of(192, 1), prompt_of(192, 2), prompt_of(192, 3), prompt_of(192, 4)};
  for (int i = 0; i < 3; ++i) keep(prompts[static_cast<std::size_t>(i)]);
  DecodeState state = decodes().start();
  EXPECT_EQ(cache.join(prompts[0], state), 191);
  EXPECT_EQ(state.length(0), 191);
  keep(prompts[3]);
  EXPECT_EQ(cache.bytes(), 3 * page);
  EXPECT_EQ(cache.known(prompts[0]), 191);
  EXPECT_EQ(cache.known(prompts[1]), 0);  // longest ago
  EXPECT_EQ(cache.known(prompts[2]), 191);
  // What begins with a kept one takes its place, and a beginning of a kept one is there already.
  Ids longer = prompts[3];
  longer.push_back(7);
  keep(longer);
  EXPECT_LE(cache.bytes(), 3 * page);
  EXPECT_EQ(cache.known(longer), 192);
  EXPECT_EQ(cache.known(prompts[0]), 191);
  const std::int64_t before = cache.bytes();
  keep(prompts[3]);
  EXPECT_EQ(cache.bytes(), before);
  // Larger than all that may be kept: the others stay.
  keep(prompt_of(800, 5));
  EXPECT_LT(cache.known(prompt_of(800, 5)), 100);
  EXPECT_EQ(cache.bytes(), before);
}

TEST_F(PromptCacheTest, NothingIsKeptWhereNothingMayBe) {
  PromptCache cache(decodes().start(), 0);
  const Ids tokens = prompt_of(50, 1);
  cache.keep(tokens, state_of(tokens), 0);
  EXPECT_EQ(cache.known(tokens), 0);
  EXPECT_EQ(cache.bytes(), 0);
  test::error_of(ErrorKind::invalid_argument, [&] { PromptCache(decodes().start(), -1); });
  test::error_of(ErrorKind::invalid_argument, [&] { Generator(model_, nullptr, {.prompt_cache_bytes = -1}); });
}

// Memory of a state whose layers all have windows, token by token over many windows; one layer without keeps all.
TEST(DecodeStateWindows, MemoryIsBoundedAndBitsAreThoseOfTheFullPass) {
  const NoGrad no_grad;
  const Ids tokens = prompt_of(1500, 1);
  std::vector<std::int64_t> bytes;
  for (const std::vector<std::int64_t>& windows : {std::vector<std::int64_t>{100, 200}, {100, 0}, {}}) {
    const Model model = test::tiny_decoder({.longest = 2000, .windows = windows});
    const auto& backbone = static_cast<const test::TinyDecoder&>(*model.backbone());
    const auto count = std::ssize(tokens);
    const Tensor full = backbone.full(Packed(Tensor::from(tokens, {count}), {count}));
    DecodeState state = backbone.start();
    std::int64_t most = 0;
    for (std::int64_t t = 0; t < count; ++t) {
      const Packed next(Tensor::from(Ids{tokens[static_cast<std::size_t>(t)]}, {1}), {1});
      const Tensor hidden = backbone.decode({.ids = next}, state, Context());
      ASSERT_EQ(hidden.to_vector<float>(), full.detached_slice(0, t, t + 1).to_vector<float>()) << t;
      most = std::max(most, state.bytes());
    }
    bytes.push_back(most);
  }
  // Pages of 192 tokens: at most 2 and 3 of them, against all 8 of a layer.
  EXPECT_LE(bytes[0], bytes[2] / 16 * 5);
  EXPECT_LE(bytes[1], bytes[2] / 16 * 10);
  EXPECT_GE(bytes[1], bytes[2] / 2);
}

// Positions that depend on the length of the prompt: the chunks and the neighbours of a prompt do not.
TEST(PromptCache, PositionsOfLongPromptsComeFromTheWholePrompt) {
  RopeScaling scaling{.kind = RopeScaling::Kind::longrope, .original_length = 100};
  scaling.short_factors = {1, 1, 1};
  scaling.long_factors = {1, 3, 9};
  const Model model = test::tiny_decoder({.longest = 600, .scaling = scaling});
  const auto& backbone = static_cast<const test::TinyDecoder&>(*model.backbone());
  GenerateOptions options;
  options.max_new_tokens = 1;
  const Ids first = prompt_of(300, 1);
  for (const std::int64_t length : {60, 100, 101, 300}) {
    const Ids prompt(first.begin(), first.begin() + length);
    const NoGrad no_grad;
    const Tensor hidden = backbone.full(Packed(Tensor::from(prompt, {length}), {length}));
    const auto logits =
        model.logits_of_rows(hidden.detached_slice(0, length - 1, length), Context()).to_vector<float>();
    const auto best = static_cast<TokenId>(std::ranges::max_element(logits) - logits.begin());
    const GenerateRequest request{.prompt = prompt, .options = options, .alternatives = 5};
    const std::string whole = exact(alone(model, request));
    for (const std::int64_t chunk : {7, 64, 512}) {
      Generator generator(model, nullptr, {.prompt_chunk = chunk});
      static_cast<void>(only_result(generator, {.prompt = first, .options = options}));
      static_cast<void>(only_result(generator, {.prompt = Ids(first.begin(), first.begin() + 90), .options = options}));
      const GenerateResult found = only_result(generator, request);
      EXPECT_EQ(exact(found), whole) << length << " tokens in chunks of " << chunk;
      EXPECT_EQ(found.known_tokens, length > 100 ? 0 : std::min<std::int64_t>(length - 1, 90));
      EXPECT_EQ(found.generations.at(0).ids(), Ids{best});
    }
  }
}

}  // namespace
}  // namespace heed
