#include "heed/models/encoder_config.h"

#include "heed/models/config_reader.h"
#include "heed/models/encoder_family.h"

namespace heed {
namespace {

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
