// Each family has a file of its own.
#pragma once

#include "heed/models/model_config.h"

namespace heed {

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

}  // namespace heed
