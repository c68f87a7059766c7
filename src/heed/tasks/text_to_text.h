// From one text to another: what translation and summaries that are written have in common. Models read the first and
// write the second; training shows them the right one and asks for its next token.
#pragma once

#include "heed/generate/search.h"
#include "heed/tasks/languages.h"
#include "heed/tasks/task.h"

namespace heed {

struct TextToTextOptions {
  GenerateOptions generate{};
  std::int64_t seed = 0;
  std::string from, to;  // codes of languages
  double label_smoothing = 0;
  bool bleu = true;
  Fields fields();
};
// Without how to write, which is the model's own affair: a run does not keep it.
OptionList text_to_text_options();

struct TargetText {
  std::string text{};
  double score = 0;  // what beams are ranked by, or the sum of log-probabilities
};

// What was written about one source, and how probable the right text is.
class WrittenTarget : public Finding {
 public:
  // {"translation_text", "score"}, and the others as "alternatives".
  Json json() const override;

  std::vector<TargetText> texts{};  // the best first
  double right = 0, tokens = 0;     // of the right text: tokens that were the likeliest, and all
};

bool writes_about_sources(const Model& model);

class TextToTextRun : public TrainableRun {
 public:
  // `given` are options, over those of the model's folder.
  TextToTextRun(const TaskSetup& setup, const Json& given);

  // A source without a text gets one without a text.
  std::vector<std::unique_ptr<Finding>> run(const LoadedModel& model, std::vector<Row> rows,
                                            const TaskCall& call) const override;

  // A sample is the source and what the decoder reads, with the last token of the right text, which targets() takes.
  std::vector<std::vector<text::Encoding>> encode(const Row& row, Purpose purpose) const override;
  bool reads_source() const override { return true; }
  HeadKind head() const override { return HeadKind::seq2seq_lm; }
  Targets targets(const Row& row, const std::string& text, std::vector<text::Encoding>& sequences,
                  const SampleDraw& draw) const override;
  double count(const HeadBatch& part) const override;
  Tensor loss(const HeadBatch& part) const override;

  std::unique_ptr<Finding> begin(const Row& row) const override;
  void find(const HeadBatch& part, std::span<Finding* const> findings) const override;
  void write(const Model& model, const HeadBatch& part, std::span<Finding* const> findings,
             const Context& context) const override;

  void compare(const Row& row, const Finding& finding, Comparison& all) const override;
  Evaluation metrics(const Comparison& all, double loss) const override;
  std::vector<std::string> metric_names() const override;
  std::string main_metric() const override { return options_.bleu ? "bleu" : "loss"; }
  void save_files(const std::filesystem::path& folder, const ModelInfo& model) const override;

 private:
  struct Job {
    std::vector<TokenId> source{};
    WrittenTarget* found = nullptr;
    std::size_t row = 0;
  };
  const text::Tokenizer& target_tokenizer() const;
  text::Encoding source_of(const std::string& text) const;
  text::Encoding target_of(const std::string& text) const;
  GenerateOptions options_for(std::size_t source_tokens) const;
  // At most this many tokens of sources at a time, or one source. `done` is told each job when it is.
  void write_all(const Model& model, std::vector<Job> jobs, std::size_t budget, const Context& context,
                 const std::function<void(const Job&)>& done = {}) const;

  Json settings_;  // generation_config.json
  TextToTextOptions options_;
  Direction direction_;
  std::int32_t start_ = 0;  // what the decoder begins with
  std::optional<std::int32_t> end_{};
  std::optional<std::int64_t> longest_{};  // of what is written, by the model's folder
};

}  // namespace heed
