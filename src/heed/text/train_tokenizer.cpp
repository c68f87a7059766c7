#include "heed/text/train_tokenizer.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "heed/base/file.h"
#include "heed/base/parallel.h"
#include "heed/base/stop.h"
#include "heed/base/utf8.h"
#include "heed/text/byte_level.h"
#include "heed/text/pipelines.h"
#include "heed/text/token_roles.h"
#include "heed/text/tokenizer.h"

namespace heed::text {
namespace {

constexpr const char* kWhere = "[train_tokenizer]";

using Counts = std::unordered_map<std::string, std::int64_t>;

constexpr std::array<std::string_view, 5> kTypes = {"bpe", "wordpiece", "unigram", "wordlevel", "character"};

// Lines keep their ends: where white space becomes part of words, so do they.
std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    lines.push_back(text.substr(at, end - at));
    at = end;
  }
  return lines;
}

void count_words(const Tokenizer& pipeline, const std::filesystem::path& path, Counts& counts) {
  const MappedFile file(path);
  const std::optional<std::size_t> invalid = utf8_find_invalid(file.text());
  HEED_CHECK_AS(bad_format, !invalid, path.string(), ": is not UTF-8 at byte ", *invalid);
  const std::vector<std::string_view> lines = split_lines(file.text());
  const StopToken stop = StopScope::current();  // the helpers of a loop have none of their own
  std::mutex mutex;
  parallel_for(static_cast<std::int64_t>(lines.size()), 1000, [&](std::int64_t begin, std::int64_t end) {
    Counts mine;
    for (std::int64_t i = begin; i < end; ++i) {
      stop.check(kWhere);
      for (std::string& word : pipeline.words(lines[static_cast<std::size_t>(i)])) ++mine[std::move(word)];
    }
    const std::lock_guard lock(mutex);
    for (const auto& [word, count] : mine) counts[word] += count;
  });
}

void use_pipeline(Json& tokenizer, TokenizerType type) {
  switch (type) {
    case TokenizerType::bpe: use_byte_level_pipeline(tokenizer, false); break;
    case TokenizerType::wordpiece: use_bert_pipeline(tokenizer, {}); break;
    case TokenizerType::unigram: use_metaspace_pipeline(tokenizer, {{"type", "NFKC"}}); break;
    case TokenizerType::wordlevel: tokenizer["pre_tokenizer"] = {{"type", "Whitespace"}}; break;
    case TokenizerType::character:
      tokenizer["pre_tokenizer"] = {
          {"type", "Split"}, {"pattern", {{"Regex", "[\\s\\S]"}}}, {"behavior", "Isolated"}, {"invert", false}};
      tokenizer["decoder"] = {{"type", "Fuse"}};
      break;
  }
}

Json train_model(TokenizerType type, const WordCounts& words, const TrainOptions& options) {
  switch (type) {
    case TokenizerType::bpe: return train_bpe(words, options);
    case TokenizerType::wordpiece: return train_word_piece(words, options);
    case TokenizerType::unigram: return train_unigram(words, options);
    case TokenizerType::wordlevel:
    case TokenizerType::character: return train_word_level(words, options);
  }
  fail(ErrorKind::internal, "[train_tokenizer] no such type");
}

std::string byte_alphabet() {
  std::string alphabet;
  for (int byte = 0; byte < 256; ++byte) utf8_append(alphabet, byte_level_point(static_cast<unsigned char>(byte)));
  return alphabet;
}

bool contains(const std::vector<std::string>& list, std::string_view text) {
  return std::ranges::find(list, text) != list.end();
}

void surround_text(Json& tokenizer, const std::vector<std::string>& special_tokens, const std::string& file) {
  const auto id_of = [&](const std::string& token) { return id_in_model(tokenizer["model"], token, file); };
  if (contains(special_tokens, "[CLS]") && contains(special_tokens, "[SEP]")) {
    tokenizer["post_processor"] =
        template_processing("[CLS]:0 $A:0 [SEP]:0", "[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1", id_of);
  } else if (contains(special_tokens, "<s>") && contains(special_tokens, "</s>")) {
    tokenizer["post_processor"] =
        template_processing("<s>:0 $A:0 </s>:0", "<s>:0 $A:0 </s>:0 </s>:0 $B:0 </s>:0", id_of);
  }
}

}  // namespace

TokenizerType tokenizer_type(std::string_view name) {
  const auto found = std::ranges::find(kTypes, name);
  HEED_CHECK(found != kTypes.end(), "[tokenizer_type] \"", name,
             "\", expected bpe, wordpiece, unigram, wordlevel or character");
  return static_cast<TokenizerType>(found - kTypes.begin());
}

std::vector<std::string> default_special_tokens(TokenizerType type) {
  switch (type) {
    case TokenizerType::bpe: return {"<|endoftext|>"};
    case TokenizerType::character: return {"<unk>", "<|endoftext|>"};
    case TokenizerType::unigram: return {kRobertaTokens.begin(), kRobertaTokens.end()};
    default: return {kBertTokens.begin(), kBertTokens.end()};
  }
}

std::vector<std::string> model_special_tokens(TokenizerType type) {
  if (type == TokenizerType::bpe) return {kRobertaTokens.begin(), kRobertaTokens.end()};
  return default_special_tokens(type);
}

Json train_tokenizer(TokenizerType type, const std::vector<std::filesystem::path>& files, TrainOptions options) {
  HEED_CHECK(!files.empty(), "[train_tokenizer] no files to train from");
  HEED_CHECK(options.vocab_size > 0, "[train_tokenizer] vocab_size ", options.vocab_size, ", expected 1 or more");
  HEED_CHECK(!options.limit_alphabet || *options.limit_alphabet >= 0, "[train_tokenizer] limit_alphabet is negative");
  Json tokenizer = bare_tokenizer({{"type", "WordLevel"}, {"unk_token", ""}, {"vocab", Json::object()}});
  use_pipeline(tokenizer, type);
  const Tokenizer pipeline = Tokenizer::from_parsed_json(tokenizer, "[train_tokenizer]");
  Counts counts;
  for (const std::filesystem::path& file : files) count_words(pipeline, file, counts);
  WordCounts words(counts.begin(), counts.end());
  std::ranges::sort(words);
  if (type == TokenizerType::bpe) {
    options.initial_alphabet += byte_alphabet();
  } else if (!options.unk_token) {
    const bool angular = type == TokenizerType::unigram || type == TokenizerType::character;
    options.unk_token = angular ? "<unk>" : "[UNK]";
  }
  tokenizer["model"] = train_model(type, words, options);
  const std::string file = files.front().string();
  for (const std::string& token : options.special_tokens) {
    tokenizer["added_tokens"].push_back(added_token(token, id_in_model(tokenizer["model"], token, file), true));
  }
  if (type != TokenizerType::bpe) surround_text(tokenizer, options.special_tokens, file);
  return tokenizer;
}

}  // namespace heed::text
