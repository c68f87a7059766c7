#include "heed/models/config_reader.h"

#include <cmath>

namespace heed {
namespace {

// Of all HuggingFace configurations: what they are called, where they come from, how their results are handed over, how
// text is generated, how training starts. None of it changes a forward pass.
constexpr std::initializer_list<const char*> kHarmless = {
    "adapter_fusion_models", "adapters", "architectures", "_attn_implementation", "attn_implementation",
    "_attn_implementation_autoset", "_attn_implementation_internal", "bad_words_ids", "begin_suppress_tokens",
    "bos_token_id", "cache_dir", "cls_token_id", "_commit_hash", "custom_pipelines", "decoder_start_token_id",
    "directionality", "diversity_penalty", "do_sample", "dtype", "early_stopping", "encoder_no_repeat_ngram_size",
    "eos_token_id", "eos_token_ids", "exponential_decay_length_penalty", "finetuning_task", "forced_bos_token_id",
    "forced_eos_token_id", "gradient_checkpointing", "is_composition", "language", "length_penalty", "mask_token_id",
    "max_length", "max_new_tokens", "max_seq_length", "min_length", "model_max_length", "model_name", "model_type",
    "name", "_name_or_path", "name_or_path", "no_repeat_ngram_size", "num_beam_groups", "num_beams", "_num_labels",
    "num_return_sequences", "output_attentions", "output_hidden_states", "output_past", "output_scores", "pad_token_id",
    "prefix", "problem_type", "remove_invalid_values", "renormalize_logits", "repetition_penalty", "return_dict",
    "return_dict_in_generate", "sep_token_id", "suppress_tokens", "task_specific_params", "temperature",
    "tf_legacy_loss", "tie_encoder_decoder", "tokenizer_class", "top_k", "top_p", "torch_dtype", "torchscript",
    "transformers.js_config", "transformers_version", "typical_p", "unk_token_id", "use_bfloat16", "use_cache",
    "use_return_dict", "xla_device",
    // What a model card says, and what the model was trained with.
    "author", "base_model", "batch_size", "datasets", "description", "epochs", "fp16", "gradient_accumulation_steps",
    "label_smoothing", "label_smoothing_factor", "learning_rate", "library_name", "license", "lr", "max_grad_norm",
    "metrics", "num_epochs", "num_train_epochs", "optimizer", "pipeline_tag", "seed", "tags", "version", "warmup_ratio",
    "warmup_steps", "weight_decay",
    // How and where the same sums are done, and what else could be made of the file.
    "device", "export_model_type", "_flash_attn_2_enabled", "is_gpu", "memory_efficient_attention", "reference_compile",
    "unpad_inputs", "use_flash_attention", "use_flash_attn", "use_memory_efficient_attention",
    // A vector may be cut there; the caller cuts it where less is wanted.
    "is_matryoshka", "matryoshka_dimensions",
    // Code that its authors publish beside the model. Without leave to run it, HuggingFace too uses its own class for a
    // model_type that it knows.
    "auto_map",
    // The same sums, in smaller pieces.
    "chunk_size_feed_forward",
    // Written by the first converters, read by nothing.
    "pooler_fc_size", "pooler_num_attention_heads", "pooler_num_fc_layers", "pooler_size_per_head", "pooler_type",
    // Of a head for multiple choice.
    "summary_activation", "summary_first_dropout", "summary_hidden", "summary_last_dropout", "summary_proj_to_labels",
    "summary_type", "summary_use_proj",
    // See cross_encoder_activation().
    "sbert_ce_default_activation_function", "sentence_transformers"};

constexpr std::int64_t kMostLabels = 100'000;

}  // namespace

void ConfigReader::refuse(const std::string& field, const std::string& found, const std::string& expected) const {
  fail(ErrorKind::bad_format, where_, ": ", field, " is ", found, ", expected ", expected);
}

bool ConfigReader::is_null(const std::string& field) const {
  const auto found = config_.find(field);
  return found != config_.end() && found->is_null();
}

std::int64_t ConfigReader::size(const std::string& field, std::int64_t fallback, std::int64_t low, std::int64_t high) {
  const auto value = get<std::int64_t>(field, fallback);
  if (value < low || value > high) {
    refuse(field, std::to_string(value), "a size from " + std::to_string(low) + " to " + std::to_string(high));
  }
  return value;
}

double ConfigReader::probability(const std::string& field, double fallback) {
  const auto value = get<double>(field, fallback);
  if (!(value >= 0 && value < 1)) refuse(field, std::to_string(value), "a probability, 0 <= p < 1");
  return value;
}

double ConfigReader::positive(const std::string& field, double fallback) {
  const auto value = get<double>(field, fallback);
  if (!(value > 0 && std::isfinite(value))) refuse(field, std::to_string(value), "a positive number");
  return value;
}

std::int64_t ConfigReader::divisor(const std::string& field, std::int64_t fallback, const char* whole_field,
                                   std::int64_t whole) {
  const std::int64_t parts = size(field, fallback, 1, 1 << 16);
  if (whole % parts != 0) {
    refuse(field, std::to_string(parts), std::string("a divisor of ") + whole_field + ", " + std::to_string(whole));
  }
  return parts;
}

Activation ConfigReader::activation(const std::string& field, const std::string& fallback) {
  return choice<Activation>(field, fallback,
                            {{"gelu", Activation::gelu},
                             {"gelu_python", Activation::gelu},
                             {"gelu_new", Activation::gelu_tanh},
                             {"gelu_fast", Activation::gelu_tanh},
                             {"gelu_pytorch_tanh", Activation::gelu_tanh},
                             {"gelu_python_tanh", Activation::gelu_tanh},
                             {"relu", Activation::relu},
                             {"silu", Activation::silu},
                             {"swish", Activation::silu},
                             {"tanh", Activation::tanh},
                             {"sigmoid", Activation::sigmoid},
                             {"linear", Activation::none}});
}

std::vector<std::string> ConfigReader::labels() {
  harmless({"label2id"});
  const auto count = size("num_labels", 2, 1, kMostLabels);
  const Json names = get<Json>("id2label", Json());
  std::vector<std::string> labels;
  if (names.is_null()) {
    for (std::int64_t i = 0; i < count; ++i) labels.push_back("LABEL_" + std::to_string(i));
    return labels;
  }
  if (!names.is_object() || names.empty() || static_cast<std::int64_t>(names.size()) > kMostLabels) {
    refuse("id2label", detail::json_kind(names) + " of " + std::to_string(names.size()),
           "an object of id -> label with 1 to " + std::to_string(kMostLabels) + " of them");
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto name = names.find(std::to_string(i));
    if (name == names.end()) refuse("id2label", "without id " + std::to_string(i), "all ids from 0 on");
    labels.push_back(json_as<std::string>(*name, "id2label of " + std::to_string(i), where_));
  }
  return labels;
}

void ConfigReader::only(const std::string& field, const Json& value) {
  const Json found = get<Json>(field, value);
  if (found != value) refuse(field, found.dump(), value.dump() + " (nothing else is supported)");
}

void ConfigReader::finish() {
  harmless(kHarmless);
  // Unless the family says otherwise, a decoder, an encoder before it, cross-attention or fewer heads in some layers
  // are other models.
  if (!known_.contains("is_decoder")) only("is_decoder", false);
  if (!known_.contains("is_encoder_decoder")) only("is_encoder_decoder", false);
  only("add_cross_attention", false);
  only("cross_attention_hidden_size", Json());
  only("pruned_heads", Json::object());
  for (const auto& [field, value] : config_.items()) {
    HEED_CHECK_AS(bad_format, known_.contains(field) || value.is_null(), where_, ": ", field,
                  " is not a field that is known for this model_type; it may change the result. Remove it if it does "
                  "not");
  }
}

}  // namespace heed
