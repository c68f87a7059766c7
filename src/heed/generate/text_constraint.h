// A constraint on texts as a rule of a search.
#pragma once

#include <memory>

#include "heed/constrain/constraint.h"
#include "heed/generate/rule.h"

namespace heed {

std::shared_ptr<const RowConstraint> text_constraint(const constrain::Constraint& constraint,
                                                     const text::Tokenizer& tokenizer);

}  // namespace heed
