// Two translations of a text, with what beam search ranks them by. usage: translate MODEL_FOLDER
#include <cstdio>

#include "heed/heed.h"

int main(int argc, char** argv) try {
  if (argc != 2) return 2;
  const heed::LoadedModel model = heed::load(argv[1]);
  const auto found = translate(model, {"The quick brown fox."}, R"({"num_beams": 4, "num_return_sequences": 2})");
  for (const heed::Translation& each : found[0]) std::printf("%8.4f  %s\n", each.score, each.text.c_str());
} catch (const heed::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());  // file, field, what was found and what was expected
  return 1;
}
