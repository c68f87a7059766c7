// heed rerank: texts by their relevance to a query.
#include <CLI/CLI.hpp>
#include <memory>

#include "texts.h"
#include "verbs.h"

namespace heed::cli {

void add_rerank(CLI::App& app, int& result) {
  CLI::App* verb = app.add_subcommand(
      "rerank", "texts by their relevance to a query, by a cross-encoder: [{\"index\", \"score\", \"text\"}, ...]");
  struct Options : TextOptions {
    std::string query;
  };
  const auto options = std::make_shared<Options>();
  add_text_options(*verb, *options, "the texts",
                   "a query and texts, separated by tabs, or JSON lines with \"query\" and \"texts\"");
  verb->add_option("--query", options->query, "what the texts should be relevant to");
  verb->footer(
      "heed rerank --model ms-marco-MiniLM-L-6-v2 --query \"how tall is it?\" \"It is 300 m tall.\" \"It is old.\"");
  verb->callback([options, &result] {
    std::vector<InputLine> given;
    if (!options->texts.empty()) {
      if (options->query.empty()) throw CLI::RequiredError("--query");
      given = given_group({{"query", options->query}, {"texts", options->texts}});
    }
    run_texts(*options, given, [](const TextPipeline& model, const std::vector<InputLine>& lines) {
      std::vector<std::string> out;
      for (const InputLine& line : lines) {
        const auto [query, texts] = line.group_of("query", "texts");
        out.push_back(json_line(to_json(model.rerank(query, texts), texts)));
      }
      return out;
    });
    result = 0;
  });
}

}  // namespace heed::cli
