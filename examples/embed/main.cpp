// Texts as vectors. usage: embed MODEL_FOLDER
#include <cstdio>

#include "heed/heed.h"

int main(int argc, char** argv) try {
  if (argc != 2) return 2;
  const heed::LoadedModel model = heed::load(argv[1]);
  const heed::Tensor vectors = embed(model, {"The quick brown fox", "A lazy dog"});
  std::printf("%ld vectors of %ld numbers, the first begins %g\n", long(vectors.size(0)), long(vectors.size(1)),
              vectors.at({0, 0}));
  std::printf("cosine %g\n", double(similarity(model, "The quick brown fox", {"A lazy dog"})[0]));
} catch (const heed::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());  // file, field, what was found and what was expected
  return 1;
}
