// A small BERT folder with random weights and a tokenizer that knows every letter: enough to run a task end to end.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "heed/models/load.h"
#include "heed/nn/module.h"

namespace heed::test {

inline std::vector<std::string> small_vocabulary() {
  std::vector<std::string> vocabulary = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
  for (const char* word : {"the", "quick", "brown", "fox", "jumps", "over", "lazy", "dog", "in", "berlin", "##gang"}) {
    vocabulary.emplace_back(word);
  }
  for (char letter = 'a'; letter <= 'z'; ++letter) {
    vocabulary.emplace_back(1, letter);
    vocabulary.push_back("##" + std::string(1, letter));
  }
  for (const char* mark : {".", ",", "?", "!"}) vocabulary.emplace_back(mark);
  return vocabulary;
}

// Sequences have at most 40 tokens. `fields` replace those of config.json.
inline Json small_bert_config(const Json& fields = Json::object()) {
  Json config = {{"model_type", "bert"},
                 {"vocab_size", small_vocabulary().size()},
                 {"hidden_size", 32},
                 {"num_hidden_layers", 2},
                 {"num_attention_heads", 4},
                 {"intermediate_size", 48},
                 {"max_position_embeddings", 40},
                 {"initializer_range", 0.3}};
  config.update(fields);
  return config;
}

inline void write_small_vocabulary(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  std::ofstream file(folder / "vocab.txt");
  for (const std::string& token : small_vocabulary()) file << token << "\n";
}

inline void write_random_model(const std::filesystem::path& folder, HeadKind head,
                               const std::vector<std::string>& labels, std::uint64_t seed = 1,
                               const Json& fields = Json::object()) {
  ModelConfig config = parse_model_config(small_bert_config(fields), "config.json");
  if (!labels.empty()) config.set_labels(labels);
  Model model(config, head);
  initialize(model, seed);
  save_model(model, folder);
  write_small_vocabulary(folder);
}

// model.architecture of a GPT-2 that learns in seconds.
inline Json small_gpt2(int columns, int positions, double dropout = 0) {
  return {{"model_type", "gpt2"},     {"n_embd", columns},      {"n_layer", 2},          {"n_head", 2},
          {"n_positions", positions}, {"resid_pdrop", dropout}, {"embd_pdrop", dropout}, {"attn_pdrop", dropout}};
}

// model.architecture of a Marian that learns in seconds.
inline Json small_marian(int columns, int positions, double dropout = 0) {
  return {{"model_type", "marian"},
          {"d_model", columns},
          {"encoder_layers", 2},
          {"decoder_layers", 2},
          {"encoder_attention_heads", 2},
          {"decoder_attention_heads", 4},
          {"encoder_ffn_dim", 2 * columns},
          {"decoder_ffn_dim", columns},
          {"max_position_embeddings", positions},
          {"dropout", dropout},
          {"scale_embedding", true}};
}

// The small vocabulary as a tokenizer.json. `more` are special tokens after it; the end may be put after each text.
inline void write_small_tokenizer(const std::filesystem::path& folder, bool ends = false,
                                  const std::vector<std::string>& more = {}) {
  std::vector<std::string> vocabulary = small_vocabulary();
  const std::size_t special = 5, words = vocabulary.size();
  vocabulary.insert(vocabulary.end(), more.begin(), more.end());
  Json ids = Json::object(), added = Json::array();
  for (std::size_t i = 0; i < vocabulary.size(); ++i) {
    ids[vocabulary[i]] = i;
    if (!ends || (i >= special && i < words)) continue;
    added.push_back({{"id", i},
                     {"content", vocabulary[i]},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", true}});
  }
  Json tokenizer = {{"version", "1.0"},
                    {"truncation", nullptr},
                    {"padding", nullptr},
                    {"added_tokens", added},
                    {"normalizer", {{"type", "Lowercase"}}},
                    {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
                    {"post_processor", nullptr},
                    {"decoder", {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", false}}},
                    {"model",
                     {{"type", "WordPiece"},
                      {"unk_token", "[UNK]"},
                      {"continuing_subword_prefix", "##"},
                      {"max_input_chars_per_word", 100},
                      {"vocab", ids}}}};
  if (ends) {
    const auto piece = [](const char* kind, const char* id) { return Json{{kind, {{"id", id}, {"type_id", 0}}}}; };
    Json single = {piece("Sequence", "A"), piece("SpecialToken", "[SEP]")};
    if (!more.empty()) single.insert(single.begin(), piece("SpecialToken", more[0].c_str()));
    Json pair = single;
    pair.push_back(piece("Sequence", "B"));
    Json specials = {{"[SEP]", {{"id", "[SEP]"}, {"ids", {3}}, {"tokens", {"[SEP]"}}}}};
    if (!more.empty()) specials[more[0]] = {{"id", more[0]}, {"ids", {words}}, {"tokens", {more[0]}}};
    tokenizer["post_processor"] = {
        {"type", "TemplateProcessing"}, {"single", single}, {"pair", pair}, {"special_tokens", specials}};
  }
  std::ofstream(folder / "tokenizer.json") << tokenizer.dump();
}

// A small Marian folder of the same vocabulary; sequences have at most 64 tokens. Texts end with [SEP].
inline void write_random_translator(const std::filesystem::path& folder, std::uint64_t seed = 1,
                                    const Json& fields = Json::object()) {
  Json config = small_marian(32, 64);
  config.update({{"architectures", {"MarianMTModel"}},
                 {"vocab_size", small_vocabulary().size()},
                 {"pad_token_id", 0},
                 {"eos_token_id", 3},
                 {"decoder_start_token_id", 0},
                 {"init_std", 0.3}});
  config.update(fields);
  Model model(parse_model_config(config, "config.json"), HeadKind::seq2seq_lm);
  initialize(model, seed);
  save_model(model, folder);
  write_small_tokenizer(folder, true);
}

// config.json of a Transformer-XL of that vocabulary, which remembers 6 tokens.
inline Json small_transfo_xl() {
  return {{"model_type", "transfo-xl"},
          {"architectures", {"TransfoXLLMHeadModel"}},
          {"vocab_size", small_vocabulary().size()},
          {"cutoffs", Json::array()},
          {"d_model", 16},
          {"d_embed", 16},
          {"n_head", 2},
          {"d_head", 8},
          {"d_inner", 24},
          {"div_val", 1},
          {"n_layer", 2},
          {"mem_len", 6},
          {"clamp_len", 20},
          {"same_length", false},
          {"init_std", 0.5},
          {"dropout", 0.1}};
}

inline void write_random_transfo_xl(const std::filesystem::path& folder, HeadKind head = HeadKind::causal_lm,
                                    const std::vector<std::string>& labels = {}) {
  ModelConfig config = parse_model_config(small_transfo_xl(), "config.json");
  if (!labels.empty()) config.set_labels(labels);
  Model model(config, head);
  initialize(model, 1);
  save_model(model, folder);
  write_small_tokenizer(folder);
}

// A small GPT-2 folder of the same vocabulary; sequences have at most 64 tokens.
inline void write_random_decoder(const std::filesystem::path& folder, std::uint64_t seed = 1) {
  Model model(parse_model_config({{"model_type", "gpt2"},
                                  {"architectures", {"GPT2LMHeadModel"}},
                                  {"vocab_size", small_vocabulary().size()},
                                  {"n_embd", 32},
                                  {"n_layer", 3},
                                  {"n_head", 4},
                                  {"n_positions", 64},
                                  {"initializer_range", 0.3}},
                                 "config.json"),
              HeadKind::causal_lm);
  initialize(model, seed);
  save_model(model, folder);
  write_small_tokenizer(folder);
}

}  // namespace heed::test
