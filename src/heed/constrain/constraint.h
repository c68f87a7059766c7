// Constrained output: which tokens may come next, so that the whole text follows a regular expression, a grammar or a
// JSON Schema.
//
//   const auto vocabulary = std::make_shared<const Vocabulary>(tokenizer);   // once per tokenizer
//   const TokenConstraint constraint(regex_constraint("[0-9]+"), vocabulary, {eos});   // once per constraint
//   ConstraintState state = constraint.start();                              // per sequence; copies are cheap
//   state.apply(logits);  ...  state.accept(token);
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "heed/base/json.h"
#include "heed/constrain/vocabulary.h"

namespace heed::constrain {

struct Automaton;

// A set of texts. Immutable, cheap to copy, free to use from several threads. docs/constraints.md says what is
// supported; what is not is refused by name, with bad_format.
class Constraint {
 public:
  explicit Constraint(std::shared_ptr<const Automaton> automaton) : automaton_(std::move(automaton)) {}
  // The whole text. Grammars that name tokens can match texts that tokens alone can tell.
  bool matches(std::string_view text) const;
  // Some text begins like this.
  bool matches_start(std::string_view text) const;
  const std::shared_ptr<const Automaton>& automaton() const { return automaton_; }

 private:
  std::shared_ptr<const Automaton> automaton_;
};

// Texts that the expression matches as a whole.
Constraint regex_constraint(std::string_view pattern);
// A grammar as llama.cpp reads it.
Constraint gbnf_constraint(std::string_view text, const std::string& root = "root");
// JSON values that the schema allows, with properties in the order of the schema.
Constraint json_schema_constraint(const OrderedJson& schema);
Constraint json_schema_constraint(std::string_view schema_text);
// Any JSON value.
Constraint json_constraint();

class ConstraintState;

// A constraint on the tokens of a vocabulary, with what has been found out about it so far. Cheap to copy: copies share
// that. Safe to use from several threads at once.
class TokenConstraint {
 public:
  // A text may end by any of `end_tokens` once it is whole. Throws invalid_argument when the grammar names a token that
  // the vocabulary has not.
  TokenConstraint(const Constraint& constraint, std::shared_ptr<const Vocabulary> vocabulary,
                  std::vector<std::int32_t> end_tokens);
  ConstraintState start() const;
  const Vocabulary& vocabulary() const;

 private:
  friend class ConstraintState;
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

// How far one text has come. Copy it to fork.
class ConstraintState {
 public:
  static constexpr std::uint64_t kAnyNumber = ~std::uint64_t{0};

  // A bit for each token that may come next, 64 to a word; mask.size() is Vocabulary::mask_words(). False when there is
  // none: the text has ended, or no token of the vocabulary spells what must follow.
  //
  // Where only `left` more tokens may come, this one included, those are left out after which the text could not be
  // whole in time: a text that can be whole by then will be. One that cannot, goes on as if there were no limit.
  bool allowed(std::span<std::uint64_t> mask, std::uint64_t left = kAnyNumber);
  // Sets the logits of all other tokens to minus infinity; ids beyond the vocabulary are such. Returns what allowed
  // does.
  bool apply(std::span<float> logits, std::uint64_t left = kAnyNumber);
  // Goes on by a token. False, with nothing changed, when it is not allowed.
  bool accept(std::int32_t token);
  // The text is whole: an end token may come.
  bool can_end() const;
  // It is whole and nothing but an end token may come.
  bool must_end() const;
  // An end token has come.
  bool ended() const { return ended_; }

 private:
  friend class TokenConstraint;
  struct Work;
  ConstraintState(std::shared_ptr<TokenConstraint::Shared> shared);
  void renew();

  std::shared_ptr<TokenConstraint::Shared> shared_;
  std::shared_ptr<Work> work_;
  std::uint32_t set_ = 0;  // of the matcher of work_
  bool ended_ = false;
};

}  // namespace heed::constrain
