#include <algorithm>

#include "heed/text/byte_level.h"
#include "heed/text/fields.h"
#include "heed/text/post_processor.h"
#include "heed/text/sequence.h"
#include "heed/text/template_processing.h"
#include "heed/text/unicode.h"

namespace heed::text {
namespace {

struct SpecialToken {
  std::string text;
  std::int32_t id;
};

// ["[SEP]", 102]
SpecialToken special_token(Fields& fields, const std::string& key) {
  const Json& pair = fields.at(key);
  HEED_CHECK_AS(bad_format, pair.is_array() && pair.size() == 2, fields.context(), ": ", key, " is ", pair.dump(),
                ", expected [\"token\", id]");
  return {json_as<std::string>(pair[0], key, fields.context()), json_as<std::int32_t>(pair[1], key, fields.context())};
}

// first? + tokens + last, for the encoding and its windows. keep_types: only the special tokens get type_id.
void enclose(Encoding& encoding, const SpecialToken* first, const SpecialToken& last, std::int32_t type_id,
             bool keep_types, const TokenTexts& texts) {
  const auto wrap = [&](const Encoding& inner) {
    Encoding outer;
    outer.reserve(inner.size() + 2);
    if (first) outer.append_special(first->id, first->text, type_id, texts);
    outer.append(inner);
    outer.append_special(last.id, last.text, type_id, texts);
    if (!keep_types) outer.type_ids.assign(outer.size(), type_id);
    return outer;
  };
  Encoding result = wrap(encoding);
  for (const Encoding& window : encoding.overflowing) result.overflowing.push_back(wrap(window));
  encoding = std::move(result);
}

class BertProcessing final : public PostProcessor {
 public:
  BertProcessing(SpecialToken sep, SpecialToken cls) : sep_(std::move(sep)), cls_(std::move(cls)) {}
  std::size_t added_tokens(bool pair) const override { return pair ? 3 : 2; }
  void process(std::vector<Encoding>& encodings, bool add_special, const TokenTexts& texts) const override {
    if (!add_special) return;
    for (std::size_t i = 0; i < encodings.size(); ++i) {
      enclose(encodings[i], i == 0 ? &cls_ : nullptr, sep_, i == 0 ? 0 : 1, true, texts);
    }
  }

 private:
  SpecialToken sep_, cls_;
};

// Spaces of byte-level tokens are no part of the words they are glued to.
void trim_offsets(Encoding& encoding, bool add_prefix_space, const TokenTexts& texts) {
  const PropertyTable table;
  const auto is_space = [&](char32_t point) {
    return point == byte_level_point(' ') || table.has(point, kIsWhitespace);
  };
  const auto trim = [&](Span& offsets, bool first_token, std::uint32_t leading, std::uint32_t trailing) {
    // One space alone may be what the pre-tokenizer put before the text; if there are more, it put none there.
    if (leading == 1 && (first_token || offsets.begin == 0) && add_prefix_space) leading = 0;
    offsets.begin = std::min(offsets.begin + leading, offsets.end);
    if (offsets.end >= trailing) offsets.end = std::max(offsets.end - trailing, offsets.begin);
  };
  for (std::size_t i = 0; i < encoding.size(); ++i) {
    const std::string_view text = encoding.text_of(i, texts);
    std::uint32_t leading = 0, trailing = 0;
    bool only_spaces = true;
    for_each_point(text, [&](char32_t point, std::size_t) {
      const bool space = is_space(point);
      only_spaces &= space;
      leading += only_spaces;
      trailing = space ? trailing + 1 : 0;
    });
    if (leading == 0 && trailing == 0) continue;
    trim(encoding.byte_offsets[i], i == 0, leading, trailing);
    trim(encoding.char_offsets[i], i == 0, leading, trailing);
  }
  for (Encoding& window : encoding.overflowing) trim_offsets(window, add_prefix_space, texts);
}

class RobertaProcessing final : public PostProcessor {
 public:
  RobertaProcessing(SpecialToken sep, SpecialToken cls, bool trim, bool add_prefix_space)
      : sep_(std::move(sep)), cls_(std::move(cls)), trim_(trim), prefix_(add_prefix_space) {}
  std::size_t added_tokens(bool pair) const override { return pair ? 4 : 2; }
  void process(std::vector<Encoding>& encodings, bool add_special, const TokenTexts& texts) const override {
    for (std::size_t i = 0; i < encodings.size(); ++i) {
      if (trim_) trim_offsets(encodings[i], prefix_, texts);
      encodings[i].type_ids.assign(encodings[i].size(), 0);
      if (add_special) enclose(encodings[i], i == 0 ? &cls_ : &sep_, sep_, 0, false, texts);
    }
  }

 private:
  SpecialToken sep_, cls_;
  bool trim_, prefix_;
};

class ByteLevelProcessing final : public PostProcessor {
 public:
  ByteLevelProcessing(bool trim, bool add_prefix_space) : trim_(trim), prefix_(add_prefix_space) {}
  std::size_t added_tokens(bool) const override { return 0; }
  void process(std::vector<Encoding>& encodings, bool, const TokenTexts& texts) const override {
    if (!trim_) return;
    for (Encoding& encoding : encodings) trim_offsets(encoding, prefix_, texts);
  }

 private:
  bool trim_, prefix_;
};

class ProcessorSequence final : public StageList<PostProcessor> {
 public:
  using StageList::StageList;
  std::size_t added_tokens(bool pair) const override {
    std::size_t sum = 0;
    for (const auto& part : parts_) sum += part->added_tokens(pair);
    return sum;
  }
  void process(std::vector<Encoding>& encodings, bool add_special, const TokenTexts& texts) const override {
    for (const auto& part : parts_) part->process(encodings, add_special, texts);
  }
};

std::unique_ptr<PostProcessor> make_named(const std::string& type, Fields& fields) {
  if (type == "BertProcessing") {
    SpecialToken sep = special_token(fields, "sep");
    return std::make_unique<BertProcessing>(std::move(sep), special_token(fields, "cls"));
  }
  if (type == "RobertaProcessing") {
    SpecialToken sep = special_token(fields, "sep");
    SpecialToken cls = special_token(fields, "cls");
    const bool trim = fields.optional("trim_offsets", true);
    return std::make_unique<RobertaProcessing>(std::move(sep), std::move(cls), trim,
                                               fields.optional("add_prefix_space", true));
  }
  if (type == "ByteLevel") {
    const bool trim = fields.optional("trim_offsets", true);
    fields.optional("use_regex", true);  // for the pre-tokenizer of the same name
    return std::make_unique<ByteLevelProcessing>(trim, fields.optional("add_prefix_space", true));
  }
  if (type == "TemplateProcessing") return make_template_processing(fields);
  if (type == "Sequence") return std::make_unique<ProcessorSequence>(fields, "processors", make_post_processor);
  fail(ErrorKind::bad_format, fields.context(), ": unknown type \"", type, "\"");
}

}  // namespace

std::unique_ptr<PostProcessor> make_post_processor(const Json& json, const std::string& context) {
  Fields fields(json, context);
  auto processor = make_named(fields.required<std::string>("type"), fields);
  fields.done();
  return processor;
}

}  // namespace heed::text
