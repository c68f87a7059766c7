#include "heed/tasks/lm.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <sstream>

#include "heed/base/error.h"
#include "heed/base/grouped.h"
#include "heed/base/utf8.h"
#include "heed/tasks/conversation.h"
#include "heed/tasks/run_task.h"
#include "heed/tasks/token_run.h"
#include "heed/text/unicode.h"

namespace heed {
namespace {

class ScoredText : public Finding {
 public:
  explicit ScoredText(bool with_tokens) : with_tokens_(with_tokens) {}

  void finish() override { std::ranges::sort(score.list, {}, &TokenScore::place); }

  Json json() const override {
    Json result = {{"log_probability", score.log_probability},
                   {"tokens", score.tokens},
                   {"perplexity", score.perplexity()},
                   {"bits_per_character", score.bits_per_character()}};
    if (with_tokens_) {
      Json& list = result["token_scores"] = Json::array();
      for (const TokenScore& each : score.list) {
        list.push_back({{"text", each.text}, {"token", each.token}, {"log_probability", each.log_probability}});
      }
    }
    return result;
  }

  TextScore score{};
  double right = 0;  // tokens that were the likeliest

 private:
  bool with_tokens_;
};

// log softmax(logits)[token]
double log_probability(std::span<const float> logits, std::int32_t token) {
  const double largest = *std::ranges::max_element(logits);
  double sum = 0;
  for (const float each : logits) sum += std::exp(static_cast<double>(each) - largest);
  return static_cast<double>(logits[static_cast<std::size_t>(token)]) - largest - std::log(sum);
}

// Of a token, those that the one before it has no part of: tokens of bytes share characters.
std::size_t new_characters(const text::Encoding& tokens, std::size_t token) {
  const auto [begin, end] = tokens.char_offsets[token];
  const std::size_t before = token > 0 ? tokens.char_offsets[token - 1].end : 0;
  return end - std::clamp<std::size_t>(before, begin, end);
}

// Pieces between white space.
double count_words(std::string_view text) {
  const text::PropertyTable table;
  double words = 0;
  bool inside = false;
  for (const CodePoint& point : Utf8View(text)) {
    const bool blank = table.has(point.value, text::kIsWhitespace);
    if (!blank && !inside) ++words;
    inside = !blank;
  }
  return words;
}

class LmRun : public TokenRun {
 public:
  LmRun(const TaskSetup& setup, const LmOptions& options) : TokenRun(setup), options_(options), conversations_(setup) {
    HEED_CHECK(setup.memory > 0 || shared(Purpose::train) < setup.max_tokens - 1, "[lm] windows of ", setup.max_tokens,
               " tokens cannot share ", options.stride);
  }

  HeadKind head() const override { return HeadKind::causal_lm; }

  std::vector<std::vector<text::Encoding>> encode(const Row& row, Purpose purpose) const override {
    if (!row.messages.empty()) {
      // The template has special tokens of its own.
      auto samples = encode_answers(conversations_.answered(row.messages, row.place()), false, {});
      HEED_CHECK(!samples.empty() || purpose != Purpose::predict, row.file, ": no answer within the first ",
                 setup_.max_tokens, " tokens, and the model takes no more");
      return samples;
    }
    if (row.pair) {
      const std::string text = row.text + *row.pair;
      auto samples = encode_answers({text, {{row.text.size(), text.size()}}, true}, true, end_of(row, purpose));
      HEED_CHECK(!samples.empty() || purpose != Purpose::predict, row.file,
                 ": no token of the completion within the first ", setup_.max_tokens,
                 " tokens, and the model takes no more");
      return samples;
    }
    return encode_text(row, purpose);
  }

  // A conversation without an answer in it that the model sees was cut too.
  std::size_t cut_after(const Row& row, const std::vector<std::vector<text::Encoding>>& samples) const override {
    return has_answers(row) && samples.empty() ? setup_.max_tokens : TokenRun::cut_after(row, samples);
  }

  // All that is shared but the last token, from which the first new one is predicted.
  std::size_t remembered(std::size_t window) const override {
    return setup_.memory > 0 && window > 0 ? shared(Purpose::train) - 1 : 0;
  }

  // None: the tokens themselves are what is to be predicted.
  Targets targets(const Row&, const std::string&, std::vector<text::Encoding>&, const SampleDraw&) const override {
    return {};
  }

  std::unique_ptr<Finding> begin(const Row&) const override { return std::make_unique<ScoredText>(options_.tokens); }

  void find(const HeadBatch& part, std::span<Finding* const> findings) const override {
    const auto vocabulary = static_cast<std::size_t>(part.logits.size(1));
    const float* row = part.logits.data<float>();
    for (std::size_t i = 0; i < findings.size(); ++i) {
      auto& found = static_cast<ScoredText&>(*findings[i]);
      const text::Encoding& tokens = part.batch.samples[i].sequences[0];
      for (const std::size_t place : places(part, i)) {
        const std::span logits(row, vocabulary);
        row += vocabulary;
        const std::size_t next = place + 1;
        TokenScore score{.place = tokens.byte_offsets[next].begin,
                         .token = tokens.ids[next],
                         .log_probability = log_probability(logits, tokens.ids[next])};
        if (part.batch.samples[i].targets.empty()) check_finite(part.row(i), score);
        const auto best = std::ranges::max_element(logits) - logits.begin();
        found.right += best == score.token ? 1 : 0;
        found.score.log_probability += score.log_probability;
        ++found.score.tokens;
        if (!setup_.tokenizer.is_special(score.token)) {  // a template writes special tokens as text
          found.score.characters += new_characters(tokens, next);
        }
        if (!options_.tokens) continue;
        score.text = setup_.tokenizer.decode(std::span(&score.token, 1), false);
        found.score.list.push_back(std::move(score));
      }
    }
  }

  void compare(const Row& row, const Finding& finding, Comparison& all) const override {
    const auto& found = static_cast<const ScoredText&>(finding);
    // Bits, for the means over all rows; then what they are shared by. Of texts of which a part counts the words are
    // not known.
    const double words = has_answers(row) ? std::numeric_limits<double>::quiet_NaN() : count_words(row.text);
    all.found_numbers.insert(all.found_numbers.end(), {found.right, -found.score.log_probability / std::numbers::ln2});
    all.expected_numbers.insert(all.expected_numbers.end(), {static_cast<double>(found.score.tokens),
                                                             static_cast<double>(found.score.characters), words});
  }
  Evaluation metrics(const Comparison& all, double loss) const override {
    double right = 0, bits = 0, tokens = 0, characters = 0, words = 0;
    for (std::size_t i = 0; i < all.found_numbers.size(); i += 2) {
      right += all.found_numbers[i], bits += all.found_numbers[i + 1];
    }
    for (std::size_t i = 0; i < all.expected_numbers.size(); i += 3) {
      tokens += all.expected_numbers[i], characters += all.expected_numbers[i + 1],
          words += all.expected_numbers[i + 2];
    }
    Evaluation evaluation{.metrics = {{"perplexity", std::exp(loss)},
                                      {"accuracy", right / tokens},
                                      {"bits_per_character", bits / characters}},
                          .details = {{"tokens", tokens}, {"characters", characters}}};
    if (words > 0) {  // not NaN
      const double per_word = std::exp2(bits / words);
      evaluation.details.update({{"words", words}, {"word_perplexity", per_word}});
      std::ostringstream line;  // in few digits, however large: Chinese has no spaces
      line << grouped(static_cast<std::int64_t>(words)) << " words, word_perplexity " << per_word << "\n";
      evaluation.report = line.str();
    }
    return evaluation;
  }
  std::vector<std::string> metric_names() const override { return {"perplexity", "accuracy", "bits_per_character"}; }
  std::string main_metric() const override { return "loss"; }

 protected:
  // The tokens whose next one counts. In a window that is not the first, those that it shares were counted before.
  std::vector<std::size_t> places(const HeadBatch& part, std::size_t number) const override {
    const Sample& sample = part.batch.samples[number];
    const text::Encoding& tokens = sample.sequences[0];
    if (has_answers(part.row(number))) {
      std::vector<std::size_t> found;
      for (std::size_t t = 1; t < tokens.size(); ++t) {
        if (tokens.sequence_ids[t] == 1) found.push_back(t - 1);
      }
      return found;
    }
    const std::size_t counted =
        sample.window == 0 ? 0 : shared(sample.targets.empty() ? Purpose::predict : Purpose::train);
    std::size_t seen = 0;  // tokens of the text so far
    std::vector<std::size_t> found;
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      const bool of_text = tokens.special_mask[t] == 0;
      if (t > 0 && (of_text ? seen >= counted : seen > 0)) found.push_back(t - 1);
      if (of_text) ++seen;
    }
    return found;
  }

  std::int64_t right_token(const HeadBatch& part, std::size_t sample, std::size_t place) const override {
    return part.batch.samples[sample].sequences[0].ids[place + 1];
  }

 private:
  static bool has_answers(const Row& row) { return !row.messages.empty() || row.pair; }

  void check_finite(const Row& row, const TokenScore& score) const {
    HEED_CHECK_AS(internal, std::isfinite(score.log_probability), row.file, ": the model's log-probability of token ",
                  score.token, ", \"", setup_.tokenizer.decode(std::span(&score.token, 1), false), "\" at byte ",
                  score.place, ", is ", score.log_probability);
  }

  // The token that follows a text of the data, if one is to.
  std::optional<std::int32_t> end_of(const Row& row, Purpose purpose) const {
    const bool wanted = options_.end_of_text && !row.continues && purpose != Purpose::predict;
    return wanted ? setup_.special.id("eos_token") : std::nullopt;
  }
  static void append_end(text::Encoding& tokens, std::int32_t end) {
    if (tokens.ids.empty() || tokens.ids.back() != end) tokens.append_special(end, 0);
  }

  // Windows that share tokens; in the data of training, the token that ends a text after its last window.
  std::vector<std::vector<text::Encoding>> encode_text(const Row& row, Purpose purpose) const {
    const auto end = end_of(row, purpose);
    text::Encoding encoding =
        encoded(row.text, {.max_length = window(purpose) - (end ? 1 : 0), .stride = shared(purpose)});
    auto samples = samples_of(std::move(encoding));
    if (end) append_end(samples.back()[0], *end);
    // A single token has nothing before it.
    std::erase_if(samples, [](const auto& sequences) { return sequences[0].size() < 2; });
    return samples;
  }

  // One sample, cut if it is too long: its tokens that count have the sequence_id 1. Without any there is none.
  std::vector<std::vector<text::Encoding>> encode_answers(const AnsweredText& given, bool add_special,
                                                          std::optional<std::int32_t> end) const {
    const text::Truncation cut{.max_length = setup_.max_tokens - (end ? 1 : 0)};
    text::Encoding tokens = setup_.tokenizer.encode(given.text, {.add_special = add_special, .truncation = cut});
    tokens.drop_windows();
    tokens.sequence_ids.assign(tokens.size(), 0);
    for (const auto& [first, last] : given.answers) mark_answer(tokens, given, first, last);
    if (end && !tokens.cut) {
      append_end(tokens, *end);
      tokens.sequence_ids.back() = 1;
    }
    // The first token has nothing before it.
    const auto counted = std::span(tokens.sequence_ids).subspan(std::min<std::size_t>(1, tokens.size()));
    const bool learns = std::ranges::find(counted, 1) != counted.end();
    return learns ? samples_of(std::move(tokens)) : std::vector<std::vector<text::Encoding>>();
  }

  // The tokens with any byte of the answer, except white space after the token that ends it.
  void mark_answer(text::Encoding& tokens, const AnsweredText& given, std::size_t first, std::size_t last) const {
    std::size_t end_of_turn = tokens.size();
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      const auto [begin, end] = tokens.byte_offsets[t];
      if (begin >= last || end <= first) continue;
      tokens.sequence_ids[t] = 1;
      const bool is_blank = given.text.find_first_not_of(" \t\r\n", begin) >= end;
      if (setup_.tokenizer.is_special(tokens.ids[t])) {
        end_of_turn = t;
      } else if (!is_blank) {
        end_of_turn = tokens.size();
      }
    }
    if (given.marked) return;
    for (std::size_t t = end_of_turn + 1; t < tokens.size() && tokens.byte_offsets[t].begin < last; ++t) {
      tokens.sequence_ids[t] = 0;
    }
  }

  // A model with a memory reads segments of max_tokens, and what they share with the one before is read once more.
  std::size_t window(Purpose purpose) const {
    constexpr std::size_t kUsualSegment = 512;  // where the model has no limit
    if (setup_.memory == 0) return setup_.max_tokens;
    const bool any = setup_.max_tokens == static_cast<std::size_t>(kAnyLength);
    return (any ? kUsualSegment : setup_.max_tokens) + shared(purpose) - 1;
  }

  // Tokens that a window shares with the one before it: one, so that none is lost between them, or what gives the first
  // tokens of a window something to go by: at least what the model remembers.
  std::size_t shared(Purpose purpose) const {
    if (options_.stride > 0) return static_cast<std::size_t>(options_.stride);
    if (setup_.memory > 0) return setup_.memory + 1;
    return purpose == Purpose::predict ? setup_.max_tokens / 2 : 1;
  }

  LmOptions options_;
  Conversations conversations_;
};

}  // namespace

double TextScore::perplexity() const {
  return tokens > 0 ? std::exp(-log_probability / static_cast<double>(tokens)) : 1;
}

double TextScore::bits_per_character() const {
  return -log_probability / std::numbers::ln2 / static_cast<double>(characters);
}

Fields LmOptions::fields() {
  Fields list;
  list.push_back(Field("tokens", tokens, "also give the log-probability of each token").only_for(kForPredict));
  list.push_back(Field("end_of_text", end_of_text, "put the end token after each text, if the tokenizer has one")
                     .only_for(kForTrain | kForEvaluate));
  list.push_back(
      Field("stride", stride,
            "tokens that a window shares with the one before; 0: half a window, one token when training or scoring")
          .at_least(0));
  return list;
}

std::vector<TextScore> score_texts(const LoadedModel& model, const std::vector<std::string>& texts,
                                   std::int64_t stride) {
  std::vector<Row> rows;
  for (const std::string& text : texts) rows.push_back({.text = text});
  const auto task = make_task(model, lm_task(), {{"tokens", true}, {"stride", stride}});
  return results_of(run_task(model, *task, std::move(rows)), &ScoredText::score);
}

const Task& lm_task() {
  static const Task task{
      .name = "lm",
      .verb = "score",
      .summary =
          "score how probable texts are: {\"log_probability\", \"tokens\", \"perplexity\", \"bits_per_character\"} per "
          "line",
      .example = "heed score --model gpt2 --prompt \"The capital of France is\" \" Paris\" \" Rome\"",
      .request = {{.name = "messages",
                   .row = RowField::messages,
                   .help = "or a conversation, a list of {\"role\", \"content\"}: its answers",
                   .optional = true},
                  {.name = "prompt",
                   .row = RowField::text,
                   .help = "what the texts follow: they alone count, each given the prompt",
                   .optional = true},
                  {.name = "completion", .row = RowField::pair, .help = "what follows the prompt", .optional = true},
                  {.name = "text", .row = RowField::text, .help = "texts to score", .optional = true}},
      .supports = [](const Model& model) { return model.head() == HeadKind::causal_lm; },
      .options = option_list<LmOptions>(),
      .make = make_run<LmRun, LmOptions>,
      .rows = {RowField::text},
      .chats = true,
      .sample_data = ".txt",
      .head = HeadKind::causal_lm,
      .keeps_head = true,
      .lower_is_better = {"perplexity", "bits_per_character"}};
  return task;
}

}  // namespace heed
