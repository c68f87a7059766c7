// The words of a text that answer a question. usage: answer MODEL_FOLDER
#include <cstdio>

#include "heed/heed.h"

int main(int argc, char** argv) try {
  if (argc != 2) return 2;
  const heed::LoadedModel model = heed::load(argv[1]);
  const auto answers = answer(model, {{"Where does the fox live?", "The quick fox lives in Berlin."}}, {.top_k = 3});
  for (const heed::Answer& answer : answers[0]) std::printf("%.4f %s\n", answer.score, answer.answer.c_str());
} catch (const heed::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());  // file, field, what was found and what was expected
  return 1;
}
