// heed tokenize and heed detokenize: one JSON object, or one text, a line.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heed/base/json.h"
#include "heed/io/hub.h"
#include "heed/text/load_tokenizer.h"
#include "texts.h"
#include "verbs.h"

namespace heed::cli {
namespace {

constexpr const char* kTokenizerHelp =
    "folder with tokenizer.json or older vocabulary files, or owner/name of a model that was pulled";

constexpr const char* kPair = "text_pair";

struct TokenizeOptions {
  std::string model, text;
  std::optional<std::string> pair;
  InputOptions input{.fields = {{.name = "text", .flag = "--text", .first = true}, {.name = kPair, .optional = true}}};
  bool no_special = false;
};

struct DetokenizeOptions {
  std::string model;
  InputOptions input{.fields = {{.name = "ids"}}};
  std::vector<std::int32_t> ids;
  bool keep_special = false;
};

Json to_json(const text::Tokenizer& tokenizer, const text::Encoding& encoding) {
  Json offsets = Json::array(), words = Json::array();
  for (const auto& span : encoding.char_offsets) offsets.push_back(Json::array({span.begin, span.end}));
  for (const std::int32_t word : encoding.word_ids) words.push_back(word < 0 ? Json() : Json(word));
  return {{"ids", encoding.ids},
          {"tokens", tokenizer.tokens(encoding)},
          {"offsets", std::move(offsets)},
          {"type_ids", encoding.type_ids},
          {"word_ids", std::move(words)}};
}

int tokenize(const TokenizeOptions& options) {
  const text::Tokenizer tokenizer = text::load_tokenizer(find_model(options.model));
  const text::EncodeOptions encode{!options.no_special, text::InvalidText::kRefuse};
  const auto print = [&](const InputLine& line) {
    const std::string text = line.text_of("text");
    const bool paired = line.fields.is_object() ? line.fields.contains(kPair) : options.pair.has_value();
    const text::Encoding encoding =
        paired ? tokenizer.encode(text, line.fields.is_object() ? line.text_of(kPair) : *options.pair, encode)
               : tokenizer.encode(text, encode);
    fmt::print("{}\n", answer_line(line, to_json(tokenizer, encoding).dump()));
  };
  if (options.input.files.empty()) {
    note_file_names({options.text});
    print({.text = options.text});
    return 0;
  }
  for_each_line(options.input, print);
  return 0;
}

int detokenize(const DetokenizeOptions& options) {
  const text::Tokenizer tokenizer = text::load_tokenizer(find_model(options.model));
  const auto print = [&](const std::vector<std::int32_t>& ids) {
    fmt::print("{}\n", tokenizer.decode(ids, !options.keep_special));
  };
  if (options.input.files.empty()) {
    print(options.ids);
    return 0;
  }
  for_each_line(options.input, [&](const InputLine& line) {
    const Json value = line.fields.is_null() ? parse_json(line.text, line.where) : line.fields;
    print(value.is_object() ? json_required<std::vector<std::int32_t>>(value, "ids", line.where)
                            : json_as<std::vector<std::int32_t>>(value, "the line", line.where));
  });
  return 0;
}

}  // namespace

void add_tokenize(CLI::App& app, int& result) {
  CLI::App* verb =
      app.add_subcommand("tokenize", "turn text into ids, tokens and character offsets, one JSON object per line");
  const auto options = std::make_shared<TokenizeOptions>();
  verb->add_option("--model", options->model, kTokenizerHelp)->required();
  CLI::Option* text = verb->add_option("TEXT", options->text, "text to tokenize");
  add_input_options(*verb, options->input, "one text");
  verb->get_option("--input")->excludes(text);
  verb->add_option_function<std::string>(
      "--pair",
      [options](const std::string& pair) {
        options->pair = pair;
        options->input.fields[1].column = pair;
      },
      std::string("second text, to encode the two as a pair") + kPairColumnHelp);
  verb->add_flag("--no-special", options->no_special, "leave out [CLS], [SEP] and the like");
  verb->callback([options, text, &result] {
    if (options->input.files.empty() && text->count() == 0) throw CLI::RequiredError("TEXT or --input");
    result = tokenize(*options);
  });
}

void add_detokenize(CLI::App& app, int& result) {
  CLI::App* verb = app.add_subcommand("detokenize", "turn ids back into text");
  const auto options = std::make_shared<DetokenizeOptions>();
  verb->add_option("--model", options->model, kTokenizerHelp)->required();
  CLI::Option* ids = verb->add_option("IDS", options->ids, "ids to decode");
  add_input_options(*verb, options->input, "a JSON list of ids");
  verb->get_option("--input")->excludes(ids);
  verb->add_flag("--keep-special", options->keep_special, "keep [CLS], [SEP] and the like");
  verb->callback([options, ids, &result] {
    if (options->input.files.empty() && ids->count() == 0) throw CLI::RequiredError("IDS or --input");
    result = detokenize(*options);
  });
}

}  // namespace heed::cli
