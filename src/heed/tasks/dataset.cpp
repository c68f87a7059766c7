#include "heed/tasks/dataset.h"

#include <algorithm>
#include <numeric>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/base/stop.h"

namespace heed {

namespace {

// Training takes windows in any order, scoring one after the other.
constexpr std::size_t kKeptToTrain = std::size_t{256} << 20, kKeptToScore = std::size_t{8} << 20;

std::uint32_t length_of(std::span<const text::Encoding> sequences) {
  std::size_t tokens = 0;
  for (const text::Encoding& sequence : sequences) tokens += sequence.size();
  return static_cast<std::uint32_t>(tokens);
}

}  // namespace

Dataset::Dataset(const std::vector<std::vector<DataSource>>& sources, const TaskList& tasks, Purpose purpose)
    : tasks_(tasks), purpose_(purpose), encoded_(purpose == Purpose::train ? kKeptToTrain : kKeptToScore) {
  for (const auto& file : sources) {
    auto& readers = readers_.emplace_back();
    for (const DataSource& source : file) readers.push_back(open_reader(source));
  }
}

bool Dataset::next_row(std::size_t file, std::vector<Row>& row) {
  auto& readers = readers_[file];
  row.resize(readers.size());
  while (readers[0]->next(row[0])) {
    bool whole = true;
    for (std::size_t head = 1; head < readers.size(); ++head) {
      // A head whose reader skipped this row, as malformed, is past it by now.
      while (row[head].line < row[0].line || row[head].file != row[0].file) {
        if (!readers[head]->next(row[head])) return false;
      }
      whole = whole && row[head].line == row[0].line;
    }
    if (whole) return true;
  }
  return false;
}

void Dataset::for_each_row(const std::function<void(const std::vector<Row>&)>& use) {
  for (std::size_t file = 0; file < readers_.size(); ++file) {
    for (auto& reader : readers_[file]) reader->seek(0);
    std::vector<Row> row;
    while (next_row(file, row)) {
      StopScope::current().check("[Dataset]");
      if (!keep_ || keep_(row[0])) use(row);
    }
  }
}

void Dataset::index(const std::function<void(double)>& progress) {
  lengths_.clear();
  places_.clear();
  encoded_.clear();
  rows_ = empty_rows_ = cut_rows_ = cut_after_ = 0;
  for (std::size_t file = 0; file < readers_.size(); ++file) {
    for (auto& reader : readers_[file]) reader->seek(0);
    RowReader& main = *readers_[file][0];
    std::vector<Row> row;
    for (std::uint64_t position = main.position(); next_row(file, row); position = main.position()) {
      StopScope::current().check("[Dataset]");
      if (keep_ && !keep_(row[0])) continue;
      const auto samples = tasks_[0]->encode(row[0], purpose_);
      if (samples.empty()) ++empty_rows_;
      if (const std::size_t cut = tasks_[0]->cut_after(row[0], samples); cut > 0) {
        ++cut_rows_;
        cut_after_ = std::max(cut_after_, cut);
      }
      for (std::size_t window = 0; window < samples.size(); ++window) {
        places_.push_back({position, static_cast<std::uint32_t>(file), static_cast<std::uint32_t>(rows_),
                           static_cast<std::uint32_t>(window)});
        lengths_.push_back(length_of(samples[window]));
      }
      ++rows_;
      if (progress && rows_ % 1000 == 0) {
        progress((static_cast<double>(file) + static_cast<double>(position) / static_cast<double>(main.end())) /
                 static_cast<double>(readers_.size()));
      }
    }
  }
}

std::int64_t Dataset::tokens() const {
  return std::accumulate(lengths_.begin(), lengths_.end(), std::int64_t{0});
}

BadRows Dataset::bad_rows() const {
  BadRows all;
  for (const auto& readers : readers_) {
    const BadRows& bad = readers[0]->bad_rows();
    all.count += bad.count;
    std::ranges::copy(bad.messages, std::back_inserter(all.messages));
  }
  return all;
}

std::shared_ptr<const EncodedRow> Dataset::encoded(const Place& place) {
  if (auto known = encoded_.find(place.row)) return known;
  auto fresh = std::make_shared<EncodedRow>();
  for (auto& reader : readers_[place.file]) reader->seek(place.position);
  HEED_CHECK_AS(io, next_row(place.file, fresh->rows), "[Dataset] the data changed while it was in use: a row is gone");
  const Row& row = fresh->rows[0];
  fresh->samples = tasks_[0]->encode(row, purpose_);
  HEED_CHECK_AS(io, place.window < fresh->samples.size(), row.file, ":", row.line, ": changed while it was in use");
  if (fresh->samples.size() > 1) encoded_.keep(place.row, fresh);
  return fresh;
}

Sample Dataset::sample(std::size_t number, std::uint64_t seed, std::int64_t epoch) {
  HEED_CHECK(number < places_.size(), "[Dataset] sample ", number, " of ", places_.size());
  const Place& place = places_[number];
  const auto row = encoded(place);
  Sample sample{.sequences = row->samples[place.window],
                .text = tasks_[0]->text_of(row->rows[0]),
                .row_number = place.row,
                .window = place.window,
                .remembered = tasks_[0]->remembered(place.window),
                .has_source = tasks_[0]->reads_source()};
  const SampleDraw draw{seed, stream_id("sample", epoch, number)};
  for (std::size_t head = 0; head < tasks_.size(); ++head) {
    sample.targets.push_back(tasks_[head]->targets(row->rows[head], sample.text, sample.sequences, draw));
  }
  sample.rows = row->rows;
  return sample;
}

Batch Dataset::batch(std::span<const std::uint32_t> numbers, std::uint64_t seed, std::int64_t epoch,
                     const ModelInfo& model) {
  std::vector<Sample> samples;
  samples.reserve(numbers.size());
  for (const std::uint32_t number : numbers) samples.push_back(sample(number, seed, epoch));
  return make_batch(std::move(samples), model);
}

}  // namespace heed
