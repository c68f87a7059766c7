#include "heed/train/checkpoint.h"

#include <gtest/gtest.h>

#include <fstream>

#include "heed/base/error.h"
#include "support/temp_folder.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

Checkpoint some(std::int64_t step) {
  Checkpoint checkpoint{.step = step, .state = {{"step", step}, {"best", 0.1 + static_cast<double>(step)}}};
  checkpoint.tensors.emplace("weights.a", Tensor::from({1.0f, 2.0f, 3.0f}, {3}));
  checkpoint.tensors.emplace("weights.b", Tensor::full({2, 2}, static_cast<double>(step)));
  return checkpoint;
}

void flip_byte(const fs::path& path, std::int64_t from_end) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(-from_end, std::ios::end);
  const char byte = static_cast<char>(file.get());
  file.seekp(-from_end, std::ios::end);
  file.put(static_cast<char>(byte ^ 1));
}

TEST(Checkpoint, ComesBackWhole) {
  const test::TempFolder folder;
  const fs::path path = save_checkpoint(folder.path(), some(42), 2);
  EXPECT_EQ(path.filename(), "step-00000042.safetensors");
  const Checkpoint again = load_checkpoint(path);
  EXPECT_EQ(again.step, 42);
  EXPECT_EQ(again.state, some(42).state);
  EXPECT_TRUE(same_bits(again.tensors.at("weights.b"), some(42).tensors.at("weights.b")));
}

TEST(Checkpoint, KeepsTheNewestAndFindsThem) {
  const test::TempFolder folder;
  for (const std::int64_t step : {9, 100, 20}) save_checkpoint(folder.path(), some(step), 2);
  EXPECT_FALSE(fs::exists(folder.path() / "step-00000009.safetensors"));
  EXPECT_TRUE(fs::exists(folder.path() / "step-00000020.safetensors"));
  std::vector<std::string> damaged;
  EXPECT_EQ(newest_checkpoint(folder.path(), damaged)->step, 100);
  EXPECT_TRUE(damaged.empty());
  EXPECT_FALSE(newest_checkpoint(folder.path() / "none", damaged));
}

TEST(Checkpoint, EveryFlippedByteIsFoundAndTheOneBeforeIsTaken) {
  const test::TempFolder folder;
  save_checkpoint(folder.path(), some(1), 5);
  const fs::path path = save_checkpoint(folder.path(), some(2), 5);
  const auto size = static_cast<std::int64_t>(fs::file_size(path));
  for (std::int64_t from_end = 1; from_end <= size; from_end += 7) {
    save_checkpoint(folder.path(), some(2), 5);
    flip_byte(path, from_end);
    std::vector<std::string> damaged;
    const auto found = newest_checkpoint(folder.path(), damaged);
    ASSERT_TRUE(found) << from_end;
    // White space of the header may change without changing what it says.
    if (found->step == 2) {
      EXPECT_EQ(found->state, some(2).state) << from_end;
    } else {
      EXPECT_EQ(damaged.size(), 1u) << from_end;
    }
  }
}

TEST(Checkpoint, ACutFileIsDamaged) {
  const test::TempFolder folder;
  const fs::path path = save_checkpoint(folder.path(), some(3), 5);
  fs::resize_file(path, fs::file_size(path) / 2);
  EXPECT_THROW(load_checkpoint(path), Error);
}

TEST(Checkpoint, AFileOfAnotherKindIsRefused) {
  const test::TempFolder folder;
  const fs::path path = save_checkpoint(folder.path(), some(3), 5);
  fs::rename(path, folder.path() / "step-7.safetensors");
  EXPECT_EQ(load_checkpoint(folder.path() / "step-7.safetensors").step, 3);
}

}  // namespace
}  // namespace heed
