#include "heed/text/inline_markup.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/utf8.h"
#include "heed/text/markup_places.h"
#include "heed/text/markup_tags.h"

namespace heed::text {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

class Stripper {
 public:
  explicit Stripper(std::string_view source) : source_(source) {}

  StrippedText run() {
    for (std::size_t at = 0; at < source_.size();) at += step(at);
    finish();
    return std::move(result_);
  }

 private:
  // Takes what is at `at`; gives its bytes.
  std::size_t step(std::size_t at) {
    const char c = source_[at];
    if (c == '<') {
      if (const auto tag = tag_at(source_, at)) {
        add_tag(*tag, at);
        return tag->length;
      }
      has_less_ = true;
    }
    if (c == '&') {
      if (const auto entity = entity_at(source_, at)) {
        add_entity(*entity, at);
        return entity->length;
      }
      has_ampersand_ = true;
    }
    std::string& text = result_.text;
    // Of the spaces around a tag one is left, and none where the text begins.
    if (after_tag_ && is_blank(c) && (text.empty() || is_blank(text.back()))) return 1;
    if (after_tag_ && !is_blank(c) && breaks_line_ && !text.empty() && !is_blank(text.back())) add_space();
    after_tag_ = breaks_line_ = false;
    text += c;
    return 1;
  }

  // Where only tags are between two words, before the first that breaks the line.
  void add_space() {
    result_.text += ' ';
    for (std::size_t i = first_after_; i < result_.spans.size(); ++i) {
      MarkupSpan& span = result_.spans[i];
      span.begin = span.end = result_.text.size();
      span.stands_for_space = true;
    }
  }

  void add_tag(const MarkupTag& tag, std::size_t at) {
    if (!after_tag_) first_after_ = result_.spans.size();
    after_tag_ = true;
    breaks_line_ = breaks_line_ || tag.breaks_line;
    const std::string form(source_.substr(at, tag.length));
    if (tag.kind == MarkupTag::Kind::close && close(tag, form, at)) return;
    const std::size_t end = at + tag.length, size = result_.text.size();
    MarkupSpan span{.open = form, .begin = size, .end = size};
    if (!open_.empty()) span.parent = open_.back().span;
    span.space_before = at > 0 && is_blank(source_[at - 1]);
    span.space_after = end < source_.size() && is_blank(source_[end]);
    if (tag.kind == MarkupTag::Kind::open) open_.push_back({tag.name, result_.spans.size()});
    result_.spans.push_back(std::move(span));
  }

  // Ends the innermost open pair of that name; those opened in it stay single.
  bool close(const MarkupTag& tag, const std::string& form, std::size_t at) {
    constexpr std::size_t kDeepest = 256;  // looks no further
    const std::size_t least = open_.size() > kDeepest ? open_.size() - kDeepest : 0;
    for (std::size_t i = open_.size(); i-- > least;) {
      if (open_[i].name != tag.name) continue;
      MarkupSpan& span = result_.spans[open_[i].span];
      span.close = form;
      span.end = std::max(span.begin, result_.text.size());
      const std::size_t after = at + tag.length;
      if (span.is_empty()) span.space_after = after < source_.size() && is_blank(source_[after]);
      open_.resize(i);
      return true;
    }
    return false;
  }

  void add_entity(const MarkupEntity& entity, std::size_t at) {
    after_tag_ = breaks_line_ = false;
    utf8_append(result_.text, entity.point);
    const auto known = std::ranges::find(result_.escapes, entity.point, &std::pair<char32_t, std::string>::first);
    if (known != result_.escapes.end()) return;
    if (result_.escapes.size() < 64) result_.escapes.emplace_back(entity.point, source_.substr(at, entity.length));
  }

  void finish() {
    std::string& text = result_.text;
    if (after_tag_) {
      while (!text.empty() && is_blank(text.back())) text.pop_back();
    }
    auto& spans = result_.spans;
    for (MarkupSpan& span : spans) {
      span.begin = std::min(span.begin, text.size());
      span.end = std::min(span.end, text.size());
      // A tag that stayed open is no parent: up to one that was closed.
      while (span.parent != MarkupSpan::kNoParent && !spans[span.parent].is_pair())
        span.parent = spans[span.parent].parent;
      if (!span.is_pair()) span.end = span.begin;
    }
    const bool has_markup = !spans.empty() || !result_.escapes.empty();
    const auto escape = [&](char32_t point, const char* form, bool by_itself) {
      const auto known = std::ranges::find(result_.escapes, point, &std::pair<char32_t, std::string>::first);
      if (has_markup && !by_itself && known == result_.escapes.end()) result_.escapes.emplace_back(point, form);
    };
    escape('&', "&amp;", has_ampersand_);
    escape('<', "&lt;", has_less_);
  }

  struct Open {
    std::string_view name;
    std::size_t span;
  };

  std::string_view source_;
  StrippedText result_;
  std::vector<Open> open_;
  std::size_t first_after_ = 0;  // the first span since the last character
  bool after_tag_ = false, breaks_line_ = false, has_less_ = false, has_ampersand_ = false;
};

// The target as it is written, with tags put in.
class Writer {
 public:
  Writer(const StrippedText& stripped, std::string_view target) : stripped_(stripped), target_(target) {}

  void copy_to(std::size_t end) {
    while (at_ < end) {
      const CodePoint point = utf8_decode(target_, at_);
      const auto form =
          std::ranges::find(stripped_.escapes, point.valid ? point.value : 0, &std::pair<char32_t, std::string>::first);
      if (form != stripped_.escapes.end()) {
        written_ += form->second;
      } else {
        written_ += target_.substr(at_, point.length);
      }
      at_ += point.length;
    }
  }
  void put(const MarkupPlace& place) {
    const MarkupSpan& span = stripped_.spans[place.span];
    const bool opens = place.kind == MarkupPlace::Kind::open;
    const auto ends_blank = [&] { return !written_.empty() && is_blank(written_.back()); };
    if (opens && span.stands_for_space && !written_.empty() && written_.back() == ' ') written_.pop_back();
    if (opens && span.is_empty() && span.space_before && !written_.empty() && !ends_blank()) written_ += ' ';
    written_ += opens ? span.open : span.close;
    if (!span.is_empty() || !span.space_after || opens == span.is_pair()) return;
    if (at_ < target_.size() && !is_blank(target_[at_])) written_ += ' ';
  }
  std::string finish() {
    copy_to(target_.size());
    return std::move(written_);
  }

 private:
  const StrippedText& stripped_;
  std::string_view target_;
  std::size_t at_ = 0;
  std::string written_;
};

}  // namespace

StrippedText strip_markup(std::string_view source) {
  return Stripper(source).run();
}

std::string restore_markup(const StrippedText& stripped, const AlignedText& words) {
  HEED_CHECK(words.source == stripped.text, "[restore_markup] the words are not those of the stripped text");
  words.check();
  Writer writer(stripped, words.target);
  for (const MarkupPlace& place : place_markup(stripped.spans, words)) {
    writer.copy_to(place.offset);
    writer.put(place);
  }
  return writer.finish();
}

}  // namespace heed::text
