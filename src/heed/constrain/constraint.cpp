#include "heed/constrain/constraint.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <mutex>

#include "heed/base/error.h"
#include "heed/constrain/token_budget.h"

namespace heed::constrain {
namespace {

// Beyond this a matcher is left to the states that use it, and others get a new one.
constexpr std::size_t kMaxMatcherBytes = std::size_t{64} << 20;

std::vector<std::int32_t> find_tokens(const Automaton& automaton, const Vocabulary& vocabulary) {
  std::vector<std::int32_t> ids;
  for (const TokenReference& token : automaton.tokens) {
    std::int32_t id = token.id.value_or(0);
    const auto count = static_cast<std::int32_t>(vocabulary.size());
    if (!token.id) {
      while (id < count && vocabulary.bytes(id) != token.text) ++id;
    }
    HEED_CHECK(id < count, automaton.what, ": names the token ", token.id ? std::to_string(id) : token.text,
               ", which the vocabulary of ", count, " tokens has not");
    ids.push_back(id);
  }
  return ids;
}

}  // namespace

bool Constraint::matches(std::string_view text) const {
  Matcher matcher(automaton_);
  return matcher.ends(matcher.read(matcher.start(), text));
}

bool Constraint::matches_start(std::string_view text) const {
  Matcher matcher(automaton_);
  return matcher.read(matcher.start(), text) != Matcher::kDead;
}

// A matcher with its masks, used under its lock.
struct ConstraintState::Work {
  Work(std::shared_ptr<const Automaton> automaton, const Vocabulary& vocabulary,
       const std::vector<std::int32_t>& references)
      : matcher(std::move(automaton)), masks(matcher, vocabulary, references), budget(matcher, masks, vocabulary) {}

  std::mutex mutex;
  Matcher matcher;
  TokenMasks masks;
  TokenBudget budget;
};

struct TokenConstraint::Shared {
  std::shared_ptr<const Automaton> automaton;
  std::shared_ptr<const Vocabulary> vocabulary;
  std::vector<std::int32_t> references, end_tokens;
  std::mutex mutex;
  std::shared_ptr<ConstraintState::Work> work;  // of states that begin now

  std::shared_ptr<ConstraintState::Work> current_work() {
    const std::lock_guard lock(mutex);
    return work;
  }
  // Replaces `full`, if nobody has yet.
  std::shared_ptr<ConstraintState::Work> next_work(const std::shared_ptr<ConstraintState::Work>& full) {
    const std::lock_guard lock(mutex);
    if (work == full) work = std::make_shared<ConstraintState::Work>(automaton, *vocabulary, references);
    return work;
  }
};

TokenConstraint::TokenConstraint(const Constraint& constraint, std::shared_ptr<const Vocabulary> vocabulary,
                                 std::vector<std::int32_t> end_tokens)
    : shared_(std::make_shared<Shared>()) {
  for (const std::int32_t token : end_tokens) {
    HEED_CHECK(token >= 0 && static_cast<std::size_t>(token) < vocabulary->size(), "[constrain] end token ", token,
               " is not in the vocabulary of ", vocabulary->size(), " tokens");
  }
  shared_->automaton = constraint.automaton();
  shared_->references = find_tokens(*shared_->automaton, *vocabulary);
  shared_->vocabulary = std::move(vocabulary);
  shared_->end_tokens = std::move(end_tokens);
  shared_->next_work(nullptr);
}

ConstraintState TokenConstraint::start() const {
  return ConstraintState(shared_);
}

const Vocabulary& TokenConstraint::vocabulary() const {
  return *shared_->vocabulary;
}

ConstraintState::ConstraintState(std::shared_ptr<TokenConstraint::Shared> shared)
    : shared_(std::move(shared)), work_(shared_->current_work()) {
  const std::lock_guard lock(work_->mutex);
  set_ = work_->matcher.start();
}

// Moves to a matcher with room, when this one has none left.
void ConstraintState::renew() {
  {
    const std::lock_guard lock(work_->mutex);
    if (work_->matcher.bytes() < kMaxMatcherBytes) return;
  }
  const auto old = work_;
  const auto fresh = shared_->next_work(old);
  const std::scoped_lock lock(old->mutex, fresh->mutex);
  set_ = fresh->matcher.import(old->matcher, set_);
  work_ = fresh;
}

bool ConstraintState::allowed(std::span<std::uint64_t> mask, std::uint64_t left) {
  const Vocabulary& vocabulary = *shared_->vocabulary;
  HEED_CHECK(mask.size() == vocabulary.mask_words(), "[constrain] the mask has ", mask.size(), " words, expected ",
             vocabulary.mask_words());
  HEED_CHECK(left > 0, "[constrain] no token is left");
  std::fill(mask.begin(), mask.end(), 0);
  if (ended_) return false;
  renew();
  const std::lock_guard lock(work_->mutex);
  const auto found = work_->budget.allowed(set_, left);
  std::copy(found->begin(), found->end(), mask.begin());
  if (work_->matcher.ends(set_)) {
    for (const std::int32_t token : shared_->end_tokens) mask[token >> 6] |= std::uint64_t{1} << (token & 63);
  }
  return std::any_of(mask.begin(), mask.end(), [](std::uint64_t word) { return word != 0; });
}

bool ConstraintState::apply(std::span<float> logits, std::uint64_t left) {
  std::vector<std::uint64_t> mask(shared_->vocabulary->mask_words());
  const bool any = allowed(mask, left);
  mask.resize((logits.size() + 63) / 64);
  constexpr float kNever = -std::numeric_limits<float>::infinity();
  for (std::size_t i = 0; i < logits.size(); i += 64) {
    const std::size_t end = std::min(i + 64, logits.size());
    std::uint64_t forbidden = ~mask[i / 64];
    if (forbidden == ~std::uint64_t{0}) {
      std::fill(logits.begin() + static_cast<std::ptrdiff_t>(i), logits.begin() + static_cast<std::ptrdiff_t>(end),
                kNever);
      continue;
    }
    for (; forbidden != 0; forbidden &= forbidden - 1) {
      const std::size_t token = i + static_cast<std::size_t>(std::countr_zero(forbidden));
      if (token < end) logits[token] = kNever;
    }
  }
  return any;
}

bool ConstraintState::accept(std::int32_t token) {
  if (ended_) return false;
  renew();
  const std::lock_guard lock(work_->mutex);
  if (std::ranges::find(shared_->end_tokens, token) != shared_->end_tokens.end() && work_->matcher.ends(set_)) {
    ended_ = true;
    return true;
  }
  const StackSet next = work_->masks.accept(set_, token);
  if (next == Matcher::kDead) return false;
  set_ = next;
  return true;
}

bool ConstraintState::can_end() const {
  const std::lock_guard lock(work_->mutex);
  return !ended_ && work_->matcher.ends(set_);
}

bool ConstraintState::must_end() const {
  const std::lock_guard lock(work_->mutex);
  return !ended_ && set_ == Matcher::kDone;
}

}  // namespace heed::constrain
