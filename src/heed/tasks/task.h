// A task: what is asked of a model. One object serves predictions, evaluation and training: it turns rows into tokens
// with targets, hidden states into logits, logits into a loss and into findings, findings into JSON and metrics. Each
// task has a file; registry.h is the table of them.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "heed/base/option_list.h"
#include "heed/base/stop.h"
#include "heed/data/row.h"
#include "heed/io/model_folder.h"
#include "heed/metrics/evaluation.h"
#include "heed/models/model.h"
#include "heed/tasks/batch.h"
#include "heed/text/special_tokens.h"

namespace heed {

class LoadedModel;  // tasks/loaded_model.h

// What a task knows of the model it works with. What is pointed to must outlive the task.
struct TaskSetup {
  const text::Tokenizer& tokenizer;
  const text::SpecialTokens& special;
  std::size_t max_tokens = 0;         // the longest sequence, special tokens included
  std::size_t memory = 0;             // tokens of earlier segments that the model remembers (ModelInfo::memory)
  std::vector<std::string> labels{};  // of a model that is there already; training learns them from the data
  Json config = Json::object();       // its config.json
  HeadKind head = HeadKind::none;
  std::optional<SentenceEmbedding> sentence_embedding{};
  Json generation_config{};                           // generation_config.json, null if there is none
  std::filesystem::path folder{};                     // where its tokenizer and templates are
  std::filesystem::path chat_template{};              // a file with another template than those; empty: none
  std::string name{};                                 // for errors: its folder
  const text::Tokenizer* target_tokenizer = nullptr;  // of what it writes, if that is another one
};

// What rows are encoded for. Training may cut long texts in other places than predictions.
enum class Purpose { train, evaluate, predict };

// Random numbers of one sample at one epoch.
struct SampleDraw {
  std::uint64_t seed, stream;
};

// What a task found out about one row. Its windows may come in any order.
class Finding {
 public:
  virtual ~Finding() = default;
  // After the last window.
  virtual void finish() {}
  virtual Json json() const = 0;
  // The same in one line.
  virtual std::string line() const { return json().dump(-1, ' ', false, Json::error_handler_t::replace); }
  // The same as a vector, if that is what was found; else empty.
  virtual std::span<const float> vector() const { return {}; }
};

// Right answers beside what was found, row by row, in the form that metrics take.
struct Comparison {
  std::vector<std::vector<std::string>> expected{}, found{};
  std::vector<double> expected_numbers{}, found_numbers{};
};

// A batch as one head of a model sees it, with the logits that loss and findings share.
struct HeadBatch {
  const Batch& batch;
  std::size_t head = 0;   // its place in Sample::targets and Sample::rows
  bool training = false;  // and not scoring: class weights count
  Tensor logits{};

  const Targets& targets(std::size_t sample) const { return batch.samples[sample].targets[head]; }
  const Row& row(std::size_t sample) const { return batch.samples[sample].rows[head]; }
  // The logits of one sample's first token, if every token has some.
  const float* token_logits(std::size_t sample) const {
    return logits.data<float>() + batch.inputs.ids.offsets.begin(static_cast<std::int64_t>(sample)) * logits.size(1);
  }
};

// Rows with a text that was too long, of which only the first tokens were read.
struct CutRows {
  std::size_t count = 0;
  std::size_t tokens = 0;  // where they were cut
};

// A piece of what a task writes.
struct TextPiece {
  std::size_t row = 0;
  std::size_t answer = 0, answers = 1;  // to which of the row's answers it belongs
  std::string_view text{};
  double log_probability = 0;  // of the token that completed it, if one did
};

// Everything about a call that is not a row.
struct TaskCall {
  StopToken stop = StopScope::current();  // ends it with a cancelled error
  CutRows* cut = nullptr;                 // is added to
  std::size_t* unfinished = nullptr;      // is added to: texts that ended before they followed their constraint
  // Of tasks that write: text as it comes, and the row of which no more will.
  std::function<void(const TextPiece& piece)> on_text{};
  std::function<void(std::size_t row)> on_done{};
};

// From rows to findings: all that predictions need.
class TaskRun {
 public:
  virtual ~TaskRun() = default;
  // What is found out about each row, in their order and the same bits whatever else is in the call (law 1).
  virtual std::vector<std::unique_ptr<Finding>> run(const LoadedModel& model, std::vector<Row> rows,
                                                    const TaskCall& call) const = 0;

 protected:
  explicit TaskRun(const TaskSetup& setup) : setup_(setup) {}
  TaskSetup setup_;
};

// A task that looks at the hidden states of texts, batch by batch.
class BatchedRun : public TaskRun {
 public:
  std::vector<std::unique_ptr<Finding>> run(const LoadedModel& model, std::vector<Row> rows,
                                            const TaskCall& call) const override;

  // The text whose tokens are the sample's, and its sequences: a list per sample, several for windows over a long text.
  virtual std::string text_of(const Row& row) const { return row.text; }
  virtual std::vector<std::vector<text::Encoding>> encode(const Row& row, Purpose purpose) const;
  // Whether a sample's first sequence is a source, and the second what the decoder reads.
  virtual bool reads_source() const { return false; }
  // How many of a window's first tokens the one before had, and the model is to remember (Inputs::remembered).
  virtual std::size_t remembered(std::size_t /*window*/) const { return 0; }
  // After how many tokens the row's text was cut, 0 if it was not. `samples` are what encode() gave.
  virtual std::size_t cut_after(const Row& row, const std::vector<std::vector<text::Encoding>>& samples) const;
  // Hidden states [N, C] to what find() and the loss need of them; default: the head's logits.
  virtual Tensor forward(const Model& model, const HeadBatch& part, const Tensor& hidden, const Context& context) const;
  // What is found out about a row: begin(), find() with each batch that has windows of it, Finding::finish().
  // findings[i] is that of the row of sample i.
  virtual std::unique_ptr<Finding> begin(const Row& row) const = 0;
  virtual void find(const HeadBatch& part, std::span<Finding* const> findings) const = 0;

 protected:
  using TaskRun::TaskRun;
  // A sample for the encoding and one for each of its windows.
  static std::vector<std::vector<text::Encoding>> samples_of(text::Encoding encoding);
  text::Encoding encoded(const std::string& text, const text::Truncation& truncation) const;
  text::Encoding encoded(const std::string& text, const std::string& pair, const text::Truncation& truncation) const;
};

// A task that can be trained and scored.
class TrainableRun : public BatchedRun {
 public:
  // The head that training gives the model.
  virtual HeadKind head() const = 0;

  // Labels. learn() sees each row of the training data first, then learned() throws bad_format for data that cannot
  // be learned from: one label, one score.
  virtual void learn(const Row& /*row*/) {}
  virtual void learned() const {}
  virtual std::vector<std::string> labels() const { return {}; }
  virtual void set_labels(std::vector<std::string> /*labels*/) {}
  // Asked of each row before it is scored: the places of its labels that the model does not have, which count as wrong
  // and have no loss. Throws bad_format for a row that cannot be scored.
  virtual std::vector<std::size_t> check(const Row& /*row*/) const { return {}; }

  // What should be found out about a sample. May change its tokens (masking). `text` is the text of the tokens, which
  // another head may have chosen.
  virtual Targets targets(const Row& row, const std::string& text, std::vector<text::Encoding>& sequences,
                          const SampleDraw& draw) const = 0;
  // How many targets the batch has, and the sum of their losses: a step of several batches is that of one large batch.
  virtual double count(const HeadBatch& part) const = 0;
  virtual Tensor loss(const HeadBatch& part) const = 0;

  // What scoring asks of the model beside logits: texts, say. Comes after find().
  virtual void write(const Model& /*model*/, const HeadBatch& /*part*/, std::span<Finding* const> /*findings*/,
                     const Context& /*context*/) const {}
  // Adds a row and what was found to those compared so far; then metrics of all of them. `loss` is the mean loss.
  virtual void compare(const Row& row, const Finding& finding, Comparison& all) const = 0;
  virtual Evaluation metrics(const Comparison& all, double loss) const = 0;
  // The names of those metrics, once the labels are known; evaluations add "loss".
  virtual std::vector<std::string> metric_names() const = 0;
  // The metric that tells which model is best: one of them, or "loss".
  virtual std::string main_metric() const = 0;
  // Whether that is a correlation, which takes two rows of different scores.
  virtual bool correlates() const { return false; }

  // What a saved model gets beside its weights: fields of config.json, further files.
  virtual Json config_fields() const { return Json::object(); }
  virtual void save_files(const std::filesystem::path& /*folder*/, const ModelInfo& /*model*/) const {}

 protected:
  using BatchedRun::BatchedRun;
};

// A field of a request. The last of a task's fields is what a text of the command line, or a line of a file, fills; a
// list takes all of them. Others are given by flags, or come before it.
struct RequestField {
  std::string name;
  RowField row;
  std::string help;
  bool optional = false;
  std::string flag{};       // "--pair"; "": by the name
  bool first_text = false;  // is the first text of the command line instead of a flag

  bool is_list() const { return row == RowField::texts || row == RowField::words || row == RowField::messages; }
};

// Users of a task's option fields (Field::only_for).
inline constexpr unsigned kForPredict = 1, kForTrain = 2, kForEvaluate = 4;

struct Task {
  std::string name;     // in configs and for --task
  std::string verb;     // of the command line
  std::string summary;  // one line of help, with the shape of the answer
  std::string example;  // a command that shows it
  std::vector<RequestField> request;
  bool (*supports)(const Model& model);  // whether predictions can be asked of this model
  OptionList options;
  std::unique_ptr<TaskRun> (*make)(const TaskSetup& setup, const Json& options);

  // Of tasks that can be trained and scored, whose make() gives a TrainableRun:
  RowFields rows{};                            // what rows of data files must have; empty: it only predicts
  bool chats = false;                          // rows may be conversations instead (DataSource::chats)
  std::string sample_data{};                   // the extension that its data usually has
  HeadKind head = HeadKind::none;              // models with this head are made for it
  bool shares_input = false;                   // may be a further head on the tokens of another task
  bool keeps_head = false;                     // low-rank additions leave a head that the model brought as it is
  std::vector<std::string> lower_is_better{};  // metrics that are better the lower they are, beside the loss
  bool writes = false;                         // answers are texts that come piece by piece (TaskCall::on_text)
  bool keeps_blank_lines = false;  // a blank line of a file is a request too: answers stay beside their lines

  bool trains() const { return !rows.empty(); }
  bool higher_is_better(std::string_view metric) const;
  // Throws invalid_argument for a task that only predicts.
  std::unique_ptr<TrainableRun> make_trainable(const TaskSetup& setup, const Json& given) const;
};

// Of the reports for people.
inline Field digits_field(std::int64_t& digits) {
  return Field("digits", digits, "digits after the point of the numbers printed")
      .where([&digits] { return digits >= 1 && digits <= 12; }, "1 to 12")
      .only_for(kForEvaluate);
}

// Task::make of a run that takes these options.
template <class Run, class Options>
std::unique_ptr<TaskRun> make_run(const TaskSetup& setup, const Json& options) {
  return std::make_unique<Run>(setup, options_from<Options>(options));
}

}  // namespace heed
