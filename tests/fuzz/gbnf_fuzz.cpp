#include "constraint.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heed;
  fuzz::follow([&] { return constrain::gbnf_constraint(fuzz::text_of(data, size)); });
  return 0;
}
