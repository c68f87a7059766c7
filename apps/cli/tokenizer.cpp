// heed tokenizer train: a tokenizer.json from text files.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "answer_file.h"
#include "heed/base/file.h"
#include "heed/text/tokenizer.h"
#include "heed/text/train_tokenizer.h"
#include "notes.h"
#include "progress.h"
#include "verbs.h"

namespace heed::cli {
namespace {

struct Options {
  std::string type, output;
  std::vector<std::filesystem::path> files;
  text::TrainOptions train;
  std::int64_t limit_alphabet = -1;
  bool overwrite = false;
};

int train(Options options) {
  const text::TokenizerType type = text::tokenizer_type(options.type);
  const std::filesystem::path path = std::filesystem::path(options.output) / "tokenizer.json";
  check_replaces(path, options.overwrite);
  make_folder(options.output);
  if (options.train.special_tokens.empty()) options.train.special_tokens = text::default_special_tokens(type);
  if (options.limit_alphabet >= 0) options.train.limit_alphabet = options.limit_alphabet;
  ShareProgress progress(options.type + " ");
  options.train.progress = [&](double share) { progress.show(share); };
  const Json json = text::train_tokenizer(type, options.files, options.train);
  const text::Tokenizer tokenizer = text::Tokenizer::from_parsed_json(json, "tokenizer.json");
  replace_file(path, json.dump(1) + "\n");
  note(fmt::format("{}: {} tokens", path.string(), tokenizer.vocabulary_size()));
  return 0;
}

}  // namespace

void add_tokenizer(CLI::App& app, int& result) {
  CLI::App* group = app.add_subcommand("tokenizer", "make a tokenizer");
  group->require_subcommand(1);
  CLI::App* verb = group->add_subcommand("train", "train a tokenizer from text files and write its tokenizer.json");
  const auto options = std::make_shared<Options>();
  verb->add_option("--type", options->type,
                   "kind of tokenizer: bpe (byte-level), wordpiece, unigram, wordlevel or character")
      ->required();
  verb->add_option("--vocab-size", options->train.vocab_size, "size of the vocabulary, special tokens included")
      ->capture_default_str();
  verb->add_option("--input", options->files, "text files in UTF-8 to learn from")->required();
  verb->add_option("--output", options->output, "folder for tokenizer.json")->required();
  verb->add_option("--min-frequency", options->train.min_frequency, "how often a token must occur to be kept")
      ->capture_default_str();
  verb->add_option("--special-tokens", options->train.special_tokens,
                   "special tokens to use instead of the type's usual ones");
  verb->add_option("--limit-alphabet", options->limit_alphabet,
                   "number of characters to keep, the most frequent first; default: all");
  verb->add_flag("--overwrite", options->overwrite, "replace a tokenizer.json that is there already");
  verb->callback([options, &result] { result = train(*options); });
}

}  // namespace heed::cli
