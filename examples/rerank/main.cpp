// Texts by their relevance to a query. usage: rerank MODEL_FOLDER
#include <cstdio>

#include "heed/heed.h"

int main(int argc, char** argv) try {
  if (argc != 2) return 2;
  const heed::LoadedModel model = heed::load(argv[1]);
  const std::vector<std::string> texts = {"The fox lives in Berlin.", "The dog is lazy.", "It jumps."};
  for (const auto& [index, score] : rerank(model, "Where does the fox live?", texts)) {
    std::printf("%.4f %s\n", double(score), texts[index].c_str());
  }
} catch (const heed::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());  // file, field, what was found and what was expected
  return 1;
}
