// heed classify: the labels of texts, or of pairs.
#include <CLI/CLI.hpp>
#include <memory>

#include "texts.h"
#include "verbs.h"

namespace heed::cli {
namespace {

TextInput input_of(const InputLine& line, const std::string& pair) {
  std::string text = line.text_of("text");
  std::string second =
      line.fields.is_null() ? pair : json_optional<std::string>(line.fields, "text_pair", pair, line.where);
  return second.empty() ? TextInput(std::move(text)) : TextInput(std::move(text), std::move(second));
}

}  // namespace

void add_classify(CLI::App& app, int& result) {
  CLI::App* verb =
      app.add_subcommand("classify", "the labels of texts, best first: [{\"label\", \"score\"}, ...] a line");
  struct Options : TextOptions {
    std::string pair;
  };
  const auto options = std::make_shared<Options>();
  add_text_options(*verb, *options, "the texts",
                   "one text a line, or JSON lines with \"text\" and perhaps \"text_pair\"");
  verb->add_option("--pair", options->pair, "second text, for models that judge pairs");
  verb->footer("heed classify --model bert-tiny-toxicity \"what a lovely day\"");
  verb->callback([options, &result] {
    run_texts(*options, given_texts(*options), [&](const TextPipeline& model, const std::vector<InputLine>& lines) {
      std::vector<TextInput> inputs;
      for (const InputLine& line : lines) inputs.push_back(input_of(line, options->pair));
      return json_lines(model.classify(inputs));
    });
    result = 0;
  });
}

}  // namespace heed::cli
