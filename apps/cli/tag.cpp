// heed tag: entities, or other labels of words, with their places in the text.
#include <CLI/CLI.hpp>
#include <memory>

#include "texts.h"
#include "verbs.h"

namespace heed::cli {

void add_tag(CLI::App& app, int& result) {
  CLI::App* verb = app.add_subcommand(
      "tag", "labelled words of texts: [{\"entity_group\", \"score\", \"word\", \"start\", \"end\"}, ...] a line");
  struct Options : TextOptions {
    TagOptions tag;
  };
  const auto options = std::make_shared<Options>();
  add_text_options(*verb, *options, "the texts", "one text a line, or JSON lines with \"text\"");
  verb->add_option_function<std::string>(
      "--aggregation", [options](const std::string& name) { options->tag.aggregation = aggregation_named(name); },
      "none, simple (the default), first, average or max: how the tokens of a word and of an entity are put together");
  verb->add_option("--stride", options->tag.stride, "tokens that the windows over a long text share");
  verb->footer("heed tag --model bert-base-NER \"Wolfgang lives in Berlin\"");
  verb->callback([options, &result] {
    run_texts(*options, given_texts(*options), [&](const TextPipeline& model, const std::vector<InputLine>& lines) {
      return json_lines(model.tag(texts_of(lines, "text"), options->tag));
    });
    result = 0;
  });
}

}  // namespace heed::cli
