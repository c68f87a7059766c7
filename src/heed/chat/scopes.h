// Which names a scope hides. jinja2 decides where a name lives before it runs anything: a name that a scope sets, and
// does not read before, is the scope's own from its start, even for loops and macros that stand before the `set`.
// Everywhere else looking names up from the inside out comes to the same.
#pragma once

#include "heed/chat/tree.h"

namespace heed::chat {

// Fills in `undefined_at_start` of all scopes, and what macros use.
Template with_scopes(Body body);

}  // namespace heed::chat
