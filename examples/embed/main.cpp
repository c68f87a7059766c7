// Texts as vectors. usage: embed MODEL_FOLDER
#include <cstdio>

#include "heed/engine/load.h"
#include "heed/tasks/embed.h"
#include "heed/tasks/similarity.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const heed::LoadedModel model = heed::load(argv[1]);
  const heed::Tensor vectors = embed(model, {"The quick brown fox", "A lazy dog"});
  std::printf("%ld vectors of %ld numbers, the first begins %g\n", long(vectors.size(0)), long(vectors.size(1)),
              vectors.at({0, 0}));
  std::printf("cosine %g\n", double(similarity(model, "The quick brown fox", {"A lazy dog"})[0]));
}
