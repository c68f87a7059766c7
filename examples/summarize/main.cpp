// The sentences that stand for a document. usage: summarize MODEL_FOLDER
#include <cstdio>

#include "heed/heed.h"

int main(int argc, char** argv) try {
  if (argc != 2) return 2;
  const heed::LoadedModel model = heed::load(argv[1]);
  const std::string document =
      "The fox lives in Berlin. It is quick. Dr. Dog is lazy, and the fox jumps over the dog.\n\nIt does so in Berlin.";
  const heed::Summary summary = summarize(model, {document}, {.sentences = 2})[0];
  for (const heed::SummarySentence& sentence : summary.sentences) {
    std::printf("%.4f %s\n", sentence.score, sentence.text.c_str());
  }
} catch (const heed::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());  // file, field, what was found and what was expected
  return 1;
}
