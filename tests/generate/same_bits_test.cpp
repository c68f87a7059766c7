// Same text, same bits, while texts are written: 64 prompts alone, in batches of 8 and of 64, on one thread and two,
// with and without a probe, in chunks and whole, with what was read before and without, and against full passes that
// have no cache at all. Ids and log-probabilities are the same to the bit, of greedy search and of sampling.
#include <gtest/gtest.h>

#include <algorithm>

#include "generate/exact_result.h"
#include "generate/tiny_decoder.h"
#include "heed/base/parallel.h"
#include "heed/engine/load.h"
#include "heed/kernels/softmax.h"
#include "heed/tasks/loaded_model.h"
#include "heed/tensor/autograd.h"
#include "heed/text/tokenizer.h"
#include "support/shared_data.h"

namespace heed {
namespace {

using test::exact;
using test::Ids;

constexpr std::size_t kPrompts = 64;

// Half of them begin with those of another one.
std::vector<GenerateRequest> requests(const std::vector<Ids>& prompts, std::int64_t new_tokens) {
  std::vector<GenerateRequest> list;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    GenerateRequest request{.prompt = prompts[i], .seed = 3, .alternatives = 2};
    request.options.max_new_tokens = new_tokens;
    request.options.do_sample = i % 2 == 1;
    request.options.top_k = 0;
    list.push_back(std::move(request));
  }
  return list;
}

struct Way {
  std::size_t together = 1;
  int threads = 1;
  bool watched = false;
  GeneratorOptions options{};
};

class Watcher : public Probe {
 public:
  void on_tensor(const Tap&, const Tensor&) override { ++seen; }
  bool wants(const Tap& tap) const override { return tap.sequence == 0 && tap.head == 0; }
  std::int64_t seen = 0;
};

std::vector<GenerateResult> results_of(const Model& model, const std::vector<GenerateRequest>& list, const Way& way) {
  const ThreadLimit limit(way.threads);
  Watcher watcher;
  const Context context = way.watched ? Context::watched_by(watcher) : Context();
  std::vector<GenerateResult> results(list.size());
  for (std::size_t begin = 0; begin < list.size(); begin += way.together) {
    Generator generator(model, nullptr, way.options);
    const std::size_t end = std::min(begin + way.together, list.size());
    for (std::size_t i = begin; i < end; ++i) generator.add(list[i]);
    while (!generator.idle()) {
      for (GenerateResult& result : generator.step(context)) {
        results[begin + static_cast<std::size_t>(result.request)] = std::move(result);
      }
    }
  }
  EXPECT_EQ(watcher.seen > 0, way.watched);
  return results;
}

// The hidden states of a text in one pass.
using FullPass = std::function<Tensor(const Packed& ids)>;

// Every token's log-probability by a pass over all tokens before it, which knows no cache.
void expect_full_passes_agree(const Model& model, const FullPass& full, const GenerateRequest& request,
                              const GenerateResult& result) {
  const NoGrad no_grad;
  const Generation& found = result.generations.at(0);
  Ids ids = request.prompt;
  for (const TokenId id : found.ids()) ids.push_back(id);
  const auto count = std::ssize(ids);
  const Tensor hidden = full(Packed(Tensor::from(ids, {count}), {count}));
  for (std::size_t i = 0; i < found.tokens.size(); ++i) {
    const auto place = static_cast<std::int64_t>(request.prompt.size() + i);
    const auto row = model.logits_of_rows(hidden.detached_slice(0, place - 1, place), Context()).to_vector<float>();
    float total = 0;
    kernels::log_sum_exp(row.data(), &total, 1, std::ssize(row), std::ssize(row));
    const GeneratedToken& token = found.tokens[i];
    ASSERT_EQ(token.log_probability, row[static_cast<std::size_t>(token.id)] - total) << "token " << i;
    if (!request.options.do_sample) {
      EXPECT_EQ(token.id, std::ranges::max_element(row) - row.begin());
    }
  }
}

void expect_same_bits(const Model& model, const FullPass& full, const std::vector<GenerateRequest>& list,
                      const std::vector<Way>& ways) {
  const std::vector<GenerateResult> alone = results_of(model, list, {.options = {.prompt_cache_bytes = 0}});
  for (std::size_t i = 0; i < list.size(); ++i) {
    SCOPED_TRACE(i);
    ASSERT_FALSE(alone[i].error);
    expect_full_passes_agree(model, full, list[i], alone[i]);
  }
  for (std::size_t w = 0; w < ways.size(); ++w) {
    const std::vector<GenerateResult> found = results_of(model, list, ways[w]);
    std::int64_t known = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
      known += found[i].known_tokens;
      ASSERT_EQ(exact(found[i]), exact(alone[i])) << "prompt " << i << ", way " << w;
    }
    EXPECT_EQ(known > 0, ways[w].together > 1 && ways[w].options.prompt_cache_bytes > 0) << "way " << w;
  }
}

std::vector<Way> all_ways() {
  std::vector<Way> ways;
  for (const std::size_t together : {std::size_t{1}, std::size_t{8}, kPrompts}) {
    for (const int threads : {1, 2}) {
      for (const std::int64_t chunk : {23, 512}) {
        for (const std::int64_t kept : {0, 1 << 26}) {
          const bool watched = (threads == 2) == (chunk == 23);
          ways.push_back({together, threads, watched, {.prompt_chunk = chunk, .prompt_cache_bytes = kept}});
        }
      }
    }
  }
  return ways;
}

TEST(GenerateParallel, SixtyFourPromptsHaveTheSameBitsInEveryWay) {
  for (const std::vector<std::int64_t>& windows : {std::vector<std::int64_t>{}, {40, 0}, {40, 30}}) {
    const Model model = test::tiny_decoder({.longest = 400, .windows = windows});
    std::vector<Ids> prompts;
    for (std::size_t i = 0; i < kPrompts; ++i) {
      const auto length = static_cast<std::int64_t>(1 + i * 37 % 250);
      prompts.push_back(test::prompt_of(length, i % 2 ? i : 1000));  // the even ones are beginnings of one text
    }
    const auto& backbone = static_cast<const test::TinyDecoder&>(*model.backbone());
    std::vector<Way> ways = all_ways();
    // With windows, every fifth: each of the numbers in turn.
    for (std::size_t i = 0; !windows.empty() && 5 * i < ways.size(); ++i) ways[i] = ways[5 * i];
    if (!windows.empty()) ways.resize((ways.size() + 4) / 5);
    expect_same_bits(
        model, [&](const Packed& ids) { return backbone.full(ids); }, requests(prompts, 6), ways);
  }
}

TEST(GenerateParallel, StoriesHaveTheSameBitsInEveryWay) {
  const auto folder = test::shared_data("weights/stories260K");
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not there";
  const LoadedModel model = load(folder);
  const std::vector<std::string> begins = {
      "Once upon a time, there was a little girl named Lily. She loved to play outside in the park. One day, ",
      "The dog ", "Tom and his friend went to the park. They saw a big tree and a red ball, and they wanted to ",
      "Mom said"};
  std::vector<Ids> prompts;
  for (std::size_t i = 0; i < kPrompts; ++i) {
    const auto tokens = model.tokenizer().encode(begins[i % 4] + std::string(1, static_cast<char>('a' + i / 4))).ids;
    prompts.emplace_back(tokens.begin(), tokens.end());
  }
  const Encodes& encodes = *model.model().backbone()->encodes();
  expect_same_bits(model.model(), [&](const Packed& ids) { return encodes.encode({.ids = ids}, Context(), nullptr); },
                   requests(prompts, 12),
                   {{.together = 8, .threads = 2},
                    {.together = kPrompts, .threads = 1, .watched = true, .options = {.prompt_chunk = 50}},
                    {.together = kPrompts, .threads = 2, .options = {.prompt_cache_bytes = 0}}});
}

}  // namespace
}  // namespace heed
