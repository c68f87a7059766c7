// One JSON object per line.
#include <algorithm>
#include <map>

#include "heed/base/error.h"
#include "heed/base/utf8.h"
#include "heed/data/conversation.h"
#include "heed/data/reader_formats.h"

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
void read_places(const Json& labels, const std::string& field, const std::string& where, Row& row) {
  for (const CodePoint& point : Utf8View(row.text)) {
    row.words.push_back(row.text.substr(point.offset, point.length));
  }
  row.labels.assign(row.words.size(), "O");
  auto places = label_places(labels, field, row.words.size(), where);
  std::ranges::stable_sort(places, [](const LabelPlace& a, const LabelPlace& b) {
    return a.first != b.first ? a.first < b.first : a.last > b.last;
  });
  std::size_t free = 0;
  for (const LabelPlace& place : places) {
    if (place.first < free) continue;
    free = place.last + 1;
    for (std::size_t i = place.first; i < free; ++i) row.labels[i] = (i == place.first ? "B-" : "I-") + place.label;
  }
}

class JsonLinesReader : public FileReader {
 public:
  explicit JsonLinesReader(const DataSource& source) : FileReader(source), source_(source) {
    const Columns& columns = source.columns;
    const bool text = needs(RowField::text), words = needs(RowField::words), answers = needs(RowField::answers);
    add(RowField::text, columns.text, {answers ? "question" : "text"});
    add(RowField::pair, columns.pair, {answers ? "context" : "text_pair"}, text);
    chats_ = source.chats && text && columns.text.empty();
    if (chats_) {
      fields_[RowField::text].names.emplace_back("prompt");
      if (columns.pair.empty()) fields_[RowField::pair].names.emplace_back("completion");
    }
    add(RowField::texts, columns.texts, {"texts"});
    add(RowField::words, columns.words, {"words"});
    add(RowField::labels, columns.label, {words ? "tags" : "label"}, true);
    add(RowField::score, columns.score, {"score"}, text);
    add(RowField::numbers, columns.numbers, {"numbers"});
    add(RowField::answers, columns.answers, {"answers"});
    add(RowField::files, columns.files, {"files", "file", "image", "audio"});
    add(RowField::items, columns.items, {"items"});
    add(RowField::messages, columns.messages, {"messages"});
    id_ = {{columns.id.empty() ? "id" : columns.id}, !columns.id.empty()};
  }

 protected:
  bool read(Row& row) override {
    if (!file_.skip_blank_lines()) return false;
    const std::uint64_t begin = file_.position();
    const std::string_view line = file_.line();
    file_.check_row(line);
    const std::string where = file_.where(begin);
    const Json object = parse_json(line, where);
    row.file = file_.name();
    row.line = file_.line_number(begin);
    if (const auto [value, name] = find(object, id_, where); value) row.id = label_text(*value, name, where);
    read_messages(line, object, where, row);
    if (row.messages.empty()) {
      const Json& texts = texts_of(object, where);
      take(texts, RowField::text, row.text, where);
      take(texts, RowField::pair, row.pair, where);
    }
    take(object, RowField::texts, row.texts, where);
    take(object, RowField::score, row.score, where);
    take(object, RowField::numbers, row.numbers, where);
    if (const auto [value, name] = find(object, RowField::items, where); value) {
      row.items = label_list(json_as<std::vector<Json>>(*value, name, where), name, where);
    }
    read_files(object, where, row);
    if (fields_.contains(RowField::words)) {
      read_words(object, where, row);
    } else {
      read_labels(object, where, row);
    }
    read_answers(object, where, row);
    return true;
  }

 private:
  struct Field {
    std::vector<std::string> names{};  // one of them
    bool needed = false;
  };
  struct Found {
    const Json* value = nullptr;
    std::string name{};
  };

  bool needs(RowField field) const { return source_.needs.contains(field); }
  // A field that is needed, or whose column is set, or that is `taken` where it is there; others are passed over.
  void add(RowField field, const std::string& column, std::vector<std::string> usual, bool taken = false) {
    if (!column.empty()) usual = {column};
    if (needs(field) || !column.empty() || taken) fields_[field] = {usual, needs(field) || !column.empty()};
  }

  // Throws if the field is needed and not there. Null stands for absent in a field that is not needed.
  static Found find(const Json& object, const Field& field, const std::string& where) {
    for (const std::string& name : field.names) {
      const Json* value = json_find(object, name, where);
      if (value && (field.needed || !value->is_null())) return {value, name};
    }
    HEED_CHECK_AS(bad_format, !field.needed, where, ": ", field.names[0], " is missing");
    return {};
  }
  Found find(const Json& object, RowField field, const std::string& where) const {
    const auto added = fields_.find(field);
    return added == fields_.end() ? Found{} : find(object, added->second, where);
  }

  template <class T>
  void take(const Json& object, RowField field, T& into, const std::string& where) const {
    if (const auto [value, name] = find(object, field, where); value) into = json_as<T>(*value, name, where);
  }
  template <class T>
  void take(const Json& object, RowField field, std::optional<T>& into, const std::string& where) const {
    if (const auto [value, name] = find(object, field, where); value) into = json_as<T>(*value, name, where);
  }

  // HuggingFace's {"translation": {"de": "...", "en": "..."}}, whose columns are the languages; else the row itself.
  const Json& texts_of(const Json& object, const std::string& where) const {
    const Columns& columns = source_.columns;
    if (columns.text.empty() || columns.pair.empty()) return object;
    const Json* texts = json_find(object, "translation", where);
    return texts && texts->is_object() && !object.contains(columns.text) ? *texts : object;
  }

  void read_messages(std::string_view line, const Json& object, const std::string& where, Row& row) const {
    const auto needed = fields_.find(RowField::messages);
    if (needed == fields_.end() && !chats_) return;
    row.messages = read_conversation(line, object, source_.columns.messages, where);
    HEED_CHECK_AS(bad_format, needed == fields_.end() || !row.messages.empty(), where, ": ", needed->second.names[0],
                  " is missing");
    const auto has = [&](const char* name) { return json_find(object, name, where) != nullptr; };
    HEED_CHECK_AS(bad_format, !row.messages.empty() || !chats_ || has("text") || has("prompt"), where,
                  ": has neither text, messages, conversations, instruction nor prompt");
  }

  void read_labels(const Json& object, const std::string& where, Row& row) const {
    const auto [value, name] = find(object, RowField::labels, where);
    if (!value) return;
    row.labels = value->is_array() ? label_list(*value, name, where)
                                   : split_labels(label_text(*value, name, where), source_.label_separator, where);
  }

  void read_words(const Json& object, const std::string& where, Row& row) const {
    const Columns& columns = source_.columns;
    const Json* words = json_find(object, columns.words.empty() ? "words" : columns.words, where);
    if (!words && columns.words.empty()) {
      const std::string field = columns.label.empty() ? "label" : columns.label;
      const Json* places = json_find(object, field, where);
      HEED_CHECK_AS(bad_format, places && places->is_object(), where, ": has neither a list \"words\" nor an object \"",
                    field, "\" of labels and places");
      row.text = json_required<std::string>(object, columns.text.empty() ? "text" : columns.text, where);
      return read_places(*places, field, where, row);
    }
    take(object, RowField::words, row.words, where);
    const auto [value, name] = find(object, RowField::labels, where);
    if (!value) return;
    row.labels = label_list(json_as<std::vector<Json>>(*value, name, where), name, where);
    HEED_CHECK_AS(bad_format, row.words.size() == row.labels.size(), where, ": ", row.words.size(), " words have ",
                  row.labels.size(), " ", name);
  }

  void read_files(const Json& object, const std::string& where, Row& row) const {
    const auto [value, name] = find(object, RowField::files, where);
    if (!value) return;
    const auto names = value->is_string() ? std::vector{value->get<std::string>()}
                                          : json_as<std::vector<std::string>>(*value, name, where);
    for (const std::string& each : names) row.files.push_back(row_file(source_, each, where));
  }

  void read_answers(const Json& object, const std::string& where, Row& row) const {
    const auto [value, name] = find(object, RowField::answers, where);
    if (!value) return;
    HEED_CHECK_AS(bad_format, row.pair, where, ": has ", name, " but no context that they are in");
    const auto texts = json_required<std::vector<std::string>>(*value, "text", where + ": " + name);
    const auto starts = json_required<std::vector<std::int64_t>>(*value, "answer_start", where + ": " + name);
    HEED_CHECK_AS(bad_format, texts.size() == starts.size(), where, ": ", name, " has ", texts.size(), " text and ",
                  starts.size(), " answer_start");
    for (std::size_t i = 0; i < texts.size(); ++i) add_answer(row, texts[i], starts[i]);
    place_answers(row, where);
  }

  const DataSource source_;
  std::map<RowField, Field> fields_;  // those to take
  Field id_;
  bool chats_ = false;  // rows may be conversations instead of texts
};

}  // namespace

std::unique_ptr<RowReader> open_json_lines(const DataSource& source) {
  return std::make_unique<JsonLinesReader>(source);
}

}  // namespace heed::detail
