// How probable texts are. usage: score MODEL_FOLDER
#include <cstdio>

#include "heed/heed.h"

int main(int argc, char** argv) try {
  if (argc != 2) return 2;
  const heed::LoadedModel model = heed::load(argv[1]);
  for (const heed::TextScore& score : score_texts(model, {"The fox jumps over the dog.", "Dog the over jumps fox."})) {
    std::printf("log-probability %.2f, perplexity %.2f\n", score.log_probability, score.perplexity());
  }
} catch (const heed::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());  // file, field, what was found and what was expected
  return 1;
}
