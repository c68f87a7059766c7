#include "heed/models/encoder_config.h"

#include <cmath>
#include <map>

#include "heed/models/config_reader.h"
#include "heed/models/encoder_family.h"

namespace heed {
namespace {

// Of all HuggingFace configurations: what they are called, where they come from, how their results are handed over, how
// text is generated, how training starts. None of it changes a forward pass.
constexpr std::initializer_list<const char*> kHarmless = {
    "_name_or_path",
    "name_or_path",
    "_attn_implementation_autoset",
    "_num_labels",
    "attn_implementation",
    "bos_token_id",
    "cls_token_id",
    "decoder_start_token_id",
    "directionality",
    "do_sample",
    "dtype",
    "eos_token_id",
    "finetuning_task",
    "gradient_checkpointing",
    "language",
    "mask_token_id",
    "max_length",
    "min_length",
    "model_max_length",
    "model_type",
    "num_beams",
    "output_attentions",
    "output_hidden_states",
    "output_past",
    "pad_token_id",
    "problem_type",
    "return_dict",
    "sentence_transformers",
    "sep_token_id",
    "task_specific_params",
    "tokenizer_class",
    "torch_dtype",
    "torchscript",
    "transformers_version",
    "unk_token_id",
    "use_cache",
    "architectures",
    // The same sums, in smaller pieces.
    "chunk_size_feed_forward",
    // Written by the first converters, read by nothing.
    "pooler_fc_size",
    "pooler_num_attention_heads",
    "pooler_num_fc_layers",
    "pooler_size_per_head",
    "pooler_type",
};

constexpr std::int64_t kMostLabels = 100'000;

struct HeadName {
  Head head;
  std::string_view name, architecture;
};
constexpr HeadName kHeadNames[] = {
    {Head::none, "none", "Model"},
    {Head::sequence_classification, "sequence_classification", "ForSequenceClassification"},
    {Head::token_classification, "token_classification", "ForTokenClassification"},
    {Head::masked_lm, "masked_lm", "ForMaskedLM"},
    {Head::question_answering, "question_answering", "ForQuestionAnswering"},
    {Head::next_sentence, "next_sentence", "ForNextSentencePrediction"},
    {Head::replaced_token, "replaced_token", "ForPreTraining"},
};

}  // namespace

std::string_view to_string(Head head) {
  for (const HeadName& known : kHeadNames) {
    if (known.head == head) return known.name;
  }
  fail(ErrorKind::internal, "[Head] no such head");
}

std::string architecture_name(const EncoderFamily& family, Head head) {
  for (const HeadName& known : kHeadNames) {
    if (known.head == head) return std::string(family.class_name) + std::string(known.architecture);
  }
  fail(ErrorKind::internal, "[Head] no such head");
}

void ConfigReader::refuse(const std::string& field, const std::string& found, const std::string& expected) const {
  fail(ErrorKind::bad_format, where_, ": ", field, " is ", found, ", expected ", expected);
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

Activation ConfigReader::activation(const std::string& field, const std::string& fallback) {
  static const std::map<std::string, Activation> names = {{"gelu", Activation::gelu},
                                                          {"gelu_python", Activation::gelu},
                                                          {"gelu_new", Activation::gelu_tanh},
                                                          {"gelu_fast", Activation::gelu_tanh},
                                                          {"gelu_pytorch_tanh", Activation::gelu_tanh},
                                                          {"relu", Activation::relu},
                                                          {"silu", Activation::silu},
                                                          {"swish", Activation::silu},
                                                          {"tanh", Activation::tanh},
                                                          {"sigmoid", Activation::sigmoid},
                                                          {"linear", Activation::none}};
  const auto name = get<std::string>(field, fallback);
  const auto found = names.find(name);
  if (found == names.end()) {
    std::string list;
    for (const auto& [known, activation] : names) list += (list.empty() ? "" : ", ") + known;
    refuse(field, "\"" + name + "\"", "one of " + list);
  }
  return found->second;
}

TextPositions ConfigReader::position_kind() {
  const auto name = get<std::string>("position_embedding_type", "absolute");
  if (name == "absolute") return TextPositions::absolute;
  if (name == "relative_key") return TextPositions::relative_key;
  if (name == "relative_key_query") return TextPositions::relative_key_query;
  refuse("position_embedding_type", "\"" + name + "\"", "absolute, relative_key or relative_key_query");
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
  // A decoder, cross-attention or fewer heads in some layers are other models.
  only("is_decoder", false);
  only("is_encoder_decoder", false);
  only("add_cross_attention", false);
  only("cross_attention_hidden_size", Json());
  only("pruned_heads", Json::object());
  for (const auto& [field, value] : config_.items()) {
    HEED_CHECK_AS(bad_format, known_.contains(field) || value.is_null(), where_, ": ", field,
                  " is not a field that is known for this model_type; it may change the result. Remove it if it does "
                  "not");
  }
}

void read_common_fields(ConfigReader& reader, EncoderConfig& config) {
  config.vocabulary = reader.size("vocab_size", config.vocabulary);
  config.width = reader.size("hidden_size", config.width, 1, 1 << 20);
  config.embedding_width = config.width;
  config.layers = reader.size("num_hidden_layers", config.layers, 1, 10'000);
  config.groups = config.layers;
  config.heads = reader.size("num_attention_heads", config.heads, 1, 1 << 16);
  if (config.width % config.heads != 0) {
    reader.refuse("num_attention_heads", std::to_string(config.heads),
                  "a divisor of hidden_size, " + std::to_string(config.width));
  }
  config.inner = reader.size("intermediate_size", config.inner);
  config.positions = reader.size("max_position_embeddings", config.positions);
  config.epsilon = reader.positive("layer_norm_eps", config.epsilon);
  config.dropout = reader.probability("hidden_dropout_prob", config.dropout);
  config.attention_dropout = reader.probability("attention_probs_dropout_prob", config.attention_dropout);
  config.initializer_deviation = reader.positive("initializer_range", config.initializer_deviation);
  config.tie_word_embeddings = reader.get<bool>("tie_word_embeddings", true);
  config.labels = reader.labels();
}

EncoderConfig parse_encoder_config(const Json& source, const std::string& where) {
  const auto model_type = json_required<std::string>(source, "model_type", where);
  const EncoderFamily* family = find_encoder_family(model_type);
  if (!family) {
    std::string known;
    for (const EncoderFamily* each : encoder_families()) known += (known.empty() ? "" : ", ") + each->model_type;
    fail(ErrorKind::bad_format, where, ": model_type is \"", model_type, "\", expected one of ", known);
  }
  ConfigReader reader(source, where);
  EncoderConfig config = family->read_config(reader);
  reader.finish();
  config.model_type = model_type;
  config.source = source;
  if (config.max_tokens() < 1) {
    reader.refuse("max_position_embeddings", std::to_string(config.positions), "more than pad_token_id + 1");
  }
  return config;
}

Head head_of(const EncoderConfig& config, const std::string& where) {
  const auto names = json_optional<std::vector<std::string>>(config.source, "architectures", {}, where);
  if (names.empty()) return Head::none;
  const EncoderFamily& family = *find_encoder_family(config.model_type);
  const std::string& name = names[0];
  std::string known = architecture_name(family, Head::none);
  if (name == known) return Head::none;
  for (const HeadDescription& head : family.heads) {
    const std::string architecture = architecture_name(family, head.head);
    if (name == architecture) return head.head;
    known += ", " + architecture;
  }
  // Its files hold several heads; the first is the one to start with.
  if (name == std::string(family.class_name) + "ForPreTraining") return Head::masked_lm;
  fail(ErrorKind::bad_format, where, ": architectures is \"", name, "\", expected one of ", known);
}

void set_labels(EncoderConfig& config, std::vector<std::string> labels) {
  HEED_CHECK(!labels.empty(), "[set_labels] no labels");
  Json id2label = Json::object(), label2id = Json::object();
  for (std::size_t i = 0; i < labels.size(); ++i) {
    id2label[std::to_string(i)] = labels[i];
    label2id[labels[i]] = i;
  }
  config.source["id2label"] = id2label;
  config.source["label2id"] = label2id;
  config.source.erase("num_labels");
  config.labels = std::move(labels);
}

}  // namespace heed
