#include "heed/chat/chat.h"

#include <gtest/gtest.h>

#include "support/error_of.h"
#include "support/temp_folder.h"

namespace heed::chat {
namespace {

using test::error_of;
using test::TempFolder;

const std::string kTemplate =
    "{{ bos_token }}{% for m in messages %}<{{ m.role }}>{{ m.content }}</>{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}";

OrderedJson two_messages() {
  return {{{"role", "user"}, {"content", "Hi"}}, {{"role", "assistant"}, {"content", " Well, "}}};
}

ChatTemplates with(const std::string& source) {
  return {{ChatTemplate(source, "default")}, {{"bos_token", "<s>"}}};
}

TEST(Chat, RendersMessages) {
  ChatRequest request{.messages = two_messages()};
  EXPECT_EQ(with(kTemplate).render(request).text, "<s><user>Hi</><assistant> Well, </>");
  request.add_generation_prompt = true;
  EXPECT_EQ(with(kTemplate).render(request).text, "<s><user>Hi</><assistant> Well, </><assistant>");
  request.variables = {{"bos_token", "!"}};
  EXPECT_EQ(with("{{ bos_token }}{{ tools is none }}{{ documents }}").render(request).text, "!TrueNone");
}

TEST(Chat, ContinuesTheFinalMessage) {
  ChatRequest request{.messages = two_messages(), .continue_final_message = true};
  EXPECT_EQ(with(kTemplate).render(request).text, "<s><user>Hi</><assistant> Well, ");
  // A template that trims: what it trimmed is not put back.
  EXPECT_EQ(with("{% for m in messages %}[{{ m.content | trim }}]{% endfor %}").render(request).text, "[Hi][Well,");
  request.messages.back()["content"] = OrderedJson::parse(R"([{"type": "text", "text": "one"}, {"type": "image"}])");
  EXPECT_EQ(with("{% for p in messages[-1].content %}({{ p.text }}){% endfor %}").render(request).text, "(one");
  EXPECT_EQ(request.messages.back()["content"][0]["text"], "one");
  request.messages.back() = {{"role", "assistant"}, {"thought", "hm"}};
  request.continued_field = "thought";
  EXPECT_EQ(with("{{ messages[-1].thought }}.").render(request).text, "hm");
}

TEST(Chat, RefusesWhatHuggingFaceRefuses) {
  const auto refusal = [](const ChatRequest& request, const std::string& source = kTemplate) {
    return error_of(ErrorKind::invalid_argument, [&] { with(source).render(request); });
  };
  EXPECT_EQ(refusal({.messages = OrderedJson::array()}), "messages are an empty list, expected at least one");
  EXPECT_EQ(refusal({.messages = "Hi"}), "messages are no list");
  EXPECT_EQ(refusal({.messages = {"Hi"}}), "messages[0] is no object");
  EXPECT_EQ(refusal({.messages = two_messages(), .tools = {1}}), "tools[0] is no object");
  EXPECT_EQ(refusal({.messages = two_messages(), .documents = {"a"}}), "documents[0] is no object");
  const ChatRequest both{.messages = two_messages(), .add_generation_prompt = true, .continue_final_message = true};
  EXPECT_NE(refusal(both).find("not compatible"), std::string::npos);
  ChatRequest open{.messages = two_messages(), .continue_final_message = true};
  EXPECT_NE(refusal(open, "{{ messages[0].role }} content").find("leaves the final message out"), std::string::npos);
  EXPECT_NE(refusal(open, "fixed").find("does not use"), std::string::npos);
  open.messages.back().erase("content");
  EXPECT_NE(refusal(open).find("no \"content\" to continue"), std::string::npos);
  EXPECT_NE(refusal({.messages = two_messages(), .template_name = "rag"}).find("the model has: default"),
            std::string::npos);
  EXPECT_NE(refusal({.messages = two_messages(), .variables = {{"messages", 1}}}).find("of its own"),
            std::string::npos);
}

TEST(Chat, LoadsTokenizerConfig) {
  const TempFolder folder;
  folder.write("tokenizer_config.json", R"({"bos_token": {"content": "<B>", "lstrip": false}, "eos_token": "<E>",
    "pad_token": null, "chat_template": "{{ bos_token }}{{ eos_token }}{{ unk_token }}"})");
  folder.write("special_tokens_map.json", R"({"unk_token": "<U>", "eos_token": {"content": "<F>"}})");
  const ChatRequest request{.messages = two_messages()};
  EXPECT_EQ(ChatTemplates::from_folder(folder.path()).render(request).text, "<B><F><U>");
  // With its own list of tokens, tokenizer_config.json alone counts.
  folder.write("tokenizer_config.json", R"({"eos_token": "<E>", "added_tokens_decoder": {},
    "extra_special_tokens": {"image_token": "<I>"}, "chat_template": "{{ eos_token }}{{ unk_token }}{{ image_token }}"})");
  EXPECT_EQ(ChatTemplates::from_folder(folder.path()).render(request).text, "<E><I>");
}

TEST(Chat, ChoosesATemplateByName) {
  const TempFolder folder;
  folder.write("tokenizer_config.json", R"({"chat_template": [{"name": "default", "template": "d"},
    {"name": "tool_use", "template": "t{{ tools | length }}"}, {"name": "rag", "template": "r"}]})");
  const ChatTemplates chat = ChatTemplates::from_folder(folder.path());
  EXPECT_EQ(chat.names(), (std::vector<std::string>{"default", "rag", "tool_use"}));
  EXPECT_EQ(chat.render({.messages = two_messages()}).text, "d");
  EXPECT_EQ(chat.render({.messages = two_messages(), .tools = OrderedJson::array()}).text, "t0");
  EXPECT_EQ(chat.render({.messages = two_messages(), .template_name = "rag"}).text, "r");
}

TEST(Chat, FilesOfTheirOwnComeFirst) {
  const TempFolder folder;
  const ChatRequest request{.messages = two_messages()};
  folder.write("chat_template.json", R"({"chat_template": "processor"})");
  EXPECT_EQ(ChatTemplates::from_folder(folder.path()).render(request).text, "processor");
  folder.write("tokenizer_config.json", R"({"chat_template": "config"})");
  EXPECT_EQ(ChatTemplates::from_folder(folder.path()).render(request).text, "config");
  folder.write("chat_template.jinja", "file\n");
  folder.write("additional_chat_templates/rag.jinja", "more");
  const ChatTemplates chat = ChatTemplates::from_folder(folder.path());
  EXPECT_EQ(chat.render(request).text, "file");
  EXPECT_EQ(chat.render({.messages = two_messages(), .template_name = "rag"}).text, "more");
}

TEST(Chat, SaysWhatIsWrongWithAFolder) {
  const TempFolder folder;
  const auto load = [&] { ChatTemplates::from_folder(folder.path()); };
  EXPECT_NE(error_of(ErrorKind::not_found, load).find("chat_template.jinja"), std::string::npos);
  folder.write("tokenizer_config.json", R"({"chat_template": 5})");
  EXPECT_NE(error_of(ErrorKind::bad_format, load).find("chat_template is no text"), std::string::npos);
  folder.write("tokenizer_config.json", R"({"chat_template": [{"name": "a"}]})");
  EXPECT_NE(error_of(ErrorKind::bad_format, load).find("a name and a template"), std::string::npos);
  folder.write("tokenizer_config.json", R"({"chat_template": "{% if %}"})");
  EXPECT_NE(error_of(ErrorKind::bad_format, load).find("default:1:"), std::string::npos);
}

}  // namespace
}  // namespace heed::chat
