#include "heed/tasks/text_to_text.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/parallel.h"
#include "heed/data/line_file.h"
#include "heed/generate/generator.h"
#include "heed/metrics/bleu.h"
#include "heed/metrics/chrf.h"
#include "heed/ops/loss.h"
#include "heed/tasks/loaded_model.h"
#include "heed/tensor/autograd.h"

namespace heed {
namespace {

constexpr const char *kWhere = "[translate]", *kGenerationConfig = "generation_config.json";

// Where nobody says how long a text may become: so many tokens for each of its source, and so many more.
constexpr std::int64_t kTokensPerToken = 2, kFurtherTokens = 30;

void put_in_place(text::Encoding& tokens, const text::Tokenizer& tokenizer, std::optional<std::int32_t> language) {
  if (!language) return;
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    if (tokens.special_mask[t] && is_language(tokenizer, tokens.ids[t])) tokens.ids[t] = *language;
  }
}

Evaluation corpus_evaluation(const Lines& found, const std::vector<References>& references) {
  const Bleu bleu;
  const Chrf chrf;
  Evaluation result;
  const auto add = [&](const char* name, const CorpusMetric& metric) {
    const CorpusNumbers numbers = corpus_numbers(metric, found, references);
    result.metrics[name] = metric.score(numbers.sums());
    result.details[std::string(name) + "_signature"] = signature_of(metric, numbers.references, {});
  };
  add("bleu", bleu);
  add("chrf", chrf);
  return result;
}

}  // namespace

Fields TextToTextOptions::fields() {
  Fields list = generate.fields();
  for (Field& field : list) field.uses = kForPredict | kForEvaluate;
  list.push_back(
      Field("seed", seed, "seed of the random numbers for sampling").at_least(0).only_for(kForPredict | kForEvaluate));
  list.push_back(Field("from", from, "code of the language of the texts, where the model has several"));
  list.push_back(Field("to", to, "code of the language to translate to, where the model has several"));
  list.push_back(Field("label_smoothing", label_smoothing, "share of the target that is spread over all tokens")
                     .where([this] { return label_smoothing >= 0 && label_smoothing < 1; }, "0 to below 1")
                     .only_for(kForTrain));
  list.push_back(Field("bleu", bleu, "also write a text for each row that is scored, for BLEU and chrF")
                     .only_for(kForTrain | kForEvaluate));
  return list;
}

OptionList text_to_text_options() {
  OptionList options = option_list<TextToTextOptions>();
  options.complete = [](const Json& given, const std::string& where, const std::string& prefix) {
    auto all = options_from<TextToTextOptions>(given, where, prefix);
    Json kept = Json::object();
    for (const Field& field : all.fields()) {
      if (field.uses & kForTrain) kept[field.name] = field.json();
    }
    return kept;
  };
  return options;
}

Json WrittenTarget::json() const {
  const auto json_of = [](const TargetText& each) {
    return Json{{"translation_text", each.text}, {"score", each.score}};
  };
  Json result = json_of(texts.empty() ? TargetText() : texts.front());
  for (std::size_t i = 1; i < texts.size(); ++i) result["alternatives"].push_back(json_of(texts[i]));
  return result;
}

bool writes_about_sources(const Model& model) {
  return model.head() == HeadKind::seq2seq_lm && model.backbone()->decodes() && model.backbone()->reads();
}

TextToTextRun::TextToTextRun(const TaskSetup& setup, const Json& given) : TrainableRun(setup) {
  const bool own_file = !setup.generation_config.is_null();
  const std::string where = setup.name + "/" + (own_file ? kGenerationConfig : "config.json");
  settings_ = generation_settings(setup.generation_config, setup.config);
  options_.generate = read_generation_config(settings_, where);
  longest_ = std::exchange(options_.generate.max_length, std::nullopt);
  Fields fields = options_.fields();
  for (const auto& [name, value] : given.items()) set_field(fields, name, value, "options");
  for (const Field& field : fields) field.check("options");
  GenerateOptions& generate = options_.generate;
  generate.check();
  start_ = decoder_start(settings_, where);
  if (generate.eos_token_id.empty()) {
    if (const auto end = setup.special.id("eos_token")) generate.eos_token_id = {*end};
  }
  if (!generate.eos_token_id.empty()) end_ = static_cast<std::int32_t>(generate.eos_token_id.front());
  direction_ = translation_direction(setup, options_.from, options_.to);
  // mBART's decoder begins with the language; those of others are told to write it first.
  if (direction_.target) {
    if (is_language(setup.tokenizer, start_)) {
      start_ = *direction_.target;
    } else {
      generate.forced_bos_token_id = *direction_.target;
    }
  } else if (const auto first = generate.forced_bos_token_id) {
    const auto token = static_cast<std::int32_t>(*first);
    if (is_language(setup.tokenizer, token)) direction_.target = token;
  } else if (is_language(setup.tokenizer, start_)) {
    direction_.target = start_;
  }
}

const text::Tokenizer& TextToTextRun::target_tokenizer() const {
  return setup_.target_tokenizer ? *setup_.target_tokenizer : setup_.tokenizer;
}

text::Encoding TextToTextRun::source_of(const std::string& text) const {
  text::Encoding tokens = encoded(direction_.prefix + text, {.max_length = setup_.max_tokens});
  tokens.drop_windows();
  put_in_place(tokens, setup_.tokenizer, direction_.source);
  return tokens;
}

// What the decoder is to write, after what it begins with.
text::Encoding TextToTextRun::target_of(const std::string& text) const {
  text::Encoding tokens =
      target_tokenizer().encode(text, {.truncation = text::Truncation{.max_length = setup_.max_tokens - 1}});
  tokens.drop_windows();
  put_in_place(tokens, target_tokenizer(), direction_.target);
  const bool ended = end_ && !tokens.ids.empty() && tokens.special_mask.back() &&
                     std::ranges::find(tokens.ids, *end_) != tokens.ids.end();
  if (end_ && !ended && !tokens.cut) tokens.append_special(*end_, 0);
  text::Encoding whole;
  whole.append_special(start_, 0);
  whole.append(tokens);
  whole.cut = tokens.cut;
  return whole;
}

std::vector<std::vector<text::Encoding>> TextToTextRun::encode(const Row& row, Purpose /*purpose*/) const {
  if (detail::is_blank(row.text) || !row.pair || detail::is_blank(*row.pair)) return {};
  std::vector<std::vector<text::Encoding>> samples(1);
  samples[0].push_back(source_of(row.text));
  samples[0].push_back(target_of(*row.pair));
  if (samples[0][0].ids.empty() || samples[0][1].size() < 2) return {};
  return samples;
}

Targets TextToTextRun::targets(const Row&, const std::string&, std::vector<text::Encoding>& sequences,
                               const SampleDraw&) const {
  text::Encoding& target = sequences[1];
  Targets targets;
  targets.classes.assign(target.ids.begin() + 1, target.ids.end());
  target.truncate(target.size() - 1, 0, text::Direction::right);
  target.overflowing.clear();
  return targets;
}

double TextToTextRun::count(const HeadBatch& part) const {
  std::size_t count = 0;
  for (std::size_t i = 0; i < part.batch.samples.size(); ++i) count += part.targets(i).classes.size();
  return static_cast<double>(count);
}

Tensor TextToTextRun::loss(const HeadBatch& part) const {
  std::vector<std::int64_t> classes;
  for (std::size_t i = 0; i < part.batch.samples.size(); ++i) {
    std::ranges::copy(part.targets(i).classes, std::back_inserter(classes));
  }
  return cross_entropy(part.logits, Tensor::from(classes, {part.logits.size(0)}),
                       {.ignore_index = kNoTarget,
                        .label_smoothing = part.training ? options_.label_smoothing : 0,
                        .reduction = Reduction::sum});
}

std::unique_ptr<Finding> TextToTextRun::begin(const Row&) const {
  return std::make_unique<WrittenTarget>();
}

void TextToTextRun::find(const HeadBatch& part, std::span<Finding* const> findings) const {
  const auto vocabulary = static_cast<std::size_t>(part.logits.size(1));
  const float* row = part.logits.data<float>();
  for (std::size_t i = 0; i < findings.size(); ++i) {
    auto& found = static_cast<WrittenTarget&>(*findings[i]);
    for (const std::int64_t token : part.targets(i).classes) {
      const std::span logits(row, vocabulary);
      row += vocabulary;
      found.right += std::ranges::max_element(logits) - logits.begin() == token ? 1 : 0;
      found.tokens += 1;
    }
  }
}

void TextToTextRun::write(const Model& model, const HeadBatch& part, std::span<Finding* const> findings,
                          const Context& context) const {
  if (!options_.bleu) return;
  std::vector<Job> jobs;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const auto& ids = part.batch.samples[i].sequences[0].ids;
    jobs.push_back({{ids.begin(), ids.end()}, static_cast<WrittenTarget*>(findings[i])});
  }
  write_all(model, std::move(jobs), static_cast<std::size_t>(part.batch.tokens()), context);
}

GenerateOptions TextToTextRun::options_for(std::size_t source_tokens) const {
  GenerateOptions options = options_.generate;
  if (options.max_new_tokens || options.max_length) return options;
  const auto source = static_cast<std::int64_t>(source_tokens), longest = static_cast<std::int64_t>(setup_.max_tokens);
  // The length of the whole, with the token that it begins with.
  options.max_length = std::min({kTokensPerToken * source + kFurtherTokens, longest_.value_or(longest), longest});
  return options;
}

void TextToTextRun::write_all(const Model& model, std::vector<Job> jobs, std::size_t budget, const Context& context,
                              const std::function<void(const Job&)>& done) const {
  std::ranges::stable_sort(jobs, std::ranges::greater(), [](const Job& job) { return job.source.size(); });
  Generator generator(model, &target_tokenizer());
  std::map<std::int64_t, Job*> live;
  std::size_t tokens = 0;
  for (auto next = jobs.begin(); next != jobs.end() || !generator.idle();) {
    for (; next != jobs.end() && (live.empty() || tokens + next->source.size() <= budget); ++next) {
      tokens += next->source.size();
      live[generator.add({.prompt = {start_},
                          .options = options_for(next->source.size()),
                          .seed = static_cast<std::uint64_t>(options_.seed),
                          .source = next->source})] = &*next;
    }
    for (const GenerateResult& result : generator.step(context)) {
      if (result.error) std::rethrow_exception(result.error);
      const Job& job = *live.extract(result.request).mapped();
      tokens -= job.source.size();
      for (const Generation& each : result.generations) job.found->texts.push_back({each.text, each.score});
      if (done) done(job);
    }
  }
}

std::vector<std::unique_ptr<Finding>> TextToTextRun::run(const LoadedModel& model, std::vector<Row> rows,
                                                         const TaskCall& call) const {
  const NoGrad no_grad;
  std::vector<std::unique_ptr<Finding>> findings(rows.size());
  std::vector<text::Encoding> sources(rows.size());
  parallel_for(std::ssize(rows), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      call.stop.check(kWhere);
      const auto row = static_cast<std::size_t>(i);
      if (!detail::is_blank(rows[row].text)) sources[row] = source_of(rows[row].text);
    }
  });
  std::vector<Job> jobs;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    auto found = std::make_unique<WrittenTarget>();
    const text::Encoding& source = sources[i];
    if (call.cut && source.cut) {
      ++call.cut->count;
      call.cut->tokens = std::max(call.cut->tokens, source.size());
    }
    if (!source.ids.empty()) jobs.push_back({{source.ids.begin(), source.ids.end()}, found.get(), i});
    if (source.ids.empty() && call.on_done) call.on_done(i);
    findings[i] = std::move(found);
  }
  const auto beams = static_cast<std::size_t>(options_.generate.num_beams);
  write_all(model.model(), std::move(jobs), model.token_budget() / beams, Context().stopping(call.stop),
            [&](const Job& job) {
              const std::vector<TargetText>& texts = job.found->texts;
              for (std::size_t i = 0; call.on_text && i < texts.size(); ++i) {
                std::string line = texts[i].text;
                std::ranges::replace(line, '\n', ' ');
                call.on_text({job.row, i, texts.size(), line});
              }
              if (call.on_done) call.on_done(job.row);
            });
  return findings;
}

void TextToTextRun::compare(const Row& row, const Finding& finding, Comparison& all) const {
  const auto& found = static_cast<const WrittenTarget&>(finding);
  all.expected.push_back({row.pair.value_or("")});
  all.found.push_back({found.texts.empty() ? "" : found.texts.front().text});
  all.expected_numbers.push_back(found.tokens);
  all.found_numbers.push_back(found.right);
}

Evaluation TextToTextRun::metrics(const Comparison& all, double /*loss*/) const {
  Evaluation result;
  if (options_.bleu) {
    Lines found;
    References right;
    for (const auto& each : all.found) found.push_back(each[0]);
    for (const auto& each : all.expected) right.emplace_back(each[0]);
    result = corpus_evaluation(found, {right});
  }
  const auto sum = [](const std::vector<double>& list) { return std::accumulate(list.begin(), list.end(), 0.0); };
  const double tokens = sum(all.expected_numbers);
  result.metrics["accuracy"] = sum(all.found_numbers) / tokens;
  result.details["tokens"] = tokens;
  return result;
}

std::vector<std::string> TextToTextRun::metric_names() const {
  return options_.bleu ? std::vector<std::string>{"bleu", "chrf", "accuracy"} : std::vector<std::string>{"accuracy"};
}

// With what HuggingFace's generate() needs to know and no file said, and the language that training was for.
void TextToTextRun::save_files(const std::filesystem::path& folder, const ModelInfo& /*model*/) const {
  Json config = settings_;
  config["decoder_start_token_id"] = start_;
  if (options_.generate.forced_bos_token_id) config["forced_bos_token_id"] = *options_.generate.forced_bos_token_id;
  if (end_ && !config.contains("eos_token_id")) config["eos_token_id"] = *end_;
  if (!config.contains("max_length") && !config.contains("max_new_tokens")) config["max_length"] = setup_.max_tokens;
  if (!config.contains("pad_token_id")) config["pad_token_id"] = setup_.config.value("pad_token_id", Json());
  replace_file(folder / kGenerationConfig, config.dump(2) + "\n");
}

}  // namespace heed
