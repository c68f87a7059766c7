// The chat templates of a model folder, applied as HuggingFace's apply_chat_template applies them.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "heed/chat/template.h"

namespace heed::chat {

struct ChatRequest {
  OrderedJson messages;             // a list of {"role": ..., "content": ...}
  OrderedJson tools = nullptr;      // a list of JSON schemas of functions; null: none
  OrderedJson documents = nullptr;  // a list of objects; null: none
  bool add_generation_prompt = false;
  // Leaves the last message open, for the model to go on with it.
  bool continue_final_message = false;
  std::string continued_field = "content";  // of that message
  std::string template_name{};              // "": tool_use if there are tools and a template of that name, else default
  OrderedJson variables = OrderedJson::object();  // others for the template, such as enable_thinking
};

class ChatTemplates {
 public:
  // `special_tokens` is an object: bos_token, eos_token ...
  ChatTemplates(std::vector<ChatTemplate> templates, OrderedJson special_tokens);

  // chat_template.jinja and additional_chat_templates/, else chat_template of tokenizer_config.json, else
  // chat_template.json; special tokens from tokenizer_config.json and special_tokens_map.json, or `usual_tokens` where
  // there is no tokenizer_config.json. Throws not_found, with what to do, if there is no template. `template_file`, if
  // it is given, is the template instead of all those.
  static ChatTemplates from_folder(const std::filesystem::path& folder, const std::filesystem::path& template_file = {},
                                   const OrderedJson& usual_tokens = OrderedJson::object());

  // Throws invalid_argument for what HuggingFace refuses, and what ChatTemplate::render throws. With
  // continue_final_message, `generated` is empty.
  RenderedChat render(const ChatRequest& request) const;

  std::vector<std::string> names() const;
  const OrderedJson& special_tokens() const { return special_tokens_; }

 private:
  const ChatTemplate& choose(const ChatRequest& request) const;

  std::map<std::string, ChatTemplate> templates_;
  OrderedJson special_tokens_;
};

}  // namespace heed::chat
