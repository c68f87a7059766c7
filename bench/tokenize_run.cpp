#include "bench/tokenize_run.h"

#include <malloc.h>

#include <algorithm>
#include <span>

#include "bench/timing.h"
#include "heed/base/file.h"
#include "heed/base/parallel.h"
#include "heed/text/load_tokenizer.h"

namespace heed::bench {
namespace {

std::int64_t live_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<std::int64_t>(info.uordblks + info.hblkhd);
}

text::Tokenizer load(const std::filesystem::path& path) {
  return std::filesystem::is_directory(path) ? text::load_tokenizer(path) : text::Tokenizer::from_file(path);
}

}  // namespace

TokenizeRun::TokenizeRun(const std::filesystem::path& tokenizer, const std::filesystem::path& texts)
    : before_(live_bytes()), tokenizer_(load(tokenizer)) {
  tokenizer_bytes_ = live_bytes() - before_;
  constexpr std::size_t kMost = std::size_t{1} << 30;
  storage_ = read_file(texts, kMost);
  const std::string_view all = storage_;
  for (std::size_t begin = 0; begin < all.size();) {
    const std::size_t end = std::min(all.find('\n', begin), all.size());
    texts_.push_back({all.substr(begin, end - begin), std::nullopt});
    begin = end + 1;
  }
}

TokenizeRun::Result TokenizeRun::run(std::int64_t begin, std::int64_t end, int threads) const {
  constexpr std::size_t kBatch = 1000;
  HEED_CHECK(0 <= begin && begin <= end, "[worker] begin is ", begin, " and end is ", end);
  const std::span<const text::EncodeInput> all(texts_);
  const auto last = std::min(static_cast<std::size_t>(end), all.size());
  const ThreadLimit limit(threads);
  Result result;
  result.seconds = seconds_of([&] {
    for (auto at = static_cast<std::size_t>(begin); at < last; at += kBatch) {
      const auto batch = all.subspan(at, std::min(kBatch, last - at));
      for (const text::Encoding& encoding : tokenizer_.encode_batch(batch)) {
        result.tokens += static_cast<std::int64_t>(encoding.size());
      }
      for (const text::EncodeInput& input : batch) result.bytes += static_cast<std::int64_t>(input.text.size());
    }
  });
  return result;
}

}  // namespace heed::bench
