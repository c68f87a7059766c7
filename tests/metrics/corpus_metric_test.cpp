// BLEU, chrF and TER beyond what the suite records: signatures as sacrebleu's README prints them, references that are
// missing, options that do not fit, input of any kind.
#include "heed/metrics/corpus_metric.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "heed/base/parallel.h"
#include "heed/base/random.h"
#include "heed/metrics/bleu.h"
#include "heed/metrics/chrf.h"
#include "heed/metrics/significance.h"
#include "heed/metrics/ter.h"
#include "support/error_of.h"
#include "support/shared_data.h"

namespace heed {
namespace {

TEST(CorpusMetric, Signatures) {
  const Draws bootstrap{.bootstrap = 1000, .seed = 12345}, randomization{.randomization = 10000, .seed = 12345};
  EXPECT_EQ(signature_of(Bleu(), 1, {}), "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0");
  EXPECT_EQ(signature_of(Bleu(), 1, bootstrap, true), "#:1|bs:1000|rs:12345|c:mixed|e:no|tok:13a|s:exp|v:2.6.0");
  EXPECT_EQ(signature_of(Chrf(), 1, bootstrap, true), "#:1|bs:1000|rs:12345|c:mixed|e:yes|nc:6|nw:0|s:no|v:2.6.0");
  EXPECT_EQ(signature_of(Chrf(), 2, randomization),
            "nrefs:2|ar:10000|seed:12345|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.6.0");
  EXPECT_EQ(signature_of(Ter(), 2, {}), "nrefs:2|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:2.6.0");
  EXPECT_EQ(signature_of(Bleu({.tokenize = "zh", .lowercase = true, .smooth_method = "floor", .effective_order = true}),
                         0, {}),
            "nrefs:var|case:lc|eff:yes|tok:zh|smooth:floor[0.10]|version:2.6.0");
  EXPECT_EQ(signature_of(Ter({.normalized = true, .no_punct = true, .asian_support = true, .case_sensitive = true}), 1,
                         {}, true),
            "#:1|c:mixed|t:tercom|nr:yes|pn:no|as:yes|v:2.6.0");
  EXPECT_EQ(Chrf({.word_order = 2, .beta = 3}).name(), "chrF3++");
}

TEST(CorpusMetric, MissingReferencesAreLeftOut) {
  const Bleu bleu;
  const Lines predictions = {"a b c d", "e f g h"};
  const CorpusNumbers some = corpus_numbers(bleu, predictions, {{"a b c d", std::nullopt}, {std::nullopt, "e f g h"}});
  EXPECT_EQ(some.references, 1u);
  EXPECT_NEAR(bleu.score(some.sums()), 100, 1e-9);
  const CorpusNumbers both = corpus_numbers(bleu, predictions, {{"a b c d", "x"}, {std::nullopt, "e f g h"}});
  EXPECT_EQ(both.references, 0u);
  // An empty one is there.
  EXPECT_EQ(corpus_numbers(bleu, predictions, {{"a b c d", ""}, {"", "e f g h"}}).references, 2u);
  EXPECT_EQ(bleu.score(corpus_numbers(bleu, predictions, {{"", ""}}).sums()), 0);
  const std::string message = test::error_of(ErrorKind::invalid_argument, [&] {
    corpus_numbers(bleu, predictions, {{"a", std::nullopt}, {"a", std::nullopt}});
  });
  EXPECT_NE(message.find("line 2 has no reference"), std::string::npos) << message;
  test::error_of(ErrorKind::invalid_argument, [&] { corpus_numbers(bleu, {}, {References()}); });
  test::error_of(ErrorKind::invalid_argument, [&] { corpus_numbers(bleu, {"a"}, {}); });
  test::error_of(ErrorKind::invalid_argument, [&] { corpus_numbers(bleu, {"a"}, {{"a", "b"}}); });
}

TEST(CorpusMetric, OptionsThatDoNotFitAreRefused) {
  test::error_of(ErrorKind::bad_format, [] { Bleu({.tokenize = "14a"}); });
  test::error_of(ErrorKind::bad_format, [] { Bleu({.max_ngram_order = 0}); });
  test::error_of(ErrorKind::bad_format, [] { Chrf({.char_order = -1}); });
  test::error_of(ErrorKind::bad_format, [] { Chrf({.word_order = 1000}); });
  test::error_of(ErrorKind::invalid_argument, [] { Bleu({.tokenize = "flores200"}); });
  test::error_of(ErrorKind::invalid_argument, [] { Bleu({.tokenize = "13a", .sentencepiece_model = "x.model"}); });
  test::error_of(ErrorKind::invalid_argument, [] { Bleu({.smooth_method = "exp", .smooth_value = 1}); });
  test::error_of(ErrorKind::not_found,
                 [] { Bleu({.tokenize = "flores200", .sentencepiece_model = "/nowhere.model"}); });
}

// Pieces of any model do for that; those of flores200 are not among the shared data.
TEST(CorpusMetric, SentencePieceCutsTexts) {
  const auto model = test::shared_data("weights/tiny-t5/spiece.model");
  if (!std::filesystem::exists(model)) GTEST_SKIP() << model << " is not there";
  const Bleu bleu({.tokenize = "flores200", .sentencepiece_model = model.string()});
  EXPECT_NEAR(bleu.score(corpus_numbers(bleu, {"the quick brown fox"}, {{"the quick brown fox"}}).sums()), 100, 1e-9);
  // Characters that the model does not know are themselves.
  const auto tokenize = bleu_tokenizer("flores200", model.string());
  EXPECT_EQ(tokenize("  the 囧  the "), "▁the ▁ 囧 ▁the");
  EXPECT_EQ(signature_of(bleu, 1, {}), "nrefs:1|case:mixed|eff:no|tok:flores200|smooth:exp|version:2.6.0");
}

// Worked out by hand: "c d" goes to the front in one shift.
TEST(CorpusMetric, AShiftIsOneEdit) {
  const std::uint32_t words[] = {0, 1, 2, 3}, reference[] = {2, 3, 0, 1};
  EXPECT_EQ(translation_edits(words, reference), 1u);
  EXPECT_EQ(translation_edits(words, {}), 4u);
  EXPECT_EQ(translation_edits({}, reference), 4u);
  EXPECT_EQ(translation_edits({}, {}), 0u);
}

// TER takes no longer than its limits demand, whatever the lengths are.
TEST(CorpusMetric, LongAndUnevenTexts) {
  std::vector<std::uint32_t> same(3000, 7), counting(3000);
  std::iota(counting.begin(), counting.end(), 0U);
  EXPECT_EQ(translation_edits(same, counting), 2999u);
  EXPECT_EQ(translation_edits(counting, counting), 0u);
  // Ten words that stand at the beginning lie outside of the band around the diagonal.
  EXPECT_EQ(translation_edits(std::span(counting).first(10), counting), 3000u);
  EXPECT_EQ(translation_edits(counting, std::span(counting).first(10)), 2990u);
  const std::vector<std::uint32_t> endless(1 << 15);
  test::error_of(ErrorKind::invalid_argument, [&] { translation_edits(endless, endless); });
}

std::string any_text(RandomStream& random) {
  static const std::vector<std::string> parts = {
      "a", "the", " ",    "\t",   "\n", ".", ",",      "-", "'s ", "&amp;", "3", "中", "，", "。", "カ",
      "é", "Σ",   "\xFF", "\xE4", "<",  "[", "\u2003", "A", "İ",   "🙂",  "“", "€",  "\r", "٣",  std::string(1, 0)};
  std::string text;
  for (std::uint64_t n = random.uniform_integer(30); n > 0; --n) text += parts[random.uniform_integer(parts.size())];
  return text;
}

std::vector<std::unique_ptr<CorpusMetric>> many_metrics() {
  std::vector<std::unique_ptr<CorpusMetric>> all;
  for (const char* tokenizer : {"13a", "intl", "zh", "char", "none"}) {
    all.push_back(std::make_unique<Bleu>(BleuOptions{.tokenize = tokenizer, .lowercase = true}));
  }
  all.push_back(std::make_unique<Chrf>());
  all.push_back(std::make_unique<Chrf>(ChrfOptions{.word_order = 2, .lowercase = true, .whitespace = true}));
  all.push_back(std::make_unique<Ter>());
  all.push_back(std::make_unique<Ter>(TerOptions{.normalized = true, .no_punct = true, .asian_support = true}));
  return all;
}

TEST(CorpusMetric, AnyTextHasAScore) {
  RandomStream random{.seed = 21};
  Lines predictions, right;
  for (int i = 0; i < 300; ++i) {
    predictions.push_back(any_text(random));
    right.push_back(any_text(random) + ".");
  }
  const References references(right.begin(), right.end());
  for (const auto& metric : many_metrics()) {
    const CorpusNumbers numbers = corpus_numbers(*metric, predictions, {references});
    for (std::size_t i = 0; i < numbers.segments(); ++i) {
      const double score = metric->score(numbers.segment(i));
      ASSERT_TRUE(score >= 0 && std::isfinite(score)) << metric->name() << " of \"" << predictions[i] << "\"";
    }
    // A text is as good as can be if it is the reference.
    const CorpusNumbers perfect = corpus_numbers(*metric, right, {references});
    const double best = metric->name() == "TER" ? 0 : 100;
    EXPECT_NEAR(metric->score(perfect.sums()), best, 1e-9) << signature_of(*metric, 1, {});
  }
}

TEST(CorpusMetricParallel, ThreadsChangeNothing) {
  RandomStream random{.seed = 22};
  Lines predictions, right;
  for (int i = 0; i < 200; ++i) {
    predictions.push_back(any_text(random));
    right.push_back(any_text(random) + ".");
  }
  const References references(right.begin(), right.end());
  const Chrf metric({.word_order = 2});
  const auto results = [&](int threads) {
    const ThreadLimit limit(threads);
    const CorpusNumbers numbers = corpus_numbers(metric, predictions, {references});
    const CorpusNumbers other = corpus_numbers(metric, right, {references});
    const Confidence confidence = bootstrap_confidence(metric, numbers, 200, 1);
    return std::tuple(numbers.values, confidence.mean, confidence.half,
                      paired_bootstrap(metric, other, numbers, 200, 1).p_value,
                      paired_randomization(metric, other, numbers, 200, 1).p_value);
  };
  EXPECT_EQ(results(1), results(4));
}

}  // namespace
}  // namespace heed
