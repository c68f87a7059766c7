// A text on its way into pre-tokens: parts of one NormalizedString, some of which are added tokens already.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/text/normalized.h"

namespace heed::text {

inline constexpr std::int32_t kNoToken = -1;

struct PreToken {
  Span span;                      // of the text, not empty
  std::int32_t token = kNoToken;  // the id of an added token: stages leave it alone
};

struct PreTokenized {
  NormalizedString string;
  std::vector<PreToken> parts;

  std::string_view text_of(const PreToken& part) const {
    return string.text().substr(part.span.begin, part.span.end - part.span.begin);
  }

  // Splits every part that is no token: splitter(text of the part, spans) appends spans relative to the part; empty
  // ones are dropped.
  template <class Splitter>
  void split(const Splitter& splitter) {
    std::vector<PreToken> result;
    result.reserve(parts.size() + string.size() / 4);
    std::vector<Span> spans;
    for (const PreToken& part : parts) {
      if (part.token != kNoToken) {
        result.push_back(part);
        continue;
      }
      spans.clear();
      splitter(text_of(part), spans);
      for (const Span& span : spans) {
        if (span.begin < span.end) {
          result.push_back({{part.span.begin + span.begin, part.span.begin + span.end}, kNoToken});
        }
      }
    }
    parts = std::move(result);
  }

  // Rewrites every part that is no token: rewrite(part, rewriter) must leave the rewriter's cursor at part.span.end.
  // What lies between the parts is dropped; parts may overlap.
  template <class Rewrite>
  void rewrite(std::size_t expected_bytes, const Rewrite& rewrite) {
    Rewriter rewriter(string);
    rewriter.reserve(expected_bytes);
    for (PreToken& part : parts) {
      rewriter.move_to(part.span.begin);
      rewriter.start_part(string.source(part.span.begin).begin);
      const auto begin = static_cast<std::uint32_t>(rewriter.written());
      if (part.token != kNoToken) {
        rewriter.keep(part.span.end - part.span.begin);
      } else {
        rewrite(std::as_const(part), rewriter);
      }
      part.span = {begin, static_cast<std::uint32_t>(rewriter.written())};
    }
    rewriter.commit(string);
  }
};

}  // namespace heed::text
