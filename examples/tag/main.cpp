// Entities and their places in a text. usage: tag MODEL_FOLDER
#include <cstdio>

#include "heed/heed.h"

int main(int argc, char** argv) try {
  if (argc != 2) return 2;
  const heed::LoadedModel model = heed::load(argv[1]);
  const auto entities = tag(model, {"The fox lives in Berlin."});
  for (const heed::Entity& entity : entities[0]) {
    std::printf("%s: %s, characters %ld to %ld, %.4f\n", entity.label.c_str(), entity.word.c_str(), long(entity.start),
                long(entity.end), double(entity.score));
  }
} catch (const heed::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());  // file, field, what was found and what was expected
  return 1;
}
