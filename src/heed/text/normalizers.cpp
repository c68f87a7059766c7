#include <utf8proc.h>

#include <vector>

#include "heed/base/utf8.h"
#include "heed/text/bert_normalizer.h"
#include "heed/text/byte_level.h"
#include "heed/text/character_steps.h"
#include "heed/text/charsmap.h"
#include "heed/text/fields.h"
#include "heed/text/normal_form.h"
#include "heed/text/normalizer.h"
#include "heed/text/pattern.h"
#include "heed/text/sequence.h"

namespace heed::text {

void lower_case(NormalizedString& string) {
  if (is_ascii(string.text())) {
    for (char& byte : string.edit_in_place()) byte = static_cast<char>(lower_case(static_cast<unsigned char>(byte)));
    return;
  }
  Rewriter rewriter(string);
  for_each_point(string.text(), [&](char32_t point, std::size_t) {
    rewriter.emit(lower_case(point), 0);
    if (const char32_t tail = lower_case_tail(point)) rewriter.emit(tail, 1);
  });
  rewriter.commit(string);
}

namespace {

class FormNormalizer final : public Normalizer {
 public:
  explicit FormNormalizer(NormalForm form) : form_(form) {}
  void apply(NormalizedString& string) const override { normalize_form(string, form_); }

 private:
  NormalForm form_;
};

class Lowercase final : public Normalizer {
 public:
  void apply(NormalizedString& string) const override { lower_case(string); }
};

class StripAccents final : public Normalizer {
 public:
  void apply(NormalizedString& string) const override {
    const PropertyTable table;
    filter_points(string, [&](char32_t point) { return !table.has(point, kIsCombiningMark); });
  }
};

class Strip final : public Normalizer {
 public:
  Strip(bool left, bool right) : left_(left), right_(right) {}

  void apply(NormalizedString& string) const override {
    const PropertyTable table;
    std::size_t first = string.size(), last = 0;
    for_each_point(string.text(), [&](char32_t point, std::size_t at) {
      if (table.has(point, kIsWhitespace)) return;
      first = std::min(first, at);
      last = at + encoded_length(point);
    });
    if (!left_) first = 0;
    if (!right_) last = string.size();
    if (first == 0 && last == string.size()) return;
    Rewriter rewriter(string);
    rewriter.skip(first);
    if (last > first) rewriter.keep(last - first);
    rewriter.commit(string);
  }

 private:
  bool left_, right_;
};

class Replace final : public Normalizer {
 public:
  Replace(Pattern pattern, std::string content) : pattern_(std::move(pattern)), content_(std::move(content)) {}

  void apply(NormalizedString& string) const override {
    std::vector<Span> matches;
    pattern_.find_all(string.text(), matches);
    if (matches.empty()) return;
    Rewriter rewriter(string);
    for (const Span& match : matches) {
      rewriter.keep(match.begin - rewriter.cursor());
      rewriter.skip(match.end - match.begin);
      for_each_point(content_, [&](char32_t point, std::size_t) { rewriter.emit(point, 1); });
    }
    rewriter.keep(string.size() - rewriter.cursor());
    rewriter.commit(string);
  }

 private:
  Pattern pattern_;
  std::string content_;
};

class Prepend final : public Normalizer {
 public:
  explicit Prepend(std::string text) : text_(std::move(text)) {}

  void apply(NormalizedString& string) const override {
    if (string.empty()) return;
    Rewriter rewriter(string);
    rewriter.prepend(text_);
    rewriter.keep(string.size());
    rewriter.commit(string);
  }

 private:
  std::string text_;
};

// The control characters and spaces that SentencePiece's NMT rules name.
class Nmt final : public Normalizer {
 public:
  void apply(NormalizedString& string) const override {
    filter_points(string, [](char32_t point) {
      return !((point >= 0x1 && point <= 0x8) || point == 0xB || (point >= 0xE && point <= 0x1F) || point == 0x7F ||
               point == 0x8F || point == 0x9F);
    });
    map_points(string, [](char32_t point) {
      const bool space = point == 0x9 || point == 0xA || point == 0xC || point == 0xD || point == 0x1680 ||
                         (point >= 0x200B && point <= 0x200F) || point == 0x2028 || point == 0x2029 ||
                         point == 0x2581 || point == 0xFEFF || point == 0xFFFD;
      return space ? U' ' : point;
    });
  }
};

// SentencePiece's character map: whole graphemes of less than six bytes first, then single characters.
class Precompiled final : public Normalizer {
 public:
  explicit Precompiled(Charsmap map) : map_(std::move(map)) {}

  void apply(NormalizedString& string) const override {
    const std::string_view text = string.text();
    std::vector<Change> changes;
    changes.reserve(text.size());
    bool modified = false;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = grapheme_end(text, begin);
      const std::string_view grapheme = text.substr(begin, end - begin);
      begin = end;
      if (grapheme.size() < 6 && replace(grapheme, changes)) {
        modified = true;
        continue;
      }
      for_each_point(grapheme, [&](char32_t point, std::size_t at) {
        if (replace(grapheme.substr(at, encoded_length(point)), changes)) {
          modified = true;
        } else {
          changes.push_back({point, 0});
        }
      });
    }
    if (!modified) return;
    Rewriter rewriter(string);
    for (const Change& change : changes) rewriter.emit(change.point, change.change);
    rewriter.commit(string);
  }

 private:
  // See Rewriter::emit.
  struct Change {
    char32_t point;
    int change;
  };

  static std::size_t grapheme_end(std::string_view text, std::size_t begin) {
    const char* at = text.data() + begin;
    const char* end = text.data() + text.size();
    utf8proc_int32_t state = 0;
    char32_t previous = next_point(at);
    while (at < end) {
      const char* next = at;
      const char32_t point = next_point(next);
      if (utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(previous),
                                           static_cast<utf8proc_int32_t>(point), &state)) {
        break;
      }
      previous = point;
      at = next;
    }
    return static_cast<std::size_t>(at - text.data());
  }

  // Characters take the places of the old ones as far as there are any; the rest is inserted. When there are fewer,
  // the last character so far takes the removed ones with it.
  bool replace(std::string_view part, std::vector<Change>& changes) const {
    const auto replacement = map_.find(part);
    if (!replacement) return false;
    HEED_CHECK_AS(bad_format, !utf8_find_invalid(*replacement), "[tokenize] the precompiled charsmap maps \"", part,
                  "\" to bytes that are not UTF-8");
    int places = 0;
    for_each_point(part, [&](char32_t, std::size_t) { ++places; });
    for_each_point(*replacement, [&](char32_t point, std::size_t) {
      changes.push_back({point, places-- > 0 ? 0 : 1});
    });
    if (places > 0 && !changes.empty()) changes.back().change -= places;
    return true;
  }

  Charsmap map_;
};

class ByteLevel final : public Normalizer {
 public:
  void apply(NormalizedString& string) const override {
    Rewriter rewriter(string);
    rewriter.reserve(2 * string.size());
    byte_level_rewrite(string.text(), string.size(), rewriter);
    rewriter.commit(string);
  }
};

std::unique_ptr<Normalizer> make_bert(Fields& fields) {
  const bool clean = fields.optional("clean_text", true);
  const bool chinese = fields.optional("handle_chinese_chars", true);
  const bool lower = fields.optional("lowercase", true);
  // Not set means: as lower-casing is.
  const bool strip = fields.optional("strip_accents", lower);
  return std::make_unique<BertNormalizer>(clean, chinese, strip, lower);
}

std::unique_ptr<Normalizer> make_named(const std::string& type, Fields& fields) {
  const auto form = [](NormalForm value) { return std::make_unique<FormNormalizer>(value); };
  if (type == "BertNormalizer") return make_bert(fields);
  if (type == "NFC") return form(NormalForm::nfc);
  if (type == "NFD") return form(NormalForm::nfd);
  if (type == "NFKC") return form(NormalForm::nfkc);
  if (type == "NFKD") return form(NormalForm::nfkd);
  if (type == "Lowercase") return std::make_unique<Lowercase>();
  if (type == "StripAccents") return std::make_unique<StripAccents>();
  if (type == "Strip") {
    const bool left = fields.required<bool>("strip_left");
    return std::make_unique<Strip>(left, fields.required<bool>("strip_right"));
  }
  if (type == "Replace") {
    Pattern pattern(fields.at("pattern"), fields.context());
    return std::make_unique<Replace>(std::move(pattern), fields.required<std::string>("content"));
  }
  if (type == "Prepend") return std::make_unique<Prepend>(fields.required<std::string>("prepend"));
  if (type == "Nmt") return std::make_unique<Nmt>();
  if (type == "Precompiled") {
    const auto encoded = fields.required<std::string>("precompiled_charsmap");
    return std::make_unique<Precompiled>(Charsmap::from_base64(encoded, fields.context() + ": precompiled_charsmap"));
  }
  if (type == "ByteLevel") return std::make_unique<ByteLevel>();
  if (type == "Sequence") {
    return std::make_unique<Sequence<Normalizer, NormalizedString>>(fields, "normalizers", make_normalizer);
  }
  fail(ErrorKind::bad_format, fields.context(), ": unknown type \"", type, "\"");
}

}  // namespace

std::unique_ptr<Normalizer> make_normalizer(const Json& json, const std::string& context) {
  Fields fields(json, context);
  auto normalizer = make_named(fields.required<std::string>("type"), fields);
  fields.done();
  return normalizer;
}

}  // namespace heed::text
