// heed similarity: cosines between texts.
#include <CLI/CLI.hpp>
#include <memory>

#include "texts.h"
#include "verbs.h"

namespace heed::cli {

void add_similarity(CLI::App& app, int& result) {
  CLI::App* verb =
      app.add_subcommand("similarity", "how alike texts are: a list of cosines between the first text and each other");
  struct Options : TextOptions {
    EmbedOptions embed;
  };
  const auto options = std::make_shared<Options>();
  add_text_options(*verb, *options, "the text to compare with, then the others",
                   "texts separated by tabs, or JSON lines with \"source_sentence\" and \"sentences\"");
  add_embedding_options(*verb, options->embed);
  verb->footer("heed similarity --model all-MiniLM-L6-v2 \"a cat\" \"a kitten\" \"a car\"");
  verb->callback([options, &result] {
    std::vector<InputLine> given;
    if (const auto& texts = options->texts; !texts.empty()) {
      if (texts.size() < 2) throw CLI::RequiredError("a second TEXT");
      given = given_group({{"source_sentence", texts[0]}, {"sentences", std::vector(texts.begin() + 1, texts.end())}});
    }
    run_texts(*options, given, [&](const TextPipeline& model, const std::vector<InputLine>& lines) {
      std::vector<std::string> out;
      for (const InputLine& line : lines) {
        const auto [source, others] = line.group_of("source_sentence", "sentences");
        out.push_back(json_line(model.similarity(source, others, options->embed)));
      }
      return out;
    });
    result = 0;
  });
}

}  // namespace heed::cli
