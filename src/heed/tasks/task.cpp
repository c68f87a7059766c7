#include "heed/tasks/task.h"

#include <algorithm>

#include "heed/base/error.h"

namespace heed {

std::vector<std::vector<text::Encoding>> BatchedRun::encode(const Row& row, Purpose /*purpose*/) const {
  const text::Truncation cut{.max_length = setup_.max_tokens};
  text::Encoding encoding = row.pair ? encoded(text_of(row), *row.pair, cut) : encoded(text_of(row), cut);
  encoding.drop_windows();
  return samples_of(std::move(encoding));
}

std::size_t BatchedRun::cut_after(const Row& /*row*/, const std::vector<std::vector<text::Encoding>>& samples) const {
  std::size_t tokens = 0;
  for (const auto& sequences : samples) {
    for (const text::Encoding& sequence : sequences) {
      if (sequence.cut) tokens = std::max(tokens, sequence.size());
    }
  }
  return tokens;
}

Tensor BatchedRun::forward(const Model& model, const HeadBatch& part, const Tensor& hidden,
                           const Context& context) const {
  return model.logits(hidden, part.batch.inputs.ids.offsets, context);
}

std::unique_ptr<TrainableRun> Task::make_trainable(const TaskSetup& setup, const Json& given) const {
  HEED_CHECK(trains(), "the task ", name, " only predicts: it is neither trained nor scored");
  auto* run = dynamic_cast<TrainableRun*>(make(setup, given).release());
  HEED_CHECK_AS(internal, run, "[", name, "] make() gives no TrainableRun");
  return std::unique_ptr<TrainableRun>(run);
}

std::vector<std::vector<text::Encoding>> BatchedRun::samples_of(text::Encoding encoding) {
  std::vector<text::Encoding> windows = std::move(encoding.overflowing);
  encoding.overflowing.clear();
  windows.insert(windows.begin(), std::move(encoding));
  std::vector<std::vector<text::Encoding>> samples;
  for (text::Encoding& window : windows) samples.emplace_back().push_back(std::move(window));
  return samples;
}

text::Encoding BatchedRun::encoded(const std::string& text, const text::Truncation& truncation) const {
  return setup_.tokenizer.encode(text, {.truncation = truncation});
}

text::Encoding BatchedRun::encoded(const std::string& text, const std::string& pair,
                                   const text::Truncation& truncation) const {
  return setup_.tokenizer.encode(text, pair, {.truncation = truncation});
}

}  // namespace heed
