#include "heed/tasks/generate.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "heed/base/error.h"
#include "heed/constrain/constraint.h"
#include "heed/generate/generator.h"
#include "heed/generate/text_constraint.h"
#include "heed/tasks/conversation.h"
#include "heed/tasks/run_task.h"
#include "heed/tensor/autograd.h"

namespace heed {
namespace {

// Of texts for people; HuggingFace's own default is 20.
constexpr std::int64_t kNewTokens = 256;

struct GenerateTaskOptions {
  GenerateOptions generate{};
  std::int64_t seed = 0, alternatives = 0;
  bool score_prompt = false;
  Json json_schema = "";  // an object, or its text, which keeps the order of properties
  std::string regex, grammar;
  Fields fields() {
    Fields list = generate.fields();
    list.push_back(
        Field("json_schema", json_schema, "JSON Schema that the text must satisfy, or @FILE with one").or_file());
    list.push_back(Field("regex", regex, "regular expression that the whole text must match"));
    list.push_back(
        Field("grammar", grammar, "grammar that the text must follow (GBNF, as in llama.cpp), or @FILE with one")
            .or_file());
    list.push_back(Field("seed", seed, "seed of the random numbers for sampling").at_least(0));
    list.push_back(Field("alternatives", alternatives, "number of the likeliest tokens to list for each token written")
                       .where([this] { return alternatives >= 0 && alternatives <= 100; }, "0 to 100"));
    list.push_back(Field("score_prompt", score_prompt, "also give the log-probability of each token of the prompt"));
    return list;
  }
};

std::shared_ptr<const RowConstraint> constraint_of(const GenerateTaskOptions& options, const TaskSetup& setup) {
  const Json& schema = options.json_schema;
  const bool has_schema = !schema.is_string() || !schema.get_ref<const std::string&>().empty();
  const int given = (has_schema ? 1 : 0) + (options.regex.empty() ? 0 : 1) + (options.grammar.empty() ? 0 : 1);
  HEED_CHECK(given <= 1, "[generate] give one of json_schema, regex and grammar");
  if (given == 0) return nullptr;
  if (!options.regex.empty()) return text_constraint(constrain::regex_constraint(options.regex), setup.tokenizer);
  if (!options.grammar.empty()) return text_constraint(constrain::gbnf_constraint(options.grammar), setup.tokenizer);
  const std::string text = schema.is_string() ? schema.get<std::string>() : schema.dump();
  return text_constraint(constrain::json_schema_constraint(std::string_view(text)), setup.tokenizer);
}

class Written : public Finding {
 public:
  Json json() const override {
    Json list = Json::array();
    for (const WrittenText& each : texts) {
      Json& one = list.emplace_back(Json{{"text", each.text},
                                         {"finish_reason", each.finish_reason},
                                         {"tokens", each.tokens.size()},
                                         {"score", each.score}});
      if (constrained) one["whole"] = each.whole;
      if (with_tokens) one["token_scores"] = json_of(each.tokens);
      if (with_prompt) one["prompt_scores"] = json_of(each.prompt_scores);
    }
    return list.size() == 1 ? list[0] : list;
  }

  std::vector<WrittenText> texts{};
  bool with_tokens = false, with_prompt = false, constrained = false;

 private:
  static Json json_of(const std::vector<WrittenToken>& tokens) {
    Json list = Json::array();
    for (const WrittenToken& each : tokens) {
      list.push_back({{"text", each.text}, {"token", each.token}, {"log_probability", each.log_probability}});
      if (!each.alternatives.empty()) list.back()["alternatives"] = json_of(each.alternatives);
    }
    return list;
  }
};

class GenerateRun : public TaskRun {
 public:
  GenerateRun(const TaskSetup& setup, const Json& given) : TaskRun(setup), conversations_(setup) {
    if (!setup.generation_config.is_null()) {
      options_.generate = read_generation_config(setup.generation_config, setup.name + "/generation_config.json");
    }
    Fields fields = options_.fields();
    for (const auto& [name, value] : given.items()) set_field(fields, name, value, "options");
    for (const Field& field : fields) field.check("options");
    options_.generate.check();
    GenerateOptions& generate = options_.generate;
    if (!generate.max_new_tokens && !generate.max_length) generate.max_new_tokens = kNewTokens;
    if (generate.eos_token_id.empty()) add_end_ids();
    constraint_ = constraint_of(options_, setup);
  }

  // One call after the other goes on with what the earlier ones read: a conversation does not read its beginning again.
  // A call during another one has a generator of its own.
  std::vector<std::unique_ptr<Finding>> run(const LoadedModel& model, std::vector<Row> rows,
                                            const TaskCall& call) const override {
    const NoGrad no_grad;
    const std::unique_lock lock(kept_mutex_, std::try_to_lock);
    if (!lock) {
      Generator own(model.model(), &setup_.tokenizer);
      return run(own, rows, call);
    }
    if (!kept_ || &kept_->model.model() != &model.model()) kept_ = std::make_unique<Kept>(model, setup_.tokenizer);
    try {
      return run(kept_->generator, rows, call);
    } catch (...) {
      kept_->generator.clear();
      throw;
    }
  }

 private:
  struct Kept {
    Kept(const LoadedModel& loaded, const text::Tokenizer& tokenizer)
        : model(loaded), generator(model.model(), &tokenizer) {}
    LoadedModel model;
    Generator generator;
  };

  std::vector<std::unique_ptr<Finding>> run(Generator& generator, const std::vector<Row>& rows,
                                            const TaskCall& call) const {
    std::vector<std::unique_ptr<Finding>> findings(rows.size());
    struct Asked {
      std::size_t row = 0;
      Written* written = nullptr;
      std::vector<TokenId> prompt{};
    };
    std::map<std::int64_t, Asked> of_request;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      auto written = std::make_unique<Written>();
      written->with_tokens = options_.alternatives > 0;
      written->with_prompt = options_.score_prompt;
      written->constrained = constraint_ != nullptr;
      GenerateRequest request = request_of(rows[i], i, call);
      const std::vector<TokenId> prompt = request.prompt;
      of_request[generator.add(std::move(request))] = {i, written.get(), prompt};
      findings[i] = std::move(written);
    }
    const Context context = Context().stopping(call.stop);
    while (!generator.idle()) {
      for (const GenerateResult& result : generator.step(context)) {
        if (result.error) std::rethrow_exception(result.error);
        const auto& [row, written, prompt] = of_request[result.request];
        for (const Generation& each : result.generations) {
          written->texts.push_back(text_of(each));
          if (call.unfinished && !each.whole) ++*call.unfinished;
          written->texts.back().prompt = prompt;
          for (std::size_t i = 0; i < result.prompt_log_probabilities.size(); ++i) {
            written->texts.back().prompt_scores.push_back(
                token_of({prompt[i + 1], result.prompt_log_probabilities[i]}));
          }
        }
        if (call.on_done) call.on_done(row);
      }
    }
    return findings;
  }

  // config.json's, or the tokenizer's.
  void add_end_ids() {
    const Json given = setup_.config.value("eos_token_id", Json());
    if (given.is_number_integer()) options_.generate.eos_token_id = {given.get<std::int64_t>()};
    if (given.is_array()) options_.generate.eos_token_id = given.get<std::vector<std::int64_t>>();
    if (!options_.generate.eos_token_id.empty()) return;
    if (const auto end = setup_.special.id("eos_token")) options_.generate.eos_token_id = {*end};
  }

  // The ids of a prompt, or of a conversation by the model's template, which has special tokens of its own.
  std::vector<TokenId> prompt_of(const Row& row) const {
    if (row.messages.empty()) return completion_prompt(row.text);
    const std::string prompt = conversations_.prompt(row.messages, row.file);
    const text::Encoding encoding = setup_.tokenizer.encode(prompt, {.add_special = false});
    return {encoding.ids.begin(), encoding.ids.end()};
  }

  std::vector<TokenId> completion_prompt(const std::string& text) const {
    text::Encoding encoding = setup_.tokenizer.encode(text);
    // A tokenizer that was made for encoders ends texts; what follows then is another text.
    const auto& ends = options_.generate.eos_token_id;
    while (!encoding.ids.empty() && encoding.special_mask.back() &&
           std::ranges::find(ends, encoding.ids.back()) != ends.end()) {
      encoding.ids.pop_back();
      encoding.special_mask.pop_back();
    }
    if (encoding.ids.empty()) {
      const auto begin = setup_.special.id("bos_token");
      HEED_CHECK(begin || !ends.empty(), "[generate] an empty prompt, and the model has no token to begin with");
      encoding.ids.push_back(begin ? *begin : static_cast<std::int32_t>(ends.front()));
    }
    return {encoding.ids.begin(), encoding.ids.end()};
  }

  GenerateRequest request_of(const Row& row, std::size_t number, const TaskCall& call) const {
    GenerateRequest request{.prompt = prompt_of(row),
                            .options = options_.generate,
                            .seed = static_cast<std::uint64_t>(options_.seed),
                            .alternatives = options_.alternatives,
                            .score_prompt = options_.score_prompt,
                            .stop = call.stop,
                            .constraint = constraint_};
    if (call.on_text) {
      const auto answers = static_cast<std::size_t>(options_.generate.num_return_sequences);
      request.on_token = [on_text = call.on_text, number, answers](const TokenEvent& event) {
        const double probability = event.token ? static_cast<double>(event.token->log_probability) : 0;
        const auto answer = static_cast<std::size_t>(event.generation);
        if (!event.text.empty()) on_text({number, answer, answers, event.text, probability});
        return true;
      };
    }
    return request;
  }

  WrittenText text_of(const Generation& generation) const {
    WrittenText written{.text = generation.text,
                        .finish_reason = std::string(to_string(generation.reason)),
                        .whole = generation.whole,
                        .score = generation.score};
    for (const GeneratedToken& token : generation.tokens) {
      WrittenToken& one = written.tokens.emplace_back(token_of(token));
      for (const ScoredToken& each : token.alternatives) one.alternatives.push_back(token_of(each));
    }
    return written;
  }
  WrittenToken token_of(const ScoredToken& token) const {
    const std::int32_t id = token.id;
    return {id, setup_.tokenizer.decode(std::span(&id, 1), false), static_cast<double>(token.log_probability)};
  }

  GenerateTaskOptions options_;
  Conversations conversations_;
  std::shared_ptr<const RowConstraint> constraint_;
  mutable std::mutex kept_mutex_;
  mutable std::unique_ptr<Kept> kept_;
};

}  // namespace

std::vector<std::vector<WrittenText>> generate_texts(
    const LoadedModel& model, const std::vector<std::string>& prompts, std::string_view options,
    const std::function<void(std::size_t prompt, std::string_view text)>& on_text) {
  std::vector<Row> rows;
  for (const std::string& prompt : prompts) rows.push_back({.text = prompt});
  const auto task = make_task(model, generate_task(), parse_json(options, "options"));
  TaskCall call;
  if (on_text) {
    call.on_text = [&](const TextPiece& piece) {
      if (piece.answer == 0) on_text(piece.row, piece.text);
    };
  }
  return results_of(task->run(model, std::move(rows), call), &Written::texts);
}

const Task& generate_task() {
  static const Task task{
      .name = "generate",
      .verb = "generate",
      .summary = "continue a prompt; with --output {\"text\", \"finish_reason\", \"tokens\", \"score\"} per line",
      .example = "heed generate --model gpt2 \"Once upon a time\" --do-sample --temperature 0.8 --seed 1",
      .request = {{.name = "messages",
                   .row = RowField::messages,
                   .help = "conversation instead of a prompt: a list of {\"role\", \"content\"}",
                   .optional = true},
                  {.name = "prompt", .row = RowField::text, .help = "prompts to continue", .optional = true}},
      .supports =
          [](const Model& model) {
            return model.head() == HeadKind::causal_lm && model.backbone()->decodes() != nullptr;
          },
      .options = option_list<GenerateTaskOptions>(),
      .make = [](const TaskSetup& setup, const Json& options) -> std::unique_ptr<TaskRun> {
        return std::make_unique<GenerateRun>(setup, options);
      },
      .writes = true};
  return task;
}

}  // namespace heed
