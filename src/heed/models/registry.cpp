#include <algorithm>

#include "heed/base/error.h"
#include "heed/models/encoder_family.h"

namespace heed {

std::span<const EncoderFamily* const> encoder_families() {
  static const EncoderFamily* const families[] = {
      &albert_family(), &bert_family(),    &distilbert_family(),  &electra_family(),
      &mpnet_family(),  &roberta_family(), &xlm_roberta_family(),
  };
  return families;
}

const EncoderFamily* find_encoder_family(std::string_view model_type) {
  const auto families = encoder_families();
  const auto found = std::ranges::find(families, model_type, &EncoderFamily::model_type);
  return found == families.end() ? nullptr : *found;
}

const HeadDescription& head_description(const EncoderFamily& family, Head head) {
  const auto found = std::ranges::find(family.heads, head, &HeadDescription::head);
  HEED_CHECK(found != family.heads.end(), "[EncoderModel] ", family.model_type, " has no head for ", to_string(head));
  return *found;
}

HeadDescription token_head(std::string theirs) {
  return {.head = Head::token_classification, .names = {{"output", std::move(theirs)}}};
}

HeadDescription answer_head(std::string theirs) {
  return {.head = Head::question_answering, .names = {{"output", std::move(theirs)}}};
}

HeadDescription dense_classifier(Activation activation) {
  return {.head = Head::sequence_classification,
          .input = HeadDescription::Input::first_token,
          .dense = true,
          .activation = activation,
          .dropout_before_dense = true,
          .names = {{"dense", "classifier.dense"}, {"output", "classifier.out_proj"}}};
}

HeadDescription lm_head() {
  return {.head = Head::masked_lm,
          .dense = true,
          .activation = Activation::gelu,
          .norm = true,
          .names = {{"dense", "lm_head.dense"},
                    {"norm", "lm_head.layer_norm"},
                    {"output.weight", "lm_head.decoder.weight"},
                    {"output.bias", "lm_head.bias"}},
          .copies = {{"", "lm_head.decoder.weight"}, {"lm_head.bias", "lm_head.decoder.bias"}}};
}

}  // namespace heed
