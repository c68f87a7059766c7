// heed detect: the language of each text, one JSON object per line. No model is needed.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "answer_file.h"
#include "heed/base/json.h"
#include "heed/text/languages.h"
#include "texts.h"
#include "verbs.h"

namespace heed::cli {
namespace {

struct DetectOptions {
  std::vector<std::string> texts;
  InputOptions input{.fields = {{.name = "text", .flag = "--text", .first = true}}};
};

Json to_json(const text::DetectedLanguage& found) {
  Json alternatives = Json::array();
  for (const text::LanguageGuess& guess : found.alternatives) {
    alternatives.push_back({{"language", guess.language}, {"confidence", guess.confidence}});
  }
  return {{"language", found.language},
          {"confidence", found.confidence},
          {"script", text::script_code(found.script)},
          {"alternatives", std::move(alternatives)}};
}

int detect(const DetectOptions& options) {
  AnswerFile out("");
  const auto print = [&](const InputLine& line) {
    const Json answer = to_json(text::detect_language(line.text_of("text")));
    out.write(answer_line(line, answer.dump()) + "\n");
  };
  for (const std::string& text : options.texts) print({.text = text});
  for_each_line(options.input, print);
  out.commit();
  return 0;
}

}  // namespace

void add_detect(CLI::App& app, int& result) {
  CLI::App* verb = app.add_subcommand(
      "detect", "tell the language of texts: {\"language\", \"confidence\", \"script\", \"alternatives\"} per line");
  const auto options = std::make_shared<DetectOptions>();
  CLI::Option* texts = verb->add_option("TEXT", options->texts, "texts whose language to tell");
  add_input_options(*verb, options->input, "one text");
  verb->get_option("--input")->excludes(texts);
  verb->footer("heed detect \"Wo bist du?\" \"Where are you?\"");
  verb->callback([options, &result] {
    if (options->input.files.empty() && options->texts.empty()) throw CLI::RequiredError("TEXT or --input");
    result = detect(*options);
  });
}

}  // namespace heed::cli
