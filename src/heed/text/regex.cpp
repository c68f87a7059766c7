#include "heed/text/regex.h"

#include <oniguruma.h>

#include <mutex>

#include "heed/base/error.h"
#include "heed/text/unicode.h"

namespace heed::text {
namespace {

// Enough for any sane pattern on long texts; a hostile one ends in an error instead of hours.
constexpr unsigned long kRetryLimit = 100'000'000;

const OnigUChar* bytes(const char* text) {
  return reinterpret_cast<const OnigUChar*>(text);
}

std::string reason(int code, OnigErrorInfo* info) {
  OnigUChar message[ONIG_MAX_ERROR_MESSAGE_LEN];
  const int length = onig_error_code_to_str(message, code, info);
  return {reinterpret_cast<const char*>(message), static_cast<std::size_t>(length)};
}

struct RegionDeleter {
  void operator()(OnigRegion* region) const { onig_region_free(region, 1); }
};

}  // namespace

struct Regex::Handle {
  regex_t* regex = nullptr;
  Handle() = default;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (regex) onig_free(regex);
  }
};

Regex::Regex(const std::string& pattern, std::string_view context) {
  // Compiling touches state that all patterns share.
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  static const int ready = [] {
    OnigEncoding encodings[] = {ONIG_ENCODING_UTF8};
    const int code = onig_initialize(encodings, 1);
    onig_set_parse_depth_limit(200);
    onig_set_retry_limit_in_search(kRetryLimit);
    return code;
  }();
  HEED_CHECK_AS(internal, ready == ONIG_NORMAL, "[regex] Oniguruma does not start");
  auto handle = std::make_shared<Handle>();
  OnigErrorInfo info{};
  const int code = onig_new(&handle->regex, bytes(pattern.data()), bytes(pattern.data() + pattern.size()),
                            ONIG_OPTION_NONE, ONIG_ENCODING_UTF8, ONIG_SYNTAX_DEFAULT, &info);
  HEED_CHECK_AS(bad_format, code == ONIG_NORMAL, context, ": the regular expression \"", pattern,
                "\" is refused: ", reason(code, &info));
  handle_ = std::move(handle);
}

void Regex::find_all(std::string_view text, std::vector<Span>& matches) const {
  const std::unique_ptr<OnigRegion, RegionDeleter> region(onig_region_new());
  const OnigUChar* begin = bytes(text.data());
  const OnigUChar* end = begin + text.size();
  std::size_t from = 0;
  std::size_t last_end = text.size() + 1;
  std::size_t covered = 0;
  while (from <= text.size()) {
    const int at = onig_search(handle_->regex, begin, end, begin + from, end, region.get(), ONIG_OPTION_NONE);
    if (at == ONIG_MISMATCH) break;
    HEED_CHECK(at >= 0, "[regex] the search gave up: ", reason(at, nullptr));
    const auto match_begin = static_cast<std::size_t>(region->beg[0]);
    const auto match_end = static_cast<std::size_t>(region->end[0]);
    if (match_begin == match_end && match_end == last_end) {
      from += from < text.size() ? sequence_length(text[from]) : 1;
      continue;
    }
    from = last_end = match_end;
    // A pattern may report a start before the end of the match before it (\K); texts are split forwards only.
    if (match_begin < covered || match_end < match_begin) continue;
    matches.push_back({static_cast<std::uint32_t>(match_begin), static_cast<std::uint32_t>(match_end)});
    covered = match_end;
  }
}

}  // namespace heed::text
