// The table of model families: a model_type is one file, and a declaration and a place in the list of registry.cpp.
#pragma once

#include <span>

#include "heed/models/model_config.h"

namespace heed {

std::span<const ModelFamily* const> model_families();
// Under a model_type of its own, before models are loaded. Must outlive all use.
void add_model_family(const ModelFamily& family);

}  // namespace heed
