// The front door: all that a program needs to load a model folder, ask it, and train one.
//
//   #include <heed/heed.h>
//
//   const heed::LoadedModel model = heed::load("all-MiniLM-L6-v2");
//   const heed::Tensor vectors = heed::embed(model, {"a text", "another"});
//
// Errors are heed::Error with a kind and a message that names file, field, what was found and what was expected. Calls
// on one model are safe from several threads; ThreadLimit sets how many threads a call uses. Tensors, attention and
// modules for models of one's own have headers of their own: heed/tensor/tensor.h, heed/attention/attend.h,
// heed/nn/stack.h.
#pragma once

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/engine/load.h"
#include "heed/tasks/answer.h"
#include "heed/tasks/classify.h"
#include "heed/tasks/embed.h"
#include "heed/tasks/fill_mask.h"
#include "heed/tasks/generate.h"
#include "heed/tasks/lm.h"
#include "heed/tasks/rerank.h"
#include "heed/tasks/similarity.h"
#include "heed/tasks/summarize.h"
#include "heed/tasks/tag.h"
#include "heed/tasks/translate.h"
#include "heed/tasks/zero_shot.h"
#include "heed/train/train.h"
#include "heed/version.h"
