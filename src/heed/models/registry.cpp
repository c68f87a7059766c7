#include "heed/models/registry.h"

#include <algorithm>

#include "heed/base/error.h"

namespace heed {

// Each is defined in the file of its family.
const ModelFamily& albert_family();
const ModelFamily& bert_family();
const ModelFamily& bloom_family();
const ModelFamily& distilbert_family();
const ModelFamily& electra_family();
const ModelFamily& gemma_family();
const ModelFamily& gemma2_family();
const ModelFamily& gemma3_family();
const ModelFamily& gpt2_family();
const ModelFamily& gpt_neox_family();
const ModelFamily& llama_family();
const ModelFamily& mistral_family();
const ModelFamily& mpnet_family();
const ModelFamily& opt_family();
const ModelFamily& phi3_family();
const ModelFamily& qwen2_family();
const ModelFamily& qwen3_family();
const ModelFamily& roberta_family();
const ModelFamily& transfo_xl_family();
const ModelFamily& xlm_roberta_family();

namespace {

std::vector<const ModelFamily*>& families() {
  static std::vector<const ModelFamily*> list = {
      &albert_family(), &bert_family(),    &bloom_family(),   &distilbert_family(), &electra_family(),
      &gemma_family(),  &gemma2_family(),  &gemma3_family(),  &gpt2_family(),       &gpt_neox_family(),
      &llama_family(),  &mistral_family(), &mpnet_family(),   &opt_family(),        &phi3_family(),
      &qwen2_family(),  &qwen3_family(),   &roberta_family(), &transfo_xl_family(), &xlm_roberta_family()};
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
