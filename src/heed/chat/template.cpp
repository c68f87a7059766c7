#include "heed/chat/template.h"

#include "heed/chat/evaluator.h"
#include "heed/chat/parser.h"

namespace heed::chat {

ChatTemplate::ChatTemplate(std::string source, std::string name)
    : source_(std::move(source)),
      name_(std::move(name)),
      parsed_(std::make_shared<const Template>(parse_template(source_, name_))) {}

RenderedChat ChatTemplate::render(const OrderedJson& variables) const {
  HEED_CHECK(variables.is_object(), name_, ": the variables are no object");
  Budget budget;
  Dict values;
  for (const auto& each : variables.items()) values.set(each.key(), from_json(each.value(), budget, each.key()));
  Evaluator evaluator(make_dict(std::move(values)));
  try {
    std::string text = evaluator.run(*parsed_);
    return {std::move(text), evaluator.generated()};
  } catch (const Error& error) {
    fail(error.kind(), name_, ":", evaluator.line(), ": ", error.what());
  }
}

}  // namespace heed::chat
