// Labels of texts. usage: classify MODEL_FOLDER
#include <cstdio>

#include "heed/engine/load.h"
#include "heed/tasks/classify.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const heed::LoadedModel model = heed::load(argv[1]);
  for (const auto& scores : classify(model, {"What a lovely day", "What a day"})) {
    for (const auto& [label, score] : scores) std::printf("%s %.4f  ", label.c_str(), double(score));
    std::printf("\n");
  }
}
