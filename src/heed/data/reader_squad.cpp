// SQuAD 1.1 and 2.0: {"data": [{"paragraphs": [{"context", "qas": [{"id", "question", "answers", "is_impossible"}]}]}]}
#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/data/gzip.h"
#include "heed/data/reader_formats.h"

namespace heed::detail {
namespace {

// What a parsed file takes of memory is a few times its size.
constexpr std::size_t kMostBytes = 512 << 20;

const Json& list_of(const Json& object, const std::string& key, const std::string& where) {
  const Json* value = json_find(object, key, where);
  HEED_CHECK_AS(bad_format, value && value->is_array(), where, ": ", key, " is ",
                value ? json_kind(*value) : std::string("missing"), ", expected a list");
  return *value;
}

class SquadReader : public RowReader {
 public:
  explicit SquadReader(const DataSource& source)
      : RowReader(source),
        name_(source.file.string()),
        document_(parse_json(
            is_gzip(source.file) ? read_gzip(source.file, kMostBytes) : read_file(source.file, kMostBytes), name_)) {
    for (const Json& article : list_of(document_, "data", name_)) {
      for (const Json& paragraph : list_of(article, "paragraphs", name_ + ": data")) {
        for (const Json& question : list_of(paragraph, "qas", name_ + ": paragraphs")) {
          questions_.push_back({&paragraph, &question});
        }
      }
    }
  }

  std::uint64_t position() const override { return next_; }
  void seek(std::uint64_t position) override {
    HEED_CHECK(position <= questions_.size(), name_, ": position ", position, " is after the end, ", questions_.size());
    next_ = position;
  }
  std::uint64_t end() const override { return questions_.size(); }

 protected:
  bool read(Row& row) override {
    if (next_ == questions_.size()) return false;
    const Place place = questions_[next_++];
    const std::string where = name_ + ": question " + std::to_string(next_);
    row.file = name_;
    row.line = next_;
    row.id = json_required<std::string>(*place.question, "id", where);
    row.text = json_required<std::string>(*place.question, "question", where);
    row.pair = json_required<std::string>(*place.paragraph, "context", where);
    if (json_optional<bool>(*place.question, "is_impossible", false, where)) return true;
    for (const Json& answer : list_of(*place.question, "answers", where)) {
      add_answer(row, json_required<std::string>(answer, "text", where),
                 json_required<std::int64_t>(answer, "answer_start", where));
    }
    place_answers(row, where);
    return true;
  }

 private:
  struct Place {
    const Json* paragraph;
    const Json* question;
  };

  std::string name_;
  const Json document_;
  std::vector<Place> questions_;
  std::uint64_t next_ = 0;
};

}  // namespace

std::unique_ptr<RowReader> open_squad(const DataSource& source) {
  return std::make_unique<SquadReader>(source);
}

}  // namespace heed::detail
