#include "heed/tasks/conversation.h"

#include "heed/base/error.h"

namespace heed {
namespace {

chat::ChatRequest request_of(const std::string& messages) {
  OrderedJson given = OrderedJson::parse(messages);
  if (!given.is_object()) return {.messages = std::move(given)};
  return {.messages = given["messages"], .tools = given["tools"]};
}

// What fails says where.
template <class Call>
auto placed(const std::string& where, const Call& call) {
  try {
    return call();
  } catch (const Error& error) {
    fail(error.kind(), where, ": ", error.what());
  }
}

}  // namespace

const chat::ChatTemplates& Conversations::templates() const {
  std::call_once(once_, [&] {
    const Json settings = special_.settings(0);
    OrderedJson tokens = OrderedJson::object();
    for (const auto& [name, value] : settings.items()) {
      if (name.ends_with("_token")) tokens[name] = value.get<std::string>();
    }
    templates_ = chat::ChatTemplates::from_folder(folder_, template_file_, tokens);
  });
  return *templates_;
}

// The first messages alone.
std::string Conversations::rendered(chat::ChatRequest request, std::size_t messages, bool ask) const {
  request.messages.erase(request.messages.begin() + static_cast<std::ptrdiff_t>(messages), request.messages.end());
  request.add_generation_prompt = ask;
  return templates().render(request).text;
}

std::string Conversations::prompt(const std::string& messages, const std::string& where) const {
  return placed(where, [&] {
    chat::ChatRequest request = request_of(messages);
    request.add_generation_prompt = true;
    return templates().render(request).text;
  });
}

AnsweredText Conversations::answered(const std::string& messages, const std::string& where) const {
  return placed(where, [&] {
    const chat::ChatRequest request = request_of(messages);
    chat::RenderedChat whole = templates().render(request);
    if (whole.generated.empty()) return between_prompts(request, std::move(whole.text));
    return AnsweredText{std::move(whole.text), std::move(whole.generated), true};
  });
}

AnsweredText Conversations::between_prompts(const chat::ChatRequest& request, std::string text) const {
  AnsweredText result{.text = std::move(text)};
  for (std::size_t i = 0; i < request.messages.size(); ++i) {
    if (request.messages[i].value("role", "") != "assistant") continue;
    HEED_CHECK_AS(bad_format, i > 0, "the conversation begins with an answer");
    const std::string before = rendered(request, i, true), after = rendered(request, i + 1, false);
    constexpr const char* kMarkThem =
        ", so which part of the text is the answer is not known; the template could mark answers by {% generation %} "
        "and {% endgeneration %}";
    HEED_CHECK_AS(bad_format, after.starts_with(before), "the chat template renders message ", i + 1,
                  " otherwise than its prompt announces", kMarkThem);
    HEED_CHECK_AS(bad_format, result.text.starts_with(after), "the chat template renders message ", i + 1,
                  " otherwise where others follow", kMarkThem);
    result.answers.emplace_back(before.size(), after.size());
  }
  HEED_CHECK_AS(bad_format, !result.answers.empty(), "the conversation has no message of the role assistant");
  return result;
}

}  // namespace heed
