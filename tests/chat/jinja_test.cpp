// jinja2 itself is asked to render every case; heed must write the same bytes, or refuse what jinja2 refuses.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "heed/base/file.h"
#include "heed/chat/template.h"
#include "support/python.h"
#include "support/temp_folder.h"

namespace heed::chat {
namespace {

using test::shared_data;
using test::tests_folder;

constexpr std::size_t kMostBytes = 1'000'000;

struct Case {
  std::string name, source;
  OrderedJson variables;
};

// The file cases.txt says how.
std::vector<Case> small_cases() {
  const std::filesystem::path folder = tests_folder() / "chat";
  const OrderedJson variables = parse_ordered_json(read_file(folder / "variables.json", kMostBytes), "variables.json");
  std::istringstream lines(read_file(folder / "cases.txt", kMostBytes));
  std::vector<Case> cases;
  std::string line, source;
  int at = 0, begin = 0;
  while (std::getline(lines, line)) {
    ++at;
    if (!line.starts_with("====")) {
      source += line + "\n";
      continue;
    }
    if (begin > 0) {
      cases.push_back({"cases.txt:" + std::to_string(begin), source.substr(0, source.size() - 1), variables});
    }
    begin = at + 1;
    source.clear();
  }
  return cases;
}

// Each template with each conversation, with and without a prompt for the answer.
std::vector<Case> conversations(const std::string& name, const std::string& source) {
  const std::filesystem::path file = tests_folder() / "chat" / "conversations.json";
  const OrderedJson list = parse_ordered_json(read_file(file, kMostBytes), "conversations.json");
  std::vector<Case> cases;
  for (std::size_t i = 0; i < list.size(); ++i) {
    for (const bool prompt : {false, true}) {
      OrderedJson variables = list[i];
      variables["add_generation_prompt"] = prompt;
      variables["bos_token"] = "<s>";
      variables["eos_token"] = "</s>";
      cases.push_back({name + ", conversation " + std::to_string(i) + (prompt ? ", prompt" : ""), source, variables});
    }
  }
  return cases;
}

OrderedJson rendered(const Case& each) {
  try {
    const RenderedChat chat = ChatTemplate(each.source, "case").render(each.variables);
    return {{"text", chat.text}, {"generated", chat.generated}};
  } catch (const Error& error) {
    return {{"error", error.what()}};
  }
}

// How many of the cases jinja2 renders; fails for those that heed treats in another way.
std::size_t expect_jinja_agrees(const std::vector<Case>& cases) {
  std::string questions;
  for (const Case& each : cases) {
    questions += OrderedJson{{"template", each.source}, {"variables", each.variables}}.dump() + "\n";
  }
  const test::TempFolder folder;
  const auto asked = folder.write("questions", questions), answered = folder.path() / "answers";
  EXPECT_EQ(test::run_python("chat/jinja.py " + asked.string() + " " + answered.string()), 0);
  std::ifstream answers(answered);
  std::size_t count = 0, texts = 0;
  for (std::string line; std::getline(answers, line); ++count) {
    if (count == cases.size()) break;
    SCOPED_TRACE(cases[count].name + "\n" + cases[count].source);
    const OrderedJson theirs = OrderedJson::parse(line), ours = rendered(cases[count]);
    texts += theirs.contains("text");
    if (theirs.contains("text")) {
      EXPECT_EQ(ours, theirs);
    } else {
      EXPECT_TRUE(ours.contains("error")) << "jinja2: " << theirs << "\nheed: " << ours;
    }
  }
  EXPECT_EQ(count, cases.size());
  return texts;
}

class Jinja : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::has_python_modules("jinja2")) {
      GTEST_SKIP() << test::kPython << " has no jinja2 (Debian package python3-jinja2): nothing to compare with";
    }
  }
};

TEST_F(Jinja, SmallCases) {
  const auto cases = small_cases();
  ASSERT_GE(cases.size(), 380U);
  const std::size_t texts = expect_jinja_agrees(cases);
  // Both kinds are there in numbers: what renders and what is refused.
  EXPECT_GE(texts, 190U);
  EXPECT_GE(cases.size() - texts, 150U);
}

// Every *.jinja of a folder.
std::vector<std::filesystem::path> templates_of(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".jinja") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

std::vector<Case> conversations(const std::vector<std::filesystem::path>& files) {
  std::vector<Case> cases;
  for (const auto& file : files) {
    std::ranges::move(conversations(file.filename().string(), read_file(file, kMostBytes)), std::back_inserter(cases));
  }
  return cases;
}

// Templates in the shapes of well-known families.
TEST_F(Jinja, ShapesOfFamilies) {
  const auto files = templates_of(tests_folder() / "chat" / "shapes");
  ASSERT_GE(files.size(), 8U);
  const auto cases = conversations(files);
  EXPECT_GE(expect_jinja_agrees(cases), cases.size() / 2);
}

// Templates of others, which are not part of the project: those of the folder that HEED_TEMPLATES names, if it does.
TEST_F(Jinja, TemplatesOfAFolder) {
  const char* folder = std::getenv("HEED_TEMPLATES");
  if (!folder) return;
  const auto files = templates_of(folder);
  ASSERT_FALSE(files.empty()) << folder;
  const auto cases = conversations(files);
  const std::size_t texts = expect_jinja_agrees(cases);
  EXPECT_GE(texts, cases.size() / 2);
  std::cout << files.size() << " templates: " << texts << " texts, " << cases.size() - texts << " refused\n";
}

TEST_F(Jinja, PublishedTemplate) {
  const auto file = shared_data("weights/minimind2-small/tokenizer_config.json");
  if (!std::filesystem::exists(file)) GTEST_SKIP() << file << " is not there";
  const Json config = parse_json(read_file(file, kMostBytes), file.string());
  const auto cases = conversations("minimind2-small", config["chat_template"].get<std::string>());
  EXPECT_GE(expect_jinja_agrees(cases), 2U);
}

}  // namespace
}  // namespace heed::chat
