#include "heed/tasks/data_notes.h"

#include <set>
#include <sstream>

#include "heed/base/error.h"
#include "heed/base/grouped.h"
#include "heed/base/join.h"
#include "heed/tasks/label_set.h"

namespace heed {
namespace {

// Labels of one head that are not known.
class UnknownLabels {
 public:
  void add(const Row& row, const std::vector<std::size_t>& unknown) {
    of_words_ = !row.words.empty();
    labels_ += row.labels.size();
    rows_ += unknown.empty() ? 0 : 1;
    for (const std::size_t i : unknown) {
      if (count_++ == 0) {
        first_ = row.place_of_label(i);
        first_label_ = row.labels[i];
      }
      names_.insert(row.labels[i]);
    }
  }

  std::string note(const std::string& name, const std::string& known_by) const {
    if (count_ == 0) return "";
    HEED_CHECK_AS(bad_format, count_ < labels_, first_, ": the label \"", first_label_, "\" is not one that ", known_by,
                  " has, nor is any other of ", name,
                  "; is the column of the label another one (label), or are labels numbers (label_names)?");
    std::ostringstream text;
    const std::size_t concerned = of_words_ ? count_ : rows_;
    text << grouped(concerned) << (of_words_ ? " word" : " row") << (concerned == 1 ? "" : "s") << " of " << name
         << (concerned == 1 ? " has" : " have") << (names_.size() == 1 ? " a label" : " labels") << " that " << known_by
         << " lacks (" << listed() << "), first at " << first_ << "; " << (concerned == 1 ? "it counts" : "they count")
         << " as wrong";
    return text.str();
  }

 private:
  std::string listed() const {
    constexpr std::size_t kMostListed = 8;
    std::vector<std::string> names(names_.begin(), names_.end());
    if (names.size() > kMostListed) {
      names.resize(kMostListed);
      names.emplace_back("...");
    }
    return join(names, ", ");
  }

  bool of_words_ = false;
  std::size_t labels_ = 0, rows_ = 0, count_ = 0;
  std::string first_, first_label_;
  std::set<std::string> names_;
};

}  // namespace

std::string bad_rows_note(const BadRows& bad, const std::string& name) {
  if (bad.count == 0) return "";
  const bool one = bad.count == 1;
  return grouped(bad.count) + " malformed row" + (one ? "" : "s") + " of " + name + (one ? " is" : " are") +
         " skipped; the first: " + bad.messages.at(0);
}

std::vector<std::string> data_notes(Dataset& data, const TaskList& tasks, const std::string& name,
                                    const std::string& known_by) {
  std::vector<std::string> notes;
  const auto add = [&](std::string note) {
    if (!note.empty()) notes.push_back(std::move(note));
  };
  add(bad_rows_note(data.bad_rows(), name));
  if (data.cut_rows() > 0) {
    add(grouped(data.cut_rows()) + " of " + grouped(data.rows()) + " texts of " + name +
        (data.cut_rows() == 1 ? " is" : " are") + " cut at " + grouped(data.cut_after()) + " tokens");
  }
  if (data.empty_rows() > 0) {
    add(grouped(data.empty_rows()) + " of " + grouped(data.rows()) + " texts of " + name +
        (data.empty_rows() == 1 ? " is" : " are") + " left out: no token of theirs counts");
  }
  std::vector<UnknownLabels> unknown(tasks.size());
  std::vector<ScoreRange> scores(tasks.size());
  data.for_each_row([&](const std::vector<Row>& row) {
    for (std::size_t head = 0; head < tasks.size(); ++head) {
      unknown[head].add(row[head], tasks[head]->check(row[head]));
      if (row[head].score) scores[head].learn(*row[head].score);
    }
  });
  for (std::size_t head = 0; head < tasks.size(); ++head) {
    add(unknown[head].note(name, known_by));
    if (tasks[head]->correlates() && scores[head].constant()) {
      add("all scores of " + name + " are " + Json(scores[head].least()).dump() +
          ": no correlation with them is defined, so that " + join(tasks[head]->metric_names(), " and ") +
          " will be nan");
    }
  }
  return notes;
}

}  // namespace heed
