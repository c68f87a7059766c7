#include "heed/io/npy.h"

#include <gtest/gtest.h>

#include <cstring>

#include "support/error_of.h"
#include "support/temp_folder.h"

namespace heed {
namespace {

using test::error_of;
using test::TempFolder;

TEST(Npy, HasAHeaderOf128BytesAndTheRows) {
  const TempFolder folder;
  const auto path = folder.path() / "a.npy";
  std::vector<float> all;
  {
    NpyFile file(path);
    for (int i = 0; i < 100'000; ++i) {
      const std::vector<float> row = {static_cast<float>(i), -0.5F, 1e-30F};
      all.insert(all.end(), row.begin(), row.end());
      file.add_row(row);
    }
    EXPECT_FALSE(std::filesystem::exists(path));
    file.commit();
  }
  const std::string text = read_file(path, 2 << 20);
  EXPECT_EQ(text.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (100000, 3), }";
  EXPECT_EQ(text.substr(10, header.size()), header);
  EXPECT_EQ(text[127], '\n');
  ASSERT_EQ(text.size(), 128 + all.size() * sizeof(float));
  EXPECT_EQ(std::memcmp(text.data() + 128, all.data(), all.size() * sizeof(float)), 0);
}

TEST(Npy, WithoutCommitThereIsNoFileAndRowsAreAlike) {
  const TempFolder folder;
  const auto path = folder.path() / "a.npy";
  {
    NpyFile file(path);
    file.add_row(std::vector<float>{1, 2});
    error_of(ErrorKind::invalid_argument, [&] { file.add_row(std::vector<float>{1}); });
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  NpyFile none(path);
  none.commit();
  EXPECT_NE(read_file(path, 1000).find("'shape': (0, 0)"), std::string::npos);
}

}  // namespace
}  // namespace heed
