// One JSON object a line.
#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/utf8.h"
#include "heed/train/reader_formats.h"

namespace heed::detail {
namespace {

// A label may be written as a number or as true and false.
std::string label_text(const Json& value, const std::string& field, const std::string& where) {
  if (value.is_string()) return value.get<std::string>();
  HEED_CHECK_AS(bad_format, value.is_number_integer() || value.is_boolean(), where, ": ", field, " is ",
                json_kind(value), ", expected a label");
  return value.dump();
}

std::vector<std::string> label_list(const Json& value, const std::string& field, const std::string& where) {
  std::vector<std::string> labels;
  for (const Json& each : value) labels.push_back(label_text(each, field, where));
  return labels;
}

struct LabelPlace {
  std::size_t first, last;
  std::string label;
};

// {"address": {"台湾": [[15, 16]]}}, with the first and the last character.
std::vector<LabelPlace> label_places(const Json& labels, const std::string& field, std::size_t characters,
                                     const std::string& where) {
  std::vector<LabelPlace> found;
  for (const auto& [label, texts] : labels.items()) {
    HEED_CHECK_AS(bad_format, texts.is_object(), where, ": ", field, ".", label, " is ", json_kind(texts),
                  ", expected an object of texts and their places");
    for (const auto& [text, places] : texts.items()) {
      const std::string path = field + "." + label + "." + text;
      for (const auto& place : json_as<std::vector<std::vector<std::size_t>>>(places, path, where)) {
        HEED_CHECK_AS(bad_format, place.size() == 2 && place[0] <= place[1] && place[1] < characters, where, ": ", path,
                      " is not [first, last] within the ", characters, " characters");
        found.push_back({place[0], place[1], label});
      }
    }
  }
  return found;
}

// Characters become the words, their labels B-address and I-address. Of labels that overlap the one that begins first
// counts, of those that begin together the longest.
void read_places(const Json& labels, const std::string& field, const std::string& where, Example& example) {
  for (const CodePoint& point : Utf8View(example.text)) {
    example.words.push_back(example.text.substr(point.offset, point.length));
  }
  example.labels.assign(example.words.size(), "O");
  auto places = label_places(labels, field, example.words.size(), where);
  std::ranges::stable_sort(places, [](const LabelPlace& a, const LabelPlace& b) {
    return a.first != b.first ? a.first < b.first : a.last > b.last;
  });
  std::size_t free = 0;
  for (const LabelPlace& place : places) {
    if (place.first < free) continue;
    free = place.last + 1;
    for (std::size_t i = place.first; i < free; ++i) example.labels[i] = (i == place.first ? "B-" : "I-") + place.label;
  }
}

class JsonLinesReader : public FileReader {
 public:
  explicit JsonLinesReader(const DataSource& source) : FileReader(source), source_(source) {}

 protected:
  bool read(Example& example) override {
    if (!skip_blank_lines()) return false;
    const std::uint64_t begin = file_.position();
    const std::string_view line = file_.line();
    file_.check_row(line);
    const std::string where = file_.where(begin);
    const Json row = parse_json(line, where);
    example.file = file_.name();
    example.line = file_.line_number(begin);
    if (const Json* id = find(row, source_.columns.id, "id", where)) example.id = label_text(*id, "id", where);
    switch (source_.rows.value_or(RowKind::text)) {
      case RowKind::text: read_text(row, where, example); break;
      case RowKind::words: read_words(row, where, example); break;
      case RowKind::questions: read_question(row, where, example); break;
    }
    return true;
  }

 private:
  static std::string name(const std::string& column, const char* usual) { return column.empty() ? usual : column; }
  // The field; null when it has its usual name and is not there.
  static const Json* find(const Json& row, const std::string& column, const char* usual, const std::string& where) {
    const Json* value = json_find(row, name(column, usual), where);
    HEED_CHECK_AS(bad_format, value || column.empty(), where, ": ", column, " is missing");
    return value && value->is_null() && column.empty() ? nullptr : value;
  }

  void read_text(const Json& row, const std::string& where, Example& example) const {
    const Columns& columns = source_.columns;
    example.text = json_required<std::string>(row, name(columns.text, "text"), where);
    if (const Json* pair = find(row, columns.pair, "text_pair", where)) {
      example.pair = json_as<std::string>(*pair, name(columns.pair, "text_pair"), where);
    }
    if (const Json* score = find(row, columns.score, "score", where)) {
      example.score = json_as<double>(*score, name(columns.score, "score"), where);
    }
    const std::string field = name(columns.label, "label");
    if (const Json* label = find(row, columns.label, "label", where)) {
      example.labels = label->is_array()
                           ? label_list(*label, field, where)
                           : split_labels(label_text(*label, field, where), source_.label_separator, where);
    }
  }

  void read_words(const Json& row, const std::string& where, Example& example) const {
    const Columns& columns = source_.columns;
    const Json* words = find(row, columns.words, "words", where);
    if (!words) {
      const std::string field = name(columns.label, "label");
      const Json* places = json_find(row, field, where);
      HEED_CHECK_AS(bad_format, places && places->is_object(), where, ": has neither a list \"words\" nor an object \"",
                    field, "\" of labels and places");
      example.text = json_required<std::string>(row, name(columns.text, "text"), where);
      return read_places(*places, field, where, example);
    }
    example.words = json_as<std::vector<std::string>>(*words, name(columns.words, "words"), where);
    const std::string field = name(columns.label, "tags");
    example.labels = label_list(json_required<std::vector<Json>>(row, field, where), field, where);
    HEED_CHECK_AS(bad_format, example.words.size() == example.labels.size(), where, ": ", example.words.size(),
                  " words have ", example.labels.size(), " ", field);
  }

  void read_question(const Json& row, const std::string& where, Example& example) const {
    const Columns& columns = source_.columns;
    example.text = json_required<std::string>(row, name(columns.text, "question"), where);
    example.pair = json_required<std::string>(row, name(columns.pair, "context"), where);
    const std::string field = name(columns.answers, "answers");
    const Json answers = json_required<Json>(row, field, where);
    const auto texts = json_required<std::vector<std::string>>(answers, "text", where + ": " + field);
    const auto starts = json_required<std::vector<std::int64_t>>(answers, "answer_start", where + ": " + field);
    HEED_CHECK_AS(bad_format, texts.size() == starts.size(), where, ": ", field, " has ", texts.size(), " text and ",
                  starts.size(), " answer_start");
    for (std::size_t i = 0; i < texts.size(); ++i) add_answer(example, texts[i], starts[i]);
    place_answers(example, where);
  }

  const DataSource source_;
};

}  // namespace

std::unique_ptr<ExampleReader> open_json_lines(const DataSource& source) {
  return std::make_unique<JsonLinesReader>(source);
}

}  // namespace heed::detail
