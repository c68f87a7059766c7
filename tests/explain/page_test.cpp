#include "heed/explain/page.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "heed/base/file.h"
#include "support/error_of.h"
#include "support/random_model.h"
#include "support/temp_folder.h"

namespace heed {
namespace {

std::int64_t digit(char c) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  return static_cast<std::int64_t>(kAlphabet.find(c));
}

// Read back as web/data.js does it.
TEST(ExplainPage, MapsAreWithinHalfALevel) {
  constexpr std::int64_t n = 7;
  Tensor weights = Tensor::zeros({n, n});
  for (std::int64_t i = 0; i < n * n; ++i) {
    weights.mutable_data<float>()[i] = static_cast<float>((i * i * 31 + 7) % 101) / 500.0F;
  }
  const std::string whole = packed_map(weights, 1);
  ASSERT_EQ(whole.size(), static_cast<std::size_t>(n * n));
  for (std::int64_t i = 0; i < n; ++i) {
    double most = 0;
    for (std::int64_t j = 0; j < n; ++j) most = std::max(most, weights.at({i, j}));
    for (std::int64_t j = 0; j < n; ++j) {
      const double root = static_cast<double>(digit(whole[static_cast<std::size_t>(i * n + j)])) / 63;
      EXPECT_NEAR(root, std::sqrt(weights.at({i, j}) / most), 0.5 / 63 + 1e-6);
    }
  }
  const std::string blocks = packed_map(weights, 3);  // 3 x 3 cells, the last of one row and column
  ASSERT_EQ(blocks.size(), 9u);
  double most = 0, last = weights.at({6, 6});
  for (std::int64_t j = 0; j < n; ++j) most = std::max(most, weights.at({6, j}));
  EXPECT_NEAR(static_cast<double>(digit(blocks[8])) / 63, std::sqrt(last / most), 0.5 / 63 + 1e-6);
}

TEST(ExplainPage, LinksKeepKeysAndWeights) {
  const Tensor keys = Tensor::from<std::int64_t>({5, 4095, -1, 0, 70000, 1}, {2, 1, 3});
  const Tensor weights = Tensor::from<float>({0.75F, 0.0002F, 0, 1, 0.5F, 0.1F}, {2, 1, 3});
  const std::string text = packed_links(keys, weights, 0, 2);
  ASSERT_EQ(text.size(), 20u);
  const auto key = [&](std::size_t link) {
    return (digit(text[link * 5]) * 64 + digit(text[link * 5 + 1])) * 64 + digit(text[link * 5 + 2]);
  };
  const auto weight = [&](std::size_t link) {
    return std::pow(static_cast<double>(digit(text[link * 5 + 3]) * 64 + digit(text[link * 5 + 4])) / 4095, 2);
  };
  EXPECT_EQ(key(0), 5);
  EXPECT_EQ(key(1), 4095);
  EXPECT_EQ(key(2), 0);
  EXPECT_EQ(key(3), 70000);
  EXPECT_NEAR(weight(0), 0.75, 3e-4);
  EXPECT_NEAR(weight(1), 0.0002, 4e-6);
  EXPECT_EQ(weight(2), 1);
}

// Pages stay below 60 MB for any model and 25 MB for 512 tokens of six layers of twelve heads.
TEST(ExplainPage, LayoutKeepsPagesSmall) {
  for (const std::int64_t heads : {4, 72, 144, 384}) {
    for (const std::int64_t tokens : {1, 16, 512, 4096, 32768}) {
      const PageLayout layout(tokens, heads, 8);
      const std::int64_t maps = layout.side() * layout.side() * heads, links = tokens * heads * layout.links * 5;
      EXPECT_LE(maps, 24'000'000);
      EXPECT_TRUE(links <= 12'000'000 || layout.links == 1);
      EXPECT_LE(layout.full_heads() * tokens * tokens, 20'000'000);
    }
  }
  const PageLayout usual(512, 72, 8);
  EXPECT_EQ(usual.block, 1);
  EXPECT_EQ(usual.links, 8);
  EXPECT_LT(usual.side() * usual.side() * 72 + 512 * 72 * 8 * 5, 25'000'000);
  EXPECT_EQ(PageLayout(4096, 72, 8).block, 8);
  EXPECT_EQ(PageLayout(4096, 72, 8).full_heads(), 1);
}

TEST(ExplainPage, CarriesHostileTextAsData) {
  const test::TempFolder folder;
  test::write_random_model(folder.path() / "model", HeadKind::sequence_classification, {"</script>", "b"});
  const LoadedModel model(folder.path() / "model", 512);
  const std::string text = "</script><script>alert('fox')</script><!--";
  const Look look = look_at(model, text);
  const auto path = folder.path() / "page.html";
  write_page(look, "<model>", path);
  const std::string page = read_file(path, 10'000'000);
  EXPECT_EQ(page.find("alert('fox')</script>"), page.npos);
  EXPECT_EQ(page.find("</script>\","), page.npos);
  EXPECT_EQ(page.find("<model>"), page.npos);
  const std::string opening = "<script type=\"application/json\" id=\"data\">";
  const std::size_t begin = page.find(opening) + opening.size();
  const Json data = parse_json(page.substr(begin, page.find("</script>", begin) - begin), "data");
  EXPECT_EQ(data.at("model"), "<model>");
  EXPECT_EQ(data.at("tokens"), Json(look.text.tokens));
  EXPECT_EQ(data.at("words")[1][2], "<");
  EXPECT_EQ(data.at("evidence").at("label"), look.evidence->labels.front().label);
  EXPECT_NEAR(data.at("evidence").at("gradients").at("gap").get<double>(), look.evidence->gradients.gap(), 1e-12);
  // The second label has its own evidence: what look_at gives of it alone.
  const Json& other = data.at("evidence").at("others").at(0);
  EXPECT_EQ(other.at("label"), look.evidence->labels[1].label);
  EXPECT_EQ(data.at("evidence").at("others").size(), 1u);
  const auto place = std::ranges::find(model.labels(), look.evidence->labels[1].label) - model.labels().begin();
  const Score score = label_score(model, static_cast<std::size_t>(place));
  EXPECT_NEAR(other.at("gradients").at("gap").get<double>(),
              integrated_gradients(model, look.text.encoding, score).gap(), 1e-12);
  EXPECT_EQ(other.at("occlusion").at("words").size(), look.text.words.size());
  EXPECT_TRUE(look_at(model, text, {.labels = 1}).evidence->others.empty());
  // Every element that is opened is closed: data, two for each of 8 heads, the program.
  const auto count = [&](std::string_view part) {
    std::size_t found = 0;
    for (std::size_t at = page.find(part); at != page.npos; at = page.find(part, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count("<script"), 18u);
  EXPECT_EQ(count("</script>"), 18u);
}

TEST(ExplainPage, RefusesWhatIsNotThere) {
  const test::TempFolder folder;
  test::write_random_model(folder.path() / "model", HeadKind::none, {"a"});
  const LoadedModel model(folder.path() / "model", 512);
  const Look bare = look_at(model, "the fox", {.maps = false});
  EXPECT_FALSE(bare.evidence);
  EXPECT_EQ(bare.rollout.size(), bare.text.tokens.size());
  EXPECT_NE(test::error_of(ErrorKind::invalid_argument, [&] { write_page(bare, "m", folder.path() / "p"); }), "");
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "p"));
  EXPECT_NE(test::error_of(ErrorKind::invalid_argument, [&] { look_at(model, "the fox", {.full = {{2, 0}}}); }), "");
}

}  // namespace
}  // namespace heed
