// What `heed train` does: one JSON file, comments allowed, whose every field is listed once, in visit_fields().
// Reading, writing, overriding from the command line, suggesting the nearest name and the commented starter all walk
// that list.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/json.h"

namespace heed {

struct TrainConfig {
  std::string task, output;
  std::int64_t seed = 1;
  std::int64_t threads = 0;

  struct {
    std::string from;
    Json architecture = Json::object();
    std::int64_t max_tokens = 0;
    std::vector<std::string> freeze;
    bool recompute = false;
  } model;
  struct {
    std::string from, train;
    std::int64_t vocab_size = 8000;
    std::vector<std::string> files;
  } tokenizer;
  struct {
    std::vector<std::string> train, dev, test;
    std::string format, text, pair, words, label, score, label_separator;
    bool header = true, label_first = false;
    std::int64_t max_bad_rows = 0;
  } data;

  struct {
    std::string kind = "one";
    double label_smoothing = 0;
  } classify;
  struct {
    std::string metric;
    bool all_tokens = false;
  } tag;
  struct {
    double probability = 0.15;
    bool whole_words = false;
  } mlm;
  struct {
    std::int64_t stride = 128, max_answer_tokens = 30;
    bool null_answer = false;
  } answer;
  struct {
    std::string loss = "contrastive", pooling = "mean";
    double scale = 20, score_range = 5;
  } embed;
  std::vector<Json> heads;

  std::int64_t epochs = 3, max_steps = 0;
  struct {
    std::int64_t tokens = 2048, sequences = 0, accumulate = 1;
    bool shuffle = true, by_length = true;
  } batch;
  struct {
    std::string name = "adamw";
    double learning_rate = 5e-5, weight_decay = 0.01, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, momentum = 0.9;
    double clip = 1, layer_decay = 1;
  } optimizer;
  struct {
    std::string decay = "linear";
    double warmup = 0.1;
  } schedule;
  double ema = 0;
  struct {
    std::int64_t rank = 0;
    double alpha = 16;
    std::vector<std::string> targets = {"query_key_value"};
  } lora;
  struct {
    std::int64_t every = 0, patience = 0;
    std::string metric;
  } evaluate;
  struct {
    std::int64_t every = 0, keep = 2;
  } save;
  struct {
    std::int64_t every = 20;
    bool tensorboard = true;
  } log;
};

// visitor(name, field, comment) for each field, name dotted by groups.
template <class Visitor>
void visit_fields(TrainConfig& c, Visitor&& visitor) {
  visitor("task", c.task, "classify, tag, mlm, answer or embed");
  visitor("output", c.output, "folder for the model, checkpoints and logs");
  visitor("seed", c.seed, "same seed, same data, same config: same bytes");
  visitor("threads", c.threads, "0: all of the machine; the result does not depend on it");
  visitor("model.from", c.model.from, "a HuggingFace folder to start from");
  visitor("model.architecture", c.model.architecture,
          "or fields of a config.json (model_type, hidden_size ...) to start from nothing");
  visitor("model.max_tokens", c.model.max_tokens, "longest sequence; 0: what the model and its tokenizer allow");
  visitor("model.freeze", c.model.freeze,
          "parameters whose name begins so are not trained: encoder.word, encoder.layer.0.");
  visitor("model.recompute", c.model.recompute, "gradient checkpointing: less memory, a third more work");
  visitor("tokenizer.from", c.tokenizer.from, "a folder; default: model.from");
  visitor("tokenizer.train", c.tokenizer.train, "or train one first: wordpiece, bpe, unigram or wordlevel");
  visitor("tokenizer.vocab_size", c.tokenizer.vocab_size, "of a trained tokenizer");
  visitor("tokenizer.files", c.tokenizer.files, "text to train the tokenizer on; default: the texts of data.train");
  visitor("data.train", c.data.train, "files to learn from");
  visitor("data.dev", c.data.dev, "files to judge by while training; the best model is kept");
  visitor("data.test", c.data.test, "files for the report at the end");
  visitor("data.format", c.data.format, "lines, tsv, csv, jsonl, conll, conllu or squad; default: by the file's name");
  visitor("data.text", c.data.text, "column or field of the text");
  visitor("data.pair", c.data.pair, "of the second text");
  visitor("data.words", c.data.words, "of the words of a tagged sentence");
  visitor("data.label", c.data.label, "of the label, or of the tags");
  visitor("data.score", c.data.score, "of the number for regression and similarity");
  visitor("data.label_separator", c.data.label_separator, "splits a label field into several labels");
  visitor("data.header", c.data.header, "tsv, csv: the first row names the columns");
  visitor("data.label_first", c.data.label_first, "lines: \"label text\"");
  visitor("data.max_bad_rows", c.data.max_bad_rows, "malformed rows to skip before giving up");
  visitor("classify.kind", c.classify.kind, "one (label), several (labels), number");
  visitor("classify.label_smoothing", c.classify.label_smoothing, "share of the target spread over all labels");
  visitor("tag.metric", c.tag.metric, "entity or accuracy; default: entity if the labels are B-, I-, O");
  visitor("tag.all_tokens", c.tag.all_tokens,
          "the further tokens of a word are labelled too, B- as I-; else its first one alone");
  visitor("mlm.probability", c.mlm.probability, "share of tokens to predict: 80 % masked, 10 % random, 10 % kept");
  visitor("mlm.whole_words", c.mlm.whole_words, "mask all tokens of a word together");
  visitor("answer.stride", c.answer.stride, "tokens that windows over a long context share");
  visitor("answer.max_answer_tokens", c.answer.max_answer_tokens, "longest answer");
  visitor("answer.null_answer", c.answer.null_answer, "some questions have no answer (SQuAD 2)");
  visitor("embed.loss", c.embed.loss, "contrastive (the other pairs of the batch are wrong) or cosine (data.score)");
  visitor("embed.pooling", c.embed.pooling, "mean, cls or max; model.from's own if it says so");
  visitor("embed.scale", c.embed.scale, "contrastive: cosines are multiplied by this");
  visitor("embed.score_range", c.embed.score_range, "cosine: the score that stands for a cosine of 1");
  visitor("heads", c.heads,
          "further heads on the same encoder: [{\"name\": \"slots\", \"task\": \"tag\", \"label\": \"tags\", "
          "\"weight\": 1}]");
  visitor("epochs", c.epochs, "times through data.train");
  visitor("max_steps", c.max_steps, "stop after so many; 0: no limit");
  visitor("batch.tokens", c.batch.tokens, "most tokens of a batch");
  visitor("batch.sequences", c.batch.sequences, "most examples of a batch; 0: no limit");
  visitor("batch.accumulate", c.batch.accumulate, "batches of a step; the step is that of one large batch");
  visitor("batch.shuffle", c.batch.shuffle, "false: the order of the files");
  visitor("batch.by_length", c.batch.by_length, "examples of like length together, batches in random order");
  visitor("optimizer.name", c.optimizer.name, "adamw, adam, sgd, adagrad or rmsprop");
  visitor("optimizer.learning_rate", c.optimizer.learning_rate, "after the warm-up");
  visitor("optimizer.weight_decay", c.optimizer.weight_decay, "not of biases and norms");
  visitor("optimizer.beta1", c.optimizer.beta1, "adam");
  visitor("optimizer.beta2", c.optimizer.beta2, "adam");
  visitor("optimizer.epsilon", c.optimizer.epsilon, "adam");
  visitor("optimizer.momentum", c.optimizer.momentum, "sgd");
  visitor("optimizer.clip", c.optimizer.clip, "largest norm of the gradient; 0: no limit");
  visitor("optimizer.layer_decay", c.optimizer.layer_decay, "learning rate of a layer against the next one's: 0.9");
  visitor("schedule.decay", c.schedule.decay, "linear, cosine or constant");
  visitor("schedule.warmup", c.schedule.warmup, "share of all steps if below 1, else steps");
  visitor("ema", c.ema, "0.999: keep and save a moving average of the weights; 0: no");
  visitor("lora.rank", c.lora.rank, "train low-rank additions instead of the weights; merged on saving; 0: no");
  visitor("lora.alpha", c.lora.alpha, "the addition is alpha / rank * B A");
  visitor("lora.targets", c.lora.targets,
          "weights whose name contains one of these; attention.output, feed_forward.up ... are others");
  visitor("evaluate.every", c.evaluate.every, "steps; 0: after each epoch");
  visitor("evaluate.patience", c.evaluate.patience, "stop after so many evaluations without a better one; 0: never");
  visitor("evaluate.metric", c.evaluate.metric, "what better means; default: the task's own");
  visitor("save.every", c.save.every, "steps between checkpoints; 0: after each evaluation");
  visitor("save.keep", c.save.keep, "checkpoints to keep");
  visitor("log.every", c.log.every, "steps between lines of log.jsonl and TensorBoard points");
  visitor("log.tensorboard", c.log.tensorboard, "write an event file");
}

// The file's fields over the defaults, then "name=value" one by one. Unknown names are refused with the nearest known
// one; relative paths stay as they are.
TrainConfig read_train_config(const std::filesystem::path& file, std::span<const std::string> overrides = {});
TrainConfig parse_train_config(std::string_view text, const std::string& name,
                               std::span<const std::string> overrides = {});

// All fields, as JSON.
Json to_json(const TrainConfig& config);

// A commented file to begin with. Throws invalid_argument for a task that is not known.
std::string starter_config(const std::string& task);

inline constexpr std::string_view kTrainTasks[] = {"classify", "tag", "mlm", "answer", "embed"};

// The known name that takes the fewest insertions, deletions and replacements of letters; "" of none.
std::string nearest_name(std::string_view name, std::span<const std::string> known);

}  // namespace heed
