#include "heed/models/load.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

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

ModelConfig small(const std::string& model_type, const Json& more = Json::object()) {
  Json json = {{"model_type", model_type}, {"vocab_size", kVocabulary}, {"max_position_embeddings", 80}};
  if (model_type == "distilbert") {
    json.update({{"dim", 32}, {"n_layers", 2}, {"n_heads", 4}, {"hidden_dim", 48}});
  } else {
    json.update({{"hidden_size", 32}, {"num_hidden_layers", 2}, {"num_attention_heads", 4}, {"intermediate_size", 48}});
  }
  if (model_type == "electra" || model_type == "albert") json["embedding_size"] = 16;
  json.update(more);
  return parse_model_config(json, "config.json");
}

const std::vector<std::pair<std::string, Json>> kVariants = {
    {"bert", Json::object()},       {"bert", {{"position_embedding_type", "relative_key"}}},
    {"roberta", Json::object()},    {"bert", {{"position_embedding_type", "relative_key_query"}}},
    {"electra", Json::object()},    {"albert", {{"num_hidden_groups", 2}, {"inner_group_num", 2}}},
    {"distilbert", Json::object()}, {"mpnet", Json::object()}};

Inputs input_of(const Ids& lengths, std::int64_t first = 0) {
  Ids ids;
  const Offsets offsets(lengths);
  for (std::int64_t i = 0; i < offsets.tokens(); ++i) ids.push_back((first + i) * (first + i + 7) % kVocabulary);
  return {.ids = Packed(Tensor::from(ids, {offsets.tokens()}), offsets)};
}

Inputs only(const Inputs& input, std::int64_t sequence) {
  return {.ids = Packed(input.ids.sequence(sequence).detached_clone(), Offsets({input.ids.offsets.length(sequence)}))};
}

TEST(Model, SameBitsAloneInABatchAndWithTwoThreads) {
  for (const auto& [type, more] : kVariants) {
    SCOPED_TRACE(type + more.dump());
    Model model(small(type, more), HeadKind::sequence_classification);
    initialize(model, 5);
    const NoGrad no_grad;
    const Inputs batch = input_of({3, 70, 1, 33, 9});
    const ModelOutput all = model.forward(batch, Context());
    for (int threads : {1, 2}) {
      const ThreadLimit limit(threads);
      for (std::int64_t b = 0; b < 5; ++b) {
        const ModelOutput one = model.forward(only(batch, b), Context());
        EXPECT_TRUE(same_bits(one.hidden, Packed(all.hidden, batch.ids.offsets).sequence(b).detached_contiguous()))
            << b;
        EXPECT_TRUE(same_bits(one.logits, all.logits.detached_slice(0, b, b + 1).detached_contiguous())) << b;
      }
    }
  }
}

class Taps : public Probe {
 public:
  void on_tensor(const Tap& tap, const Tensor&) override { seen.emplace(tap.kind, tap.layer); }
  std::set<std::pair<Tap::Kind, std::int64_t>> seen;
};

TEST(Model, AProbeSeesEveryLayerAndChangesNothing) {
  Model model(small("bert"), HeadKind::token_classification);
  initialize(model, 5);
  const NoGrad no_grad;
  Taps probe;
  const Inputs input = input_of({5, 2});
  const ModelOutput watched = model.forward(input, Context::watched_by(probe));
  using Kind = Tap::Kind;
  for (const auto& [kind, layer] : {std::pair(Kind::embeddings, -1), std::pair(Kind::hidden, 0),
                                    std::pair(Kind::entropy, 1), std::pair(Kind::logits, -1)}) {
    EXPECT_TRUE(probe.seen.contains({kind, layer})) << static_cast<int>(kind) << " of layer " << layer;
  }
  EXPECT_TRUE(same_bits(watched.logits, model.forward(input, Context()).logits));
}

TEST(Model, ASteadyLoopAsksThePoolForNothing) {
  Model model(small("bert"), HeadKind::masked_lm);
  initialize(model, 5);
  const NoGrad no_grad;
  const ThreadLimit one(1);  // how much scratch is out at once depends on how threads happen to overlap
  const Inputs input = input_of({40, 7, 64});
  for (int i = 0; i < 3; ++i) model.forward(input, Context());
  const auto before = pool_stats().system_allocations;
  for (int i = 0; i < 10; ++i) model.forward(input, Context());
  EXPECT_EQ(pool_stats().system_allocations, before);
}

TEST(Model, EveryParameterOfAHeadIsTrained) {
  for (const auto& [type, more] : kVariants) {
    SCOPED_TRACE(type + more.dump());
    Model model(small(type, more), HeadKind::masked_lm);
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

TEST(Model, DropoutIsForTrainingAndRepeatsItself) {
  Model model(small("bert"), HeadKind::sequence_classification);
  initialize(model, 5);
  const NoGrad no_grad;
  const Inputs input = input_of({6, 3});
  const auto logits = [&](const Context& context) { return model.forward(input, context).logits; };
  EXPECT_TRUE(same_bits(logits(Context()), logits(Context())));
  EXPECT_TRUE(same_bits(logits(Context::training(1, 3)), logits(Context::training(1, 3))));
  EXPECT_FALSE(same_bits(logits(Context::training(1, 3)), logits(Context::training(1, 4))));
  EXPECT_FALSE(same_bits(logits(Context::training(1, 3)), logits(Context())));
}

TEST(Model, InputsAreChecked) {
  Model model(small("bert"), HeadKind::sequence_classification);
  error_of(ErrorKind::invalid_argument, [&] { model.forward(input_of({81}), Context()); });
  error_of(ErrorKind::invalid_argument, [&] { model.forward(input_of({3, 0}), Context()); });
  Inputs input = input_of({3});
  input.type_ids = Tensor::from(Ids{0, 0}, {2});
  error_of(ErrorKind::invalid_argument, [&] { model.forward(input, Context()); });
  input.type_ids = Tensor::from(Ids{0, 2, 0}, {3});
  error_of(ErrorKind::invalid_argument, [&] { model.forward(input, Context()); });
  input = {.ids = Packed(Tensor::from(Ids{0, kVocabulary}, {2}), Offsets({2}))};
  error_of(ErrorKind::invalid_argument, [&] { model.forward(input, Context()); });
  Model plain(small("distilbert"));
  input = input_of({3});
  input.type_ids = Tensor::from(Ids{0, 0, 0}, {3});
  error_of(ErrorKind::invalid_argument, [&] { plain.forward(input, Context()); });
  error_of(ErrorKind::invalid_argument, [&] { plain.logits_of_rows(Tensor::zeros({1, 32}), Context()); });
  error_of(ErrorKind::invalid_argument, [&] { Model wrong(small("distilbert"), HeadKind::next_sentence); });
}

TEST(Model, ANewHeadOnAnOldEncoder) {
  const TempFolder folder;
  Model pretrained(small("bert"), HeadKind::masked_lm);
  initialize(pretrained, 5);
  save_model(pretrained, folder.path());
  const Inputs input = input_of({5, 3});

  // Without a head, with the one of the file, and with one that starts anew.
  EXPECT_TRUE(same_bits(load_model(folder.path(), {.head = HeadKind::none})->forward(input, Context()).hidden,
                        pretrained.forward(input, Context()).hidden.detach()));
  const std::string message =
      error_of(ErrorKind::bad_format, [&] { load_model(folder.path(), {.head = HeadKind::sequence_classification}); });
  EXPECT_NE(message.find("missing classifier.weight [2, 32]"), std::string::npos) << message;
  EXPECT_NE(message.find("missing bert.pooler.dense.weight [32, 32]"), std::string::npos) << message;
  const LoadOptions options{
      .head = HeadKind::sequence_classification, .new_head_seed = 3, .new_labels = {"a", "b", "c"}};
  const auto model = load_model(folder.path(), options), again = load_model(folder.path(), options);
  const ModelOutput out = model->forward(input, Context());
  EXPECT_EQ(out.logits.shape(), Shape({2, 3}));
  EXPECT_TRUE(same_bits(out.hidden, pretrained.forward(input, Context()).hidden.detach()));
  EXPECT_TRUE(same_bits(out.logits, again->forward(input, Context()).logits));
  EXPECT_TRUE(parameters(*model).empty());

  save_model(*model, folder.path() / "tuned");
  const auto tuned = load_model(folder.path() / "tuned");
  EXPECT_EQ(tuned->head(), HeadKind::sequence_classification);
  EXPECT_EQ(tuned->config().labels, options.new_labels);
  EXPECT_TRUE(same_bits(tuned->forward(input, Context()).logits, out.logits));
}

// As if the whole model had started anew and what the files have were put over it, tied or not.
TEST(Model, ANewHeadHasTheValuesOfItsNames) {
  for (const auto& [type, more] : kVariants) {
    for (const HeadKind kind : {HeadKind::sequence_classification, HeadKind::masked_lm}) {
      SCOPED_TRACE(type + more.dump() + std::string(to_string(kind)));
      const TempFolder folder;
      Model bare(small(type, more)), whole(small(type, more), kind);
      initialize(bare, 5);
      save_model(bare, folder.path());
      initialize(whole, 3);
      TensorMap expected = state(whole);
      for (const auto& [name, values] : state(bare)) expected[name] = values;
      const auto loaded = load_model(folder.path(), {.head = kind, .new_head_seed = 3});
      const TensorMap found = state(*loaded);
      ASSERT_EQ(found.size(), expected.size());
      for (const auto& [name, values] : found) EXPECT_TRUE(same_bits(values, expected.at(name))) << name;
    }
  }
}

// Against sums written out.
TEST(Model, OperationsCountTheHead) {
  const Offsets offsets({6, 4});
  const auto more_than_backbone = [&](const Model& model) {
    return model.operations(offsets) - model.backbone()->operations(offsets);
  };
  EXPECT_EQ(more_than_backbone(Model(small("bert"))), 0);
  EXPECT_EQ(more_than_backbone(Model(small("bert"), HeadKind::token_classification)), 2 * 10 * 32 * 2);
  // The pooler, then the labels, per sequence; the masked words of tied tables, whose dense layer comes first.
  EXPECT_EQ(more_than_backbone(Model(small("bert"), HeadKind::sequence_classification)), 2 * 2 * (32 * 32 + 32 * 2));
  const Model masked(small("bert"), HeadKind::masked_lm);
  EXPECT_EQ(more_than_backbone(masked), 2 * 10 * (32 * 32 + 32 * kVocabulary));
  EXPECT_EQ(masked.head_operations(3), 2 * 3 * (32 * 32 + 32 * kVocabulary));
  // Clusters of 20, 41 and their widths: each with a projection, the first with a score for the second.
  const Model adaptive(parse_model_config({{"model_type", "transfo-xl"},
                                           {"vocab_size", kVocabulary},
                                           {"cutoffs", {20}},
                                           {"div_val", 2},
                                           {"d_model", 16},
                                           {"d_embed", 8},
                                           {"n_head", 2},
                                           {"d_head", 8},
                                           {"d_inner", 24},
                                           {"n_layer", 1},
                                           {"mem_len", 4}},
                                          "config.json"),
                       HeadKind::causal_lm);
  EXPECT_EQ(more_than_backbone(adaptive), 2 * 10 * (16 * 8 + 8 * 20 + 8 * 1 + 16 * 4 + 4 * 41));
}

// Heads over one backbone: nothing of it is there twice, and each answers as a model of its own would.
TEST(Model, HeadsShareABackbone) {
  Model tags(small("bert"), HeadKind::token_classification);
  initialize(tags, 5);
  Model classes(small("bert"), HeadKind::sequence_classification, false, tags.backbone());
  const auto own = [&](std::string_view name) {
    return classes.place(name).part != ParameterPlace::Part::embeddings &&
           classes.place(name).part != ParameterPlace::Part::layers;
  };
  const Tensor before = tags.encode(input_of({5, 2}), Context()).detach();
  initialize(classes, 6, own);
  EXPECT_TRUE(same_bits(tags.encode(input_of({5, 2}), Context()).detach(), before));
  EXPECT_EQ(tags.backbone().get(), classes.backbone().get());
  Model alone(small("bert"), HeadKind::sequence_classification);
  load_state(alone, state(classes));
  EXPECT_TRUE(same_bits(classes.forward(input_of({5, 2}), Context()).logits.detach(),
                        alone.forward(input_of({5, 2}), Context()).logits.detach()));
  EXPECT_FALSE(tags.has_pooler());  // it belongs to the head that reads it
  EXPECT_TRUE(classes.has_pooler());
}

TEST(Model, ParametersHavePlaces) {
  using Part = ParameterPlace::Part;
  Model model(small("bert"), HeadKind::sequence_classification);
  std::map<Part, std::set<std::int64_t>> depths;
  for (const PlacedParameter& each : placed_parameters(model)) depths[each.place.part].insert(each.place.depth);
  const std::map<Part, std::set<std::int64_t>> expected = {
      {Part::embeddings, {0}}, {Part::layers, {1, 2}}, {Part::pooler, {3}}, {Part::head, {3}}};
  EXPECT_EQ(depths, expected);
}

// A folder whose config and tensors a test may spoil.
struct Spoiled {
  Spoiled() {
    Model model(small("bert"), HeadKind::sequence_classification);
    initialize(model, 5);
    save_model(model, folder.path());
    config = parse_json(read_file(folder.path() / "config.json", 1 << 20), "config.json");
    tensors = TensorFiles(folder.path()).tensors();
    for (auto& [name, tensor] : tensors) tensor = tensor.detached_clone();
  }
  std::string error() {
    folder.write("config.json", config.dump());
    save_safetensors(folder.path() / "model.safetensors", tensors);
    return error_of(ErrorKind::bad_format, [&] { load_model(folder.path()); });
  }
  TempFolder folder;
  Json config;
  TensorMap tensors;
};

TEST(Model, SizesThatContradictTheFileAreNamed) {
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

TEST(Model, MissingUnknownAndMisshapenTensorsAreNamed) {
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

TEST(Model, OneTensorUnderTwoNamesIsRefused) {
  Spoiled spoiled;
  spoiled.tensors["bert.embeddings.LayerNorm.gamma"] = Tensor::zeros({32});
  EXPECT_NE(spoiled.error().find("bert.embeddings.LayerNorm.gamma are names of one tensor"), std::string::npos);
}

// Whatever happens to the bytes of a folder: a heed::Error, or a model.
TEST(Model, BrokenFilesAreErrors) {
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
        load_model(folder.path());
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
