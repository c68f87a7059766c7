// A model folder, ready for use:
//   const heed::TextPipeline model = heed::load("path/to/folder");
//   for (const auto& scores : model.classify({"what a day"})) ...
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "heed/tasks/answer.h"
#include "heed/tasks/classify.h"
#include "heed/tasks/embed.h"
#include "heed/tasks/fill_mask.h"
#include "heed/tasks/tag.h"

namespace heed {

// What one loaded folder can do. All calls are safe from several threads at once; results are in the order of the
// inputs and the same bits whatever else is in the call (law 1). A task that the model has no head for throws
// invalid_argument. Cheap to copy: copies share the weights.
class TextPipeline {
 public:
  explicit TextPipeline(std::shared_ptr<const TextModel> model) : model_(std::move(model)) {}

  const TextModel& model() const { return *model_; }

  Tensor embed(const std::vector<std::string>& texts, const EmbedOptions& options = {}) const {
    return heed::embed(*model_, texts, options);
  }
  std::vector<float> similarity(const std::string& source, const std::vector<std::string>& texts,
                                const EmbedOptions& options = {}) const {
    return heed::similarity(*model_, source, texts, options);
  }
  std::vector<std::vector<LabelScore>> classify(const std::vector<TextInput>& inputs) const {
    return heed::classify(*model_, inputs);
  }
  std::vector<RankedText> rerank(const std::string& query, const std::vector<std::string>& texts) const {
    return heed::rerank(*model_, query, texts);
  }
  std::vector<std::vector<Entity>> tag(const std::vector<std::string>& texts, const TagOptions& options = {}) const {
    return heed::tag(*model_, texts, options);
  }
  std::vector<std::vector<std::vector<FilledMask>>> fill_mask(const std::vector<std::string>& texts,
                                                              std::size_t top_k = 5) const {
    return heed::fill_mask(*model_, texts, top_k);
  }
  std::vector<std::vector<Answer>> answer(const std::vector<Question>& questions,
                                          const AnswerOptions& options = {}) const {
    return heed::answer(*model_, questions, options);
  }

 private:
  std::shared_ptr<const TextModel> model_;
};

// Enough for the kernels to be busy, few enough for memory to stay flat.
inline constexpr std::size_t kTokenBudget = 4096;

// A folder of HuggingFace's or sentence-transformers'. Errors name the file and the field.
TextPipeline load(const std::filesystem::path& directory, std::size_t token_budget = kTokenBudget);

}  // namespace heed
