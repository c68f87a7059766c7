// heed info: what is in a model folder, and a picture of it.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>
#include <memory>

#include "heed/base/utf8.h"
#include "heed/io/model_folder.h"
#include "heed/models/encoder_model.h"
#include "heed/text/legacy.h"
#include "verbs.h"

namespace heed::cli {
namespace {

void row(const std::string& name, const std::string& value) {
  fmt::print("{:<14}{}\n", name, value);
}

std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (std::ptrdiff_t at = std::ssize(digits) - 3; at > 0; at -= 3) digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

std::string megabytes(double bytes) {
  return fmt::format("{:.1f} MB", bytes / 1e6);
}

std::string joined(const std::vector<std::string>& names, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < std::min(most, names.size()); ++i) text += (i ? ", " : "") + names[i];
  return names.size() > most ? text + fmt::format(", ... ({} in all)", names.size()) : text;
}

std::string positions(const EncoderConfig& config) {
  switch (config.position_kind) {
    case TextPositions::absolute: return "absolute";
    case TextPositions::relative_key: return "relative to keys";
    case TextPositions::relative_key_query: return "relative to keys and queries";
    case TextPositions::absolute_and_bias: return "absolute, and a bias by distance";
  }
  return "";
}

std::string verbs_for(const EncoderModel& model) {
  switch (model.head()) {
    case Head::sequence_classification:
      return model.config().labels.size() == 1 ? "classify, rerank, embed" : "classify, embed";
    case Head::next_sentence: return "classify, embed";
    case Head::token_classification: return "tag, embed";
    case Head::masked_lm: return "fill-mask, embed";
    case Head::question_answering: return "answer, embed";
    case Head::none:
    case Head::replaced_token: return "embed, similarity";
  }
  return "";
}

// Parameters by the part of the model they belong to: "encoder.layer.3" together.
std::map<std::string, std::int64_t> parameters_by_part(EncoderModel& model) {
  std::map<std::string, std::int64_t> parts;
  for (const auto& [name, parameter] : named_parameters(model)) {
    const bool head = name.starts_with("head."), layer = name.starts_with("encoder.layer.");
    const bool pooler = name.starts_with("encoder.pooler.");
    parts[head ? "head" : layer ? "layers" : pooler ? "pooler" : "embeddings"] += parameter->count();
  }
  return parts;
}

void box(const std::string& title, const std::string& inside, std::int64_t parameters) {
  constexpr std::size_t kWidth = 58;
  const std::string count = parameters > 0 ? grouped(parameters) : "";
  const std::string line = title + "  " + inside;
  const std::size_t used = utf8_length(line) + count.size();
  fmt::print("  │ {}{}{} │\n", line, std::string(used < kWidth ? kWidth - used : 1, ' '), count);
}

void border(const char* left, const char* right) {
  std::string line;
  for (int i = 0; i < 60; ++i) line += "─";
  fmt::print("  {}{}{}\n", left, line, right);
}

void picture(const EncoderModel& model, const std::map<std::string, std::int64_t>& parts) {
  const EncoderConfig& config = model.config();
  const auto part = [&](const std::string& name) { return parts.contains(name) ? parts.at(name) : 0; };
  fmt::print("\n");
  border("┌", "┐");
  if (model.head() != Head::none) {
    box("head", std::string(to_string(model.head())), part("head"));
    border("├", "┤");
  }
  if (part("pooler") > 0) {
    box("pooler", "first token", part("pooler"));
    border("├", "┤");
  }
  box("feed-forward", fmt::format("{} → {} → {}", config.width, config.inner, config.width), 0);
  box("attention", fmt::format("{} heads of {}", config.heads, config.width / config.heads), 0);
  box(fmt::format("× {} layers", config.layers), config.groups < config.layers ? "(shared weights)" : "",
      part("layers"));
  border("├", "┤");
  box("embeddings", fmt::format("{} words, {} positions, {} types", config.vocabulary, config.positions, config.types),
      part("embeddings"));
  border("└", "┘");
}

std::string file_sizes(const std::filesystem::path& folder) {
  double bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".safetensors") bytes += static_cast<double>(entry.file_size());
  }
  return megabytes(bytes);
}

int info(const std::string& directory) {
  const ModelFolder folder(directory);
  const auto model = load_encoder(folder);
  const text::Tokenizer tokenizer = text::load_tokenizer(folder.transformer());
  const EncoderConfig& config = model->config();
  const std::int64_t parameters = count_parameters(*model);
  row("architecture", architecture_name(*find_encoder_family(config.model_type), model->head()));
  row("width",
      fmt::format("{}, {} layers, {} heads, {} inner", config.width, config.layers, config.heads, config.inner));
  row("positions", fmt::format("{}; texts up to {} tokens", positions(config), config.max_tokens()));
  row("parameters", grouped(parameters));
  row("memory", megabytes(4.0 * static_cast<double>(parameters)) + " as f32; " + file_sizes(folder.transformer()) +
                    " in the files");
  const Json kind = tokenizer.model().to_json();
  row("tokenizer", fmt::format("{}, {} tokens", json_optional<std::string>(kind, "type", "WordPiece", "tokenizer"),
                               tokenizer.vocabulary_size()));
  if (model->head() == Head::sequence_classification || model->head() == Head::token_classification) {
    row("labels", joined(config.labels, 12));
  }
  if (const auto& sentence = folder.sentence_embedding()) {
    static constexpr const char* kPoolings[] = {"cls", "mean", "max"};
    row("embedding", fmt::format("{} pooling{}", kPoolings[static_cast<int>(sentence->pooling)],
                                 sentence->normalize ? ", normalised" : ""));
  }
  row("good for", verbs_for(*model));
  picture(*model, parameters_by_part(*model));
  return 0;
}

}  // namespace

void add_info(CLI::App& app, int& result) {
  CLI::App* verb = app.add_subcommand("info", "what is in a model folder: sizes, tokenizer, head, a picture");
  const auto directory = std::make_shared<std::string>();
  verb->add_option("DIR", *directory, "folder of a HuggingFace model")->required();
  verb->callback([directory, &result] { result = info(*directory); });
}

}  // namespace heed::cli
