// A model that no file of src/ knows: words, and one layer over each. It registers itself and then has all that other
// models have: loading, saving, info, heads, training.
#include "heed/models/config_reader.h"
#include "heed/models/model.h"
#include "heed/models/registry.h"

namespace heed {
namespace {

class ToyBackbone : public Backbone, public Encodes {
 public:
  ToyBackbone(std::int64_t vocab_size, std::int64_t hidden_size)
      : words_(vocab_size, hidden_size, Initializer::normal(0.5)), mix_(hidden_size, hidden_size) {}

  Tensor encode(const Inputs& inputs, const Context& context, std::vector<Tensor>* hidden) const override {
    const Tensor x = inputs.vectors.defined() ? inputs.vectors : words_.forward(inputs.ids.values);
    const Tensor y = mix_.forward(x, Activation::tanh);
    context.at_layer(0).tap(Tap::Kind::hidden, y);
    if (hidden) *hidden = {x, y};
    return y;
  }
  const Encodes* encodes() const override { return this; }
  ParameterPlace place(std::string_view parameter) const override {
    if (parameter.starts_with("words")) return {ParameterPlace::Part::embeddings, 0};
    return {ParameterPlace::Part::layers, 1};
  }
  double operations(const Offsets& offsets) const override {
    return 2 * static_cast<double>(offsets.tokens()) * static_cast<double>(mix_.weight.in() * mix_.weight.out());
  }
  const Embedding& words() const override { return words_; }
  void visit(Visitor& visitor) const override {
    visitor.child("words", words_);
    visitor.child("mix", mix_);
  }

 private:
  Embedding words_;
  Linear mix_;
};

void read_toy(ConfigReader& reader, ModelConfig& config) {
  const std::int64_t vocab_size = reader.size("vocab_size", 100), hidden_size = reader.size("hidden_size", 16);
  config.info = {.model_type = config.info.model_type,
                 .vocab_size = vocab_size,
                 .embedding_size = hidden_size,
                 .hidden_size = hidden_size,
                 .layers = 1,
                 .max_tokens = 64,
                 .positions = "none"};
  config.names = {{"words", "words"}, {"mix", "mix"}, {"pooler", "pooler"}};
  config.sizes = {{"words.weight", 0, vocab_size, "vocab_size"}, {"words.weight", 1, hidden_size, "hidden_size"}};
  config.heads = {{.kind = HeadKind::sequence_classification,
                   .input = HeadConfig::Input::first_token,
                   .names = {{"output", "classifier"}}},
                  token_head(HeadKind::token_classification, "tagger", 0)};
  config.make = [=] { return std::make_shared<ToyBackbone>(vocab_size, hidden_size); };
}

const ModelFamily kToy{.model_type = "toy", .class_name = "Toy", .prefix = "toy.", .read = read_toy};
const bool kRegistered = (add_model_family(kToy), true);

}  // namespace
}  // namespace heed
