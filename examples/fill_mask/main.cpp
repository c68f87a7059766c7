// Words for a mask. usage: fill_mask MODEL_FOLDER
#include <cstdio>

#include "heed/heed.h"

int main(int argc, char** argv) try {
  if (argc != 2) return 2;
  const heed::LoadedModel model = heed::load(argv[1]);
  const auto filled_masks = fill_mask(model, {"The [MASK] brown fox."});
  for (const heed::FilledMask& filled : filled_masks[0].masks[0]) {
    std::printf("%.4f %s\n", double(filled.score), filled.sequence.c_str());
  }
} catch (const heed::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());  // file, field, what was found and what was expected
  return 1;
}
