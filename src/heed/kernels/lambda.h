// HEED_LAMBDA after a lambda's parameters compiles it for the current target and inlines it into the loop that calls
// it: vectors then stay in registers. Bodies of parallel_for are called from code of no target and get HWY_ATTR
// instead.
#pragma once

#define HEED_LAMBDA HWY_ATTR __attribute__((always_inline))
