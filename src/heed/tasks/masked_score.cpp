#include "heed/tasks/masked_score.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/ops/gather.h"

namespace heed {
namespace {

struct Hidden {
  std::size_t place;
  std::int32_t token;
};

// Puts masks into the encoding; the first tokens of a random order of those that stand for text.
std::vector<Hidden> hide(text::Encoding& encoding, std::int32_t mask, double share, std::uint64_t seed,
                         std::uint64_t stream) {
  std::vector<std::size_t> places;
  for (std::size_t t = 0; t < encoding.size(); ++t) {
    if (!encoding.special_mask[t]) places.push_back(t);
  }
  const auto wanted = std::lround(share * static_cast<double>(places.size()));
  const auto count = std::min(places.size(), static_cast<std::size_t>(std::max<long>(wanted, 1)));
  const auto order = permutation(static_cast<std::int64_t>(places.size()), seed, stream);
  std::vector<Hidden> hidden;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t place = places[static_cast<std::size_t>(order[i])];
    hidden.push_back({place, encoding.ids[place]});
    encoding.ids[place] = mask;
  }
  return hidden;
}

}  // namespace

MaskedScore masked_score(const TextModel& model, const std::vector<std::string>& texts, double share,
                         std::uint64_t seed) {
  model.require(Head::masked_lm, "masked_score");
  HEED_CHECK(share > 0 && share <= 1, "[masked_score] share is ", share, ", expected above 0 and at most 1");
  const auto mask = model.special_id("mask_token");
  HEED_CHECK(mask, "[masked_score] the tokenizer of ", model.folder().path().string(), " has no mask token");
  std::vector<std::size_t> owner;
  auto windows = all_windows(model.encode(std::vector<TextInput>(texts.begin(), texts.end())), owner);
  std::vector<std::vector<Hidden>> hidden;
  std::uint64_t window = 0;  // of its text
  for (std::size_t i = 0; i < windows.size(); ++i) {
    window = i > 0 && owner[i - 1] == owner[i] ? window + 1 : 0;
    hidden.push_back(
        hide(windows[i], *mask, share, seed, stream_id("mask", std::string_view(texts[owner[i]]), window)));
  }
  // One sum a window, added in the order of the texts: batches do not change it.
  std::vector<MaskedScore> scores(windows.size());
  model.for_each_batch(windows, [&](const std::vector<std::size_t>& chosen, const EncoderInput& input) {
    std::vector<std::int64_t> rows;
    for (std::size_t b = 0; b < chosen.size(); ++b) {
      const std::int64_t begin = input.ids.offsets.begin(static_cast<std::int64_t>(b));
      for (const Hidden& each : hidden[chosen[b]]) rows.push_back(begin + static_cast<std::int64_t>(each.place));
    }
    if (rows.empty()) return;
    const Tensor states = model.encoder().encode(input, Context());
    const Tensor logits = model.encoder().logits(
        embedding(states, Tensor::from(rows, {static_cast<std::int64_t>(rows.size())})), Context());
    const auto vocabulary = static_cast<std::size_t>(logits.size(1));
    const float* row = logits.data<float>();
    std::vector<double> values;
    for (const std::size_t i : chosen) {
      for (const Hidden& each : hidden[i]) {
        values.assign(row, row + vocabulary);
        softmax_in_place(values);
        const auto token = static_cast<std::size_t>(each.token);
        scores[i].loss -= std::log(std::max(values[token], 1e-300));
        scores[i].right += std::ranges::max_element(values) - values.begin() == each.token ? 1 : 0;
        ++scores[i].tokens;
        row += vocabulary;
      }
    }
  });
  MaskedScore all;
  for (const MaskedScore& each : scores) {
    all.loss += each.loss;
    all.tokens += each.tokens;
    all.right += each.right;
  }
  return all;
}

}  // namespace heed
