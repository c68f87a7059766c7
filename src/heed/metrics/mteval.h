// How NIST's mteval-v13a cuts Western texts into words. BLEU's 13a and zh and TER's normalisation share the steps.
#pragma once

#include <string>
#include <string_view>

namespace heed {

// Texts without what SGML writes for " & < >.
std::string without_entities(std::string_view text);

// Spaces around ASCII symbols other than ' , - and the period.
std::string space_symbols(std::string_view text);

// Spaces around a period or comma unless digits stand on both sides, and around a dash after a digit.
std::string space_periods(std::string_view text);

}  // namespace heed
