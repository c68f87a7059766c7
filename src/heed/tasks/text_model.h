// What all tasks on text stand on: the encoder, the tokenizer and the settings of one model folder. Const calls are
// safe from several threads at once.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "heed/io/model_folder.h"
#include "heed/models/encoder_model.h"
#include "heed/tasks/batches.h"
#include "heed/tensor/autograd.h"
#include "heed/text/tokenizer.h"

namespace heed {

// One text, or two that the model reads as a pair.
struct TextInput {
  TextInput(std::string first) : text(std::move(first)) {}  // NOLINT: a text is an input
  TextInput(const char* first) : text(first) {}             // NOLINT
  TextInput(std::string first, std::string second) : text(std::move(first)), pair(std::move(second)) {}

  std::string text;
  std::optional<std::string> pair{};
};

class TextModel {
 public:
  // Throws what reading a folder throws: not_found, bad_format, with the file and the field. A batch has at most
  // `token_budget` tokens, or one sequence.
  explicit TextModel(const std::filesystem::path& directory, std::size_t token_budget);

  const ModelFolder& folder() const { return folder_; }
  const EncoderModel& encoder() const { return *encoder_; }
  const text::Tokenizer& tokenizer() const { return tokenizer_; }
  const std::vector<std::string>& labels() const { return encoder_->config().labels; }
  // The longest sequence, special tokens included, that the model and its tokenizer allow.
  std::size_t max_tokens() const { return max_tokens_; }
  // The id of "mask_token", "unk_token" ... by tokenizer_config.json, special_tokens_map.json or the usual spellings.
  std::optional<std::int32_t> special_id(const std::string& name) const;
  // Throws invalid_argument unless the model has this head.
  void require(Head head, std::string_view task) const;

  // Cut to max_tokens(), a pair at its longer text, unless another rule is given. In parallel.
  std::vector<text::Encoding> encode(std::span<const TextInput> inputs) const;
  std::vector<text::Encoding> encode(std::span<const TextInput> inputs, const text::Truncation& truncation) const;

  // Calls use(chosen, input) for each batch, without recording gradients: input packs encodings[chosen[0]] and so on.
  template <class Use>
  void for_each_batch(std::span<const text::Encoding> encodings, const Use& use) const {
    const NoGrad no_grad;
    std::vector<std::size_t> lengths;
    lengths.reserve(encodings.size());
    for (const text::Encoding& encoding : encodings) lengths.push_back(encoding.size());
    for (const auto& chosen : plan_batches(lengths, token_budget_)) {
      use(chosen, pack_encodings(encodings, chosen, encoder_->config().types > 1));
    }
  }

 private:
  ModelFolder folder_;
  std::unique_ptr<EncoderModel> encoder_;
  text::Tokenizer tokenizer_;
  Json tokenizer_config_, special_tokens_;
  std::size_t max_tokens_, token_budget_;
};

// The encodings and behind each its further windows; `owner` receives the index of the text each came from.
std::vector<text::Encoding> all_windows(std::vector<text::Encoding> encodings, std::vector<std::size_t>& owner);

// exp(x - max) / sum, in place.
void softmax_in_place(std::span<double> values);

}  // namespace heed
