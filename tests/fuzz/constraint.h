// What the fuzz targets of constraints share: a constraint from hostile bytes is either refused with heed::Error or can
// be followed to the end of a text.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "heed/base/random.h"
#include "heed/constrain/automaton.h"
#include "heed/constrain/constraint.h"
#include "promise.h"

namespace heed::fuzz {

// Makes a constraint by make() and writes a text that follows it; errors of heed are as good.
template <class Make>
void follow(const Make& make) {
  using namespace constrain;
  constexpr std::int32_t kEnd = 256;
  static const auto vocabulary = [] {
    text::TokenBytes tokens;
    for (int byte = 0; byte < 256; ++byte) tokens.bytes.emplace_back(1, static_cast<char>(byte));
    for (const char* token : {"</s>", "ab", "aaaa", "\", \"", "]]", "\\n"}) tokens.bytes.emplace_back(token);
    tokens.special.assign(tokens.bytes.size(), false);
    tokens.special[kEnd] = true;
    return std::make_shared<const Vocabulary>(std::move(tokens));
  }();
  try {
    const Constraint constraint = make();
    const TokenConstraint tokens(constraint, vocabulary, {kEnd});
    ConstraintState state = tokens.start();
    std::vector<std::uint64_t> mask(vocabulary->mask_words());
    RandomStream random{.seed = 1};
    std::string text;
    for (int step = 0; step < 60; ++step) {
      expect(state.allowed(mask), "what was begun can be continued");
      std::vector<std::int32_t> allowed;
      for (std::int32_t token = 0; static_cast<std::size_t>(token) < vocabulary->size(); ++token) {
        if (mask[token >> 6] >> (token & 63) & 1) allowed.push_back(token);
      }
      const std::int32_t next = allowed[random.uniform_integer(allowed.size())];
      const bool whole = state.can_end();
      expect(state.accept(next), "what is allowed is accepted");
      if (state.ended()) {
        // Tokens that a grammar names do not show in the text.
        const bool named = !constraint.automaton()->tokens.empty();
        expect(whole && (named || constraint.matches(text)), "a text that ended is whole");
        break;
      }
      text += vocabulary->bytes(next);
    }
  } catch (const Error&) {
  }
}

}  // namespace heed::fuzz
