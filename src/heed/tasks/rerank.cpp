#include "heed/tasks/rerank.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/tasks/label_scores.h"
#include "heed/tasks/run_task.h"

namespace heed {
namespace {

struct RerankOptions {
  Fields fields() { return {}; }
};

class Ranking : public Finding {
 public:
  explicit Ranking(const Row& row) : texts(row.texts) {}
  void finish() override {
    std::ranges::sort(ranked, {}, &RankedText::index);
    std::ranges::stable_sort(ranked, std::greater(), &RankedText::score);
  }
  Json json() const override {
    Json list = Json::array();
    for (const RankedText& each : ranked) {
      list.push_back({{"index", each.index}, {"score", each.score}, {"text", texts[each.index]}});
    }
    return list;
  }
  std::vector<std::string> texts;
  std::vector<RankedText> ranked{};
};

class RerankRun : public BatchedRun {
 public:
  explicit RerankRun(const TaskSetup& setup) : BatchedRun(setup), problem_(problem_type(setup)) {}

  // A sample per text, in their order.
  std::vector<std::vector<text::Encoding>> encode(const Row& row, Purpose) const override {
    std::vector<std::vector<text::Encoding>> samples;
    for (const std::string& text : row.texts) {
      samples.push_back({encoded(row.text, text, {.max_length = setup_.max_tokens})});
      samples.back()[0].drop_windows();
    }
    return samples;
  }
  std::unique_ptr<Finding> begin(const Row& row) const override { return std::make_unique<Ranking>(row); }
  void find(const HeadBatch& part, std::span<Finding* const> findings) const override {
    for (std::size_t i = 0; i < findings.size(); ++i) {
      const double score = label_scores(problem_, std::span(part.logits.data<float>() + i, 1))[0];
      static_cast<Ranking&>(*findings[i]).ranked.push_back({part.batch.samples[i].window, static_cast<float>(score)});
    }
  }

 private:
  std::string problem_;
};

}  // namespace

std::vector<RankedText> rerank(const LoadedModel& model, const std::string& query,
                               const std::vector<std::string>& texts) {
  Row row{.text = query, .texts = texts};
  return results_of(run_task(model, *make_task(model, rerank_task()), {std::move(row)}), &Ranking::ranked).front();
}

const Task& rerank_task() {
  static const Task task{
      .name = "rerank",
      .verb = "rerank",
      .summary = "rank texts by relevance to a query, with a cross-encoder: [{\"index\", \"score\", \"text\"}, ...]",
      .example =
          "heed rerank --model ms-marco-MiniLM-L-6-v2 --query \"how tall is it?\" \"It is 300 m tall.\" \"It is old.\"",
      .request = {{.name = "query", .row = RowField::text, .help = "query that the texts should be relevant to"},
                  {.name = "texts", .row = RowField::texts, .help = "texts to rank"}},
      .supports =
          [](const Model& model) {
            return model.head() == HeadKind::sequence_classification && model.config().labels.size() == 1;
          },
      .options = option_list<RerankOptions>(),
      .make = [](const TaskSetup& setup, const Json&) -> std::unique_ptr<TaskRun> {
        return std::make_unique<RerankRun>(setup);
      }};
  return task;
}

}  // namespace heed
