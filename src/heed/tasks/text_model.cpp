#include "heed/tasks/text_model.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/text/legacy.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

// An empty object where there is no such file.
Json read_settings(const fs::path& path) {
  if (!fs::exists(path)) return Json::object();
  constexpr std::size_t kMostBytes = 64'000'000;
  Json value = parse_json(read_file(path, kMostBytes), path.string());
  HEED_CHECK_AS(bad_format, value.is_object(), path.string(), ": is ", detail::json_kind(value),
                ", expected an object");
  return value;
}

// HuggingFace writes 1e30 for "no limit", so the number may be any.
std::size_t tokenizer_limit(const Json& config, const std::string& where, std::size_t most) {
  const auto limit = json_optional<double>(config, "model_max_length", 0, where);
  return limit >= 1 && limit < static_cast<double>(most) ? static_cast<std::size_t>(limit) : most;
}

// "[MASK]", or {"content": "[MASK]", ...}
std::string token_text(const Json& settings, const std::string& name) {
  const auto found = settings.find(name);
  if (found == settings.end()) return "";
  if (found->is_string()) return found->get<std::string>();
  return found->is_object() ? found->value("content", "") : "";
}

}  // namespace

TextModel::TextModel(const fs::path& directory, std::size_t token_budget)
    : folder_(directory),
      encoder_(load_encoder(folder_)),
      tokenizer_(text::load_tokenizer(folder_.transformer())),
      tokenizer_config_(read_settings(folder_.transformer() / "tokenizer_config.json")),
      special_tokens_(read_settings(folder_.transformer() / "special_tokens_map.json")),
      token_budget_(token_budget) {
  max_tokens_ = tokenizer_limit(tokenizer_config_, (folder_.transformer() / "tokenizer_config.json").string(),
                                static_cast<std::size_t>(encoder_->config().max_tokens()));
  // Both are settings of whoever saved the tokenizer, not of the model; HuggingFace sets them anew at every call.
  tokenizer_.set_padding(std::nullopt);
  tokenizer_.set_truncation(std::nullopt);
}

std::optional<std::int32_t> TextModel::special_id(const std::string& name) const {
  static const std::map<std::string, std::vector<std::string>> usual = {{"mask_token", {"[MASK]", "<mask>"}},
                                                                        {"unk_token", {"[UNK]", "<unk>"}},
                                                                        {"cls_token", {"[CLS]", "<s>"}},
                                                                        {"pad_token", {"[PAD]", "<pad>"}}};
  std::vector<std::string> spellings = {token_text(special_tokens_, name), token_text(tokenizer_config_, name)};
  if (const auto more = usual.find(name); more != usual.end()) {
    spellings.insert(spellings.end(), more->second.begin(), more->second.end());
  }
  for (const std::string& spelling : spellings) {
    if (spelling.empty()) continue;
    if (const auto id = tokenizer_.token_to_id(spelling)) return id;
  }
  return {};
}

void TextModel::require(Head head, std::string_view task) const {
  HEED_CHECK(encoder_->head() == head, "[", task, "] the model of ", folder_.path().string(), " is for ",
             to_string(encoder_->head()), ", expected ", to_string(head));
}

std::vector<text::Encoding> TextModel::encode(std::span<const TextInput> inputs) const {
  return encode(inputs, {.max_length = max_tokens_});
}

std::vector<text::Encoding> TextModel::encode(std::span<const TextInput> inputs,
                                              const text::Truncation& truncation) const {
  std::vector<text::EncodeInput> views;
  views.reserve(inputs.size());
  for (const TextInput& input : inputs) {
    views.push_back({input.text, input.pair ? std::optional<std::string_view>(*input.pair) : std::nullopt});
  }
  return tokenizer_.encode_batch(views, {.truncation = truncation});
}

std::vector<text::Encoding> all_windows(std::vector<text::Encoding> encodings, std::vector<std::size_t>& owner) {
  std::vector<text::Encoding> windows;
  owner.clear();
  for (std::size_t i = 0; i < encodings.size(); ++i) {
    std::vector<text::Encoding> more = std::move(encodings[i].overflowing);
    encodings[i].overflowing.clear();
    windows.push_back(std::move(encodings[i]));
    std::ranges::move(more, std::back_inserter(windows));
    owner.resize(windows.size(), i);
  }
  return windows;
}

void softmax_in_place(std::span<double> values) {
  if (values.empty()) return;
  const double largest = *std::ranges::max_element(values);
  double sum = 0;
  for (double& value : values) sum += value = std::exp(value - largest);
  for (double& value : values) value /= sum;
}

}  // namespace heed
