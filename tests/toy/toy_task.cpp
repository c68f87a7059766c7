// A task that no file of src/ knows: which tokens occur in a text twice or more. It registers itself and then has all
// that other tasks have: a verb, help, JSON, a group of the training config, training, evaluation.
#include <algorithm>

#include "heed/base/join.h"
#include "heed/ops/loss.h"
#include "heed/tasks/registry.h"

namespace heed {
namespace {

struct TwiceOptions {
  std::int64_t least = 2;
  Fields fields() {
    Fields list;
    list.push_back(Field("least", least, "how often a token must occur in the text").at_least(2));
    return list;
  }
};

class Marked : public Finding {
 public:
  Json json() const override { return {{"marked", marked}}; }
  std::vector<std::int64_t> marked{};  // 1 for tokens that the model takes to be repeated
};

class TwiceRun : public TrainableRun {
 public:
  TwiceRun(const TaskSetup& setup, const TwiceOptions& options) : TrainableRun(setup), options_(options) {}

  // Training data has lists of items, requests have texts.
  std::string text_of(const Row& row) const override { return row.items.empty() ? row.text : join(row.items, " "); }
  HeadKind head() const override { return HeadKind::token_classification; }
  std::vector<std::string> labels() const override { return {"once", "twice"}; }
  Targets targets(const Row&, const std::string&, std::vector<text::Encoding>& sequences,
                  const SampleDraw&) const override {
    return {.classes = right(sequences[0])};
  }
  double count(const HeadBatch& part) const override { return static_cast<double>(part.batch.tokens()); }
  Tensor loss(const HeadBatch& part) const override {
    std::vector<std::int64_t> classes;
    for (std::size_t i = 0; i < part.batch.samples.size(); ++i) {
      std::ranges::copy(part.targets(i).classes, std::back_inserter(classes));
    }
    return cross_entropy(part.logits, Tensor::from(classes, {part.logits.size(0)}), {.reduction = Reduction::sum});
  }
  std::unique_ptr<Finding> begin(const Row&) const override { return std::make_unique<Marked>(); }
  void find(const HeadBatch& part, std::span<Finding* const> findings) const override {
    for (std::size_t i = 0; i < findings.size(); ++i) {
      const float* logits = part.token_logits(i);
      auto& marked = static_cast<Marked&>(*findings[i]).marked;
      for (std::size_t t = 0; t < part.batch.samples[i].sequences[0].size(); ++t) {
        marked.push_back(logits[2 * t + 1] > logits[2 * t] ? 1 : 0);
      }
    }
  }
  void compare(const Row& row, const Finding& finding, Comparison& all) const override {
    const auto expected = right(encode(row, Purpose::evaluate)[0][0]);
    const auto& found = static_cast<const Marked&>(finding).marked;
    for (std::size_t t = 0; t < expected.size(); ++t) all.found_numbers.push_back(expected[t] == found[t] ? 1 : 0);
  }
  Evaluation metrics(const Comparison& all, double) const override {
    const auto right = static_cast<double>(std::ranges::count(all.found_numbers, 1.0));
    return {.metrics = {{"accuracy", right / static_cast<double>(all.found_numbers.size())}}};
  }
  std::vector<std::string> metric_names() const override { return {"accuracy"}; }
  std::string main_metric() const override { return "accuracy"; }

 private:
  std::vector<std::int64_t> right(const text::Encoding& tokens) const {
    std::vector<std::int64_t> classes;
    for (const std::int32_t id : tokens.ids) {
      classes.push_back(std::ranges::count(tokens.ids, id) >= options_.least ? 1 : 0);
    }
    return classes;
  }

  TwiceOptions options_;
};

const Task kTwice{.name = "twice",
                  .verb = "twice",
                  .summary = "find tokens that occur in a text twice: {\"marked\": [...]} per line",
                  .example = "heed twice --model DIR \"the dog and the fox\"",
                  .request = {{.name = "text", .row = RowField::text, .help = "the texts"}},
                  .supports = [](const Model& model) { return model.head() == HeadKind::token_classification; },
                  .options = option_list<TwiceOptions>(),
                  .make = make_run<TwiceRun, TwiceOptions>,
                  .rows = {RowField::items},
                  .sample_data = ".jsonl",
                  .head = HeadKind::token_classification};
const bool kRegistered = (add_task(kTwice), true);

}  // namespace
}  // namespace heed
