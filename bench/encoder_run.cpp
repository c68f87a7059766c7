#include "bench/encoder_run.h"

#include <map>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/tensor/autograd.h"

namespace heed::bench {
namespace {

const std::map<std::string, Json> kModels = {
    {"bert", {{"model_type", "bert"}}},
    {"minilm", {{"model_type", "bert"}, {"hidden_size", 384}, {"num_hidden_layers", 6}, {"intermediate_size", 1536}}}};

ModelConfig config_of(const std::string& model) {
  const auto found = kModels.find(model);
  HEED_CHECK_AS(not_found, found != kModels.end(), "[encoder bench] unknown model \"", model, "\"");
  return parse_model_config(found->second, "[encoder bench]");
}

std::shared_ptr<const Model> model_of(const std::string& name) {
  static std::map<std::string, std::shared_ptr<const Model>> models;
  auto& model = models[name];
  if (!model) {
    const auto fresh = std::make_shared<Model>(config_of(name));
    initialize(*fresh, 1);
    model = fresh;
  }
  return model;
}

}  // namespace

double EncoderCase::flops() const {
  return model_of(model)->backbone()->operations(Offsets(lengths));
}

EncoderRun::EncoderRun(EncoderCase encoder) : case_(std::move(encoder)), model_(model_of(case_.model)) {
  HEED_CHECK(!case_.lengths.empty() && case_.lengths.size() <= 4096, "[encoder bench] ", case_.lengths.size(),
             " sequences, expected 1 to 4096");
  const Offsets offsets(case_.lengths);
  std::vector<std::int64_t> ids;
  for (std::int64_t i = 0; i < offsets.tokens(); ++i) ids.push_back(i * 7919 % model_->info().vocab_size);
  input_.ids = Packed(Tensor::from(ids, {offsets.tokens()}), offsets);
}

void EncoderRun::run() const {
  const ThreadLimit limit(case_.threads);
  const NoGrad no_grad;
  model_->encode(input_, Context());
}

}  // namespace heed::bench
