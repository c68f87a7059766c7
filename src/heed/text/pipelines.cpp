#include "heed/text/pipelines.h"

#include <sstream>
#include <utility>

namespace heed::text {
namespace {

Json byte_level(bool add_prefix_space, bool trim_offsets) {
  return {{"type", "ByteLevel"},
          {"add_prefix_space", add_prefix_space},
          {"trim_offsets", trim_offsets},
          {"use_regex", true}};
}

}  // namespace

Json bare_tokenizer(Json model) {
  return {{"version", "1.0"},          {"truncation", nullptr},
          {"padding", nullptr},        {"added_tokens", Json::array()},
          {"normalizer", nullptr},     {"pre_tokenizer", nullptr},
          {"post_processor", nullptr}, {"decoder", nullptr},
          {"model", std::move(model)}};
}

void use_bert_pipeline(Json& tokenizer, const BertNormalization& normalization) {
  tokenizer["normalizer"] = {{"type", "BertNormalizer"},
                             {"clean_text", true},
                             {"handle_chinese_chars", normalization.chinese_characters},
                             {"strip_accents", normalization.strip_accents},
                             {"lowercase", normalization.lowercase}};
  tokenizer["pre_tokenizer"] = {{"type", "BertPreTokenizer"}};
  tokenizer["decoder"] = {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}};
}

void use_byte_level_pipeline(Json& tokenizer, bool add_prefix_space) {
  tokenizer["pre_tokenizer"] = byte_level(add_prefix_space, true);
  tokenizer["decoder"] = byte_level(true, true);
  tokenizer["post_processor"] = byte_level(true, false);
}

void use_metaspace_pipeline(Json& tokenizer, Json normalizer) {
  const Json metaspace = {{"type", "Metaspace"}, {"replacement", "▁"}, {"prepend_scheme", "always"}, {"split", true}};
  tokenizer["normalizer"] = std::move(normalizer);
  tokenizer["pre_tokenizer"] = metaspace;
  tokenizer["decoder"] = metaspace;
}

Json template_processing(std::string_view single, std::string_view pair,
                         const std::function<std::int32_t(const std::string& token)>& id_of) {
  Json special_tokens = Json::object();
  const auto parse = [&](std::string_view text) {
    Json steps = Json::array();
    std::istringstream words{std::string(text)};
    for (std::string word; words >> word;) {
      const std::size_t colon = word.rfind(':');
      const std::string name = word.substr(0, colon);
      const int type_id = std::stoi(word.substr(colon + 1));
      if (name.front() == '$') {
        steps.push_back({{"Sequence", {{"id", name.substr(1)}, {"type_id", type_id}}}});
        continue;
      }
      steps.push_back({{"SpecialToken", {{"id", name}, {"type_id", type_id}}}});
      special_tokens[name] = {{"id", name}, {"ids", Json::array({id_of(name)})}, {"tokens", Json::array({name})}};
    }
    return steps;
  };
  Json single_steps = parse(single), pair_steps = parse(pair);
  return {{"type", "TemplateProcessing"},
          {"single", std::move(single_steps)},
          {"pair", std::move(pair_steps)},
          {"special_tokens", std::move(special_tokens)}};
}

Json added_token(const std::string& content, std::int32_t id, bool special) {
  return {{"id", id},        {"content", content},     {"single_word", false}, {"lstrip", false},
          {"rstrip", false}, {"normalized", !special}, {"special", special}};
}

std::int32_t id_in_model(const Json& model, const std::string& token, const std::string& file) {
  const Json& vocab = model.at("vocab");
  if (vocab.is_object()) {
    if (const auto found = vocab.find(token); found != vocab.end()) return json_as<std::int32_t>(*found, token, file);
  } else {
    for (std::size_t i = 0; i < vocab.size(); ++i) {
      if (vocab[i][0] == token) return static_cast<std::int32_t>(i);
    }
  }
  fail(ErrorKind::bad_format, file, ": the vocabulary has no \"", token, "\"");
}

}  // namespace heed::text
