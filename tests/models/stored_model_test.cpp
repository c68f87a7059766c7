// A model that uses its files as they are stored, against the same model with parameters of its own: to the bit.
#include <gtest/gtest.h>

#include <algorithm>

#include "heed/base/file.h"
#include "heed/base/memory.h"
#include "heed/io/tensor_files.h"
#include "heed/models/load.h"
#include "heed/models/published.h"
#include "heed/ops/reduce.h"
#include "heed/tensor/autograd.h"
#include "models/small_seq2seq.h"
#include "support/error_of.h"
#include "support/temp_folder.h"

namespace heed {
namespace {

using test::TempFolder;
using Ids = std::vector<std::int64_t>;
constexpr LoadOptions kStored{.storage = LoadOptions::Storage::as_stored};
constexpr std::int64_t kVocabulary = 61;

struct Case {
  Json config;
  HeadKind head;
};

// A softmax in clusters of words, over one table or one per cluster.
Json transfo_xl(std::int64_t div_val, const Json& further = Json::object()) {
  Json config = {{"model_type", "transfo-xl"},
                 {"d_model", 32},
                 {"d_embed", 32},
                 {"n_layer", 2},
                 {"n_head", 4},
                 {"d_head", 8},
                 {"d_inner", 48},
                 {"mem_len", 80},
                 {"cutoffs", {7, 15}},
                 {"init_std", 0.3},
                 {"proj_init_std", 0.3},
                 {"div_val", div_val}};
  config.update(further);
  return config;
}

// Between them: parts one below the other, matrices [in, out], rows by head and reversed, tied and other outputs.
const std::vector<Case> kCases = {
    {{{"model_type", "bert"}, {"position_embedding_type", "relative_key"}}, HeadKind::masked_lm},
    {{{"model_type", "distilbert"}, {"dim", 32}, {"n_layers", 2}, {"n_heads", 4}, {"hidden_dim", 48}},
     HeadKind::token_classification},
    {{{"model_type", "albert"}, {"embedding_size", 16}}, HeadKind::masked_lm},
    {{{"model_type", "gpt2"}, {"n_embd", 32}, {"n_layer", 2}, {"n_head", 4}, {"n_positions", 80}}, HeadKind::causal_lm},
    {{{"model_type", "llama"}, {"num_key_value_heads", 2}, {"tie_word_embeddings", false}}, HeadKind::causal_lm},
    {{{"model_type", "qwen3"}, {"num_key_value_heads", 2}, {"head_dim", 6}}, HeadKind::causal_lm},
    {{{"model_type", "gpt_neox"}}, HeadKind::causal_lm},
    {{{"model_type", "bloom"}, {"n_layer", 2}, {"n_head", 4}}, HeadKind::causal_lm},
    {test::small_seq2seq("pegasus", {{"tie_word_embeddings", false}}), HeadKind::seq2seq_lm},
    {test::small_seq2seq("t5"), HeadKind::seq2seq_lm},
    {transfo_xl(1), HeadKind::causal_lm},
    {transfo_xl(1, {{"d_embed", 16}, {"tie_projs", {false, true, false}}}), HeadKind::causal_lm},
    {transfo_xl(2), HeadKind::causal_lm},
    {transfo_xl(2, {{"tie_word_embeddings", false}, {"tie_projs", {false, false, false}}}), HeadKind::causal_lm}};

Model make_model(const Case& wanted) {
  Json json = {{"vocab_size", kVocabulary}, {"max_position_embeddings", 80}, {"hidden_size", 32},
               {"num_hidden_layers", 2},    {"num_attention_heads", 4},      {"intermediate_size", 48},
               {"initializer_range", 0.3}};
  const std::string type = wanted.config["model_type"];
  if (type == "distilbert" || type == "gpt2") json = {{"vocab_size", kVocabulary}, {"initializer_range", 0.3}};
  if (type == "bloom") json = {{"vocab_size", kVocabulary}, {"hidden_size", 32}, {"initializer_range", 0.3}};
  if (type == "transfo-xl" || wanted.head == HeadKind::seq2seq_lm) json = {{"vocab_size", kVocabulary}};
  json.update(wanted.config);
  Model model(parse_model_config(json, "config.json"), wanted.head);
  initialize(model, 5);
  return model;
}

// The folder's tensors in another type. A name of that length decides where in the file the bytes begin.
void rewrite(const std::filesystem::path& folder, DType dtype, std::size_t name_length = 1) {
  TensorMap tensors;
  for (const auto& [name, tensor] : TensorFiles(folder).tensors()) tensors.emplace(name, tensor.detached_to(dtype));
  save_safetensors(folder / "model.safetensors", tensors, {{"x", std::string(name_length, 'x')}});
}

// A model that reads a source reads the same ids there.
Inputs input_of(const Ids& lengths, HeadKind head = HeadKind::none) {
  Ids ids;
  const Offsets offsets(lengths);
  for (std::int64_t i = 0; i < offsets.tokens(); ++i) ids.push_back(i * (i + 7) % kVocabulary);
  const Packed packed(Tensor::from(ids, {offsets.tokens()}), offsets);
  return {.ids = packed, .source = head == HeadKind::seq2seq_lm ? packed : Packed()};
}

std::string name_of(const Case& each, DType dtype) {
  return each.config.dump() + " " + std::string(to_string(dtype));
}

TEST(StoredModel, HasTheBitsOfParameters) {
  for (const Case& each : kCases) {
    for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
      SCOPED_TRACE(name_of(each, dtype));
      const TempFolder folder;
      save_model(make_model(each), folder.path());
      rewrite(folder.path(), dtype);
      const auto plain = load_model(folder.path()), stored = load_model(folder.path(), kStored);
      EXPECT_EQ(count_parameters(*stored), count_parameters(*plain));
      const NoGrad no_grad;
      for (const Ids& lengths : {Ids{1}, Ids{2, 3}, Ids{33, 7, 20}}) {
        const ModelOutput expected = plain->forward(input_of(lengths, each.head), Context()),
                          found = stored->forward(input_of(lengths, each.head), Context());
        EXPECT_TRUE(same_bits(found.hidden, expected.hidden));
        EXPECT_TRUE(same_bits(found.logits, expected.logits));
      }
    }
  }
}

TEST(StoredModel, GradientsOfTheInputsHaveTheBitsToo) {
  for (const Case& each : kCases) {
    SCOPED_TRACE(name_of(each, DType::f16));
    const TempFolder folder;
    save_model(make_model(each), folder.path());
    rewrite(folder.path(), DType::f16);
    const auto gradient = [&](const LoadOptions& options) {
      const auto model = load_model(folder.path(), options);
      Inputs inputs = input_of({5, 9}, each.head);
      inputs.vectors = model->backbone()->word_vectors(inputs.ids.values);
      inputs.vectors.set_requires_grad();
      backward(sum(model->forward(inputs, Context()).logits));
      return inputs.vectors.grad();
    };
    EXPECT_TRUE(same_bits(gradient(kStored), gradient({})));
  }
}

TEST(StoredModel, IsSavedAsItWasLoaded) {
  for (const Case& each : kCases) {
    SCOPED_TRACE(name_of(each, DType::bf16));
    const TempFolder folder;
    save_model(make_model(each), folder.path());
    rewrite(folder.path(), DType::bf16);
    save_model(*load_model(folder.path()), folder.path() / "plain");
    save_model(*load_model(folder.path(), kStored), folder.path() / "stored");
    EXPECT_EQ(read_file(folder.path() / "stored" / "model.safetensors", 1 << 24),
              read_file(folder.path() / "plain" / "model.safetensors", 1 << 24));
  }
}

// A file may put its numbers anywhere, at odd addresses too.
TEST(StoredModel, TheFileNeedNotBeAligned) {
  const TempFolder folder;
  save_model(make_model(kCases[4]), folder.path());
  rewrite(folder.path(), DType::f16);
  const Inputs input = input_of({3, 20});
  const Tensor expected = load_model(folder.path())->forward(input, Context()).logits;
  const std::string file = read_file(folder.path() / "model.safetensors", 1 << 24);
  std::uint64_t length = 0;
  std::copy_n(file.data(), sizeof(length), reinterpret_cast<char*>(&length));
  for (std::uint64_t spaces = 1; spaces <= 3; ++spaces) {
    const std::uint64_t longer = length + spaces;
    replace_file(folder.path() / "model.safetensors",
                 std::string(reinterpret_cast<const char*>(&longer), sizeof(longer)) + file.substr(8, length) +
                     std::string(spaces, ' ') + file.substr(8 + length));
    const auto model = load_model(folder.path(), kStored);
    EXPECT_TRUE(same_bits(model->forward(input, Context()).logits, expected)) << spaces;
  }
}

TEST(StoredModel, TakesNoMemoryForItsMatrices) {
  const TempFolder folder;
  Case large = kCases[4];
  large.config.update({{"hidden_size", 256}, {"intermediate_size", 512}, {"vocab_size", 2000}});
  large.config["tie_word_embeddings"] = true;
  save_model(make_model(large), folder.path());
  rewrite(folder.path(), DType::f16);
  const std::uint64_t before = pool_stats().in_use_bytes;
  pool_reset_peak();
  const auto model = load_model(folder.path(), kStored);
  const std::int64_t matrices = 2 * count_parameters(*model);  // bytes of the file
  EXPECT_LT(pool_stats().peak_bytes - before, static_cast<std::uint64_t>(matrices / 20));
  const NoGrad no_grad;
  model->forward(input_of({1}), Context());
  EXPECT_LT(pool_stats().in_use_bytes - before, static_cast<std::uint64_t>(matrices / 20));
  // The word vectors and the output are one.
  const auto tied = load_model(folder.path());
  EXPECT_EQ(count_parameters(*model), count_parameters(*tied));
}

TEST(StoredModel, IsNotForTraining) {
  const TempFolder folder;
  save_model(make_model(kCases[0]), folder.path());
  rewrite(folder.path(), DType::f16);
  LoadOptions options = kStored;
  options.head = HeadKind::sequence_classification;
  options.new_head_seed = 1;
  options.new_labels = {"a", "b"};
  test::error_of(ErrorKind::invalid_argument, [&] { load_model(folder.path(), options); });
  const auto model = load_model(folder.path(), kStored);
  const std::string message = test::error_of(
      ErrorKind::invalid_argument, [&] { set_trainable(*model, true, [](std::string_view) { return true; }); });
  EXPECT_NE(message.find("f16"), std::string::npos) << message;
}

}  // namespace
}  // namespace heed
