// What can be said about an automaton before any text is read.
#pragma once

#include "heed/constrain/automaton.h"

namespace heed::constrain {

// Fills Rule::rank; throws bad_format when a rule calls itself, directly or not, before it has read anything. Counting
// rules whose rounds may read nothing get the minimum 0: rounds are free then.
void check_left_recursion(Automaton& automaton);

// Fills State::shortest; after check_left_recursion.
void find_shortest(Automaton& automaton);

// Fills State::need; throws bad_format when the root has no text or needs more than max_depth.
void find_needs(Automaton& automaton);

}  // namespace heed::constrain
