#include "heed/models/registry.h"

#include <algorithm>

#include "heed/base/error.h"

namespace heed {

// Each is defined in the file of its family.
const ModelFamily& albert_family();
const ModelFamily& bart_family();
const ModelFamily& bert_family();
const ModelFamily& blenderbot_small_family();
const ModelFamily& bloom_family();
const ModelFamily& distilbert_family();
const ModelFamily& electra_family();
const ModelFamily& gemma_family();
const ModelFamily& gemma2_family();
const ModelFamily& gemma3_family();
const ModelFamily& gpt2_family();
const ModelFamily& gpt_neox_family();
const ModelFamily& llama_family();
const ModelFamily& m2m_100_family();
const ModelFamily& marian_family();
const ModelFamily& mbart_family();
const ModelFamily& mistral_family();
const ModelFamily& mpnet_family();
const ModelFamily& mt5_family();
const ModelFamily& opt_family();
const ModelFamily& pegasus_family();
const ModelFamily& phi3_family();
const ModelFamily& qwen2_family();
const ModelFamily& qwen3_family();
const ModelFamily& roberta_family();
const ModelFamily& t5_family();
const ModelFamily& transfo_xl_family();
const ModelFamily& umt5_family();
const ModelFamily& xlm_roberta_family();

namespace {

std::vector<const ModelFamily*>& families() {
  static std::vector<const ModelFamily*> list = {
      &albert_family(),     &bart_family(),       &bert_family(),       &blenderbot_small_family(),
      &bloom_family(),      &distilbert_family(), &electra_family(),    &gemma_family(),
      &gemma2_family(),     &gemma3_family(),     &gpt2_family(),       &gpt_neox_family(),
      &llama_family(),      &m2m_100_family(),    &marian_family(),     &mbart_family(),
      &mistral_family(),    &mpnet_family(),      &mt5_family(),        &opt_family(),
      &pegasus_family(),    &phi3_family(),       &qwen2_family(),      &qwen3_family(),
      &roberta_family(),    &t5_family(),         &transfo_xl_family(), &umt5_family(),
      &xlm_roberta_family()};
  return list;
}

}  // namespace

std::span<const ModelFamily* const> model_families() {
  return families();
}

void add_model_family(const ModelFamily& family) {
  const auto same = std::ranges::find(families(), family.model_type, &ModelFamily::model_type);
  HEED_CHECK(same == families().end(), "[add_model_family] model_type \"", family.model_type, "\" is there already");
  families().push_back(&family);
}

}  // namespace heed
