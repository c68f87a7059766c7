#include "heed/constrain/grammar.h"

#include "heed/base/error.h"

namespace heed::constrain {
namespace {

constexpr std::size_t kMaxExpressions = std::size_t{1} << 21;

}  // namespace

ExpressionId Grammar::add(const Expression& expression) {
  HEED_CHECK_AS(bad_format, expressions_.size() + lists_.size() < kMaxExpressions, what_, ": more than ",
                kMaxExpressions, " expressions");
  expressions_.push_back(expression);
  return static_cast<ExpressionId>(expressions_.size() - 1);
}

ExpressionId Grammar::literal(std::string_view bytes) {
  literals_.emplace_back(bytes);
  return add({Kind::literal, static_cast<std::uint32_t>(literals_.size() - 1)});
}

ExpressionId Grammar::chars(const CharSet& set) {
  sets_.push_back(set);
  return add({Kind::chars, static_cast<std::uint32_t>(sets_.size() - 1)});
}

ExpressionId Grammar::list(Kind kind, const std::vector<ExpressionId>& parts) {
  if (parts.size() == 1) return parts[0];
  const auto first = static_cast<std::uint32_t>(lists_.size());
  lists_.insert(lists_.end(), parts.begin(), parts.end());
  return add({kind, first, static_cast<std::uint32_t>(parts.size())});
}

ExpressionId Grammar::repeat(ExpressionId expression, std::uint32_t min, std::uint32_t max) {
  return add({Kind::repeat, expression, 0, min, max});
}

ExpressionId Grammar::token(TokenReference token) {
  tokens_.push_back(std::move(token));
  return add({Kind::token, static_cast<std::uint32_t>(tokens_.size() - 1)});
}

RuleId Grammar::add_rule(std::string name, std::uint32_t weight) {
  HEED_CHECK_AS(bad_format, rules_.size() < kMaxExpressions, what_, ": more than ", kMaxExpressions, " rules");
  rules_.push_back({std::move(name), std::nullopt, weight});
  return static_cast<RuleId>(rules_.size() - 1);
}

}  // namespace heed::constrain
