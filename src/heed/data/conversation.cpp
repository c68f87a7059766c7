#include "heed/data/conversation.h"

#include "heed/base/error.h"

namespace heed {
namespace {

std::string text_of(const OrderedJson& object, const std::string& field, const std::string& where) {
  const auto found = object.find(field);
  if (found == object.end() || found->is_null()) return "";
  HEED_CHECK_AS(bad_format, found->is_string(), where, ": ", field, " is no text");
  return found->get<std::string>();
}

OrderedJson message(const std::string& role, const std::string& content) {
  return {{"role", role}, {"content", content}};
}

// As it stands; a message without a role is an error.
void append_messages(OrderedJson& all, const OrderedJson& list, const std::string& field, const std::string& where) {
  HEED_CHECK_AS(bad_format, list.is_array() && !list.empty(), where, ": ", field, " is no list of messages");
  for (const OrderedJson& each : list) {
    const bool fits = each.is_object() && each.contains("role") && each["role"].is_string();
    HEED_CHECK_AS(bad_format, fits, where, ": ", field, "[", all.size(), "] is no message with a \"role\"");
    all.push_back(each);
  }
}

// {"from": "human", "value": ...} beside the usual {"role", "content"}.
void append_turns(OrderedJson& all, const OrderedJson& list, const std::string& field, const std::string& where) {
  HEED_CHECK_AS(bad_format, list.is_array() && !list.empty(), where, ": ", field, " is no list of messages");
  for (const OrderedJson& each : list) {
    if (!each.is_object() || !each.contains("from")) {
      append_messages(all, OrderedJson::array({each}), field, where);
      continue;
    }
    const std::string from = text_of(each, "from", where);
    const std::string role = from == "human" ? "user" : from == "gpt" ? "assistant" : from;
    all.push_back(message(role, text_of(each, "value", where)));
  }
}

void append_instruction(OrderedJson& all, const OrderedJson& row, const std::string& where) {
  HEED_CHECK_AS(bad_format, row.contains("output"), where, ": has an instruction but no output");
  const std::string system = text_of(row, "system", where), input = text_of(row, "input", where);
  if (!system.empty()) all.push_back(message("system", system));
  all.push_back(message("user", text_of(row, "instruction", where) + (input.empty() ? "" : "\n\n" + input)));
  all.push_back(message("assistant", text_of(row, "output", where)));
}

}  // namespace

std::string read_conversation(std::string_view line, const Json& row, const std::string& field,
                              const std::string& where) {
  if (!row.is_object()) return "";
  const auto has_list = [&](const std::string& name) { return row.contains(name) && row[name].is_array(); };
  const std::string messages = field.empty() ? "messages" : field;
  const bool known = row.contains(messages) || row.contains("conversations") || row.contains("instruction") ||
                     has_list("prompt") || has_list("completion");
  if (!known) return "";
  // Templates see the fields of messages in their order.
  const OrderedJson ordered = parse_ordered_json(line, where);
  OrderedJson all = OrderedJson::array();
  if (row.contains(messages)) {
    append_messages(all, ordered[messages], messages, where);
  } else if (row.contains("conversations")) {
    append_turns(all, ordered["conversations"], "conversations", where);
  } else if (row.contains("instruction")) {
    append_instruction(all, ordered, where);
  } else {
    for (const std::string name : {"prompt", "completion"}) {
      HEED_CHECK_AS(bad_format, has_list(name), where, ": prompt and completion are not both lists of messages");
      append_messages(all, ordered[name], name, where);
    }
  }
  const bool has_tools = ordered.contains("tools") && !ordered["tools"].is_null();
  if (!has_tools) return all.dump();
  return OrderedJson{{"messages", all}, {"tools", ordered["tools"]}}.dump();
}

std::vector<std::string> conversation_texts(const std::string& messages) {
  const OrderedJson given = OrderedJson::parse(messages);
  std::vector<std::string> texts;
  for (const OrderedJson& each : given.is_object() ? given["messages"] : given) {
    const auto content = each.find("content");
    if (content == each.end() || content->is_null()) continue;
    texts.push_back(content->is_string() ? content->get<std::string>() : content->dump());
  }
  return texts;
}

}  // namespace heed
