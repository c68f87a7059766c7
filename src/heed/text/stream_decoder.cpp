#include "heed/text/tokenizer.h"
#include "heed/text/unicode.h"

namespace heed::text {

std::string StreamDecoder::push(std::int32_t id) {
  ids_.push_back(id);
  const std::string text = tokenizer_.decode(ids_, skip_special_);
  if (text.size() <= given_.size() || text.ends_with("\uFFFD")) return "";
  return take(text);
}

std::string StreamDecoder::finish() {
  const std::string text = tokenizer_.decode(ids_, skip_special_);
  std::string rest = take(text);
  ids_.clear();
  fresh_ = 0;
  given_.clear();
  return rest;
}

// The new part of the text; the ids that came before the last ones are forgotten.
std::string StreamDecoder::take(const std::string& text) {
  std::size_t common = 0;
  while (common < given_.size() && common < text.size() && given_[common] == text[common]) ++common;
  while (common > 0 && common < text.size() && is_continuation(text[common])) --common;
  std::string fresh = text.substr(common);
  ids_.erase(ids_.begin(), ids_.begin() + static_cast<std::ptrdiff_t>(fresh_));
  fresh_ = ids_.size();
  given_ = tokenizer_.decode(ids_, skip_special_);
  return fresh;
}

}  // namespace heed::text
