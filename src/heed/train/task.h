// What is learned: from rows to token sequences with targets, from hidden states to a loss, from predictions to
// metrics. One class a task; make_task() knows them all. Sums are over what counts (labels, masked tokens, pairs), so
// that a step of several batches is exactly that of one large batch.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "heed/data/readers.h"
#include "heed/models/encoder_model.h"
#include "heed/tasks/evaluation.h"
#include "heed/text/tokenizer.h"
#include "heed/train/config.h"

namespace heed {

// What one head should say of one sample. Which list is filled depends on the task.
struct Targets {
  std::vector<std::int64_t> classes{};  // one a sample, one a token (kNoTarget: none), or first and last token
  std::vector<float> values{};          // one a label, or a score
  std::vector<std::int64_t> words{};    // for each token the number of the word that it begins (kNoTarget: none)
};
inline constexpr std::int64_t kNoTarget = -100;

struct Sample {
  std::vector<text::Encoding> sequences{};  // one; two where texts are compared
  std::vector<Targets> targets{};           // one a head
  std::vector<Row> rows{};                  // what it was made of, as each head sees it
  std::size_t number = 0;                   // of the row; windows over one text share it
};

struct Batch {
  std::vector<Sample> samples{};
  EncoderInput input{};  // all sequences of all samples, end to end
  std::int64_t tokens() const { return input.ids.offsets.tokens(); }
};
Batch make_batch(std::vector<Sample> samples, bool with_types);

// Random numbers of one sample at one epoch.
struct SampleDraw {
  std::uint64_t seed, stream;
};

// Collects predictions of one head, batch by batch.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  virtual void add(const Batch& batch, const Tensor& hidden) = 0;
  virtual Evaluation result() const = 0;
};

class TrainTask {
 public:
  virtual ~TrainTask() = default;

  virtual Head head() const = 0;
  // Sees each row of the training data first, to know the labels.
  virtual void learn(const Row& /*row*/) {}
  virtual std::vector<std::string> labels() const { return {}; }
  virtual void set_labels(std::vector<std::string> /*labels*/) {}

  // The text whose tokens are the sample's, and its sequences: a list a sample, several for windows over a long text.
  virtual std::string text_of(const Row& row) const { return row.text; }
  virtual std::vector<std::vector<text::Encoding>> encode(const Row& row) const;
  // May change the tokens (masking). `text` is the text of the tokens, which another head may have chosen.
  virtual Targets targets(const Row& row, const std::string& text, std::vector<text::Encoding>& sequences,
                          const SampleDraw& draw) const = 0;

  // How many targets the batch has, and the sum of their losses. `index` is the head's place in Sample::targets.
  virtual double count(const Batch& batch, std::size_t index) const = 0;
  virtual Tensor loss(const Batch& batch, std::size_t index, const EncoderModel& model, const Tensor& hidden,
                      const Context& context) const = 0;

  virtual std::unique_ptr<Evaluator> evaluator(std::size_t index, const EncoderModel& model) const = 0;
  // The metric that tells which model is best, and whether more of it is better.
  virtual std::string main_metric() const = 0;
  // Fields that config.json gets beside the labels.
  virtual Json config_fields() const { return Json::object(); }

 protected:
  TrainTask(const text::Tokenizer& tokenizer, std::size_t max_tokens)
      : tokenizer_(tokenizer), max_tokens_(max_tokens) {}
  // A sample for the encoding and one for each of its windows.
  static std::vector<std::vector<text::Encoding>> samples_of(text::Encoding encoding);

  const text::Tokenizer& tokenizer_;
  std::size_t max_tokens_;
};

// One head of a run: the main one, or one of config.heads.
struct HeadPlan {
  std::string name{};  // "" for the main one; else the folder it is saved in
  std::string task{};
  std::string text{}, pair{}, words{}, label{}, score{};  // columns
  std::string kind = "one";
  double weight = 1;
};
std::vector<HeadPlan> head_plans(const TrainConfig& config);

// The tokenizer must outlive the task.
std::unique_ptr<TrainTask> make_task(const HeadPlan& plan, const TrainConfig& config, const text::Tokenizer& tokenizer,
                                     std::size_t max_tokens);

// The tasks, each in a file of its own.
std::unique_ptr<TrainTask> make_classify_task(const HeadPlan& plan, const TrainConfig& config,
                                              const text::Tokenizer& tokenizer, std::size_t max_tokens);
std::unique_ptr<TrainTask> make_tag_task(const HeadPlan& plan, const TrainConfig& config,
                                         const text::Tokenizer& tokenizer, std::size_t max_tokens);
std::unique_ptr<TrainTask> make_mlm_task(const HeadPlan& plan, const TrainConfig& config,
                                         const text::Tokenizer& tokenizer, std::size_t max_tokens);
std::unique_ptr<TrainTask> make_answer_task(const HeadPlan& plan, const TrainConfig& config,
                                            const text::Tokenizer& tokenizer, std::size_t max_tokens);
std::unique_ptr<TrainTask> make_embed_task(const HeadPlan& plan, const TrainConfig& config,
                                           const text::Tokenizer& tokenizer, std::size_t max_tokens);

// What a task needs of each row.
RowFields needs_of(const std::string& task);

// Whether a higher value is better: of all metrics but loss and perplexity.
bool higher_is_better(std::string_view metric);

}  // namespace heed
