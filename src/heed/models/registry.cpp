#include "heed/models/registry.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/models/families.h"

namespace heed {
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
