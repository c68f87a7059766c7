#include "heed/text/sentences.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/random.h"
#include "heed/text/scripts.h"
#include "support/shared_data.h"

namespace heed::text {
namespace {

std::vector<std::string> split(std::string_view document, std::string_view language = {}) {
  std::vector<std::string> texts;
  for (const Sentence& sentence : split_sentences(document, language)) texts.emplace_back(sentence.of(document));
  return texts;
}

// In `cases` a | stands where sentences end; it and the spaces after it are taken out or, for languages with spaces,
// become one.
void expect_splits(const std::vector<std::string>& cases, const std::string& language, const std::string& space = " ") {
  for (const std::string& marked : cases) {
    std::vector<std::string> expected(1);
    for (const char c : marked) {
      if (c == '|') {
        expected.emplace_back();
      } else {
        expected.back() += c;
      }
    }
    std::string document;
    for (const std::string& text : expected) document += (document.empty() ? "" : space) + text;
    EXPECT_EQ(split(document, language), expected) << document;
    EXPECT_EQ(split(document), expected) << document << " (language not said)";
  }
}

TEST(Sentences, English) {
  expect_splits(
      {"Mr. Smith met Dr. Jones.|They talked.", "He left.|\"Why?\" she asked.|Nobody knew.",
       "It costs 3.50 dollars.|That is No. 5 on the list.|No.|Never.", "J. R. R. Tolkien wrote it.|It sold.",
       "We saw cats, dogs, etc. and left.|We saw cats, etc.|They left.", "The U.S. Senate voted.|It passed.",
       "He lives in the U.S.|They do not.", "Wait... what?|Well...|Then we went.",
       "Really?!|Yes!!!|\"I know.\"|(It is so.)|Good.", "See www.example.com/a.b?c=d.e for more.|Thanks.",
       "Mail me at a.b@example.org.|Soon.", "At 5 p.m. we eat.|At 6 p.m.|Then we sleep.",
       "\"Stop!\" he cried.|\"Go.\" said she.|So it went.", "It was so.[3]|Later it was not.[4, 5]|Now?",
       "He works at Acme Inc. in Ohio.|Fig. 3 shows it.|See p. 12 and pp. 3.", "Use e.g. Python, i.e. a language.|OK.",
       "It was I.|You know.", "Version 2.0 is out.|It works.", "On Jan. 5 we met.|In 2019.|15 came."},
      "en");
}

TEST(Sentences, German) {
  expect_splits(
      {"Am 3. Mai kam er.|Dann ging er.", "Es waren z. B. Hunde da.|Auch d. h. Katzen.", "Das ist Nr. 5.|Gut.",
       "Im 19. Jahrhundert war das so.|Heute nicht.", "Er sagte: „Ich gehe.“|Dann ging er.",
       "»Wohin?«, fragte sie.|»Nach Hause.«|Sie nickte.", "Äpfel, Birnen usw.|Das reicht.",
       "Es kostet 1.234,50 Euro.|Das ist viel.", "Um 50 v. Chr. lebte er.|Prof. Dr. Müller weiß es."},
      "de");
  EXPECT_EQ(split("Das ist der 2. Versuch. Es waren 3. Dann ging er.", "de"),
            (std::vector<std::string>{"Das ist der 2. Versuch.", "Es waren 3.", "Dann ging er."}));
}

TEST(Sentences, OtherLanguagesWithSpaces) {
  expect_splits({"M. Dupont est là.|Mme Durand aussi.", "« Il part. »|Elle reste.", "Quoi ?|Rien !|Bon.",
                 "Des fruits, p. ex. Pommes, etc.|Voilà."},
                "fr");
  expect_splits({"¿Qué hora es?|¡Las tres!|El Sr. García llegó.|Vale."}, "es");
  expect_splits({"Он родился в 1990 г. в Москве.|Потом уехал.", "А. С. Пушкин писал.|Да!", "Яблоки и т. д.|Всё."},
                "ru");
  expect_splits({"Τι κάνεις;|Καλά.|Εσύ;"}, "el");
  expect_splits({"كيف حالك؟|أنا بخير.|شكرا."}, "ar");
  expect_splits({"यह एक वाक्य है।|यह दूसरा है।|सच?"}, "hi");
}

TEST(Sentences, ChineseAndJapanese) {
  expect_splits({"你好。|我很好！|你呢？|好", "他说：“我走了。”|“你呢？”", "方法.|仿真结果表明,它很好.|控制器(SOS)更快",
                 "见 example.com。|谢谢", "圆周率是3.14。|对", "他说……我不知道。|真的？！|是"},
                "zh", "");
  expect_splits({"これは本です。|「行くよ。」と言った。|「本当？」|はい！"}, "ja", "");
}

TEST(Sentences, LinesParagraphsAndLists) {
  const std::string document =
      "# A heading\nThe first line. And a second one\n\n\n  - an item\n  - another one. With two\n 2) third\n"
      "1. Introduction\n====\nAnna: ok\nBob: i am here\n";
  const std::vector<Sentence> sentences = split_sentences(document);
  std::vector<std::string> texts;
  std::vector<std::size_t> paragraphs;
  for (const Sentence& sentence : sentences) {
    texts.emplace_back(sentence.of(document));
    paragraphs.push_back(sentence.paragraph);
  }
  EXPECT_EQ(texts,
            (std::vector<std::string>{"A heading", "The first line.", "And a second one", "an item", "another one.",
                                      "With two", "third", "Introduction", "Anna: ok", "Bob: i am here"}));
  EXPECT_EQ(paragraphs, (std::vector<std::size_t>{0, 0, 0, 1, 1, 1, 1, 1, 1, 1}));
}

TEST(Sentences, WrappedLinesBelongTogether) {
  const std::string document =
      "This paragraph was wrapped at some sixty columns, as mail\nprograms do. Its second sentence tells us "
      "that here a Mr.\nSmith is there. The last one ends before the line is full.\nShort line\nAnother short line\n";
  EXPECT_EQ(split(document), (std::vector<std::string>{
                                 "This paragraph was wrapped at some sixty columns, as mail\nprograms do.",
                                 "Its second sentence tells us that here a Mr.\nSmith is there.",
                                 "The last one ends before the line is full.", "Short line", "Another short line"}));
}

std::string joined(std::string_view document, std::span<const Sentence> sentences) {
  std::vector<std::string> texts;
  for (const Sentence& sentence : sentences) texts.emplace_back(sentence.of(document));
  return join_sentences(document, sentences, texts);
}

void expect_sound(std::string_view document) {
  const auto sentences = split_sentences(document);
  std::size_t at = 0, paragraph = 0;
  for (const Sentence& sentence : sentences) {
    ASSERT_GE(sentence.begin, at);
    ASSERT_GT(sentence.end, sentence.begin);
    ASSERT_LE(sentence.end, document.size());
    ASSERT_GE(sentence.paragraph, paragraph);
    at = sentence.end;
    paragraph = sentence.paragraph;
  }
  ASSERT_EQ(joined(document, sentences), document);
}

TEST(Sentences, AnyBytesJoinAgain) {
  const std::vector<std::string> parts = {
      "a",    "B",   ".",  "!",  "?",  " ",    "\n",       "\r\n", "。",
      "「",   "」",  "\"", "…",  "Mr", "z",    "3",        "\t",   "- ",
      "1. ",  "é",   "漢", "か", "»",  "\xC3", "\xE3\x80", "\xFF", "\xF0\x9F\x98\x80",
      "\x80", "[3]", "।",  ";"};
  RandomStream random{.seed = 17};
  for (int round = 0; round < 3000; ++round) {
    std::string document;
    const std::uint64_t length = random.uniform_integer(60);
    for (std::uint64_t i = 0; i < length; ++i) document += parts[random.uniform_integer(parts.size())];
    expect_sound(document);
  }
}

TEST(Sentences, NaughtyStringsJoinAgain) {
  const auto file = test::shared_data("suites/blns/blns.json");
  if (!std::filesystem::exists(file)) GTEST_SKIP() << file << " is not there";
  std::ifstream stream(file);
  const Json all = Json::parse(stream);
  std::string together;
  for (const Json& each : all) {
    expect_sound(each.get<std::string>());
    together += each.get<std::string>() + "\n";
  }
  expect_sound(together);
}

TEST(Sentences, TimeIsLinear) {
  const auto seconds = [](const std::string& document) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(joined(document, split_sentences(document)), document);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  for (const std::string unit : {".", ". ", "(", "a. ", "?\"", "1. ", " ", "\n", "x", "- ", "\"\x80", "[1", "漢."}) {
    std::string document;
    while (document.size() < 1'000'000) document += unit;
    EXPECT_LT(seconds(document), 5) << "a megabyte of " << unit;
  }
}

TEST(Sentences, OtherTextsInTheirPlaces) {
  const std::string chinese = "你好。我很好！\n- 是";
  EXPECT_EQ(join_sentences(chinese, split_sentences(chinese), std::vector<std::string>{"Hello.", "I am well!", "Yes"}),
            "Hello. I am well!\n- Yes");
  const std::string english = "Hello. I am well!\n\nYes";
  EXPECT_EQ(join_sentences(english, split_sentences(english), std::vector<std::string>{"你好。", "我很好！", "是"}),
            "你好。我很好！\n\n是");
  EXPECT_THROW(join_sentences(english, split_sentences(english), std::vector<std::string>{"one"}), Error);
}

TEST(CutText, PiecesAreWithinTheLimitAndNothingIsLost) {
  const auto bytes = [](std::string_view text) { return text.size(); };
  const auto cut = [&](std::string_view text, std::size_t limit) {
    std::string together;
    const auto pieces = cut_text(text, limit, bytes);
    for (const std::string_view piece : pieces) {
      EXPECT_LE(piece.size(), limit);
      together += piece;
    }
    EXPECT_EQ(together, text);
    return pieces;
  };
  EXPECT_EQ(cut("one two; three, four", 40).size(), 1u);
  EXPECT_EQ(cut("one two; three, four", 12)[0], "one two;");
  EXPECT_EQ(cut("one two, three four", 15)[0], "one two,");
  EXPECT_EQ(cut("", 0), (std::vector<std::string_view>{""}));
  std::string words, han, marks = "e";
  for (int i = 0; i < 10'000; ++i) words += "word ", han += "漢", marks += "\xCC\x81";
  for (const std::string_view piece : cut(words, 64)) EXPECT_EQ(piece.size() % 5, 0u) << "cut at spaces";
  for (const std::string_view piece : cut(han, 64)) EXPECT_EQ(piece.size() % 3, 0u) << "cut between characters";
  for (const std::string_view piece : cut(words, 64)) EXPECT_GE(piece.size(), 15u) << "no crumbs";
  for (const std::string_view piece : cut("漢e\xCC\x81漢e\xCC\x81漢", 6))
    EXPECT_FALSE(piece.starts_with('\xCC')) << "marks stay";
  EXPECT_LT(cut(marks, 64).size(), 1000u) << "unless there is nothing else";
  EXPECT_EQ(cut_text("漢字", 1, bytes).size(), 2u) << "one character is as short as it gets";
  RandomStream random{.seed = 3};
  for (int round = 0; round < 200; ++round) {
    std::string noise;
    for (int i = 0; i < 200; ++i) noise += static_cast<char>(random.uniform_integer(256));
    std::string together;
    for (const std::string_view piece : cut_text(noise, 10, bytes)) together += piece;
    EXPECT_EQ(together, noise);
  }
}

TEST(Scripts, LettersOfEach) {
  EXPECT_EQ(script_code(script_of(U'a')), "Latn");
  EXPECT_EQ(script_code(script_of(U'ß')), "Latn");
  EXPECT_EQ(script_code(script_of(U'×')), "Zyyy");
  EXPECT_EQ(script_code(script_of(U'я')), "Cyrl");
  EXPECT_EQ(script_code(script_of(U'か')), "Kana");
  EXPECT_EQ(script_code(script_of(U'漢')), "Hani");
  EXPECT_EQ(script_code(script_of(U'한')), "Hang");
  EXPECT_EQ(script_of(0), Script::none);
  EXPECT_EQ(script_of(0x10FFFF), Script::none);
  EXPECT_TRUE(is_lower_case(U'é') && !is_lower_case(U'É') && !is_lower_case(U'漢') && !is_lower_case(U'ا'));
  EXPECT_TRUE(is_written_without_spaces(U'。') && !is_written_without_spaces(U'한') && !is_written_without_spaces('.'));
}

}  // namespace
}  // namespace heed::text
