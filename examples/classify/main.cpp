// Labels of texts. usage: classify MODEL_FOLDER
#include <cstdio>

#include "heed/heed.h"

int main(int argc, char** argv) try {
  if (argc != 2) return 2;
  const heed::LoadedModel model = heed::load(argv[1]);
  for (const auto& scores : classify(model, {"What a lovely day", "What a day"})) {
    for (const auto& [label, score] : scores) std::printf("%s %.4f  ", label.c_str(), double(score));
    std::printf("\n");
  }
} catch (const heed::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());  // file, field, what was found and what was expected
  return 1;
}
