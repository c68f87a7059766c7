#include "heed/data/data_check.h"

#include <bit>
#include <limits>
#include <set>
#include <unordered_map>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/base/utf8.h"
#include "heed/data/conversation.h"
#include "heed/text/unicode.h"

namespace heed {
namespace {

constexpr std::size_t kExamplesKept = 5;
constexpr std::size_t kRowsBetweenReports = 1000;

// Lower case, with one space where there is any, none at the ends.
std::string plain(std::string_view text) {
  const text::PropertyTable properties;
  std::string result;
  for (const CodePoint& point : Utf8View(text)) {
    if (!properties.has(point.value, text::kIsWhitespace)) {
      utf8_append(result, text::lower_case(point.value));
    } else if (!result.empty() && result.back() != ' ') {
      result += ' ';
    }
  }
  if (result.ends_with(' ')) result.pop_back();
  return result;
}

// All that a model would see of the row, as one text.
std::string input_of(const Row& row) {
  constexpr char kBorder = '\x1F';
  std::string input = plain(row.text);
  // Of labels as places in a text, the words are the text once more.
  if (row.text.empty()) {
    for (const std::string& word : row.words) input += ' ' + plain(word);
  }
  if (row.pair) input += kBorder + plain(*row.pair);
  for (const std::string& text : row.texts) input += kBorder + plain(text);
  for (const double number : row.numbers) input += kBorder + std::to_string(std::bit_cast<std::uint64_t>(number));
  for (const auto& file : row.files) input += kBorder + file.string();
  for (const std::string& item : row.items) input += kBorder + item;
  if (!row.messages.empty()) {
    for (const std::string& text : conversation_texts(row.messages)) input += kBorder + plain(text);
  }
  return input;
}

std::uint64_t target_hash(const Row& row) {
  std::uint64_t hash = row.score ? stream_id(std::string_view(std::to_string(*row.score))) : 0;
  for (const std::string& label : row.labels) hash = stream_id(hash, std::string_view(label));
  for (const AnswerSpan& answer : row.answers) hash = stream_id(hash, std::string_view(answer.text), answer.start);
  return hash;
}

std::size_t words_in(std::string_view text) {
  const text::PropertyTable properties;
  std::size_t words = 0;
  bool inside = false;
  for (const CodePoint& point : Utf8View(text)) {
    const bool space = properties.has(point.value, text::kIsWhitespace);
    words += !space && !inside ? 1 : 0;
    inside = !space;
  }
  return words;
}

// In words, numbers, files and items.
std::size_t length_of(const Row& row) {
  if (!row.words.empty()) return row.words.size();
  std::size_t length = words_in(row.text) + row.numbers.size() + row.files.size() + row.items.size();
  if (row.pair) length += words_in(*row.pair);
  for (const std::string& text : row.texts) length += words_in(text);
  if (!row.messages.empty()) {
    for (const std::string& text : conversation_texts(row.messages)) length += words_in(text);
  }
  return length;
}

struct Known {
  std::size_t line = 0;
  std::uint64_t target = 0;
};
using KnownRows = std::unordered_map<std::uint64_t, Known>;

std::string place(const std::string& file, std::size_t line) {
  return file + ":" + std::to_string(line);
}

class Checker {
 public:
  Checker(const std::vector<DataSource>& sources, const DataCheckOptions& options)
      : sources_(sources), options_(options), known_(sources.size()) {}

  DataCheck run() {
    DataCheck check;
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      for (std::size_t earlier = 0; earlier < i; ++earlier) {
        shared_.push_back({sources_[i].file.string(), sources_[earlier].file.string()});
      }
      check.files.push_back(check_file(i));
      for (SharedRows& shared : shared_) {
        if (shared.rows.count > 0) check.shared.push_back(std::move(shared));
      }
      shared_.clear();
      if (i == 0) continue;
      for (const auto& [label, count] : check.files[i].labels) {
        if (!check.files[0].labels.contains(label)) check.files[i].new_labels.push_back(label);
      }
    }
    check.one_label = options_.learns_labels && check.files[0].labels.size() == 1;
    return check;
  }

 private:
  FileCheck check_file(std::size_t index) {
    DataSource source = sources_[index];
    source.max_bad_rows = std::numeric_limits<std::size_t>::max();
    const auto reader = open_reader(source);
    FileCheck file{.file = source.file.string()};
    for (Row row; reader->next(row);) {
      if (file.rows++ % kRowsBetweenReports == 0 && options_.progress) {
        const double share = static_cast<double>(reader->position()) / static_cast<double>(reader->end());
        options_.progress((static_cast<double>(index) + share) / static_cast<double>(sources_.size()));
      }
      check_row(row, index, file);
    }
    file.bad_rows = reader->bad_rows();
    if (options_.progress) options_.progress(static_cast<double>(index + 1) / static_cast<double>(sources_.size()));
    return file;
  }

  void check_row(const Row& row, std::size_t index, FileCheck& file) {
    for (const std::string& label : row.labels) ++file.labels[label];
    const std::size_t length = options_.length ? options_.length(row) : length_of(row);
    ++file.lengths[length];
    if (options_.max_length > 0 && length > options_.max_length) ++file.too_long;
    const std::string input = input_of(row);
    if (input.find_first_not_of(" \x1F") == std::string::npos) file.empty.add(place(row.file, row.line));

    const std::uint64_t hash = stream_id(std::string_view(input)), target = target_hash(row);
    const auto [found, added] = known_[index].try_emplace(hash, Known{row.line, target});
    if (!added) {
      const std::string both = place(row.file, row.line) + " is " + place(row.file, found->second.line);
      file.duplicates.add(both);
      if (found->second.target != target) file.contradictions.add(both);
    }
    for (std::size_t earlier = 0; earlier < index; ++earlier) {
      const auto same = known_[earlier].find(hash);
      if (same == known_[earlier].end()) continue;
      shared_[earlier].rows.add(place(row.file, row.line) + " is " +
                                place(sources_[earlier].file.string(), same->second.line));
    }
  }

  const std::vector<DataSource>& sources_;
  const DataCheckOptions& options_;
  std::vector<KnownRows> known_;
  std::vector<SharedRows> shared_;  // of the file at hand with each earlier one
};

Json findings_json(const Findings& findings) {
  return {{"count", findings.count}, {"examples", findings.examples}};
}

}  // namespace

void Findings::add(std::string example) {
  if (++count <= kExamplesKept) examples.push_back(std::move(example));
}

std::size_t FileCheck::length_quantile(double share) const {
  double seen = 0;
  for (const auto& [length, count] : lengths) {
    seen += static_cast<double>(count);
    if (seen >= share * static_cast<double>(rows)) return length;
  }
  return 0;
}

double FileCheck::mean_length() const {
  double sum = 0;
  for (const auto& [length, count] : lengths) sum += static_cast<double>(length) * static_cast<double>(count);
  return rows == 0 ? 0 : sum / static_cast<double>(rows);
}

bool DataCheck::clean() const {
  for (const FileCheck& file : files) {
    if (file.bad_rows.count + file.empty.count + file.contradictions.count > 0) return false;
  }
  return shared.empty() && !one_label;
}

DataCheck check_data(const std::vector<DataSource>& sources, const DataCheckOptions& options) {
  HEED_CHECK(!sources.empty(), "[check_data] there are no files");
  return Checker(sources, options).run();
}

Json to_json(const DataCheck& check) {
  Json files = Json::array(), shared = Json::array();
  for (const FileCheck& file : check.files) {
    Json lengths = {{"mean", file.mean_length()}, {"too_long", file.too_long}};
    for (const auto& [name, share] : {std::pair("median", 0.5), {"p90", 0.9}, {"p99", 0.99}, {"max", 1.0}}) {
      lengths[name] = file.length_quantile(share);
    }
    files.push_back({{"file", file.file},
                     {"rows", file.rows},
                     {"bad_rows", {{"count", file.bad_rows.count}, {"examples", file.bad_rows.messages}}},
                     {"labels", file.labels},
                     {"new_labels", file.new_labels},
                     {"lengths", std::move(lengths)},
                     {"empty", findings_json(file.empty)},
                     {"duplicates", findings_json(file.duplicates)},
                     {"contradictions", findings_json(file.contradictions)}});
  }
  for (const SharedRows& each : check.shared) {
    shared.push_back({{"file", each.file}, {"earlier", each.earlier}, {"rows", findings_json(each.rows)}});
  }
  return {{"files", std::move(files)},
          {"shared", std::move(shared)},
          {"one_label", check.one_label},
          {"clean", check.clean()}};
}

}  // namespace heed
