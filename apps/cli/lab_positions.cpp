// heed lab positions: draws a position encoding and puts it to the four criteria.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "command_tree.h"
#include "heed/attention/position_criteria.h"
#include "heed/attention/positions.h"
#include "heed/base/random.h"
#include "verbs.h"

namespace heed::cli {
namespace {

struct Choice {
  std::string encoding = "sinusoidal";
  std::int64_t length = 48, width = 64;
};

struct Lesson {
  const char* encoding;
  const char* text;
};
constexpr Lesson kLessons[] = {
    {"sinusoidal",
     "Each pair of columns is the hand of a clock: the first turn quickly and tell neighbours apart,\n"
     "the last hardly move and tell the beginning from the end. Going k positions on turns every hand\n"
     "by a fixed angle, wherever one starts, so that \"k words back\" is one linear map that attention\n"
     "can learn. Hands never leave their circle, so a text longer than any in training still gets\n"
     "codes of the familiar size."},
    {"integer",
     "Counting is unique and evenly spaced, but the code of word 400 is 400 times that of word 1 and\n"
     "drowns the word it is added to. Worse, a model trained on short texts has never met the numbers\n"
     "of a long one."},
    {"fraction",
     "Dividing by the length keeps the codes between 0 and 1, but now the step to the next word\n"
     "depends on the length of the text: \"two words back\" is another number in every text, and no\n"
     "fixed weights can learn it."},
    {"random",
     "Fresh random codes tell positions apart, but the same position gets another code every time it\n"
     "is asked for: there is nothing to learn, and the same text does not give the same answer twice."},
};

PositionEncoding encoding_of(const Choice& choice) {
  if (choice.encoding != "random") {
    return [kind = parse_position_kind(choice.encoding), width = choice.width](
               std::int64_t position, std::int64_t length) { return position_code(kind, position, length, width); };
  }
  auto draw = std::make_shared<RandomStream>(RandomStream{1, stream_id("positions"), 0});
  return [draw, width = choice.width](std::int64_t, std::int64_t) {
    std::vector<double> code;
    for (std::int64_t i = 0; i < width; ++i) code.push_back(2 * draw->uniform_double() - 1);
    return code;
  };
}

// Which of `count` rows or columns to draw in at most `most`: evenly spaced, none averaged.
std::vector<std::int64_t> sample(std::int64_t count, std::int64_t most) {
  std::vector<std::int64_t> chosen;
  const std::int64_t shown = std::min(count, most);
  for (std::int64_t i = 0; i < shown; ++i) chosen.push_back(i * count / shown);
  return chosen;
}

void draw(const PositionEncoding& encoding, const Choice& choice) {
  static constexpr std::array kShades = {" ", "░", "▒", "▓", "█"};
  const auto rows = sample(choice.length, 24), columns = sample(choice.width, 80);
  std::vector<std::vector<double>> codes;
  double low = 1e300, high = -1e300;
  for (std::int64_t position : rows) {
    codes.push_back(encoding(position, choice.length));
    const auto [least, most] = std::ranges::minmax(codes.back());
    low = std::min(low, least);
    high = std::max(high, most);
  }
  fmt::print("{} codes of a text of {} words: positions down, {} columns across, ' ' {:.3g} to '{}' {:.3g}\n\n",
             choice.encoding, choice.length, choice.width, low, kShades.back(), high);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::string line;
    for (std::int64_t column : columns) {
      const double share = (codes[r][static_cast<std::size_t>(column)] - low) / std::max(high - low, 1e-300);
      line += kShades[static_cast<std::size_t>(std::clamp(share * 5, 0.0, 4.0))];
    }
    fmt::print("{:6} │{}│\n", rows[r], line);
  }
  if (rows.size() < static_cast<std::size_t>(choice.length) ||
      columns.size() < static_cast<std::size_t>(choice.width)) {
    fmt::print("       ({} of {} rows and {} of {} columns shown)\n", rows.size(), choice.length, columns.size(),
               choice.width);
  }
}

int positions(const Choice& choice) {
  const PositionEncoding encoding = encoding_of(choice);
  draw(encoding, choice);
  fmt::print("\n{:<20} {:<7} {:>10}  {}\n", "criterion", "verdict", "evidence", "what was seen");
  for (const PositionVerdict& verdict : check_positions(encoding, choice.length)) {
    fmt::print("{:<20} {:<7} {:>10.3g}  {}\n", verdict.criterion, verdict.passed ? "pass" : "FAIL", verdict.evidence,
               verdict.text);
  }
  for (const Lesson& lesson : kLessons) {
    if (choice.encoding == lesson.encoding) fmt::print("\n{}\n", lesson.text);
  }
  return 0;
}

}  // namespace

void add_lab_positions(CLI::App& lab, int& result) {
  CLI::App* verb = lab.add_subcommand("positions", "draw a position encoding and check what it should do");
  auto choice = std::make_shared<Choice>();
  verb->add_option("--encoding", choice->encoding, "encoding to draw: sinusoidal, integer, fraction or random")
      ->check(one_of({"sinusoidal", "integer", "fraction", "random"}))
      ->capture_default_str();
  verb->add_option("--length", choice->length, "number of positions")
      ->check(CLI::Range(2, 2048))
      ->capture_default_str();
  verb->add_option("--width", choice->width, "numbers per position")->check(CLI::Range(1, 1024))->capture_default_str();
  verb->callback([choice, &result] { result = positions(*choice); });
}

}  // namespace heed::cli
