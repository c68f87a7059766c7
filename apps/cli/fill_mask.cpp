// heed fill-mask: what may stand for [MASK].
#include <CLI/CLI.hpp>
#include <memory>

#include "texts.h"
#include "verbs.h"

namespace heed::cli {

void add_fill_mask(CLI::App& app, int& result) {
  CLI::App* verb = app.add_subcommand(
      "fill-mask", "the likeliest words for a mask: [{\"token_str\", \"token\", \"score\", \"sequence\"}, ...] a line");
  struct Options : TextOptions {
    std::size_t top_k = 5;
  };
  const auto options = std::make_shared<Options>();
  add_text_options(*verb, *options, "texts with the model's mask, [MASK] or <mask>",
                   "one text a line, or JSON lines with \"text\"");
  verb->add_option("--top-k", options->top_k, "how many words")->capture_default_str()->check(CLI::PositiveNumber);
  verb->footer("heed fill-mask --model bert-base-uncased \"The capital of France is [MASK].\"");
  verb->callback([options, &result] {
    run_texts(*options, given_texts(*options), [&](const TextPipeline& model, const std::vector<InputLine>& lines) {
      return json_lines(model.fill_mask(texts_of(lines, "text"), options->top_k));
    });
    result = 0;
  });
}

}  // namespace heed::cli
