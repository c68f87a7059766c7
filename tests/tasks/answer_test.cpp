#include "heed/tasks/answer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "heed/engine/load.h"
#include "heed/models/load.h"
#include "heed/tasks/answer_spans.h"
#include "heed/tasks/run_task.h"
#include "support/error_of.h"
#include "support/random_model.h"
#include "support/temp_folder.h"

namespace heed {
namespace {

// [CLS] q [SEP] c0 c1 c2 [SEP]; the question's logits are the highest and must not count.
TEST(Answer, SpansShareProbabilityWithTheFirstTokenOnly) {
  const float ln2 = std::log(2.0f), ln4 = std::log(4.0f);
  const std::vector<float> start = {ln2, 9, 9, ln4, 0, 0, 9}, end = {0, 9, 9, 0, ln2, ln4, 9};
  const std::vector<bool> context = {false, false, false, true, true, true, false};
  // starts: 2 4 1 1 of 8; ends: 1 1 2 4 of 8.
  const WindowSpans all = best_spans(start, end, context, 10, 15);
  ASSERT_EQ(all.spans.size(), 6u);
  EXPECT_NEAR(all.null_score, 2 / 64.0, 1e-7);
  EXPECT_EQ(all.spans[0].first, 3u);
  EXPECT_EQ(all.spans[0].last, 5u);
  EXPECT_NEAR(all.spans[0].score, 16 / 64.0, 1e-7);
  EXPECT_NEAR(all.spans[1].score, 8 / 64.0, 1e-7);
  EXPECT_EQ(all.spans[1].last, 4u);
  const WindowSpans brief = best_spans(start, end, context, 1, 2);
  ASSERT_EQ(brief.spans.size(), 1u);
  EXPECT_EQ(brief.spans[0].last, 4u);
}

class RandomReader : public ::testing::Test {
 protected:
  RandomReader() { test::write_random_model(folder_.path(), HeadKind::question_answering, {"a", "b"}, 4); }
  test::TempFolder folder_;
};

// All token pairs of the only window, the plain way.
TEST_F(RandomReader, FindsTheBestSpanOfTheLogits) {
  const LoadedModel model = load(folder_.path());
  const Question question{"the dog?", "Ümlauts, the quick brown fox jumps."};
  const auto answers = answer(model, {question}, {.top_k = 3, .null_answer = true})[0];
  ASSERT_EQ(answers.size(), 3u);

  const auto plain = load_model(folder_.path());
  const auto encoding = model.tokenizer().encode(question.question, question.context);
  const auto n = static_cast<std::int64_t>(encoding.size());
  const Tensor logits =
      plain
          ->forward({Packed(Tensor::from(encoding.ids, {n}), Offsets({n})), Tensor::from(encoding.type_ids, {n})},
                    Context())
          .logits;
  double start_sum = 0, end_sum = 0, best = 0;
  std::int64_t first = 0, last = 0;
  for (std::int64_t t = 0; t < n; ++t) {
    const bool counts = t == 0 || encoding.sequence_ids[static_cast<std::size_t>(t)] == 1;
    if (counts) start_sum += std::exp(logits.at({t, 0})), end_sum += std::exp(logits.at({t, 1}));
  }
  for (std::int64_t s = 1; s < n; ++s) {
    for (std::int64_t e = s; e < std::min(n, s + 15); ++e) {
      if (encoding.sequence_ids[static_cast<std::size_t>(s)] != 1) continue;
      if (encoding.sequence_ids[static_cast<std::size_t>(e)] != 1) continue;
      const double score = std::exp(logits.at({s, 0}) + logits.at({e, 1})) / start_sum / end_sum;
      if (score > best) best = score, first = s, last = e;
    }
  }
  const double null_score = std::exp(logits.at({0, 0}) + logits.at({0, 1})) / start_sum / end_sum;
  const auto found =
      std::ranges::max_element(answers, {}, [](const Answer& a) { return a.answer.empty() ? 0 : a.score; });
  EXPECT_NEAR(found->score, best, 1e-6);
  EXPECT_LE(found->start, encoding.char_offsets[static_cast<std::size_t>(first)].begin);
  EXPECT_GE(found->end, encoding.char_offsets[static_cast<std::size_t>(last)].end);
  // Whole words: what stands around is no letter. The first character has two bytes.
  EXPECT_EQ(question.context.find(found->answer) - (found->start > 0 ? 1 : 0), static_cast<std::size_t>(found->start));

  // The empty answer stands where its score says, or where the threshold puts it.
  const auto ranked = [&](double threshold) {
    return answer(model, {question}, {.null_answer = true, .null_threshold = threshold})[0][0].answer.empty();
  };
  const double gap = std::log(null_score / best);
  EXPECT_FALSE(ranked(gap + 0.01));
  EXPECT_TRUE(ranked(gap - 0.01));
}

TEST_F(RandomReader, WindowsReachTheEndOfLongContexts) {
  const LoadedModel model = load(folder_.path());
  std::string context;
  for (int i = 0; i < 50; ++i) context += "the dog ";
  const auto answers = answer(model, {{"fox?", context}, {"fox?", "the dog"}}, {.top_k = 10'000, .stride = 8});
  std::int64_t furthest = 0;
  for (const Answer& each : answers[0]) {
    furthest = std::max(furthest, each.end);
    EXPECT_EQ(context.substr(static_cast<std::size_t>(each.start), static_cast<std::size_t>(each.end - each.start)),
              each.answer);
  }
  EXPECT_EQ(furthest, 399);
  EXPECT_EQ(answers[1].size(), 3u);  // the, dog, the dog
  test::error_of(ErrorKind::invalid_argument, [&] { answer(model, {{"fox?", ""}}); });
}

}  // namespace
}  // namespace heed
