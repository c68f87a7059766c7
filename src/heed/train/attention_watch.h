// A probe that sums up what the heads of an encoder look at: how sharply, and a picture of one sequence.
#pragma once

#include <vector>

#include "heed/io/png.h"
#include "heed/nn/context.h"

namespace heed {

class AttentionWatch : public Probe {
 public:
  void on_tensor(std::string_view name, const Tensor& value) override;

  std::size_t layers() const { return layers_.size(); }
  // Mean over all queries, in nats, of each head of a layer.
  std::vector<double> entropies(std::size_t layer) const;
  // A row of squares for each layer, a square for each head: queries downwards, keys to the right, the brighter the
  // larger the weight. Of a query's weights the 8 largest are drawn. `tokens` is the length of the first sequence.
  GreyImage picture(std::int64_t tokens) const;

 private:
  struct Layer {
    Tensor entropy, keys, weights;  // [N, H], [N, H, links], [N, H, links]
  };
  std::vector<Layer> layers_;
};

}  // namespace heed
