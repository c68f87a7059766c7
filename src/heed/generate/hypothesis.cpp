#include "heed/generate/hypothesis.h"

#include <algorithm>
#include <cmath>

#include "heed/generate/selection.h"
#include "heed/kernels/softmax.h"

namespace heed {
namespace {

std::vector<ScoredToken> best_tokens(std::span<const float> logits, float log_total, std::int64_t count) {
  std::vector<ScoredToken> best;
  if (count == 0) return best;
  std::vector<TokenId> ids = allowed_ids(logits);
  const auto score = [&](TokenId id) { return logits[static_cast<std::size_t>(id)]; };
  const auto better = [&](TokenId a, TokenId b) { return score(a) != score(b) ? score(a) > score(b) : a < b; };
  visit_best(ids, better, [&](TokenId id) {
    best.push_back({id, score(id) - log_total});
    return std::ssize(best) < count;
  });
  return best;
}

void check_prompt(const SearchSetup& setup, std::int64_t limit) {
  const auto length = std::ssize(setup.prompt);
  HEED_CHECK(length > 0, setup.name, " the prompt is empty");
  for (const TokenId id : setup.prompt) {
    HEED_CHECK(id >= 0 && id < setup.vocabulary, setup.name, " the prompt has token ", id, ", the vocabulary has ",
               setup.vocabulary);
  }
  const bool adds = setup.options.max_new_tokens != 0;
  HEED_CHECK(setup.longest == 0 || length <= setup.longest, setup.name, " the prompt has ", length,
             " tokens, the model takes ", setup.longest, "; shorten it");
  HEED_CHECK(!adds || length < limit, setup.name, " the prompt has ", length, " tokens, max_length is ", limit);
}

}  // namespace

std::string_view to_string(FinishReason reason) {
  switch (reason) {
    case FinishReason::none: return "none";
    case FinishReason::stop: return "stop";
    case FinishReason::length: return "length";
    case FinishReason::time: return "time";
    case FinishReason::cancelled: return "cancelled";
  }
  fail(ErrorKind::internal, "[FinishReason] no such reason");
}

std::vector<TokenId> Generation::ids() const {
  std::vector<TokenId> list;
  for (const GeneratedToken& token : tokens) list.push_back(token.id);
  return list;
}

Hypothesis::Hypothesis(const SearchSetup& setup) : ids_(setup.prompt) {
  if (setup.constraint) constraint_ = setup.constraint->clone();
  if (setup.tokenizer) text_ = std::make_unique<StopText>(*setup.tokenizer, setup.options.stop_strings);
}

Hypothesis::Hypothesis(const Hypothesis& other)
    : ids_(other.ids_), tokens_(other.tokens_), given_(other.given_), fresh_(other.fresh_) {
  if (other.constraint_) constraint_ = other.constraint_->clone();
  if (other.text_) text_ = std::make_unique<StopText>(*other.text_);
}

void Hypothesis::append(GeneratedToken token, bool is_end) {
  ids_.push_back(token.id);
  if (constraint_ && !is_end) constraint_->accept(token.id);
  fresh_ = text_ && !is_end ? text_->push(token.id) : "";
  given_ += fresh_;
  tokens_.push_back(std::move(token));
}

double Hypothesis::log_probability() const {
  double sum = 0;
  for (const GeneratedToken& token : tokens_) sum += token.log_probability;
  return sum;
}

Generation Hypothesis::generation(double score, FinishReason reason) {
  if (text_) given_ += text_->finish();
  return {.tokens = std::move(tokens_),
          .text = std::move(given_),
          .score = score,
          .reason = reason,
          .whole = !constraint_ || constraint_->can_end()};
}

SearchRules::SearchRules(SearchSetup setup)
    : setup_(std::move(setup)), limit_(setup_.options.length_limit(std::ssize(setup_.prompt))) {
  GenerateOptions& options = setup_.options;
  for (const Field& field : options.fields()) field.check(setup_.name);
  options.check();
  check_prompt(setup_, limit_);
  HEED_CHECK(options.stop_strings.empty() || setup_.tokenizer, setup_.name, " stop_strings need a tokenizer");
  HEED_CHECK(setup_.alternatives >= 0, setup_.name, " ", setup_.alternatives, " alternatives, expected 0 or more");
  for (const TokenId id : setup_.encoder_ids) {
    HEED_CHECK(id >= 0 && id < setup_.vocabulary, setup_.name, " the encoder's text has token ", id,
               ", the vocabulary has ", setup_.vocabulary);
  }
  ends_ = token_ids(options.eos_token_id);
  rules_ = make_rules(options, {.vocabulary = setup_.vocabulary,
                                .prompt_length = prompt_length(),
                                .length_limit = limit_,
                                .has_encoder = !setup_.encoder_ids.empty(),
                                .allowed_tokens = setup_.allowed_tokens});
  // The last token is not read again.
  if (setup_.longest > 0) limit_ = std::min(limit_, setup_.longest + 1);
}

std::span<const float> SearchRules::scores(const Hypothesis& hypothesis, std::span<const float> logits,
                                           const Row& row) {
  const bool invalid = std::ranges::any_of(logits, [](float score) { return std::isnan(score); });
  HEED_CHECK_AS(internal, !invalid || options().remove_invalid_values, setup_.name,
                " the model's scores are NaN at position ", hypothesis.ids().size());
  const auto count = std::ssize(logits);
  model_row_.logits = logits;
  kernels::log_sum_exp(logits.data(), &model_row_.log_total, 1, count, count);
  model_row_.alternatives = best_tokens(logits, model_row_.log_total, invalid ? 0 : setup_.alternatives);
  scores_.assign(logits.begin(), logits.end());
  if (row.normalized) kernels::log_softmax(scores_.data(), scores_.data(), 1, count, count);
  const RuleRow view{.ids = hypothesis.ids(),
                     .prompt_length = prompt_length(),
                     .encoder_ids = setup_.encoder_ids,
                     .group_tokens = row.group_tokens,
                     .seed = setup_.seed,
                     .stream = row.stream};
  for (const Rule& rule : rules_.before) rule->apply(view, scores_);
  if (hypothesis.constraint()) constrain(*hypothesis.constraint(), limit_ - std::ssize(hypothesis.ids()));
  HEED_CHECK(std::ranges::none_of(scores_, [](float score) { return std::isnan(score); }), setup_.name,
             " the options make scores NaN at position ", hypothesis.ids().size());
  for (const Rule& rule : rules_.after) rule->apply(view, scores_);
  return scores_;
}

void SearchRules::constrain(const RowConstraint& constraint, std::int64_t left) {
  std::vector<float> of_ends;
  for (const TokenId id : ends_) {
    const auto place = static_cast<std::size_t>(id);
    of_ends.push_back(place < scores_.size() ? scores_[place] : kForbidden);
  }
  constraint.apply(scores_, left);
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    const auto place = static_cast<std::size_t>(ends_[i]);
    if (place < scores_.size()) scores_[place] = constraint.can_end() ? of_ends[i] : kForbidden;
  }
}

GeneratedToken ModelRow::describe(TokenId id) const {
  return {{id, logits[static_cast<std::size_t>(id)] - log_total}, alternatives};
}

bool SearchRules::is_end(TokenId id) const {
  return std::ranges::find(ends_, id) != ends_.end();
}

FinishReason SearchRules::reason(const Hypothesis& hypothesis) const {
  if (is_end(hypothesis.last().id) || hypothesis.stopped()) return FinishReason::stop;
  return at_limit(hypothesis) ? FinishReason::length : FinishReason::none;
}

void SearchRules::nothing_allowed(const Hypothesis& hypothesis) const {
  fail(ErrorKind::invalid_argument, setup_.name, " the options allow no token at position ", hypothesis.ids().size());
}

std::unique_ptr<Search> make_search(SearchSetup setup) {
  SearchRules rules(std::move(setup));
  const bool beams = rules.options().num_beams > 1;
  return beams ? make_beam_search(std::move(rules)) : make_sample_search(std::move(rules));
}

}  // namespace heed
