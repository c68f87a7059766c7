// heed embed: one vector a text.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "texts.h"
#include "verbs.h"

namespace heed::cli {
namespace {

// The shortest decimals that lead back to the same floats.
std::string embedding_line(std::span<const float> vector) {
  std::string line = "{\"embedding\":[";
  for (std::size_t i = 0; i < vector.size(); ++i) line += fmt::format("{}{}", i ? "," : "", vector[i]);
  return line + "]}";
}

}  // namespace

void add_embedding_options(CLI::App& verb, EmbedOptions& options) {
  verb.add_option_function<std::string>(
      "--pooling", [&options](const std::string& name) { options.pooling = pooling_named(name); },
      "cls, mean or max; default: what the folder says, else mean");
  verb.add_option("--prompt", options.prompt, "name of one of the folder's prompts");
}

void add_embed(CLI::App& app, int& result) {
  CLI::App* verb = app.add_subcommand("embed", "texts to vectors: {\"embedding\": [...]} a line");
  struct Options : TextOptions {
    EmbedOptions embed;
  };
  const auto options = std::make_shared<Options>();
  add_text_options(*verb, *options, "the texts", "one text a line, or JSON lines with \"text\"");
  add_embedding_options(*verb, options->embed);
  verb->add_flag("--normalize,!--no-normalize", options->embed.normalize,
                 "vectors of length 1; default: what the folder says");
  verb->footer("heed embed --model all-MiniLM-L6-v2 \"a text\" \"another\"");
  verb->callback([options, &result] {
    run_texts(*options, given_texts(*options), [&](const TextPipeline& model, const std::vector<InputLine>& lines) {
      const Tensor vectors = model.embed(texts_of(lines, "text"), options->embed);
      const auto width = static_cast<std::size_t>(vectors.size(1));
      std::vector<std::string> out;
      for (std::size_t i = 0; i < lines.size(); ++i) {
        out.push_back(embedding_line(std::span(vectors.data<float>() + i * width, width)));
      }
      return out;
    });
    result = 0;
  });
}

}  // namespace heed::cli
