// heed tokenize and heed detokenize: one JSON object, or one text, a line.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "heed/base/json.h"
#include "heed/text/legacy.h"
#include "texts.h"
#include "verbs.h"

namespace heed::cli {
namespace {

struct TokenizeOptions {
  std::string model, text, pair, input;
  bool has_pair = false, no_special = false;
};

struct DetokenizeOptions {
  std::string model, input;
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
  const text::Tokenizer tokenizer = text::load_tokenizer(options.model);
  const text::EncodeOptions encode{!options.no_special, text::InvalidText::kRefuse};
  const auto print = [&](const std::string& text) {
    const text::Encoding encoding =
        options.has_pair ? tokenizer.encode(text, options.pair, encode) : tokenizer.encode(text, encode);
    fmt::print("{}\n", to_json(tokenizer, encoding).dump());
  };
  if (options.input.empty()) {
    print(options.text);
    return 0;
  }
  for_each_line(options.input, [&](const InputLine& line) { print(line.text_of("text")); });
  return 0;
}

int detokenize(const DetokenizeOptions& options) {
  const text::Tokenizer tokenizer = text::load_tokenizer(options.model);
  const auto print = [&](const std::vector<std::int32_t>& ids) {
    fmt::print("{}\n", tokenizer.decode(ids, !options.keep_special));
  };
  if (options.input.empty()) {
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
  CLI::App* verb = app.add_subcommand("tokenize", "text to ids, tokens and character offsets, one JSON object a line");
  const auto options = std::make_shared<TokenizeOptions>();
  verb->add_option("--model", options->model, "directory with tokenizer.json, or older vocabulary files")->required();
  CLI::Option* text = verb->add_option("text", options->text, "the text");
  verb->add_option("--input", options->input, "file with one text a line, or JSON lines with \"text\"; - for stdin")
      ->excludes(text);
  CLI::Option* pair = verb->add_option("--pair", options->pair, "second text of a pair");
  verb->add_flag("--no-special", options->no_special, "leave out [CLS], [SEP] and the like");
  verb->callback([options, pair, text, &result] {
    if (options->input.empty() && text->count() == 0) throw CLI::RequiredError("TEXT or --input");
    options->has_pair = pair->count() > 0;
    result = tokenize(*options);
  });
}

void add_detokenize(CLI::App& app, int& result) {
  CLI::App* verb = app.add_subcommand("detokenize", "ids back to text");
  const auto options = std::make_shared<DetokenizeOptions>();
  verb->add_option("--model", options->model, "directory with tokenizer.json, or older vocabulary files")->required();
  CLI::Option* ids = verb->add_option("ids", options->ids, "the ids");
  verb->add_option("--input", options->input,
                   "file with a JSON list of ids, or an object with \"ids\", a line; - for stdin")
      ->excludes(ids);
  verb->add_flag("--keep-special", options->keep_special, "keep [CLS], [SEP] and the like");
  verb->callback([options, ids, &result] {
    if (options->input.empty() && ids->count() == 0) throw CLI::RequiredError("IDS or --input");
    result = detokenize(*options);
  });
}

}  // namespace heed::cli
