#include "heed/tasks/fill_mask.h"

#include <algorithm>
#include <numeric>

#include "heed/base/error.h"
#include "heed/ops/gather.h"

namespace heed {
namespace {

// The top_k of one row of logits [V].
std::vector<FilledMask> best_tokens(const TextModel& model, const text::Encoding& encoding, std::size_t place,
                                    std::span<const float> logits, std::size_t top_k, bool single) {
  std::vector<double> scores(logits.begin(), logits.end());
  softmax_in_place(scores);
  std::vector<std::int32_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  top_k = std::min(top_k, order.size());
  std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(top_k), [&](auto a, auto b) {
    const double x = scores[static_cast<std::size_t>(a)], y = scores[static_cast<std::size_t>(b)];
    return x != y ? x > y : a < b;
  });
  std::vector<FilledMask> best;
  std::vector<std::int32_t> ids = encoding.ids;
  for (std::size_t i = 0; i < top_k; ++i) {
    const std::int32_t token = order[i];
    ids[place] = token;
    // The other masks would vanish with the special tokens.
    best.push_back({token, model.tokenizer().decode(std::span(&token, 1), false),
                    static_cast<float>(scores[static_cast<std::size_t>(token)]),
                    model.tokenizer().decode(ids, single)});
  }
  return best;
}

}  // namespace

std::vector<std::vector<std::vector<FilledMask>>> fill_mask(const TextModel& model,
                                                            const std::vector<std::string>& texts, std::size_t top_k) {
  model.require(Head::masked_lm, "fill_mask");
  const auto mask = model.special_id("mask_token");
  HEED_CHECK(mask, "[fill_mask] the tokenizer of ", model.folder().path().string(), " has no mask token");
  const auto encodings = model.encode(std::vector<TextInput>(texts.begin(), texts.end()));
  for (std::size_t i = 0; i < texts.size(); ++i) {
    HEED_CHECK(std::ranges::count(encodings[i].ids, *mask) > 0, "[fill_mask] text ", i, " has no ",
               *model.tokenizer().id_to_token(*mask), ": \"", texts[i], "\"");
  }
  std::vector<std::vector<std::vector<FilledMask>>> results(texts.size());
  model.for_each_batch(encodings, [&](const std::vector<std::size_t>& chosen, const EncoderInput& input) {
    // Only the masks need logits: a row of the whole vocabulary each.
    std::vector<std::int64_t> rows;
    const auto* ids = input.ids.values.data<std::int32_t>();
    for (std::int64_t t = 0; t < input.ids.offsets.tokens(); ++t) {
      if (ids[t] == *mask) rows.push_back(t);
    }
    const Tensor hidden = model.encoder().encode(input, Context());
    const Tensor picked = embedding(hidden, Tensor::from(rows, {static_cast<std::int64_t>(rows.size())}));
    const Tensor logits = model.encoder().logits(picked, Context());
    const auto vocabulary = static_cast<std::size_t>(logits.size(1));
    std::size_t row = 0;
    for (const std::size_t i : chosen) {
      const text::Encoding& encoding = encodings[i];
      const bool single = std::ranges::count(encoding.ids, *mask) == 1;
      for (std::size_t t = 0; t < encoding.size(); ++t) {
        if (encoding.ids[t] != *mask) continue;
        const std::span all(logits.data<float>() + row++ * vocabulary, vocabulary);
        results[i].push_back(best_tokens(model, encoding, t, all, top_k, single));
      }
    }
  });
  return results;
}

Json to_json(const std::vector<std::vector<FilledMask>>& masks) {
  Json lists = Json::array();
  for (const auto& mask : masks) {
    Json& list = lists.emplace_back(Json::array());
    for (const FilledMask& each : mask) {
      list.push_back(
          {{"token_str", each.token_text}, {"token", each.token}, {"score", each.score}, {"sequence", each.sequence}});
    }
  }
  return lists.size() == 1 ? lists[0] : lists;
}

}  // namespace heed
