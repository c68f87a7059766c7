// heed look: what the heads of a model attend to in a text; for classifiers what changes the score; for language models
// what was expected at each place.
#include "heed/explain/look.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

#include "heed/base/parallel.h"
#include "heed/engine/load.h"
#include "heed/explain/page.h"
#include "heed/tasks/generate.h"
#include "option_flags.h"
#include "stop_on_signal.h"
#include "tables.h"
#include "verbs.h"

namespace heed::cli {
namespace {

struct Options {
  std::string model, text, pair, html;
  std::vector<std::string> full;
  std::size_t steps = IntegratedGradientsOptions{}.steps;
  std::size_t labels = LookOptions{}.labels;
  Json generation = Json::object();  // options of `heed generate`
  int threads = 0;
};

// The options of `heed generate` that are worth having here.
std::vector<OptionInfo> generation_options() {
  std::vector<OptionInfo> list = generate_task().options.list();
  const std::vector<std::string> kept = {"max_new_tokens", "do_sample", "temperature", "top_k", "top_p", "seed"};
  std::erase_if(list, [&](const OptionInfo& option) { return std::ranges::count(kept, option.name) == 0; });
  return list;
}

// "3.7": layer 3, head 7, counted from 1 as the page does.
std::pair<std::int64_t, std::int64_t> head_named(const std::string& name) {
  long long layer = 0, head = 0;
  int end = 0;
  const bool right = std::sscanf(name.c_str(), "%5lld.%5lld%n", &layer, &head, &end) == 2 &&
                     static_cast<std::size_t>(end) == name.size();
  if (!right) throw CLI::ValidationError("--full", "\"" + name + "\" is not LAYER.HEAD, such as 3.7");
  return {layer - 1, head - 1};
}

// White space that would not be seen.
std::string shown(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == ' ' ? "·" : c == '\n' ? "↵" : c == '\t' ? "→" : std::string(1, c);
  return result;
}

// By code points.
std::string padded(const std::string& text, std::size_t width) {
  std::size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  return text + std::string(count < width ? width - count : 0, ' ');
}

struct Link {
  std::int64_t layer, head, from, to;
  double weight;
};

// The strongest link of each head between two words; special tokens and a token's look at itself say little.
std::vector<Link> strongest_links(const Look& look) {
  const auto& special = look.text.encoding.special_mask;
  std::vector<Link> links;
  for (std::int64_t layer = 0; layer < look.attention.layer_count(); ++layer) {
    const Tensor& keys = look.attention.layers[static_cast<std::size_t>(layer)].link_keys;
    const Tensor& weights = look.attention.layers[static_cast<std::size_t>(layer)].link_weights;
    for (std::int64_t head = 0; head < keys.size(1); ++head) {
      Link best{layer, head, 0, 0, 0};
      for (std::int64_t i = 0; i < keys.size(0) * keys.size(2); ++i) {
        const std::int64_t from = i / keys.size(2), rank = i % keys.size(2);
        const auto to = static_cast<std::int64_t>(keys.at({from, head, rank}));
        if (to < 0 || to == from || special[static_cast<std::size_t>(from)] || special[static_cast<std::size_t>(to)]) {
          continue;
        }
        const double weight = weights.at({from, head, rank});
        if (weight > best.weight) best = {layer, head, from, to, weight};
      }
      if (best.weight > 0) links.push_back(best);
    }
  }
  std::ranges::stable_sort(links, std::greater(), &Link::weight);
  return links;
}

void print_attention(const Look& look) {
  const TextAttention& attention = look.attention;
  fmt::print("Entropy of the heads in bits, mean over {} tokens (0: one token is looked at, {:.2f}: all alike)\n",
             attention.tokens(), std::log2(static_cast<double>(attention.keys())));
  for (std::int64_t layer = 0; layer < attention.layer_count(); ++layer) {
    fmt::print("  layer {:2}", layer + 1);
    for (std::int64_t head = 0; head < attention.heads(); ++head) {
      fmt::print(" {:5.2f}", attention.mean_entropy(layer, head) / std::numbers::ln2);
    }
    fmt::print("\n");
  }
  fmt::print("\nStrongest links between words, the best of each head\n");
  constexpr std::size_t kMost = 12;
  const auto links = strongest_links(look);
  for (std::size_t i = 0; i < std::min(kMost, links.size()); ++i) {
    const Link& link = links[i];
    fmt::print("  layer {:2} head {:2}  {:5.1f} %  {} -> {}\n", link.layer + 1, link.head + 1, 100 * link.weight,
               look.text.tokens[static_cast<std::size_t>(link.from)],
               look.text.tokens[static_cast<std::size_t>(link.to)]);
  }
}

void print_evidence(const Look& look) {
  const ClassifierEvidence& found = *look.evidence;
  fmt::print("\nWhat the logit of \"{}\" (score {:.3f}) rests on\n", found.labels.front().label,
             found.labels.front().score);
  const auto gradients = sums_of_words(found.gradients.tokens, look.text.words);
  print_shares("word", {{"gradients", gradients}, {"occlusion", found.occlusion.words}}, look.text.words);
  fmt::print(
      "  integrated gradients: {} steps from {:+.3f} (words as {}) to {:+.3f}, completeness gap {:+.4f}\n"
      "  occlusion: what the logit loses when the word is {}\n",
      found.gradients.steps, found.gradients.baseline_score,
      found.gradients.baseline.empty() ? "zeros" : found.gradients.baseline, found.gradients.score,
      found.gradients.gap(), found.occlusion.replacement.empty() ? "taken out" : "a " + found.occlusion.replacement);
}

// A row per token: how probable it was, what else could have stood there, and from which layer on it was the likeliest.
void print_expected(const Look& look) {
  constexpr std::size_t kMost = 40;
  const std::size_t first = look.expected.size() > kMost ? look.expected.size() - kMost : 0;
  fmt::print("\nWhat was expected in each place{}\n  {:<16} {:>8}  {:<9} {}\n",
             first > 0 ? ", of the last " + std::to_string(kMost) : "", "token", "", "layer", "likeliest");
  for (std::size_t i = first; i < look.expected.size(); ++i) {
    const ExpectedToken& token = look.expected[i];
    const std::string text = look.text.tokens[token.place];
    std::size_t layer = token.layers.size();
    while (layer > 0 && token.layers[layer - 1].text == text) --layer;
    std::string best;
    for (const Guess& guess : token.alternatives) {
      best += fmt::format("{}{} {:.1f} %", best.empty() ? "" : ", ", shown(guess.text), 100 * guess.probability);
    }
    const bool own = look.written_from > 0 && token.place >= look.written_from;
    fmt::print("{} {} {:6.1f} %  {:<9} {}\n", own ? ">" : " ", padded(shown(text), 16), 100 * token.probability,
               layer == token.layers.size() ? "-"
               : layer == 0                 ? "from 0"
                                            : fmt::format("from {}", layer),
               best);
  }
  fmt::print(
      "  >: written by the model. layer: from which one on the token would have been the first choice (0: before the\n"
      "  first; -: it was not the first choice in the end)\n");
}

void look(const Options& options) {
  const StopOnSignal signals;
  std::optional<ThreadLimit> limit;
  if (options.threads > 0) limit.emplace(options.threads);
  const bool page = !options.html.empty();
  LookOptions asked{.maps = page, .gradients = {.steps = options.steps}, .labels = page ? options.labels : 1};
  if (!options.generation.empty()) asked.generation = options.generation.dump();
  for (const std::string& name : options.full) asked.full.push_back(head_named(name));
  const LoadedModel model = load(options.model);
  const TextInput input = options.pair.empty() ? TextInput(options.text) : TextInput(options.text, options.pair);
  const Look found = look_at(model, input, asked);
  note_cut("the text", found.text);
  if (page) {
    write_page(found, folder_name(options.model), options.html);
    return fmt::print("{}: {} tokens, {} layers of {} heads\n", options.html, found.attention.tokens(),
                      found.attention.layer_count(), found.attention.heads());
  }
  print_attention(found);
  if (found.evidence) print_evidence(found);
  if (!found.expected.empty()) print_expected(found);
  fmt::print("\nAttention shows where heads read from, not why a model decides.\n");
}

}  // namespace

void add_look(CLI::App& app, int& result) {
  CLI::App* verb = app.add_subcommand(
      "look",
      "show what the heads of a model attend to in a text, and what a language model expected, as a summary or a page");
  const auto options = std::make_shared<Options>();
  verb->add_option("--model", options->model, "folder of a HuggingFace model, or owner/name of one that was pulled")
      ->required();
  verb->add_option("TEXT", options->text, "text to look at")->required();
  verb->add_option("--pair", options->pair, "second text, for models that read pairs");
  verb->add_option("--html", options->html, "page to write instead of the summary: one file, works offline");
  verb->add_option("--full", options->full,
                   "LAYER.HEAD to keep in full even if the text is long; may be given several times")
      ->allow_extra_args(false);
  verb->add_option("--steps", options->steps, "steps of integrated gradients, for classifiers")
      ->check(CLI::Range(1, 100'000));
  verb->add_option("--labels", options->labels, "number of labels, best first, whose evidence the page shows")
      ->capture_default_str()
      ->check(CLI::Range(1, 100'000));
  add_option_flags(*verb, generation_options(), kForPredict, options->generation);
  verb->add_option("--threads", options->threads, "threads to compute with; default: as many as this machine has")
      ->check(CLI::Range(1, 1024));
  verb->footer("heed look --model heed-demo/model \"my parcel is late\" --html look.html");
  verb->callback([options, &result] {
    look(*options);
    result = 0;
  });
}

}  // namespace heed::cli
