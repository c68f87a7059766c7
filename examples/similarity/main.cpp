// How alike texts are. usage: similarity MODEL_FOLDER
#include <cstdio>

#include "heed/heed.h"

int main(int argc, char** argv) try {
  if (argc != 2) return 2;
  const heed::LoadedModel model = heed::load(argv[1]);
  const std::vector<std::string> texts = {"A lazy dog", "The fox jumps", "In Berlin"};
  const std::vector<float> cosines = similarity(model, "The quick brown fox", texts);
  for (std::size_t i = 0; i < texts.size(); ++i) std::printf("%.4f %s\n", double(cosines[i]), texts[i].c_str());
} catch (const heed::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());  // file, field, what was found and what was expected
  return 1;
}
