#include "heed/models/model_config.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/join.h"
#include "heed/models/config_reader.h"
#include "heed/models/registry.h"

namespace heed {
namespace {

struct HeadName {
  HeadKind kind;
  std::string_view name, architecture;
};
constexpr HeadName kHeadNames[] = {
    {HeadKind::none, "none", "Model"},
    {HeadKind::sequence_classification, "sequence_classification", "ForSequenceClassification"},
    {HeadKind::token_classification, "token_classification", "ForTokenClassification"},
    {HeadKind::masked_lm, "masked_lm", "ForMaskedLM"},
    {HeadKind::causal_lm, "causal_lm", "ForCausalLM"},
    {HeadKind::seq2seq_lm, "seq2seq_lm", "ForConditionalGeneration"},
    {HeadKind::question_answering, "question_answering", "ForQuestionAnswering"},
    {HeadKind::next_sentence, "next_sentence", "ForNextSentencePrediction"},
    {HeadKind::replaced_token, "replaced_token", "ForPreTraining"},
};

const HeadName& name_of(HeadKind kind) {
  const auto found = std::ranges::find(kHeadNames, kind, &HeadName::kind);
  HEED_CHECK_AS(internal, found != std::end(kHeadNames), "[HeadKind] no such head");
  return *found;
}

}  // namespace

std::string_view to_string(HeadKind kind) {
  return name_of(kind).name;
}

std::string architecture_name(const ModelFamily& family, HeadKind head) {
  const bool writes = head == HeadKind::causal_lm || head == HeadKind::seq2seq_lm;
  if (writes && !family.lm_class.empty()) return family.lm_class;
  return family.class_name + std::string(name_of(head).architecture);
}

const ModelFamily& model_family(const Json& config, const std::string& where) {
  const auto model_type = json_required<std::string>(config, "model_type", where);
  const auto family = std::ranges::find(model_families(), model_type, &ModelFamily::model_type);
  if (family == model_families().end()) {
    fail(ErrorKind::bad_format, where, ": model_type is \"", model_type, "\", expected one of ",
         join(model_families(), ", ", &ModelFamily::model_type));
  }
  return **family;
}

ModelConfig parse_model_config(const Json& source, const std::string& where) {
  const ModelFamily& family = model_family(source, where);
  ModelConfig config{.family = &family, .source = source};
  config.info.model_type = family.model_type;
  ConfigReader reader(source, where);
  config.labels = reader.labels();
  // More labels than one are the scores of a classifier, to which a softmax belongs.
  if (config.labels.size() == 1) static_cast<void>(cross_encoder_activation(source, where));
  family.read(reader, config);
  reader.finish();
  ModelInfo& info = config.info;
  if (info.head_dim == 0 && info.heads > 0) info.head_dim = info.hidden_size / info.heads;
  if (info.key_heads == 0) info.key_heads = info.heads;
  return config;
}

std::optional<Activation> cross_encoder_activation(const Json& config, const std::string& where) {
  std::string field = "sentence_transformers.activation_fn";
  const Json about = json_optional<Json>(config, "sentence_transformers", Json::object(), where);
  auto name = about.is_object() ? json_optional<std::string>(about, "activation_fn", "", where) : "";
  if (name.empty()) {
    field = "sbert_ce_default_activation_function";
    name = json_optional<std::string>(config, field, "", where);
  }
  if (name.empty()) return {};
  if (name.ends_with(".Sigmoid")) return Activation::sigmoid;
  if (name.ends_with(".Identity")) return Activation::none;
  fail(ErrorKind::bad_format, where, ": ", field, " is \"", name,
       "\", expected torch.nn.modules.activation.Sigmoid or torch.nn.modules.linear.Identity");
}

HeadKind head_of(const ModelConfig& config, const std::string& where) {
  const auto names = json_optional<std::vector<std::string>>(config.source, "architectures", {}, where);
  if (names.empty()) return HeadKind::none;
  const std::string& name = names[0];
  std::string known = architecture_name(*config.family, HeadKind::none);
  if (name == known) return HeadKind::none;
  for (const HeadConfig& head : config.heads) {
    const std::string architecture = architecture_name(*config.family, head.kind);
    if (name == architecture) return head.kind;
    known += ", " + architecture;
  }
  // Its files hold several heads; the first is the one to start with.
  if (name == config.family->class_name + "ForPreTraining") return HeadKind::masked_lm;
  fail(ErrorKind::bad_format, where, ": architectures is \"", name, "\", expected one of ", known);
}

const HeadConfig& ModelConfig::head_config(HeadKind kind) const {
  const auto found = std::ranges::find(heads, kind, &HeadConfig::kind);
  HEED_CHECK(found != heads.end(), "[Model] ", info.model_type, " has no head for ", to_string(kind));
  return *found;
}

void ModelConfig::set_labels(std::vector<std::string> given) {
  HEED_CHECK(!given.empty(), "[set_labels] no labels");
  Json id2label = Json::object(), label2id = Json::object();
  for (std::size_t i = 0; i < given.size(); ++i) {
    id2label[std::to_string(i)] = given[i];
    label2id[given[i]] = i;
  }
  source["id2label"] = id2label;
  source["label2id"] = label2id;
  source.erase("num_labels");
  labels = std::move(given);
}

}  // namespace heed
