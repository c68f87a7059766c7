#include <algorithm>
#include <vector>

#include "heed/text/byte_level.h"
#include "heed/text/fields.h"
#include "heed/text/metaspace.h"
#include "heed/text/pattern.h"
#include "heed/text/pre_tokenizer.h"
#include "heed/text/sequence.h"
#include "heed/text/single_character.h"
#include "heed/text/unicode.h"

namespace heed::text {
namespace {

Span span_of(std::size_t begin, std::size_t end) {
  return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
}

// Cuts at characters of class 1, which vanish, and around characters of class 2, which stand alone.
template <class Classify>
void split_by_class(std::string_view part, std::vector<Span>& words, const Classify& classify) {
  std::size_t begin = 0;
  for_each_point(part, [&](char32_t point, std::size_t at) {
    const int kind = classify(point);
    if (kind == 0) return;
    const std::size_t end = at + encoded_length(point);
    words.push_back(span_of(begin, at));
    if (kind == 2) words.push_back(span_of(at, end));
    begin = end;
  });
  words.push_back(span_of(begin, part.size()));
}

class BertPreTokenizer final : public PreTokenizer {
 public:
  void apply(PreTokenized& text) const override {
    const PropertyTable table;
    text.split([&](std::string_view part, std::vector<Span>& words) {
      split_by_class(part, words, [&](char32_t point) {
        const Properties properties = table[point];
        return properties & kIsWhitespace ? 1 : properties & kIsPunctuation ? 2 : 0;
      });
    });
  }
};

class WhitespaceSplit final : public PreTokenizer {
 public:
  void apply(PreTokenized& text) const override {
    const PropertyTable table;
    text.split([&](std::string_view part, std::vector<Span>& words) {
      split_by_class(part, words, [&](char32_t point) { return table.has(point, kIsWhitespace) ? 1 : 0; });
    });
  }
};

class CharDelimiterSplit final : public PreTokenizer {
 public:
  explicit CharDelimiterSplit(char32_t delimiter) : delimiter_(delimiter) {}
  void apply(PreTokenized& text) const override {
    text.split([&](std::string_view part, std::vector<Span>& words) {
      split_by_class(part, words, [&](char32_t point) { return point == delimiter_ ? 1 : 0; });
    });
  }

 private:
  char32_t delimiter_;
};

// Runs of word characters and runs of what is neither word nor space: \w+|[^\w\s]+
class Whitespace final : public PreTokenizer {
 public:
  void apply(PreTokenized& text) const override {
    const PropertyTable table;
    text.split([&](std::string_view part, std::vector<Span>& words) {
      Properties open = 0;  // what the word that is being read consists of; 0: none is
      std::size_t begin = 0;
      for_each_point(part, [&](char32_t point, std::size_t at) {
        const Properties properties = table[point];
        const Properties kind = properties & kIsWord ? kIsWord : properties & kIsWhitespace ? 0 : kIsPunctuation;
        if (kind == open) return;
        if (open) words.push_back(span_of(begin, at));
        open = kind;
        begin = at;
      });
      if (open) words.push_back(span_of(begin, part.size()));
    });
  }
};

// Splits around the characters that have a property.
class PropertySplit final : public PreTokenizer {
 public:
  PropertySplit(Properties property, SplitBehavior behavior) : property_(property), behavior_(behavior) {}
  void apply(PreTokenized& text) const override {
    const PropertyTable table;
    std::vector<Span> matches;
    std::vector<Stretch> stretches;
    text.split([&](std::string_view part, std::vector<Span>& words) {
      matches.clear();
      stretches.clear();
      for_each_point(part, [&](char32_t point, std::size_t at) {
        if (table.has(point, property_)) matches.push_back(span_of(at, at + encoded_length(point)));
      });
      stretches_of(matches, part.size(), false, stretches);
      split_stretches(stretches, behavior_, words);
    });
  }

 private:
  Properties property_;
  SplitBehavior behavior_;
};

class Split final : public PreTokenizer {
 public:
  Split(Pattern pattern, SplitBehavior behavior, bool invert)
      : pattern_(std::move(pattern)), behavior_(behavior), invert_(invert) {}
  void apply(PreTokenized& text) const override {
    std::vector<Span> matches;
    std::vector<Stretch> stretches;
    text.split([&](std::string_view part, std::vector<Span>& words) {
      matches.clear();
      stretches.clear();
      pattern_.find_all(part, matches);
      stretches_of(matches, part.size(), invert_, stretches);
      split_stretches(stretches, behavior_, words);
    });
  }

 private:
  Pattern pattern_;
  SplitBehavior behavior_;
  bool invert_;
};

class FixedLength final : public PreTokenizer {
 public:
  explicit FixedLength(std::size_t length) : length_(length) {}
  void apply(PreTokenized& text) const override {
    text.split([&](std::string_view part, std::vector<Span>& words) {
      std::size_t count = 0, begin = 0;
      for_each_point(part, [&](char32_t, std::size_t at) {
        if (count++ % length_ == 0) {
          words.push_back(span_of(begin, at));
          begin = at;
        }
      });
      words.push_back(span_of(begin, part.size()));
    });
  }

 private:
  std::size_t length_;  // in characters
};

class ByteLevel final : public PreTokenizer {
 public:
  ByteLevel(bool add_prefix_space, bool use_regex) : prefix_(add_prefix_space), words_(use_regex) {}

  void apply(PreTokenized& text) const override {
    if (prefix_) add_prefix_spaces(text);
    if (words_) text.split([](std::string_view part, std::vector<Span>& words) { gpt2_words(part, words); });
    const NormalizedString& string = text.string;
    text.rewrite(string.size() * 4 / 3 + 16, [&](const PreToken& part, Rewriter& rewriter) {
      byte_level_rewrite(string.text(), part.span.end, rewriter);
    });
  }

 private:
  static void add_prefix_spaces(PreTokenized& text) {
    const auto lacks_space = [&](const PreToken& part) {
      return part.token == kNoToken && !text.text_of(part).starts_with(' ');
    };
    if (std::none_of(text.parts.begin(), text.parts.end(), lacks_space)) return;
    text.rewrite(text.string.size() + 16, [&](const PreToken& part, Rewriter& rewriter) {
      if (lacks_space(part)) rewriter.prepend(" ");
      rewriter.keep(part.span.end - part.span.begin);
    });
  }

  bool prefix_, words_;
};

std::unique_ptr<PreTokenizer> make_split(Fields& fields) {
  Pattern pattern(fields.at("pattern"), fields.context());
  const SplitBehavior behavior = split_behavior(fields, "behavior");
  return std::make_unique<Split>(std::move(pattern), behavior, fields.required<bool>("invert"));
}

std::unique_ptr<PreTokenizer> make_byte_level(Fields& fields) {
  const bool prefix = fields.required<bool>("add_prefix_space");
  fields.optional("trim_offsets", true);  // for the post-processor of the same name
  return std::make_unique<ByteLevel>(prefix, fields.optional("use_regex", true));
}

std::unique_ptr<PreTokenizer> make_named(const std::string& type, Fields& fields) {
  if (type == "BertPreTokenizer") return std::make_unique<BertPreTokenizer>();
  if (type == "ByteLevel") return make_byte_level(fields);
  if (type == "Metaspace") return make_metaspace(fields);
  if (type == "Whitespace") return std::make_unique<Whitespace>();
  if (type == "WhitespaceSplit") return std::make_unique<WhitespaceSplit>();
  if (type == "Punctuation") {
    const bool given = fields.find("behavior");
    return std::make_unique<PropertySplit>(kIsPunctuation,
                                           given ? split_behavior(fields, "behavior") : SplitBehavior::isolated);
  }
  if (type == "Digits") {
    const bool individual = fields.required<bool>("individual_digits");
    return std::make_unique<PropertySplit>(kIsNumeric,
                                           individual ? SplitBehavior::isolated : SplitBehavior::contiguous);
  }
  if (type == "Split") return make_split(fields);
  if (type == "CharDelimiterSplit") {
    const auto delimiter = fields.required<std::string>("delimiter");
    return std::make_unique<CharDelimiterSplit>(single_character(delimiter, fields.context() + ": delimiter"));
  }
  if (type == "FixedLength") {
    const auto length = fields.optional<std::uint32_t>("length", 5);
    HEED_CHECK_AS(bad_format, length > 0, fields.context(), ": length is 0, expected at least 1");
    return std::make_unique<FixedLength>(length);
  }
  if (type == "Sequence") {
    return std::make_unique<Sequence<PreTokenizer, PreTokenized>>(fields, "pretokenizers", make_pre_tokenizer);
  }
  fail(ErrorKind::bad_format, fields.context(), ": unknown type \"", type, "\"");
}

}  // namespace

std::unique_ptr<PreTokenizer> make_pre_tokenizer(const Json& json, const std::string& context) {
  Fields fields(json, context);
  auto pre_tokenizer = make_named(fields.required<std::string>("type"), fields);
  fields.done();
  return pre_tokenizer;
}

}  // namespace heed::text
