// Labels of your own, by a model of natural-language inference. usage: zero_shot MODEL_FOLDER
#include <cstdio>

#include "heed/heed.h"

int main(int argc, char** argv) try {
  if (argc != 2) return 2;
  const heed::LoadedModel model = heed::load(argv[1]);
  const auto scores = zero_shot(model, {"The fox jumps over the dog."}, {"sports", "politics"});
  for (const auto& [label, score] : scores[0]) std::printf("%.4f %s\n", double(score), label.c_str());
} catch (const heed::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());  // file, field, what was found and what was expected
  return 1;
}
