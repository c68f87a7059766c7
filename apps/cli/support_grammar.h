// The sentences of support_data.h as a grammar: what customers write, and the values of its slots.
//
// A template is words with a space between. (a|b c|) is one of its alternatives, possibly nothing; {slot} is a value of
// that slot. Alternatives do not nest.
#pragma once

#include <span>
#include <string_view>

namespace heed::cli::detail {

struct SupportIntent {
  std::string_view name;
  std::span<const std::string_view> templates;
};

std::span<const SupportIntent> support_intents();

// A slot, the tag of its words, and its patterns. In a pattern * stands for a digit, % for one that is not 0, ! for a
// capital letter; {list} is an entry of a list below.
struct SupportSlot {
  std::string_view name, tag;
  std::span<const std::string_view> patterns;
};

std::span<const SupportSlot> support_slots();
// "color", "city" ...
std::span<const std::string_view> support_list(std::string_view name);

std::span<const std::string_view> support_openings();
std::span<const std::string_view> support_closings();

// How people shorten a word when in a hurry: first the word, then the short form.
struct CasualForm {
  std::string_view word, casual;
};
std::span<const CasualForm> support_casual_forms();

}  // namespace heed::cli::detail
