// heed why-similar: the cosine of two texts, taken apart into what their words add.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <numeric>

#include "heed/engine/load.h"
#include "heed/explain/page.h"
#include "heed/explain/similarity.h"
#include "heed/tasks/similarity.h"
#include "model_options.h"
#include "option_flags.h"
#include "tables.h"
#include "verbs.h"

namespace heed::cli {
namespace {

struct Options {
  std::string model, first, second, html;
  Json embed = Json::object();
  int threads = 0;
};

void print_pairs(const SimilarityExplanation& found) {
  const auto& rows = found.texts[0].words;
  const auto& columns = found.texts[1].words;
  const auto shares = found.word_matrix().to_vector<double>();
  std::vector<std::size_t> order(shares.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return std::abs(shares[i]); });
  constexpr std::size_t kMost = 12;
  fmt::print("Largest pairs of words\n");
  for (std::size_t k = 0; k < std::min(kMost, order.size()); ++k) {
    const std::size_t i = order[k];
    fmt::print("  {:+.4f}  {} ~ {}\n", shares[i], rows[i / columns.size()].text, columns[i % columns.size()].text);
  }
  fmt::print("  {:+.4f}  sum of all {} pairs\n\n", std::accumulate(shares.begin(), shares.end(), 0.0), shares.size());
}

void print_texts(const SimilarityExplanation& found) {
  for (std::size_t i = 0; i < 2; ++i) {
    const auto sums = sums_of_words(found.token_sums(i), found.texts[i].words);
    fmt::print("{} text\n", i == 0 ? "First" : "Second");
    print_shares("word", {{"share", sums}}, found.texts[i].words);
    fmt::print("  sum {:+.4f}", std::accumulate(sums.begin(), sums.end(), 0.0));
    if (found.attributions) {
      const Attribution& side = (*found.attributions)[i];
      fmt::print(" by integrated gradients, {} steps, of the change {:+.4f} to {:+.4f}; completeness gap {:+.4f}",
                 side.steps, side.baseline_score, side.score, side.gap());
    }
    fmt::print("\n\n");
  }
}

void why_similar(const Options& options) {
  const auto limit = limit_threads(options.threads);
  const LoadedModel model = load(options.model);
  const SimilarityExplanation found =
      explain_similarity(model, options.first, options.second, options_from<EmbedOptions>(options.embed));
  note_cut("the first text", found.texts[0]);
  note_cut("the second text", found.texts[1]);
  if (!options.html.empty()) {
    write_page(found, folder_name(options.model), options.html);
    return fmt::print("{}: cosine {:.4f}\n", options.html, found.cosine);
  }
  if (found.matrix.defined()) print_pairs(found);
  print_texts(found);
  fmt::print("cosine {:.4f}\n", found.cosine);
}

}  // namespace

void add_why_similar(CLI::App& app, int& result) {
  CLI::App* verb = app.add_subcommand("why-similar", "show what the words of two texts add to their cosine");
  const auto options = std::make_shared<Options>();
  add_model_option(*verb, options->model);
  verb->add_option("A", options->first, "first text to compare")->required();
  verb->add_option("B", options->second, "second text to compare")->required();
  add_option_flags(*verb, similarity_task().options.list(), kForPredict, options->embed);
  verb->add_option("--html", options->html, "page to write instead of the tables: one file that works offline");
  add_threads_option(*verb, options->threads);
  verb->footer("heed why-similar --model all-MiniLM-L6-v2 \"a cat sleeps\" \"a kitten naps\"");
  verb->callback([options, &result] {
    why_similar(*options);
    result = 0;
  });
}

}  // namespace heed::cli
