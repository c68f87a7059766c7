// heed info: what is in a model folder, and a picture of it.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <span>

#include "heed/base/grouped.h"
#include "heed/base/join.h"
#include "heed/base/utf8.h"
#include "heed/engine/load.h"
#include "heed/tasks/embed_plan.h"
#include "heed/tasks/registry.h"
#include "heed/tasks/run_task.h"
#include "notes.h"
#include "verbs.h"

namespace heed::cli {
namespace {

void row(const std::string& name, const std::string& value) {
  fmt::print("{:<14}{}\n", name, value);
}

std::string megabytes(double bytes) {
  return fmt::format("{:.1f} MB", bytes / 1e6);
}

std::string first_of(const std::vector<std::string>& names, std::size_t most) {
  if (names.size() <= most) return join(names, ", ");
  return join(std::span(names).first(most), ", ") + fmt::format(", ... ({} in all)", names.size());
}

double bytes_of(const Model& model) {
  double bytes = 0;
  for (const auto& [name, parameter] : named_parameters(model)) {
    bytes += static_cast<double>(parameter->count() * element_size(parameter->dtype()));
  }
  return bytes;
}

// Layers of an encoder count apart from those that follow.
struct ParameterCounts {
  std::map<ParameterPlace::Part, std::int64_t> of_part{};
  std::int64_t encoder_layers = 0;
};

ParameterCounts parameter_counts(const Model& model) {
  ParameterCounts counts;
  const auto& encoder = model.info().encoder;
  for (const auto& [name, parameter] : named_parameters(model)) {
    const ParameterPlace place = model.place(name);
    const bool of_encoder = encoder && place.part == ParameterPlace::Part::layers && place.depth <= encoder->layers;
    (of_encoder ? counts.encoder_layers : counts.of_part[place.part]) += parameter->count();
  }
  return counts;
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

void layers_box(std::int64_t layers, const std::string& inside, std::int64_t parameters) {
  box(fmt::format("× {} layers", layers), inside, parameters);
}

void feed_forward_box(std::int64_t hidden_size, std::int64_t intermediate_size) {
  if (intermediate_size == 0) return;
  box("feed-forward", fmt::format("{} → {} → {}", hidden_size, intermediate_size, hidden_size), 0);
}

void encoder_boxes(const ModelInfo& info, std::int64_t parameters) {
  const ModelInfo::Encoder& encoder = *info.encoder;
  border("├", "┤");
  feed_forward_box(info.hidden_size, encoder.intermediate_size);
  box("attention", fmt::format("{} heads", encoder.heads), 0);
  layers_box(encoder.layers, "(the encoder)", parameters);
}

void picture(const Model& model) {
  using Part = ParameterPlace::Part;
  const ModelInfo& info = model.info();
  const ParameterCounts counts = parameter_counts(model);
  const auto part = [&](Part name) { return counts.of_part.contains(name) ? counts.of_part.at(name) : 0; };
  fmt::print("\n");
  border("┌", "┐");
  if (model.head() != HeadKind::none) {
    box("head", std::string(to_string(model.head())), part(Part::head));
    border("├", "┤");
  }
  if (part(Part::pooler) > 0) {
    box("pooler", "first token", part(Part::pooler));
    border("├", "┤");
  }
  feed_forward_box(info.hidden_size, info.intermediate_size);
  if (info.encoder) box("attention to the source", fmt::format("{} heads of {}", info.heads, info.head_dim), 0);
  if (info.heads > 0) {
    const bool grouped_keys = info.key_heads < info.heads;
    box("attention",
        fmt::format("{} heads of {}{}", info.heads, info.head_dim,
                    grouped_keys ? fmt::format(", {} of keys", info.key_heads) : ""),
        0);
  }
  const std::int64_t encoder_layers = info.encoder ? info.encoder->layers : 0;
  const std::string note = info.encoder ? "(the decoder)" : info.shared_layers ? "(shared weights)" : "";
  layers_box(info.layers - encoder_layers, note, part(Part::layers));
  if (info.encoder) encoder_boxes(info, counts.encoder_layers);
  border("├", "┤");
  std::string tables = fmt::format("{} words", info.vocab_size);
  if (info.encoder && info.encoder->vocab_size != info.vocab_size) {
    tables = fmt::format("{} words to read, {} to write", info.encoder->vocab_size, info.vocab_size);
  }
  if (info.position_rows > 0) tables += fmt::format(", {} positions", info.position_rows);
  if (info.type_vocab_size > 0) tables += fmt::format(", {} types", info.type_vocab_size);
  box("embeddings", tables, part(Part::embeddings));
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
  const LoadedModel loaded = load(directory);
  const Model& model = loaded.model();
  const ModelInfo& info = model.info();
  const std::int64_t parameters = count_parameters(model);
  row("architecture", model.architecture());
  const auto sizes = [](std::int64_t layers, std::int64_t heads, std::int64_t intermediate_size) {
    return fmt::format("{} layers, {} heads, {} intermediate", layers, heads, intermediate_size);
  };
  const std::string hidden = fmt::format("{} hidden", info.hidden_size);
  if (const auto& encoder = info.encoder) {
    row("sizes", hidden);
    row("encoder", sizes(encoder->layers, encoder->heads, encoder->intermediate_size));
    row("decoder", sizes(info.layers - encoder->layers, info.heads, info.intermediate_size));
  } else {
    row("sizes", hidden + ", " + sizes(info.layers, info.heads, info.intermediate_size));
  }
  const bool any = info.max_tokens == kAnyLength;
  row("positions", fmt::format("{}; texts {}", info.positions,
                               any ? "of any length" : fmt::format("up to {} tokens", info.max_tokens)));
  if (info.memory > 0) row("remembers", fmt::format("{} tokens of the segment before", info.memory));
  row("parameters", grouped(parameters));
  row("memory", megabytes(bytes_of(model)) + " as stored, " + megabytes(4.0 * static_cast<double>(parameters)) +
                    " as f32 in training; " + file_sizes(loaded.folder().transformer()) + " in the files");
  const std::int64_t tokens = std::min<std::int64_t>(128, info.max_tokens);
  row("computes", fmt::format("{} operations for a text of {} tokens",
                              grouped(std::llround(model.operations(Offsets({tokens})))), tokens));
  const Json kind = loaded.tokenizer().model().to_json();
  row("tokenizer", fmt::format("{}, {} tokens", json_optional<std::string>(kind, "type", "WordPiece", "tokenizer"),
                               loaded.tokenizer().vocabulary_size()));
  if (model.head() == HeadKind::sequence_classification || model.head() == HeadKind::token_classification) {
    row("labels", first_of(loaded.labels(), 12));
  }
  if (const auto& sentence = loaded.folder().sentence_embedding()) {
    row("embedding",
        fmt::format("{} pooling{}", to_string(sentence->pooling), sentence->normalize ? ", normalised" : ""));
  }
  row("good for", supported_verbs(model));
  picture(model);
  return 0;
}

}  // namespace

void add_info(CLI::App& app, int& result) {
  CLI::App* verb = app.add_subcommand("info", "describe a model folder: sizes, tokenizer, head, a picture");
  const auto directory = std::make_shared<std::string>();
  verb->add_option("DIR", *directory, "folder of a HuggingFace model, or owner/name of one that was pulled")
      ->required();
  verb->callback([directory, &result] { result = info(*directory); });
}

}  // namespace heed::cli
