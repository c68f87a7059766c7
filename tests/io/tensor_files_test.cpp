#include "heed/io/tensor_files.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "heed/base/error.h"
#include "heed/nn/feed_forward.h"
#include "heed/nn/module.h"
#include "support/error_of.h"
#include "support/shared_data.h"
#include "support/temp_folder.h"

namespace heed {
namespace {

namespace fs = std::filesystem;
using test::error_of;
using test::TempFolder;

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

void write_index(const TempFolder& folder, const std::string& weight_map) {
  folder.write("model.safetensors.index.json", R"({"metadata":{"total_size":8},"weight_map":)" + weight_map + "}");
}

// Tensors a, b in shard 1 and c in shard 2.
void write_shards(const TempFolder& folder) {
  save_safetensors(folder.path() / "s1.safetensors", {{"a", Tensor::full({2}, 1)}, {"b", Tensor::full({}, 2)}});
  save_safetensors(folder.path() / "s2.safetensors", {{"c", Tensor::full({1}, 3)}});
}

TEST(TensorFiles, OneFile) {
  TempFolder folder;
  save_safetensors(folder.path() / "model.safetensors", {{"b", Tensor::full({2}, 1)}, {"a", Tensor::full({2}, 2)}});
  const TensorFiles files(folder.path());
  EXPECT_EQ(files.names(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(files.tensor("a").at({1}), 2);
  EXPECT_EQ(files.tensors().size(), 2u);
  EXPECT_EQ(error_of(ErrorKind::not_found, [&] { files.tensor("c"); }),
            folder.path().string() + ": has no tensor \"c\"");
}

TEST(TensorFiles, Shards) {
  TempFolder folder;
  write_shards(folder);
  write_index(folder, R"({"a":"s1.safetensors","b":"s1.safetensors","c":"s2.safetensors"})");
  const TensorFiles files(folder.path());
  EXPECT_EQ(files.files().size(), 2u);
  EXPECT_EQ(files.names(), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(files.tensor("b").item(), 2);
  EXPECT_EQ(files.tensor("c").item(), 3);
  EXPECT_EQ(files.info("a").shape, std::vector<std::int64_t>{2});
}

TEST(TensorFiles, MissingAndExtraTensorsAreNamed) {
  TempFolder folder;
  write_shards(folder);
  write_index(folder, R"({"a":"s1.safetensors","lost":"s1.safetensors","c":"s1.safetensors","d":"s2.safetensors"})");
  const std::string message = error_of(ErrorKind::bad_format, [&] { TensorFiles files(folder.path()); });
  for (const char* part : {"missing lost, expected in s1.safetensors", "missing c, expected in s1.safetensors",
                           "missing d, expected in s2.safetensors", "extra b in s1.safetensors", "extra c in s2"}) {
    EXPECT_TRUE(has(message, part)) << message;
  }
}

TEST(TensorFiles, ShardNamesStayInsideTheFolder) {
  TempFolder outside, folder;
  save_safetensors(outside.path() / "x.safetensors", {{"a", Tensor::zeros({1})}});
  const std::string absolute = (outside.path() / "x.safetensors").string();
  for (const std::string& bad : std::vector<std::string>{"../x.safetensors", "", ".", absolute}) {
    write_index(folder, "{\"a\":\"" + bad + "\"}");
    const std::string message = error_of(ErrorKind::bad_format, [&] { TensorFiles files(folder.path()); });
    EXPECT_TRUE(has(message, "model.safetensors.index.json: shard of a: ")) << message;
  }
  write_index(folder, R"({"a":"absent.safetensors"})");
  error_of(ErrorKind::not_found, [&] { TensorFiles files(folder.path()); });
}

TEST(TensorFiles, LinksOfTheHuggingFaceCacheAreFollowed) {
  TempFolder folder;
  const fs::path snapshot = folder.path() / "snapshots/abc";
  fs::create_directories(snapshot);
  fs::create_directories(folder.path() / "blobs");
  save_safetensors(folder.path() / "blobs/123", {{"a", Tensor::full({1}, 5)}});
  folder.write("blobs/456", R"({"weight_map":{"a":"model-00001-of-00001.safetensors"}})");
  fs::create_symlink("../../blobs/123", snapshot / "model-00001-of-00001.safetensors");
  fs::create_symlink("../../blobs/456", snapshot / "model.safetensors.index.json");
  EXPECT_EQ(TensorFiles(snapshot).tensor("a").item(), 5);
  fs::create_symlink("../../blobs/123", snapshot / "model.safetensors");
  EXPECT_EQ(TensorFiles(snapshot).files().size(), 1u);
}

TEST(TensorFiles, BadIndexesAreRefused) {
  TempFolder folder;
  for (const char* bad : {"", "[]", "{}", R"({"weight_map":[]})", R"({"weight_map":{"a":1}})"}) {
    folder.write("model.safetensors.index.json", bad);
    error_of(ErrorKind::bad_format, [&] { TensorFiles files(folder.path()); });
  }
}

TEST(TensorFiles, WithoutSafetensorsTheErrorSaysWhatToDo) {
  TempFolder folder;
  EXPECT_TRUE(has(error_of(ErrorKind::not_found, [&] { TensorFiles files(folder.path()); }), "has neither"));
  EXPECT_TRUE(
      has(error_of(ErrorKind::not_found, [&] { TensorFiles files(folder.path() / "absent"); }), "not a folder"));
  folder.write("pytorch_model.bin", "PK");
  const std::string message = error_of(ErrorKind::bad_format, [&] { TensorFiles files(folder.path()); });
  EXPECT_TRUE(has(message, "has pytorch_model.bin but no model.safetensors")) << message;
  EXPECT_TRUE(has(message, "safe_serialization=True")) << message;
}

// name, dtype and shape of a few tensors of a real checkpoint, and that all numbers are sane.
void expect_checkpoint(const std::string& name, std::size_t tensors, const std::string& word_embeddings,
                       const std::vector<std::int64_t>& shape, const std::string& dtype) {
  const fs::path folder = test::shared_data("weights/" + name);
  if (!fs::exists(folder)) GTEST_SKIP() << folder << " is not there";
  const TensorFiles files(folder);
  EXPECT_EQ(files.names().size(), tensors);
  EXPECT_EQ(files.info(word_embeddings).shape, shape);
  for (const auto& [key, tensor] : files.tensors()) {
    if (!key.ends_with("position_ids")) {
      EXPECT_EQ(files.info(key).dtype, dtype) << key;
    }
    double most = 0;
    for (double value : tensor.detached_to(DType::f64).to_vector<double>()) most = std::max(most, std::abs(value));
    EXPECT_TRUE(most > 0 || key.ends_with("bias")) << key;
    EXPECT_TRUE(std::isfinite(most) && most < 1000) << key << " " << most;
  }
}

TEST(TensorFiles, MiniLm) {
  expect_checkpoint("minilm", 104, "embeddings.word_embeddings.weight", {30522, 384}, "F16");
}

TEST(TensorFiles, BertTinyToxicity) {
  expect_checkpoint("bert-tiny-toxicity", 41, "bert.embeddings.word_embeddings.weight", {30522, 128}, "F16");
}

class Net : public Module {
 public:
  void visit(Visitor& visitor) const override {
    visitor.child("embedding", embedding);
    visitor.child("layer", 0, feed_forward);
    visitor.child("norm", norm);
  }
  Embedding embedding{50, 40};
  FeedForward feed_forward{40, {.intermediate_size = 80}};
  Norm norm{40};
};

TEST(TensorFiles, ModulesAreSavedAndLoaded) {
  TempFolder folder;
  const fs::path path = folder.path() / "model.safetensors";
  Net a, b;
  initialize(a, 1);
  initialize(b, 2);
  save_safetensors(path, state(a));
  load_state(b, TensorFiles(folder.path()).tensors());
  for (const auto& [name, tensor] : state(a)) EXPECT_TRUE(same_bits(tensor, state(b)[name])) << name;
  const Tensor ids = Tensor::from<std::int64_t>({3, 49}, {2});
  EXPECT_TRUE(same_bits(a.embedding.forward(ids).detach(), b.embedding.forward(ids).detach()));
  // Half precision in the file, f32 in the module.
  TensorMap halves;
  for (const auto& [name, tensor] : state(a)) halves[name] = tensor.detached_to(DType::f16);
  save_safetensors(path, halves);
  load_state(b, TensorFiles(folder.path()).tensors());
  EXPECT_TRUE(same_bits(b.norm.weight.detach(), a.norm.weight.detach()));
  EXPECT_NEAR(b.embedding.weight.parameter().at({7, 3}), a.embedding.weight.parameter().at({7, 3}), 1e-3);
}

TEST(TensorFiles, AKilledSaveLeavesAWholeModel) {
  TempFolder folder;
  const fs::path path = folder.path() / "model.safetensors";
  Net models[2];
  initialize(models[0], 1);
  initialize(models[1], 2);
  const TensorMap states[2] = {state(models[0]), state(models[1])};
  save_safetensors(path, states[0]);
  for (int round = 0; round < 8; ++round) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (int i = 0;; ++i) save_safetensors(path, states[i % 2]);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5 + 3 * round));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    Net loaded;
    initialize(loaded, 3);
    load_state(loaded, TensorFiles(folder.path()).tensors());
    const TensorMap found = state(loaded);
    const auto equals = [&](const TensorMap& expected) {
      return std::ranges::all_of(
          expected, [&](const auto& item) { return same_bits(item.second, found.find(item.first)->second); });
    };
    EXPECT_TRUE(equals(states[0]) || equals(states[1]));
  }
}

}  // namespace
}  // namespace heed
