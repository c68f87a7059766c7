#include "heed/generate/text_constraint.h"

namespace heed {
namespace {

class TextConstraint : public RowConstraint {
 public:
  explicit TextConstraint(const constrain::TokenConstraint& constraint) : state_(constraint.start()) {}

  std::unique_ptr<RowConstraint> clone() const override { return std::make_unique<TextConstraint>(*this); }
  void apply(std::span<float> scores, std::int64_t left) const override {
    constrain::ConstraintState state = state_;  // what it finds out about the constraint is shared
    static_cast<void>(state.apply(scores, static_cast<std::uint64_t>(left)));
  }
  void accept(TokenId id) override { static_cast<void>(state_.accept(id)); }
  bool can_end() const override { return state_.can_end(); }

 private:
  constrain::ConstraintState state_;
};

}  // namespace

std::shared_ptr<const RowConstraint> text_constraint(const constrain::Constraint& constraint,
                                                     const text::Tokenizer& tokenizer) {
  // End ids are the search's own business.
  const constrain::TokenConstraint tokens(constraint, std::make_shared<const constrain::Vocabulary>(tokenizer), {});
  return std::make_shared<TextConstraint>(tokens);
}

}  // namespace heed
