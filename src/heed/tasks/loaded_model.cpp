#include "heed/tasks/loaded_model.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/models/load.h"
#include "heed/tasks/registry.h"
#include "heed/tasks/run_task.h"
#include "heed/text/load_tokenizer.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTokenizerConfig = "tokenizer_config.json";

}  // namespace

struct LoadedModel::Parts {
  Parts(const fs::path& directory, std::size_t budget);
  ModelFolder folder;
  std::unique_ptr<Model> model;
  text::Tokenizer tokenizer;
  std::optional<text::Tokenizer> target;
  text::SpecialTokens special;
  std::size_t max_tokens, token_budget;
};

LoadedModel::Parts::Parts(const fs::path& directory, std::size_t budget)
    : folder(directory),
      model(load_model(folder, {.storage = LoadOptions::Storage::as_stored})),
      tokenizer(text::load_tokenizer(folder.tokenizer())),
      target(text::load_target_tokenizer(folder.tokenizer())),
      special(tokenizer, text::read_settings(folder.tokenizer() / kTokenizerConfig),
              text::read_settings(folder.tokenizer() / "special_tokens_map.json")),
      max_tokens(tokenizer_limit(text::read_settings(folder.tokenizer() / kTokenizerConfig),
                                 (folder.tokenizer() / kTokenizerConfig).string(),
                                 static_cast<std::size_t>(model->info().max_tokens))),
      token_budget(budget) {
  HEED_CHECK(budget > 0, "[load] token_budget is 0, expected at least 1");
  // Both were set when the tokenizer was saved and are not the model's; HuggingFace sets them anew at every call.
  tokenizer.set_padding(std::nullopt);
  tokenizer.set_truncation(std::nullopt);
}

LoadedModel::LoadedModel(const fs::path& directory, std::size_t token_budget)
    : parts_(std::make_shared<const Parts>(directory, token_budget)) {}

const ModelFolder& LoadedModel::folder() const {
  return parts_->folder;
}
const Model& LoadedModel::model() const {
  return *parts_->model;
}
const text::Tokenizer& LoadedModel::tokenizer() const {
  return parts_->tokenizer;
}
const text::Tokenizer& LoadedModel::target_tokenizer() const {
  return parts_->target ? *parts_->target : parts_->tokenizer;
}
const text::SpecialTokens& LoadedModel::special() const {
  return parts_->special;
}
const std::vector<std::string>& LoadedModel::labels() const {
  return model().config().labels;
}
std::size_t LoadedModel::max_tokens() const {
  return parts_->max_tokens;
}
std::size_t LoadedModel::token_budget() const {
  return parts_->token_budget;
}

bool LoadedModel::supports(std::string_view task) const {
  return task_named(task).supports(model());
}

void LoadedModel::require(const Task& task) const {
  if (task.supports(model())) return;
  // A head of the right kind may still be of the wrong size.
  const bool other_kind = task.head != HeadKind::none && task.head != model().head();
  const bool labelled = model().head() == HeadKind::sequence_classification;
  std::string needed = other_kind ? std::string(to_string(task.head)) + " head" : "head for " + task.verb;
  std::ranges::replace(needed, '_', ' ');
  fail(ErrorKind::invalid_argument, "[", task.verb, "] ", folder().path().string(), " has no ", needed, "; it is a ",
       model().architecture(), labelled ? " with " + std::to_string(labels().size()) + " labels" : "",
       ", good for: ", supported_verbs(model()));
}

TaskSetup LoadedModel::setup() const {
  return {.tokenizer = tokenizer(),
          .special = special(),
          .max_tokens = max_tokens(),
          .memory = static_cast<std::size_t>(model().info().memory),
          .labels = labels(),
          .config = folder().config(),
          .head = model().head(),
          .sentence_embedding = folder().sentence_embedding(),
          .generation_config = folder().generation_config(),
          .folder = folder().tokenizer(),
          .name = folder().path().string(),
          .target_tokenizer = parts_->target ? &*parts_->target : nullptr};
}

std::string ask(const LoadedModel& model, std::string_view name, std::string_view request) {
  const Task& task = task_named(name);
  const Json given = parse_json(request, "request");
  HEED_CHECK_AS(bad_format, given.is_object(), "request: is ", detail::json_kind(given), ", expected an object");
  Json fields = Json::object(), options = Json::object();
  for (const auto& [key, value] : given.items()) {
    const bool of_request = std::ranges::find(task.request, key, &RequestField::name) != task.request.end();
    (of_request ? fields : options)[key] = value;
  }
  const std::vector<Json> answers = run_task(model, name, std::span<const Json>(&fields, 1), options);
  return answers.front().dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace heed
