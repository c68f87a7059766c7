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

EncoderConfig config_of(const std::string& model) {
  const auto found = kModels.find(model);
  HEED_CHECK_AS(not_found, found != kModels.end(), "[encoder bench] unknown model \"", model, "\"");
  return parse_encoder_config(found->second, "[encoder bench]");
}

std::shared_ptr<const EncoderModel> model_of(const std::string& name) {
  static std::map<std::string, std::shared_ptr<const EncoderModel>> models;
  auto& model = models[name];
  if (!model) {
    const auto fresh = std::make_shared<EncoderModel>(config_of(name));
    initialize(*fresh, 1);
    model = fresh;
  }
  return model;
}

}  // namespace

double EncoderCase::flops() const {
  const EncoderConfig config = config_of(model);
  const auto width = static_cast<double>(config.width), inner = static_cast<double>(config.inner),
             length = static_cast<double>(tokens);
  return static_cast<double>(config.layers * sequences) *
         (length * (8 * width * width + 4 * width * inner) + 4 * length * length * width);
}

EncoderRun::EncoderRun(EncoderCase encoder) : case_(std::move(encoder)), model_(model_of(case_.model)) {
  HEED_CHECK(case_.sequences > 0 && case_.sequences <= 4096 && case_.tokens > 0, "[encoder bench] ", case_.sequences,
             " sequences of ", case_.tokens, " tokens");
  const std::vector<std::int64_t> lengths(static_cast<std::size_t>(case_.sequences), case_.tokens);
  const Offsets offsets(lengths);
  std::vector<std::int64_t> ids;
  for (std::int64_t i = 0; i < offsets.tokens(); ++i) ids.push_back(i * 7919 % model_->config().vocabulary);
  input_.ids = Packed(Tensor::from(ids, {offsets.tokens()}), offsets);
}

void EncoderRun::run() const {
  const ThreadLimit limit(case_.threads);
  const NoGrad no_grad;
  model_->encode(input_, Context());
}

}  // namespace heed::bench
