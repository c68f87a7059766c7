// The variants of attention, one table: tests, the lab and the documentation walk it.
#pragma once

#include <span>

#include "heed/attention/attend.h"

namespace heed {

struct AttentionVariant {
  const char* name;
  const char* formula;  // one line
  const char* where;    // the header in heed/attention that has it
  // Makes plain self-attention (q, k, v [N, H, D], D even, at least two heads) an example of the variant. Parameters
  // that a model would train have made-up values, the same at every call.
  AttentionInput (*example)(AttentionInput plain);
};

std::span<const AttentionVariant> attention_variants();

}  // namespace heed
