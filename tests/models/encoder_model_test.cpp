#include "heed/models/encoder_model.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "heed/base/file.h"
#include "heed/base/memory.h"
#include "heed/base/parallel.h"
#include "heed/io/tensor_files.h"
#include "heed/ops/loss.h"
#include "heed/tensor/autograd.h"
#include "support/error_of.h"
#include "support/temp_folder.h"

namespace heed {
namespace {

using test::error_of;
using test::TempFolder;
using Ids = std::vector<std::int64_t>;

constexpr std::int64_t kVocabulary = 61;

EncoderConfig small(const std::string& model_type, const Json& more = Json::object()) {
  Json json = {{"model_type", model_type}, {"vocab_size", kVocabulary}, {"max_position_embeddings", 80}};
  if (model_type == "distilbert") {
    json.update({{"dim", 32}, {"n_layers", 2}, {"n_heads", 4}, {"hidden_dim", 48}});
  } else {
    json.update({{"hidden_size", 32}, {"num_hidden_layers", 2}, {"num_attention_heads", 4}, {"intermediate_size", 48}});
  }
  if (model_type == "electra" || model_type == "albert") json["embedding_size"] = 16;
  json.update(more);
  return parse_encoder_config(json, "config.json");
}

const std::vector<std::pair<std::string, Json>> kVariants = {
    {"bert", Json::object()},       {"bert", {{"position_embedding_type", "relative_key"}}},
    {"roberta", Json::object()},    {"bert", {{"position_embedding_type", "relative_key_query"}}},
    {"electra", Json::object()},    {"albert", {{"num_hidden_groups", 2}, {"inner_group_num", 2}}},
    {"distilbert", Json::object()}, {"mpnet", Json::object()}};

EncoderInput input_of(const Ids& lengths, std::int64_t first = 0) {
  Ids ids;
  const Offsets offsets(lengths);
  for (std::int64_t i = 0; i < offsets.tokens(); ++i) ids.push_back((first + i) * (first + i + 7) % kVocabulary);
  return {.ids = Packed(Tensor::from(ids, {offsets.tokens()}), offsets)};
}

EncoderInput only(const EncoderInput& input, std::int64_t sequence) {
  return {.ids = Packed(input.ids.sequence(sequence).clone(), Offsets({input.ids.offsets.length(sequence)}))};
}

TEST(EncoderModel, SameBitsAloneInABatchAndWithTwoThreads) {
  for (const auto& [type, more] : kVariants) {
    SCOPED_TRACE(type + more.dump());
    EncoderModel model(small(type, more), Head::sequence_classification);
    initialize(model, 5);
    const NoGrad no_grad;
    const EncoderInput batch = input_of({3, 70, 1, 33, 9});
    const EncoderOutput all = model.forward(batch, Context());
    for (int threads : {1, 2}) {
      const ThreadLimit limit(threads);
      for (std::int64_t b = 0; b < 5; ++b) {
        const EncoderOutput one = model.forward(only(batch, b), Context());
        EXPECT_TRUE(same_bits(one.hidden, Packed(all.hidden, batch.ids.offsets).sequence(b).contiguous())) << b;
        EXPECT_TRUE(same_bits(one.logits, all.logits.sliced(0, b, b + 1).contiguous())) << b;
      }
    }
  }
}

class Names : public Probe {
 public:
  void on_tensor(std::string_view name, const Tensor&) override { names.emplace_back(name); }
  std::vector<std::string> names;
};

TEST(EncoderModel, AProbeSeesEveryLayerAndChangesNothing) {
  EncoderModel model(small("bert"), Head::token_classification);
  initialize(model, 5);
  const NoGrad no_grad;
  Names probe;
  const EncoderInput input = input_of({5, 2});
  const EncoderOutput watched = model.forward(input, Context::watched_by(probe));
  for (const char* name :
       {"encoder.embeddings", "encoder.layer.0.output", "encoder.layer.1.attention.entropy", "logits"}) {
    EXPECT_NE(std::ranges::find(probe.names, name), probe.names.end()) << name;
  }
  EXPECT_TRUE(same_bits(watched.logits, model.forward(input, Context()).logits));
}

TEST(EncoderModel, ASteadyLoopAsksThePoolForNothing) {
  EncoderModel model(small("bert"), Head::masked_lm);
  initialize(model, 5);
  const NoGrad no_grad;
  const ThreadLimit one(1);  // how much scratch is out at once depends on how threads happen to overlap
  const EncoderInput input = input_of({40, 7, 64});
  for (int i = 0; i < 3; ++i) model.forward(input, Context());
  const auto before = pool_stats().system_allocations;
  for (int i = 0; i < 10; ++i) model.forward(input, Context());
  EXPECT_EQ(pool_stats().system_allocations, before);
}

TEST(EncoderModel, EveryParameterOfAHeadIsTrained) {
  for (const auto& [type, more] : kVariants) {
    SCOPED_TRACE(type + more.dump());
    EncoderModel model(small(type, more), Head::masked_lm);
    initialize(model, 5);
    const Tensor logits = model.forward(input_of({6, 3}), Context::training(1, 0)).logits;
    backward(cross_entropy(logits, Tensor::from(Ids{1, 2, 3, 4, 5, 6, 7, 8, 9}, {9})));
    for (const auto& [name, parameter] : named_parameters(model)) {
      // The one table that relative positions do not read.
      const bool unused = more.contains("position_embedding_type") && name == "encoder.position.weight";
      EXPECT_EQ(parameter->grad().defined(), !unused) << name;
    }
  }
}

TEST(EncoderModel, DropoutIsForTrainingAndRepeatsItself) {
  EncoderModel model(small("bert"), Head::sequence_classification);
  initialize(model, 5);
  const NoGrad no_grad;
  const EncoderInput input = input_of({6, 3});
  const auto logits = [&](const Context& context) { return model.forward(input, context).logits; };
  EXPECT_TRUE(same_bits(logits(Context()), logits(Context())));
  EXPECT_TRUE(same_bits(logits(Context::training(1, 3)), logits(Context::training(1, 3))));
  EXPECT_FALSE(same_bits(logits(Context::training(1, 3)), logits(Context::training(1, 4))));
  EXPECT_FALSE(same_bits(logits(Context::training(1, 3)), logits(Context())));
}

TEST(EncoderModel, InputsAreChecked) {
  EncoderModel model(small("bert"), Head::sequence_classification);
  error_of(ErrorKind::invalid_argument, [&] { model.forward(input_of({81}), Context()); });
  error_of(ErrorKind::invalid_argument, [&] { model.forward(input_of({3, 0}), Context()); });
  EncoderInput input = input_of({3});
  input.type_ids = Tensor::from(Ids{0, 0}, {2});
  error_of(ErrorKind::invalid_argument, [&] { model.forward(input, Context()); });
  input.type_ids = Tensor::from(Ids{0, 2, 0}, {3});
  error_of(ErrorKind::invalid_argument, [&] { model.forward(input, Context()); });
  input = {.ids = Packed(Tensor::from(Ids{0, kVocabulary}, {2}), Offsets({2}))};
  error_of(ErrorKind::invalid_argument, [&] { model.forward(input, Context()); });
  EncoderModel plain(small("distilbert"));
  input = input_of({3});
  input.type_ids = Tensor::from(Ids{0, 0, 0}, {3});
  error_of(ErrorKind::invalid_argument, [&] { plain.forward(input, Context()); });
  error_of(ErrorKind::invalid_argument, [&] { plain.logits(Tensor::zeros({1, 32}), Context()); });
  error_of(ErrorKind::invalid_argument, [&] { EncoderModel wrong(small("distilbert"), Head::next_sentence); });
}

TEST(EncoderModel, ANewHeadOnAnOldEncoder) {
  const TempFolder folder;
  EncoderModel pretrained(small("bert"), Head::masked_lm);
  initialize(pretrained, 5);
  save_encoder(pretrained, folder.path());
  const EncoderInput input = input_of({5, 3});

  // Without a head, with the one of the file, and with one that starts anew.
  EXPECT_TRUE(same_bits(load_encoder(folder.path(), {.head = Head::none})->forward(input, Context()).hidden,
                        pretrained.forward(input, Context()).hidden.detach()));
  const std::string message =
      error_of(ErrorKind::bad_format, [&] { load_encoder(folder.path(), {.head = Head::sequence_classification}); });
  EXPECT_NE(message.find("missing classifier.weight [2, 32]"), std::string::npos) << message;
  EXPECT_NE(message.find("missing bert.pooler.dense.weight [32, 32]"), std::string::npos) << message;
  const LoadOptions options{.head = Head::sequence_classification, .new_head_seed = 3, .new_labels = {"a", "b", "c"}};
  const auto model = load_encoder(folder.path(), options), again = load_encoder(folder.path(), options);
  const EncoderOutput out = model->forward(input, Context());
  EXPECT_EQ(out.logits.shape(), Shape({2, 3}));
  EXPECT_TRUE(same_bits(out.hidden, pretrained.forward(input, Context()).hidden.detach()));
  EXPECT_TRUE(same_bits(out.logits, again->forward(input, Context()).logits));
  EXPECT_TRUE(parameters(*model).empty());

  save_encoder(*model, folder.path() / "tuned");
  const auto tuned = load_encoder(folder.path() / "tuned");
  EXPECT_EQ(tuned->head(), Head::sequence_classification);
  EXPECT_EQ(tuned->config().labels, options.new_labels);
  EXPECT_TRUE(same_bits(tuned->forward(input, Context()).logits, out.logits));
}

// A folder whose config and tensors a test may spoil.
struct Spoiled {
  Spoiled() {
    EncoderModel model(small("bert"), Head::sequence_classification);
    initialize(model, 5);
    save_encoder(model, folder.path());
    config = parse_json(read_file(folder.path() / "config.json", 1 << 20), "config.json");
    tensors = TensorFiles(folder.path()).tensors();
    for (auto& [name, tensor] : tensors) tensor = tensor.clone();
  }
  std::string error() {
    folder.write("config.json", config.dump());
    save_safetensors(folder.path() / "model.safetensors", tensors);
    return error_of(ErrorKind::bad_format, [&] { load_encoder(folder.path()); });
  }
  TempFolder folder;
  Json config;
  TensorMap tensors;
};

TEST(EncoderModel, SizesThatContradictTheFileAreNamed) {
  for (const char* field : {"vocab_size", "hidden_size", "num_hidden_layers", "intermediate_size",
                            "max_position_embeddings", "type_vocab_size"}) {
    Spoiled spoiled;
    spoiled.config[field] = 10'000;
    const std::string message = spoiled.error();
    EXPECT_NE(message.find("config.json: " + std::string(field)), std::string::npos) << message;
  }
  Spoiled spoiled;
  spoiled.config["num_labels"] = 90'000;
  EXPECT_NE(spoiled.error().find("config.json: id2label says 90000, but classifier.weight is [2, 32]"),
            std::string::npos);
}

TEST(EncoderModel, MissingUnknownAndMisshapenTensorsAreNamed) {
  Spoiled spoiled;
  spoiled.tensors.erase("bert.encoder.layer.1.attention.self.key.bias");
  spoiled.tensors.erase("bert.pooler.dense.weight");
  spoiled.tensors["bert.encoder.layer.1.attention.self.query.weight"] = Tensor::zeros({32, 31});
  spoiled.tensors["bert.encoder.layer.1.gate.weight"] = Tensor::zeros({2});
  spoiled.tensors["surplus"] = Tensor::zeros({2});
  const std::string message = spoiled.error();
  for (const char* part :
       {"the tensors are not those of BertForSequenceClassification",
        "missing bert.encoder.layer.1.attention.self.key.bias [32]", "missing bert.pooler.dense.weight [32, 32]",
        "bert.encoder.layer.1.attention.self.query.weight is [32, 31], expected [32, 32]",
        "unknown bert.encoder.layer.1.gate.weight", "unknown surplus"}) {
    EXPECT_NE(message.find(part), std::string::npos) << part << "\n" << message;
  }
}

TEST(EncoderModel, OneTensorUnderTwoNamesIsRefused) {
  Spoiled spoiled;
  spoiled.tensors["bert.embeddings.LayerNorm.gamma"] = Tensor::zeros({32});
  EXPECT_NE(spoiled.error().find("bert.embeddings.LayerNorm.gamma are names of one tensor"), std::string::npos);
}

// Whatever happens to the bytes of a folder: a heed::Error, or a model.
TEST(EncoderModel, BrokenFilesAreErrors) {
  const Spoiled spoiled;
  const TempFolder folder;
  for (const char* name : {"config.json", "model.safetensors"}) {
    const std::string whole = read_file(spoiled.folder.path() / name, 1 << 24);
    const std::string other = std::string(name) == "config.json" ? "model.safetensors" : "config.json";
    folder.write(other, read_file(spoiled.folder.path() / other, 1 << 24));
    int errors = 0, rounds = 0;
    const auto attempt = [&](const std::string& bytes) {
      folder.write(name, bytes);
      ++rounds;
      try {
        load_encoder(folder.path());
      } catch (const Error& error) {
        ++errors;
        EXPECT_NE(std::string(error.what()).find(folder.path().string()), std::string::npos) << error.what();
      }
    };
    const std::size_t reach = std::min<std::size_t>(whole.size(), 2000);
    for (std::size_t cut = 0; cut < reach; cut += 13) attempt(whole.substr(0, cut));
    EXPECT_EQ(errors, rounds);
    for (std::size_t at = 0; at < reach; at += 3) {
      std::string flipped = whole;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << at % 8));
      attempt(flipped);
    }
    EXPECT_GT(errors, rounds / 2);
  }
}

}  // namespace
}  // namespace heed
