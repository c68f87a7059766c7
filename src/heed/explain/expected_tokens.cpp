#include "heed/explain/expected_tokens.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "heed/base/error.h"
#include "heed/explain/words.h"
#include "heed/models/model.h"
#include "heed/ops/gather.h"
#include "heed/tensor/autograd.h"

namespace heed {
namespace {

constexpr std::size_t kRows = 64;  // at once: a row is the whole vocabulary

// The probabilities of one row of logits.
class Probabilities {
 public:
  explicit Probabilities(std::span<const float> logits) : probabilities_(logits.begin(), logits.end()) {
    softmax_in_place(probabilities_);
  }

  double of(std::int32_t id) const { return probabilities_[static_cast<std::size_t>(id)]; }
  std::int64_t rank(std::int32_t id) const {
    return std::ranges::count_if(probabilities_, [mine = of(id)](double each) { return each > mine; });
  }
  std::vector<std::int32_t> best(std::size_t count) const {
    std::vector<std::int32_t> ids(probabilities_.size());
    std::iota(ids.begin(), ids.end(), 0);
    const auto end = ids.begin() + static_cast<std::ptrdiff_t>(std::min(count, ids.size()));
    std::ranges::partial_sort(ids, end, [&](std::int32_t a, std::int32_t b) {
      return of(a) != of(b) ? of(a) > of(b) : a < b;  // of equals the lower id
    });
    ids.erase(end, ids.end());
    return ids;
  }

 private:
  std::vector<double> probabilities_;
};

}  // namespace

std::vector<ExpectedToken> expected_tokens(const LoadedModel& model, const text::Encoding& encoding,
                                           const ModelOutput& output, std::size_t first, std::size_t alternatives) {
  HEED_CHECK(first >= 1, "[expected_tokens] the first token follows nothing");
  const Decodes* decodes = model.model().backbone()->decodes();
  HEED_CHECK(decodes && model.model().head() == HeadKind::causal_lm, "[expected_tokens] ",
             model.model().info().model_type, " does not predict the next token");
  HEED_CHECK(!output.states.empty(), "[expected_tokens] needs the hidden states of all layers");
  const NoGrad no_grad;
  const text::Tokenizer& tokenizer = model.tokenizer();
  std::vector<ExpectedToken> found;
  for (std::size_t place = first; place < encoding.size(); ++place) found.push_back({.place = place});
  for (std::size_t begin = 0; begin < found.size(); begin += kRows) {
    std::vector<std::int64_t> rows;  // that of a token speaks of the next one
    for (std::size_t i = begin; i < std::min(begin + kRows, found.size()); ++i) {
      rows.push_back(static_cast<std::int64_t>(found[i].place) - 1);
    }
    const Tensor at = Tensor::from(rows, {std::ssize(rows)});
    for (std::size_t layer = 0; layer < output.states.size(); ++layer) {
      const bool last = layer + 1 == output.states.size();
      const Tensor hidden = last ? take_rows(output.hidden, at) : decodes->finish(take_rows(output.states[layer], at));
      const Tensor logits = model.model().logits_of_rows(hidden, Context()).detached_contiguous();
      const auto vocabulary = static_cast<std::size_t>(logits.size(1));
      for (std::size_t i = 0; i < rows.size(); ++i) {
        ExpectedToken& token = found[begin + i];
        const std::int32_t id = encoding.ids[token.place];
        const Probabilities row({logits.data<float>() + i * vocabulary, vocabulary});
        const auto best = row.best(last ? std::max<std::size_t>(alternatives, 1) : 1);
        token.layers.push_back({token_text(tokenizer, best[0]), row.of(best[0])});
        token.own.push_back(row.of(id));
        if (!last) continue;
        token.probability = row.of(id), token.rank = row.rank(id);
        for (const std::int32_t each : best) token.alternatives.push_back({token_text(tokenizer, each), row.of(each)});
      }
    }
  }
  return found;
}

}  // namespace heed
