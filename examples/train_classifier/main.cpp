// Fine-tunes a model on labelled texts, with progress, then asks it. usage: train_classifier MODEL_FOLDER OUTPUT_FOLDER
#include <cstdio>
#include <fstream>

#include "heed/heed.h"

namespace {

// A real program has its data already: TSV, CSV, JSON lines (docs/data.md).
void write_data(const std::filesystem::path& file) {
  std::ofstream out(file);
  out << "text\tlabel\n";
  for (int i = 0; i < 20; ++i)
    out << "what a lovely day\tgood\n"
        << "what a dreadful day\tbad\n";
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) return 2;
  const std::filesystem::path output = argv[2], data = output.string() + ".tsv", config = output.string() + ".json";
  write_data(data);
  // The config that `heed train` takes: `heed train --init classify` writes one with every field explained.
  std::ofstream(config) << R"({"task": "classify", "epochs": 4})";

  const heed::TrainResult result = heed::train(
      config, {.settings = {"model.from=" + std::string(argv[1]), "output=" + output.string(),
                            "data.train=" + data.string(), "optimizer.learning_rate=0.003", "batch.sequences=8"},
               .on_step = [](const heed::TrainProgress& now) {
                 std::printf("step %ld of %ld, loss %.4f\n", long(now.step), long(now.steps), now.loss);
               }});

  const heed::LoadedModel model = heed::load(result.folder);
  for (const char* text : {"what a lovely day", "what a dreadful day"}) {
    const auto scores = heed::classify(model, {text});
    std::printf("%s: %s %.3f\n", text, scores[0][0].label.c_str(), double(scores[0][0].score));
  }
} catch (const heed::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
