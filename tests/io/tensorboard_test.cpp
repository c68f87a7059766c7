#include "heed/io/tensorboard.h"

#include <cmath>

#include "heed/io/crc.h"
#include "support/error_of.h"
#include "support/event_file.h"

namespace heed {
namespace {

// The check values that catalogues of CRCs give, and one of RFC 3720.
TEST(Crc, PublishedValues) {
  EXPECT_EQ(crc32_ieee("123456789"), 0xCBF43926u);
  EXPECT_EQ(crc32_castagnoli("123456789"), 0xE3069283u);
  EXPECT_EQ(crc32_castagnoli(std::string(32, '\0')), 0x8A9136AAu);
}

class EventFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!test::has_python()) GTEST_SKIP() << test::kNoPython;
  }
};

TEST_F(EventFiles, BeginWithVersionAndStart) {
  const test::TempFolder folder;
  const EventFile file(folder.path() / "new", 41);
  const Json events = test::read_events(file.path());
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0], Json({{"step", 0}, {"version", "brain.Event:2"}}));
  EXPECT_EQ(events[1], Json({{"step", 41}, {"session", 1}}));
}

TEST_F(EventFiles, Scalars) {
  const test::TempFolder folder;
  EventFile file(folder.path(), 1);
  file.scalar(1, "train/loss", 0.75);
  file.scalar(std::int64_t{1} << 40, "dev/größe", -3e-5);
  const Json events = test::read_events(file.path());
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[2], Json({{"step", 1}, {"tag", "train/loss"}, {"value", 0.75}}));
  EXPECT_EQ(events[3]["step"], std::int64_t{1} << 40);
  EXPECT_EQ(events[3]["tag"], "dev/größe");
  EXPECT_EQ(events[3]["value"].get<float>(), -3e-5F);
}

TEST_F(EventFiles, Histograms) {
  const test::TempFolder folder;
  EventFile file(folder.path(), 1);
  std::vector<float> values;
  for (int i = 0; i <= 300; ++i) values.push_back(static_cast<float>(i) / 10);  // 0 to 30: buckets of width 1
  values.push_back(NAN);
  values.push_back(-INFINITY);
  file.histogram(5, "weights/a", values);
  file.histogram(5, "weights/same", std::vector<float>(7, 2.5F));
  file.histogram(5, "weights/nothing", {});
  const Json events = test::read_events(file.path());
  ASSERT_EQ(events.size(), 4u);
  const Json spread = events[2].at("histogram"), same = events[3].at("histogram");
  EXPECT_EQ(spread["min"], 0.0);
  EXPECT_EQ(spread["max"], 30.0);
  EXPECT_EQ(spread["num"], 301.0);
  EXPECT_NEAR(spread["sum"].get<double>(), 4515, 1e-3);
  EXPECT_NEAR(spread["squares"].get<double>(), 90450.5, 0.1);
  const auto limits = spread["limits"].get<std::vector<double>>(), counts = spread["counts"].get<std::vector<double>>();
  ASSERT_EQ(limits.size(), 30u);
  ASSERT_EQ(counts.size(), 30u);
  for (std::size_t i = 0; i < 30; ++i) {
    EXPECT_DOUBLE_EQ(limits[i], static_cast<double>(i + 1));
    EXPECT_EQ(counts[i], i < 29 ? 10 : 11) << i;  // the largest value belongs to the last one
  }
  EXPECT_EQ(same["num"], 7.0);
  EXPECT_EQ(same["counts"], Json({7.0}));
  EXPECT_GT(same["limits"][0].get<double>(), 2.5);
}

TEST_F(EventFiles, Images) {
  const test::TempFolder folder;
  EventFile file(folder.path(), 1);
  GreyImage small{.width = 3, .height = 2, .pixels = {0, 1, 2, 253, 254, 255}};
  file.image(7, "attention", small);
  // More than one stored block.
  GreyImage large{.width = 400, .height = 300};
  for (std::int64_t i = 0; i < 400 * 300; ++i) large.pixels.push_back(static_cast<std::uint8_t>(i * i / 7));
  file.image(8, "attention", large);
  const Json events = test::read_events(file.path());
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[2].at("image"), Json::parse("[[0, 1, 2], [253, 254, 255]]"));
  const auto rows = events[3].at("image").get<std::vector<std::vector<std::uint8_t>>>();
  ASSERT_EQ(rows.size(), 300u);
  std::vector<std::uint8_t> found;
  for (const auto& row : rows) found.insert(found.end(), row.begin(), row.end());
  EXPECT_EQ(found, large.pixels);
  const GreyImage wrong{.width = 2, .height = 2, .pixels = {1}};
  test::error_of(ErrorKind::invalid_argument, [&] { file.image(9, "attention", wrong); });
}

// TensorBoard takes files in the order of their names, so a later one must sort last, even within one second.
TEST(EventFile, LaterFilesComeBehind) {
  const test::TempFolder folder;
  folder.write("events.out.tfevents.not-a-number", "");
  std::vector<std::filesystem::path> made;
  for (int i = 0; i < 3; ++i) made.push_back(EventFile(folder.path() / "run", 1).path());
  EXPECT_EQ(test::event_files(folder.path() / "run"), made);
}

TEST(EventFile, ErrorsNameTheFile) {
  const test::TempFolder folder;
  EventFile file(folder.path() / "run", 1);
  std::filesystem::remove_all(folder.path() / "run");
  const std::string message = test::error_of(ErrorKind::io, [&] { file.scalar(1, "loss", 1); });
  EXPECT_NE(message.find(file.path().string()), std::string::npos) << message;
  const auto occupied = folder.write("occupied", "");
  const std::string other = test::error_of(ErrorKind::io, [&] { EventFile(occupied, 1); });
  EXPECT_NE(other.find("occupied"), std::string::npos) << other;
}

}  // namespace
}  // namespace heed
