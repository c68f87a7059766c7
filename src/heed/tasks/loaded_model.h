// A model folder in memory: the model, its tokenizer and their settings. Const calls are safe from several threads at
// once. Tasks are asked of it by the functions of their own headers, by ask(), or by run_task() of run_task.h.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

class Field;  // base/fields.h
using Fields = std::vector<Field>;
class Model;        // models/model.h
class ModelFolder;  // io/model_folder.h
class StopToken;    // base/stop.h
struct Task;        // tasks/task.h
struct TaskSetup;
class TaskRun;
namespace text {
class SpecialTokens;  // text/special_tokens.h
class Tokenizer;      // text/tokenizer.h
}  // namespace text

// Cheap to copy: copies share the weights.
class LoadedModel {
 public:
  // Throws what reading a folder throws: not_found, bad_format, with the file and the field. A batch of predictions has
  // at most `token_budget` tokens, or one sequence.
  LoadedModel(const std::filesystem::path& directory, std::size_t token_budget);

  const ModelFolder& folder() const;
  const Model& model() const;
  const text::Tokenizer& tokenizer() const;
  // What the model writes in: the same one, unless the folder has another for that.
  const text::Tokenizer& target_tokenizer() const;
  const text::SpecialTokens& special() const;
  const std::vector<std::string>& labels() const;
  // The longest sequence, special tokens included, that the model and its tokenizer allow.
  std::size_t max_tokens() const;
  std::size_t token_budget() const;

  // Whether the task can be asked of this model.
  bool supports(std::string_view task) const;
  // Throws invalid_argument for a model that does not support the task.
  void require(const Task& task) const;
  TaskSetup setup() const;

 private:
  struct Parts;
  std::shared_ptr<const Parts> parts_;
};

// What any task makes of one request, both as JSON: ask(model, "classify", R"({"text": "what a day"})"). Fields that
// are options of the task may stand beside those of its request (docs/tasks.md, `heed help VERB`). Throws bad_format
// for a request that is not one.
std::string ask(const LoadedModel& model, std::string_view task, std::string_view request);

}  // namespace heed
