#include "heed/data/conversation.h"

#include <gtest/gtest.h>

#include "heed/data/data_check.h"
#include "support/error_of.h"
#include "support/temp_folder.h"

namespace heed {
namespace {

std::vector<Row> read_all(const DataSource& source) {
  std::vector<Row> rows;
  const auto reader = open_reader(source);
  for (Row row; reader->next(row);) rows.push_back(row);
  return rows;
}

TEST(Conversation, EveryPublishedShapeIsAListOfMessages) {
  const test::TempFolder folder;
  const auto file = folder.write("a.jsonl",
                                 R"({"messages": [{"role": "user", "content": "Hi", "b": 1, "a": 2}], "id": 3}
{"conversations": [{"from": "system", "value": "Be kind."}, {"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Yo"}]}
{"conversations": [{"role": "user", "content": "Hi"}]}
{"instruction": "Add.", "input": "1 2", "output": "3"}
{"instruction": "Sing.", "input": "", "output": "La", "system": "You are a bird."}
{"prompt": [{"role": "user", "content": "Hi"}], "completion": [{"role": "assistant", "content": "Yo"}]}
{"tools": [{"name": "f"}], "messages": [{"role": "user", "content": "Hi"}]}
{"prompt": "2 + 2 =", "completion": " 4"}
{"text": "plain"}
)");
  const auto rows = read_all({.file = file, .needs = {RowField::text}, .chats = true});
  ASSERT_EQ(rows.size(), 9u);
  // In the order of the file.
  EXPECT_EQ(rows[0].messages, R"([{"role":"user","content":"Hi","b":1,"a":2}])");
  EXPECT_EQ(rows[0].id, "3");
  EXPECT_EQ(rows[1].messages, R"([{"role":"system","content":"Be kind."},{"role":"user","content":"Hi"},)"
                              R"({"role":"assistant","content":"Yo"}])");
  EXPECT_EQ(rows[2].messages, R"([{"role":"user","content":"Hi"}])");
  EXPECT_EQ(rows[3].messages, R"([{"role":"user","content":"Add.\n\n1 2"},{"role":"assistant","content":"3"}])");
  EXPECT_EQ(rows[4].messages, R"([{"role":"system","content":"You are a bird."},{"role":"user","content":"Sing."},)"
                              R"({"role":"assistant","content":"La"}])");
  EXPECT_EQ(rows[5].messages, R"([{"role":"user","content":"Hi"},{"role":"assistant","content":"Yo"}])");
  EXPECT_EQ(rows[6].messages, R"({"messages":[{"role":"user","content":"Hi"}],"tools":[{"name":"f"}]})");
  EXPECT_EQ(rows[7].text, "2 + 2 =");
  EXPECT_EQ(rows[7].pair, " 4");
  EXPECT_EQ(rows[8].text, "plain");
  for (std::size_t i = 7; i < 9; ++i) EXPECT_EQ(rows[i].messages, "");
  EXPECT_EQ(conversation_texts(rows[1].messages), (std::vector<std::string>{"Be kind.", "Hi", "Yo"}));
  EXPECT_EQ(conversation_texts(rows[6].messages), std::vector<std::string>{"Hi"});
}

TEST(Conversation, OnlyWhereItMayBe) {
  const test::TempFolder folder;
  const auto both = folder.write("a.jsonl", R"({"text": "plain", "messages": [{"role": "user", "content": "Hi"}]})");
  EXPECT_EQ(read_all({.file = both})[0].text, "plain");
  EXPECT_EQ(read_all({.file = both})[0].messages, "");
  // A column that is named is the text.
  const DataSource named{.file = both, .needs = {RowField::text}, .chats = true, .columns = {.text = "text"}};
  EXPECT_EQ(read_all(named)[0].text, "plain");
  EXPECT_EQ(read_all({.file = both, .needs = {RowField::text}, .chats = true})[0].text, "");
  const DataSource other{.file = folder.write("b.jsonl", R"({"turns": [{"role": "user", "content": "Hi"}]})"),
                         .needs = {RowField::messages},
                         .columns = {.messages = "turns"}};
  EXPECT_EQ(read_all(other)[0].messages, R"([{"role":"user","content":"Hi"}])");
}

TEST(Conversation, WhatIsNoneIsNamed) {
  const test::TempFolder folder;
  const auto refused = [&](const std::string& line) {
    const auto file = folder.write("a.jsonl", line + "\n");
    return test::error_of(ErrorKind::bad_format, [&] {
      static_cast<void>(read_all({.file = file, .needs = {RowField::text}, .chats = true}));
    });
  };
  for (const auto& [line, problem] : std::vector<std::pair<std::string, std::string>>{
           {R"({"messages": "Hi"})", "messages is no list"},
           {R"({"messages": []})", "messages is no list"},
           {R"({"messages": [{"content": "Hi"}]})", "messages[0] is no message with a \"role\""},
           {R"({"messages": [{"role": "user"}, 3]})", "messages[1]"},
           {R"({"conversations": [{"from": "human", "value": 3}]})", "value is no text"},
           {R"({"conversations": [{"value": "Hi"}]})", "conversations[0]"},
           {R"({"instruction": "Sing."})", "no output"},
           {R"({"instruction": ["Sing."], "output": ""})", "instruction is no text"},
           {R"({"prompt": [{"role": "user", "content": "Hi"}], "completion": "Yo"})", "not both lists"},
           {R"({"prompt": 3})", "prompt is"},
           {R"({"question": "Hi"})", "neither text, messages"}}) {
    const std::string message = refused(line);
    EXPECT_NE(message.find(problem), std::string::npos) << line << "\n" << message;
    EXPECT_NE(message.find("a.jsonl:1"), std::string::npos) << message;
  }
}

TEST(Conversation, DataCheckCountsWhatIsSaid) {
  const test::TempFolder folder;
  const auto file = folder.write("a.jsonl", R"({"messages": [{"role": "user", "content": "one two"}]}
{"messages": [{"role": "user", "content": "One  TWO"}]}
{"instruction": "one two three", "output": "four"}
)");
  const DataCheck check = check_data({{.file = file, .needs = {RowField::messages}}});
  EXPECT_EQ(check.files[0].duplicates.count, 1u);
  EXPECT_EQ(check.files[0].lengths, (std::map<std::size_t, std::size_t>{{2, 2}, {4, 1}}));
}

}  // namespace
}  // namespace heed
