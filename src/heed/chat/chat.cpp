#include "heed/chat/chat.h"

#include <algorithm>
#include <array>

#include "heed/base/join.h"
#include "heed/chat/text.h"

namespace heed::chat {
namespace {

// Marks the end of the last message while the template runs. The space tells whether the template trims messages.
constexpr std::string_view kEndMark = "CONTINUE_FINAL_MESSAGE_TAG ";
constexpr std::string_view kTrimmedEndMark = kEndMark.substr(0, kEndMark.size() - 1);

void check_list_of_objects(const OrderedJson& list, const char* what) {
  HEED_CHECK(list.is_array(), what, " are no list");
  for (std::size_t i = 0; i < list.size(); ++i) {
    HEED_CHECK(list[i].is_object(), what, "[", i, "] is no object");
  }
}

void check(const ChatRequest& request) {
  check_list_of_objects(request.messages, "messages");
  HEED_CHECK(!request.messages.empty(), "messages are an empty list, expected at least one");
  if (!request.tools.is_null()) check_list_of_objects(request.tools, "tools");
  if (!request.documents.is_null()) check_list_of_objects(request.documents, "documents");
  HEED_CHECK(request.variables.is_object(), "the variables of a template are no object");
  HEED_CHECK(!request.continue_final_message || !request.add_generation_prompt,
             "continue_final_message and add_generation_prompt are not compatible: one goes on with the last message, "
             "the other begins a new one");
}

// Puts the mark at the end of the last message; returns what the message was.
std::string mark_end(OrderedJson& messages, const std::string& field) {
  OrderedJson& message = messages.back();
  const auto found = message.find(field);
  HEED_CHECK(found != message.end() && !found->is_null(),
             "continue_final_message is set, but the final message has no \"", field, "\" to continue");
  OrderedJson* text = &*found;
  if (found->is_array()) {
    const auto part = std::find_if(found->rbegin(), found->rend(),
                                   [](const OrderedJson& each) { return each.is_object() && each.contains("text"); });
    HEED_CHECK(part != found->rend(), "continue_final_message is set, but the final message has no text to continue");
    text = &(*part)["text"];
  }
  HEED_CHECK(text->is_string(), "continue_final_message is set, but the \"", field,
             "\" of the final message is no text");
  std::string before = text->get<std::string>();
  *text = before + std::string(kEndMark);
  return before;
}

// The rendered text up to the mark, without what the template trimmed from the message.
std::string cut_at_mark(const std::string& rendered, const std::string& message) {
  const std::size_t mark = rendered.rfind(kTrimmedEndMark);
  const bool is_there = mark != std::string::npos && find_part(rendered, strip(message, Side::kBoth)).has_value();
  HEED_CHECK(is_there, "continue_final_message is set, but the template leaves the final message out or changes it");
  const std::string before = rendered.substr(0, mark);
  const bool is_whole = std::string_view(rendered).substr(mark).starts_with(kEndMark);
  return is_whole ? before : std::string(strip(before, Side::kRight));
}

}  // namespace

ChatTemplates::ChatTemplates(std::vector<ChatTemplate> templates, OrderedJson special_tokens)
    : special_tokens_(std::move(special_tokens)) {
  for (ChatTemplate& each : templates) {
    std::string name = each.name();
    templates_.insert_or_assign(std::move(name), std::move(each));
  }
}

std::vector<std::string> ChatTemplates::names() const {
  std::vector<std::string> list;
  for (const auto& each : templates_) list.push_back(each.first);
  return list;
}

const ChatTemplate& ChatTemplates::choose(const ChatRequest& request) const {
  std::string name = request.template_name;
  if (name.empty()) name = !request.tools.is_null() && templates_.count("tool_use") ? "tool_use" : "default";
  const auto found = templates_.find(name);
  if (found != templates_.end()) return found->second;
  fail(ErrorKind::invalid_argument, "there is no chat template \"", name, "\"; the model has: ", join(names(), ", "));
}

RenderedChat ChatTemplates::render(const ChatRequest& request) const {
  check(request);
  const ChatTemplate& chosen = choose(request);
  OrderedJson variables = special_tokens_;
  for (const auto& each : request.variables.items()) variables[each.key()] = each.value();
  constexpr std::array kOwn = {"messages", "tools", "documents", "add_generation_prompt"};
  for (const char* name : kOwn) {
    HEED_CHECK(!request.variables.contains(name), "the variable \"", name, "\" has a place of its own in the request");
  }
  variables["messages"] = request.messages;
  variables["tools"] = request.tools;
  variables["documents"] = request.documents;
  variables["add_generation_prompt"] = request.add_generation_prompt;
  if (!request.continue_final_message) return chosen.render(variables);

  const std::string& field = request.continued_field;
  HEED_CHECK(find_part(chosen.source(), field), "continue_final_message is set to \"", field,
             "\", which the chat template does not use");
  const std::string message = mark_end(variables["messages"], field);
  return {cut_at_mark(chosen.render(variables).text, message)};
}

}  // namespace heed::chat
