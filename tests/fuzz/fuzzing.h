// What the fuzz targets of tokenizers share: a tokenizer from hostile bytes is either refused with heed::Error or
// works.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "heed/base/error.h"
#include "heed/text/tokenizer.h"
#include "promise.h"

namespace heed::fuzz {

// Encodes any bytes and checks what every encoding promises.
inline void encode_and_check(const text::Tokenizer& tokenizer, std::string_view text) {
  const text::Encoding encoding = tokenizer.encode(text, {.invalid = text::InvalidText::kReplace});
  expect(encoding.byte_offsets.size() == encoding.size(), "an offset for each token");
  expect(encoding.char_offsets.size() == encoding.size(), "a character offset for each token");
  expect(encoding.word_ids.size() == encoding.size(), "a word for each token");
  expect(encoding.special_mask.size() == encoding.size(), "a mask for each token");
  for (const text::Span& span : encoding.byte_offsets) {
    expect(span.end <= text.size() && span.begin <= text.size(), "offsets inside the text");
  }
  // The ids of padding and of tokens around the text are what the file says.
  for (std::size_t i = 0; i < encoding.size(); ++i) {
    const bool known = encoding.ids[i] >= 0 && encoding.ids[i] < tokenizer.vocabulary_size();
    expect(known || encoding.special_mask[i] == 1, "ids in range");
  }
  expect(tokenizer.tokens(encoding).size() == encoding.size(), "a text for each token");
  tokenizer.decode(encoding.ids, false);
  tokenizer.decode(encoding.ids, true);
  text::StreamDecoder stream(tokenizer);
  for (const std::int32_t id : std::span(encoding.ids).first(std::min<std::size_t>(encoding.size(), 64))) {
    stream.push(id);
  }
  stream.finish();
}

// Makes a tokenizer by make() and uses it; errors of heed are as good as a tokenizer.
template <class Make>
void load_and_use(const Make& make) {
  try {
    const text::Tokenizer tokenizer = make();
    for (const std::string_view text :
         {"", " Hello  wörld's [MASK] 12 ", "漢字かな\xE1\x84\x80\xE1\x85\xA1 e\xCC\x81 👩‍🚀\n",
          "\xFF\xED\xA0\x80 <s>"}) {
      try {
        encode_and_check(tokenizer, text);
      } catch (const Error&) {
      }
    }
    text::Tokenizer::from_parsed_json(tokenizer.to_json(), "written");
  } catch (const Error&) {
  }
}

}  // namespace heed::fuzz
