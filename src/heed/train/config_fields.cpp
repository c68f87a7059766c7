// The fields of a training config, in the order of the starter.
#include "heed/base/join.h"
#include "heed/data/readers.h"
#include "heed/tasks/registry.h"
#include "heed/train/config.h"

namespace heed {
namespace {

void add_run_fields(Fields& list, TrainConfig& c) {
  list.push_back(Field("task", c.task, "task to train for: " + join(trainable_tasks(), ", ")));
  list.push_back(Field("output", c.output, "folder for the model, checkpoints and logs"));
  list.push_back(Field("seed", c.seed, "seed of all random choices; same seed, data and config: same bytes"));
  list.push_back(
      Field("threads", c.threads, "threads to compute with; 0: all of the machine; the result does not depend on it")
          .where([&c] { return c.threads >= 0 && c.threads <= 4096; }, "0 to 4096"));
}

void add_model_fields(Fields& list, TrainConfig& c) {
  list.push_back(Field("model.from", c.model.from, "folder of a HuggingFace model to start from"));
  list.push_back(Field("model.architecture", c.model.architecture,
                       "fields of a config.json (model_type, hidden_size ...), to train from scratch instead"));
  list.push_back(Field("model.max_tokens", c.model.max_tokens,
                       "longest sequence in tokens; 0: what the model and its tokenizer allow, up to 512")
                     .at_least(0));
  list.push_back(
      Field("model.freeze", c.model.freeze,
            "parts of the model that are not trained: embeddings, layers, layers.0, layers.1 ..., pooler, head"));
  list.push_back(Field("model.recompute", c.model.recompute, "gradient checkpointing: less memory, a third more work"));
}

void add_tokenizer_fields(Fields& list, TrainConfig& c) {
  list.push_back(Field("tokenizer.from", c.tokenizer.from, "folder of the tokenizer; default: model.from"));
  list.push_back(Field("tokenizer.train", c.tokenizer.train,
                       "kind of tokenizer to train first: wordpiece, bpe, unigram, wordlevel or character")
                     .one_of({"", "wordpiece", "bpe", "unigram", "wordlevel", "character"}));
  list.push_back(
      Field("tokenizer.vocab_size", c.tokenizer.vocab_size, "size of the vocabulary of a tokenizer that is trained"));
  list.push_back(Field("tokenizer.files", c.tokenizer.files,
                       "text files to train the tokenizer on; default: the texts of data.train"));
  list.push_back(
      Field("tokenizer.chat_template", c.tokenizer.chat_template,
            "file with a Jinja template for conversations, instead of the model's own; saved with the model"));
}

void add_data_fields(Fields& list, TrainConfig& c) {
  list.push_back(Field("data.train", c.data.train, "files to train on"));
  list.push_back(Field("data.dev", c.data.dev, "files to evaluate on during training; the best model is kept"));
  list.push_back(
      Field("data.dev_share", c.data.dev_share,
            "share of the rows of data.train to hold out if there is no data.dev, at most 2000 rows; 0: none")
          .where([&c] { return c.data.dev_share >= 0 && c.data.dev_share <= 0.5; }, "0 to 0.5"));
  list.push_back(Field("data.test", c.data.test, "files to report results on at the end"));
  list.push_back(
      Field("data.format", c.data.format, "format of the files: " + data_formats() + "; default: by the extension"));
  for (const Column& column : kColumns) {
    list.push_back(Field("data." + std::string(column.name), c.data.columns.*column.place, std::string(column.help)));
  }
  list.push_back(Field("data.label_names", c.data.label_names, "names of labels that are numbers from 0 in the files"));
  list.push_back(Field("data.separator", c.data.separator,
                       "character between the columns of a tsv or csv file; default: a tab, a comma")
                     .where([&c] { return c.data.separator.size() <= 1; }, "one character"));
  list.push_back(Field("data.label_separator", c.data.label_separator, "character between several labels of one row")
                     .where([&c] { return c.data.label_separator.size() <= 1; }, "one character"));
  list.push_back(Field("data.header", c.data.header, "whether the first row of a tsv or csv file names the columns"));
  list.push_back(
      Field("data.label_first", c.data.label_first, "whether lines of text begin with a label: \"label text\""));
  list.push_back(
      Field("data.max_bad_rows", c.data.max_bad_rows, "number of malformed rows to skip before giving up").at_least(0));
  list.push_back(
      Field("heads", c.heads,
            "further heads on the same backbone: [{\"name\": \"slots\", \"task\": \"tag\", \"label\": \"tags\", "
            "\"weight\": 1}]"));
}

void add_batch_fields(Fields& list, TrainConfig& c) {
  list.push_back(
      Field("epochs", c.epochs, "passes over data.train; 0: chosen by the size of data and model").at_least(0));
  list.push_back(Field("max_steps", c.max_steps, "stop after this many steps; 0: no limit").at_least(0));
  list.push_back(
      Field("batch.tokens", c.batch.tokens, "most tokens per batch; 0: chosen by the length of the texts").at_least(0));
  list.push_back(Field("batch.sequences", c.batch.sequences, "most examples per batch; 0: no limit").at_least(0));
  list.push_back(Field("batch.accumulate", c.batch.accumulate, "batches per step; the step is that of one large batch")
                     .at_least(1));
  list.push_back(Field("batch.shuffle", c.batch.shuffle, "shuffle the examples; false: keep the order of the files"));
  list.push_back(Field("batch.by_length", c.batch.by_length,
                       "put examples of similar length into a batch; batches come in random order"));
}

void add_optimizer_fields(Fields& list, TrainConfig& c) {
  list.push_back(Field("optimizer.name", c.optimizer.name, "optimizer to use: adamw, adam, sgd, adagrad or rmsprop")
                     .one_of({"adamw", "adam", "sgd", "adagrad", "rmsprop"}));
  list.push_back(Field("optimizer.learning_rate", c.optimizer.learning_rate,
                       "learning rate after the warm-up; 0: chosen by the model and the batch")
                     .at_least(0));
  list.push_back(Field("optimizer.weight_decay", c.optimizer.weight_decay, "weight decay; biases and norms have none"));
  list.push_back(Field("optimizer.beta1", c.optimizer.beta1, "Adam's beta1, decay of the mean gradient"));
  list.push_back(Field("optimizer.beta2", c.optimizer.beta2, "Adam's beta2, decay of the mean squared gradient"));
  list.push_back(Field("optimizer.epsilon", c.optimizer.epsilon, "Adam's epsilon, added to the denominator"));
  list.push_back(Field("optimizer.momentum", c.optimizer.momentum, "momentum of sgd"));
  list.push_back(Field("optimizer.clip", c.optimizer.clip, "largest norm of the gradient; 0: no limit").at_least(0));
  list.push_back(
      Field("optimizer.layer_decay", c.optimizer.layer_decay,
            "learning rate of a layer divided by that of the layer above: 0.9, say; 1: all the same")
          .where([&c] { return c.optimizer.layer_decay > 0 && c.optimizer.layer_decay <= 1; }, "above 0, at most 1"));
  list.push_back(Field("schedule.decay", c.schedule.decay,
                       "how the learning rate falls after the warm-up: linear, cosine or constant")
                     .one_of({"linear", "cosine", "constant"}));
  list.push_back(
      Field("schedule.warmup", c.schedule.warmup, "length of the warm-up: a share of all steps if below 1, else steps")
          .at_least(0));
  list.push_back(
      Field("ema", c.ema, "decay of a moving average of the weights, which is then saved: 0.999, say; 0: none")
          .where([&c] { return c.ema >= 0 && c.ema < 1; }, "0 to below 1"));
}

void add_lora_fields(Fields& list, TrainConfig& c) {
  list.push_back(Field("lora.rank", c.lora.rank, "rank of low-rank additions to train instead of the weights; 0: none")
                     .at_least(0));
  list.push_back(Field("lora.alpha", c.lora.alpha, "scale of the additions, alpha / rank * B A"));
  list.push_back(
      Field("lora.targets", c.lora.targets,
            "weights that get additions, by whole parts of their names: attention.output, feed_forward, layer.0 ..."));
  list.push_back(Field("lora.merge", c.lora.merge,
                       "merge the additions on saving; false: save them apart, as an adapter of HuggingFace's PEFT"));
}

void add_report_fields(Fields& list, TrainConfig& c) {
  list.push_back(
      Field("evaluate.every", c.evaluate.every, "steps between evaluations; 0: after each epoch").at_least(0));
  list.push_back(
      Field("evaluate.patience", c.evaluate.patience,
            "stop after this many evaluations without a better one; 0: never; -1: half the epochs if those are chosen")
          .where([&c] { return c.evaluate.patience >= -1; }, "-1 or more"));
  list.push_back(
      Field("evaluate.metric", c.evaluate.metric, "metric that decides which model is best; default: the task's own"));
  list.push_back(
      Field("save.every", c.save.every, "steps between checkpoints; 0: only before each evaluation").at_least(0));
  list.push_back(Field("save.keep", c.save.keep, "number of checkpoints to keep").at_least(1));
  list.push_back(
      Field("log.every", c.log.every, "steps between lines of log.jsonl and TensorBoard points").at_least(1));
  list.push_back(Field("log.tensorboard", c.log.tensorboard, "write an event file for TensorBoard"));
}

}  // namespace

Fields TrainConfig::fields() {
  Fields list;
  add_run_fields(list, *this);
  add_model_fields(list, *this);
  add_tokenizer_fields(list, *this);
  add_data_fields(list, *this);
  add_batch_fields(list, *this);
  add_optimizer_fields(list, *this);
  add_lora_fields(list, *this);
  add_report_fields(list, *this);
  return list;
}

}  // namespace heed
