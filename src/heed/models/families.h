// Each family has a file of its own.
#pragma once

#include "heed/models/model_config.h"

namespace heed {

const ModelFamily& albert_family();
const ModelFamily& bert_family();
const ModelFamily& distilbert_family();
const ModelFamily& electra_family();
const ModelFamily& mpnet_family();
const ModelFamily& roberta_family();
const ModelFamily& xlm_roberta_family();

}  // namespace heed
