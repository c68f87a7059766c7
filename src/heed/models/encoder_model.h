// An encoder with a head: what one config.json and one model.safetensors make.
//   auto model = load_encoder("path/to/folder");
//   EncoderOutput out = model->forward({.ids = packed}, Context());
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heed/models/encoder_heads.h"
#include "heed/models/text_encoder.h"

namespace heed {

class ModelFolder;

struct EncoderOutput {
  Tensor hidden;                 // [N, C], the last layer's
  std::vector<Tensor> states{};  // layers + 1 of [N, C], if asked for
  Tensor pooled{};               // [B, C], if the model has a pooler
  Tensor logits{};               // if the model has a head; shapes at enum Head
};

class EncoderModel : public Module {
 public:
  // A head that reads the pooler has one; else it is there if `with_pooler`. All parameters are zero.
  explicit EncoderModel(EncoderConfig config, Head head = Head::none, bool with_pooler = false);

  EncoderOutput forward(const EncoderInput& input, const Context& context, bool with_states = false) const;
  // The parts of forward(), for those who need logits of some rows only: masked words, say.
  Tensor encode(const EncoderInput& input, const Context& context) const;
  Tensor logits(const Tensor& rows, const Context& context) const;
  // The logits of all hidden states [N, C]: of every token, or of every sequence, as the head has it.
  Tensor logits_of(const Tensor& hidden, const Offsets& offsets, const Context& context) const;

  const EncoderConfig& config() const { return config_; }
  Head head() const { return head_kind_; }
  const TextEncoder& encoder() const { return encoder_; }
  TextEncoder& encoder() { return encoder_; }
  void visit(Visitor& visitor) override;

 private:
  EncoderConfig config_;
  Head head_kind_;
  TextEncoder encoder_;
  std::optional<EncoderHead> head_;
};

struct LoadOptions {
  std::optional<Head> head{};  // default: the one config.json names
  // For fine-tuning: a head that the file does not have starts with random numbers of this seed and these labels.
  std::optional<std::uint64_t> new_head_seed{};
  std::vector<std::string> new_labels{};
};

// A folder of HuggingFace's. F16 and BF16 become f32. Every tensor that is missing, not expected or of another shape is
// named; position_ids, a tied tensor's copy, a pooler nobody reads and other heads of the same family are passed over.
// No parameter requires gradients (nn/module.h, set_trainable).
std::unique_ptr<EncoderModel> load_encoder(const std::filesystem::path& folder, const LoadOptions& options = {});
std::unique_ptr<EncoderModel> load_encoder(const ModelFolder& folder, const LoadOptions& options = {});

// Writes config.json and model.safetensors, under the published names; HuggingFace loads them. The folder is made if
// it is not there. Tokenizer files are the caller's.
void save_encoder(EncoderModel& model, const std::filesystem::path& folder);

}  // namespace heed
