#include <algorithm>
#include <limits>

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

constexpr const char *kStart = "decoder_start_token_id", *kBegin = "bos_token_id";

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

Json generation_settings(const Json& generation_config, const Json& config) {
  if (!generation_config.is_null()) return generation_config;
  GenerateOptions options;
  Json settings = Json::object();
  const auto take = [&](const std::string& name) {
    if (config.is_object() && config.contains(name) && !config[name].is_null()) settings[name] = config[name];
  };
  for (const Field& field : options.fields()) take(field.name);
  for (const char* name : {kStart, kBegin}) take(name);
  return settings;
}

std::int32_t decoder_start(const Json& settings, const std::string& where) {
  for (const char* name : {kStart, kBegin}) {
    const auto id = json_optional<std::int64_t>(settings, name, -1, where);
    if (id < 0) continue;
    HEED_CHECK_AS(bad_format, id <= std::numeric_limits<std::int32_t>::max(), where, ": ", name, " is ", id,
                  ", expected the id of a token");
    return static_cast<std::int32_t>(id);
  }
  fail(ErrorKind::bad_format, where, ": neither ", kStart, " nor ", kBegin, ", expected what the decoder begins with");
}

}  // namespace heed
