#include "heed/tasks/similarity.h"

#include "heed/tasks/embed_plan.h"
#include "heed/tasks/run_task.h"

namespace heed {
namespace {

class Alike : public Finding {
 public:
  void finish() override {
    for (std::size_t i = 1; i < vectors.size(); ++i) {
      cosines.push_back(static_cast<float>(cosine(vectors[0], vectors[i])));
    }
  }
  Json json() const override { return cosines; }

  std::vector<std::vector<float>> vectors{};  // of the source, then of the others
  std::vector<float> cosines{};
};

class SimilarityRun : public BatchedRun {
 public:
  SimilarityRun(const TaskSetup& setup, const SimilarityOptions& options)
      : BatchedRun(setup), plan_(setup, {.pooling = options.pooling, .prompt = options.prompt}) {}

  // A sample per text: the source, then the others.
  std::vector<std::vector<text::Encoding>> encode(const Row& row, Purpose) const override {
    std::vector<std::vector<text::Encoding>> samples;
    const auto add = [&](const std::string& text) {
      samples.push_back({encoded(plan_.prompt + text, {.max_length = plan_.max_tokens})});
      samples.back()[0].drop_windows();
    };
    add(row.text);
    for (const std::string& text : row.texts) add(text);
    return samples;
  }
  Tensor forward(const Model&, const HeadBatch& part, const Tensor& hidden, const Context&) const override {
    return plan_.pool(hidden, part.batch.inputs.ids.offsets);
  }
  std::unique_ptr<Finding> begin(const Row& row) const override {
    auto finding = std::make_unique<Alike>();
    finding->vectors.resize(row.texts.size() + 1);
    return finding;
  }
  void find(const HeadBatch& part, std::span<Finding* const> findings) const override {
    const auto width = static_cast<std::size_t>(part.logits.size(1));
    for (std::size_t i = 0; i < findings.size(); ++i) {
      const std::span row(part.logits.data<float>() + i * width, width);
      static_cast<Alike&>(*findings[i]).vectors[part.batch.samples[i].window] = plan_.finished(row);
    }
  }

 private:
  EmbedPlan plan_;
};

}  // namespace

Fields SimilarityOptions::fields() {
  return {pooling_field(pooling), prompt_field(prompt)};
}

std::vector<float> similarity(const LoadedModel& model, const std::string& source,
                              const std::vector<std::string>& texts, const SimilarityOptions& options) {
  model.require(similarity_task());
  const SimilarityRun run(model.setup(), options);
  return results_of(run_task(model, run, {Row{.text = source, .texts = texts}}), &Alike::cosines).front();
}

const Task& similarity_task() {
  static const Task task{
      .name = "similarity",
      .verb = "similarity",
      .summary = "compare a text with others: a list of cosines, one per other text",
      .example = "heed similarity --model all-MiniLM-L6-v2 \"a cat\" \"a kitten\" \"a car\"",
      .request = {{.name = "source_sentence",
                   .row = RowField::text,
                   .help = "text to compare with the others",
                   .first_text = true},
                  {.name = "sentences", .row = RowField::texts, .help = "texts to compare with the first"}},
      .supports = has_hidden_states,
      .options = option_list<SimilarityOptions>(),
      .make = make_run<SimilarityRun, SimilarityOptions>};
  return task;
}

}  // namespace heed
