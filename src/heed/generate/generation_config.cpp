#include <algorithm>

#include "heed/generate/options.h"

namespace heed {
namespace {

// Fields that do not change which tokens come out of heed's loop: outputs that HuggingFace collects, how it keeps keys
// and values, compiles and drafts, tokens for the code that makes the prompt, and notes.
constexpr std::string_view kHarmless[] = {"_commit_hash",
                                          "_from_model_config",
                                          "assistant_confidence_threshold",
                                          "assistant_early_exit",
                                          "assistant_lookbehind",
                                          "bos_token_id",
                                          "cache_config",
                                          "cache_implementation",
                                          "compile_config",
                                          "continuous_batching_config",
                                          "decoder_start_token_id",
                                          "disable_compile",
                                          "is_assistant",
                                          "max_matching_ngram_size",
                                          "num_assistant_tokens",
                                          "num_assistant_tokens_schedule",
                                          "output_attentions",
                                          "output_hidden_states",
                                          "output_logits",
                                          "output_scores",
                                          "pad_token_id",
                                          "prefill_chunk_size",
                                          "prompt_lookup_num_tokens",
                                          "return_dict_in_generate",
                                          "target_lookbehind",
                                          "transformers_version",
                                          "use_cache"};

// Fields that would change the result in a way heed has not, and the value at which they do nothing.
struct Refused {
  std::string_view name;
  Json neutral;
};
const std::vector<Refused>& refused_fields() {
  static const std::vector<Refused> list = {
      {"constraints", nullptr},        {"dola_layers", nullptr}, {"force_words_ids", nullptr},
      {"forced_decoder_ids", nullptr}, {"guidance_scale", 1.0},  {"low_memory", false},
      {"penalty_alpha", 0.0},          {"token_healing", false}, {"watermarking_config", nullptr}};
  return list;
}

}  // namespace

GenerateOptions read_generation_config(const Json& config, const std::string& where) {
  HEED_CHECK_AS(bad_format, config.is_object(), where, ": is ", detail::json_kind(config), ", expected an object");
  GenerateOptions options;
  const Fields fields = options.fields();
  for (const auto& [name, value] : config.items()) {
    if (value.is_null() || std::ranges::find(kHarmless, name) != std::end(kHarmless)) continue;
    const auto refused = std::ranges::find(refused_fields(), name, &Refused::name);
    if (refused != refused_fields().end()) {
      HEED_CHECK_AS(bad_format, value == refused->neutral, where, ": ", name, " is ", value.dump(),
                    ", which heed cannot do, expected ", refused->neutral.dump());
      continue;
    }
    set_field(fields, name, value, where);
  }
  for (const Field& field : fields) field.check(where);
  return options;
}

}  // namespace heed
