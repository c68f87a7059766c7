// Prints what heed would use of this machine, and the first random block of a seed.
#include <heed/base/parallel.h>
#include <heed/base/random.h>
#include <heed/kernels/target.h>

#include <cstdio>

int main() {
  std::printf("threads %d, instruction set %s\n", heed::available_threads(), heed::kernels::target_name().c_str());
  const auto block = heed::philox(0, 0, 0);
  std::printf("philox %08x %08x %08x %08x\n", block[0], block[1], block[2], block[3]);
}
