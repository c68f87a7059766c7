#include "heed/data/readers.h"

#include <gtest/gtest.h>

#include "heed/base/random.h"
#include "support/error_of.h"
#include "support/temp_folder.h"
#include "support/unpacked.h"

namespace heed {
namespace {

using Strings = std::vector<std::string>;
using test::error_of;
using test::TempFolder;
const RowFields kTagged = {RowField::words, RowField::labels};
const RowFields kAsked = {RowField::text, RowField::pair, RowField::answers};

std::vector<Row> read_all(RowReader& reader) {
  std::vector<Row> rows;
  for (Row row; reader.next(row);) rows.push_back(row);
  return rows;
}

std::vector<Row> read_all(const DataSource& source) {
  return read_all(*open_reader(source));
}

TEST(Readers, LinesHaveTextOrLabelAndText) {
  const TempFolder folder;
  const auto file = folder.write("a.txt", "\xEF\xBB\xBFone\r\n\n  \ntwo words\n");
  const auto rows = read_all({.file = file});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].text, "one");
  EXPECT_EQ(rows[1].text, "two words");
  EXPECT_EQ(rows[1].line, 4u);
  EXPECT_EQ(rows[1].file, file.string());

  const auto labelled = folder.write("b.txt", "0 bad film\n1\ta good one\na,b both\n");
  const auto more = read_all({.file = labelled, .label_first = true, .label_separator = ','});
  ASSERT_EQ(more.size(), 3u);
  EXPECT_EQ(more[0].labels, Strings{"0"});
  EXPECT_EQ(more[1].text, "a good one");
  EXPECT_EQ(more[2].labels, (Strings{"a", "b"}));
}

TEST(Readers, LinesOfTwoFilesArePairs) {
  const TempFolder folder;
  const DataSource source{.file = folder.write("a.de", "eins\r\n\nzwei drei\nvier"),
                          .format = "lines",
                          .needs = {RowField::text, RowField::pair},
                          .columns = {.text = "de", .pair = "en"}};
  folder.write("a.en", "\xEF\xBB\xBFone\n \ntwo three\nfour\n");
  const auto reader = open_reader(source);
  const auto rows = read_all(*reader);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].text + "|" + *rows[0].pair, "eins|one");
  EXPECT_EQ(rows[1].text + "|" + *rows[1].pair, "zwei drei|two three");
  EXPECT_EQ(rows[1].place(), source.file.string() + ":3");
  EXPECT_EQ(reader->position(), reader->end());
  reader->seek(2);
  Row row;
  ASSERT_TRUE(reader->next(row));
  EXPECT_EQ(row.text, "zwei drei");

  folder.write("a.en", "one\n \n\nfour\n");
  const std::string blank = error_of(ErrorKind::bad_format, [&] { read_all(source); });
  EXPECT_NE(blank.find("a.en:3: is blank, and " + source.file.string() + ":3 is not"), std::string::npos) << blank;
  folder.write("a.en", "one\n");
  const std::string lengths = error_of(ErrorKind::bad_format, [&] { open_reader(source); });
  EXPECT_NE(lengths.find("a.de has 4 lines and "), std::string::npos) << lengths;
  EXPECT_NE(lengths.find("a.en has 1,"), std::string::npos) << lengths;
  DataSource other = source;
  other.columns.text = "fr";
  EXPECT_NE(error_of(ErrorKind::invalid_argument, [&] { open_reader(other); }).find("does not end with .fr"),
            std::string::npos);
  other.columns = {};
  error_of(ErrorKind::invalid_argument, [&] { open_reader(other); });
}

TEST(Readers, JsonLinesOfTranslations) {
  const TempFolder folder;
  const DataSource source{.file = folder.write("a.jsonl", R"({"id": 3, "translation": {"de": "eins", "en": "one"}})"
                                                          "\n"
                                                          R"({"de": "zwei", "en": "two"})"),
                          .needs = {RowField::text, RowField::pair},
                          .columns = {.text = "de", .pair = "en"}};
  const auto rows = read_all(source);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].text + "|" + *rows[0].pair, "eins|one");
  EXPECT_EQ(rows[1].text + "|" + *rows[1].pair, "zwei|two");
}

TEST(Readers, CsvHasQuotesCommasAndLineEnds) {
  const TempFolder folder;
  const auto file = folder.write(
      "a.csv", "label,text\r\nx,\"He said \"\"no\"\", twice\r\nand left\"\r\n\r\ny,plain \"quote\" inside\ny,\"\"");
  const auto rows = read_all({.file = file});
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].text, "He said \"no\", twice\r\nand left");
  EXPECT_EQ(rows[0].labels, Strings{"x"});
  EXPECT_EQ(rows[1].text, "plain \"quote\" inside");
  EXPECT_EQ(rows[1].line, 5u);
  EXPECT_EQ(rows[2].text, "");
}

TEST(Readers, ExtensionsMayBeInCapitals) {
  const TempFolder folder;
  for (const char* name : {"A.CSV", "b.Csv", "c.TSV"}) {
    EXPECT_EQ(read_all({.file = folder.write(name, "text\nthe fox\n")}).at(0).text, "the fox") << name;
  }
  EXPECT_EQ(read_all({.file = folder.write("d.ndjson", R"({"text": "a"})")}).at(0).text, "a");
}

TEST(Readers, TsvTakesQuotesAsTheyAre) {
  const TempFolder folder;
  const auto file = folder.write("a.tsv", "1.5\t\"open\tsecond\n-2e-1\tfirst\t\n");
  const auto rows = read_all({.file = file, .columns = {.text = "1", .pair = "2", .score = "0"}, .header = false});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].text, "\"open");
  EXPECT_EQ(*rows[0].pair, "second");
  EXPECT_EQ(*rows[0].score, 1.5);
  EXPECT_EQ(*rows[1].score, -0.2);
  EXPECT_EQ(*rows[1].pair, "");
}

TEST(Readers, JsonLinesOfTextsWordsAndQuestions) {
  const TempFolder folder;
  const auto file = folder.write("a.jsonl", R"({"text": "a", "label": 3}
{"text": "b", "label": ["x", "y"], "score": 0.5, "text_pair": "c", "id": 7}
{"text": "d", "label": "p|q", "more": {}}
)");
  const auto texts = read_all({.file = file, .label_separator = '|'});
  ASSERT_EQ(texts.size(), 3u);
  EXPECT_EQ(texts[0].labels, Strings{"3"});
  EXPECT_EQ(texts[1].labels, (Strings{"x", "y"}));
  EXPECT_EQ(*texts[1].score, 0.5);
  EXPECT_EQ(*texts[1].pair, "c");
  EXPECT_EQ(texts[1].id, "7");
  EXPECT_EQ(texts[2].labels, (Strings{"p", "q"}));

  const auto tagged = folder.write("b.jsonl", R"({"tokens": ["In", "Rome"], "ner": ["O", "B-LOC"]})");
  const auto words = read_all({.file = tagged, .needs = kTagged, .columns = {.words = "tokens", .label = "ner"}});
  ASSERT_EQ(words.size(), 1u);
  EXPECT_EQ(words[0].words, (Strings{"In", "Rome"}));
  EXPECT_EQ(words[0].labels, (Strings{"O", "B-LOC"}));

  const auto placed = folder.write(
      "c.jsonl",
      R"({"text": "去台湾了", "label": {"address": {"台湾": [[1, 2]]}, "name": {"湾了": [[2, 3]], "台": [[1, 1]]}}})");
  const auto characters = read_all({.file = placed, .needs = kTagged});
  ASSERT_EQ(characters.size(), 1u);
  EXPECT_EQ(characters[0].words, (Strings{"去", "台", "湾", "了"}));
  EXPECT_EQ(characters[0].labels, (Strings{"O", "B-address", "I-address", "O"}));

  const auto asked = folder.write("d.jsonl", R"({"question": "Wo?", "context": "In Köln, ja.", "id": "q",
"answers": {"text": ["Köln"], "answer_start": [3]}})");
  const std::string text =
      R"({"question": "Wo?", "context": "Über Köln", "answers": {"text": ["in Köln", "Köln", "Ü"], )"
      R"("answer_start": [-1, 5, 1]}})";
  const auto questions = read_all({.file = folder.write("e.jsonl", text), .needs = kAsked});
  ASSERT_EQ(questions.size(), 1u);
  ASSERT_EQ(questions[0].answers.size(), 3u);
  EXPECT_EQ(questions[0].answers[0].start, 5u);
  EXPECT_EQ(questions[0].answers[1].text, "in Köln");
  EXPECT_EQ(questions[0].answers[2].start, AnswerSpan::kNowhere);
  EXPECT_EQ(*questions[0].pair, "Über Köln");
  error_of(ErrorKind::bad_format, [&] { read_all({.file = asked, .needs = kAsked}); });
}

TEST(Readers, JsonLinesOfWhateverATaskNeeds) {
  const TempFolder folder;
  const auto file = folder.write(
      "a.jsonl",
      R"({"text": "q", "texts": ["a", "b"], "numbers": [1, -2.5e1], "items": [7, "x"], "image": "pictures/1.png", )"
      R"("score": "of no use", "words": 3, "label": "cat"})");
  using enum RowField;
  const auto all = read_all({.file = file, .needs = {texts, numbers, items, files}});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].texts, (Strings{"a", "b"}));
  EXPECT_EQ(all[0].numbers, (std::vector{1.0, -25.0}));
  EXPECT_EQ(all[0].items, (Strings{"7", "x"}));
  EXPECT_EQ(all[0].files, std::vector{folder.path() / "pictures" / "1.png"});
  EXPECT_EQ(all[0].labels, Strings{"cat"});
  // Fields that are not asked for are passed over, whatever they hold.
  EXPECT_EQ(all[0].text, "");
  EXPECT_FALSE(all[0].score);
  EXPECT_TRUE(all[0].words.empty());

  const auto named = folder.write(
      "b.jsonl", R"({"rest": ["a"], "series": [0.5], "sounds": ["/x/1.wav", "2.wav"], "history": ["i"], "name": "n"})");
  const auto rows = read_all(
      {.file = named,
       .needs = {texts},
       .columns = {.texts = "rest", .numbers = "series", .files = "sounds", .items = "history", .id = "name"}});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].texts, Strings{"a"});
  EXPECT_EQ(rows[0].numbers, std::vector{0.5});
  EXPECT_EQ(rows[0].files, (std::vector<std::filesystem::path>{"/x/1.wav", folder.path() / "2.wav"}));
  EXPECT_EQ(rows[0].items, Strings{"i"});
  EXPECT_EQ(rows[0].id, "n");
}

TEST(Readers, TablesNameFiles) {
  const TempFolder folder;
  const auto file = folder.write("a.csv", "image,label\nzero.png,cat\n\"a, b.png\",dog\n");
  const auto rows = read_all({.file = file, .needs = {RowField::files, RowField::labels}});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].files, std::vector{folder.path() / "zero.png"});
  EXPECT_EQ(rows[1].files, std::vector{folder.path() / "a, b.png"});
  EXPECT_EQ(rows[1].labels, Strings{"dog"});
  const std::string message =
      error_of(ErrorKind::invalid_argument, [&] { read_all({.file = file, .needs = {RowField::score}}); });
  EXPECT_NE(message.find("has no column \"score\""), std::string::npos) << message;
}

TEST(Readers, ConllColumns) {
  const TempFolder folder;
  const auto file = folder.write("a.conll", "-DOCSTART- -X- O\n\nEU NNP B-ORG\n# NN O\n\t\nx  y   z\n-DOCSTART- O\n");
  const auto rows = read_all({.file = file});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].words, (Strings{"EU", "#"}));
  EXPECT_EQ(rows[0].labels, (Strings{"B-ORG", "O"}));
  EXPECT_EQ(rows[0].line, 3u);
  EXPECT_EQ(rows[1].labels, Strings{"z"});
  const auto tags = read_all({.file = file, .columns = {.words = "1", .label = "0"}});
  EXPECT_EQ(tags[0].words, (Strings{"NNP", "NN"}));
  EXPECT_EQ(tags[0].labels, (Strings{"EU", "#"}));
}

TEST(Readers, UniversalDependencies) {
  const TempFolder folder;
  const std::string rest = "\t_\t_\t_\t_\t_\n";
  const auto file = folder.write("a.conllu", "# text = vámonos al\n1-2\tvámonos\t_\t_\t_" + rest +
                                                 "1\tvamos\tir\tVERB\tV" + rest + "2\tnos\tnosotros\tPRON\tP" + rest +
                                                 "2.1\tgone\t_\tX\tX" + rest + "3\ta lo\tal\tADP\tA" + rest + "\n");
  const auto rows = read_all({.file = file});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].words, (Strings{"vamos", "nos", "a lo"}));
  EXPECT_EQ(rows[0].labels, (Strings{"VERB", "PRON", "ADP"}));
  EXPECT_EQ(read_all({.file = file, .columns = {.label = "lemma"}})[0].labels[0], "ir");
}

constexpr const char* kSquad = R"({"version": "v2.0", "data": [{"title": "t", "paragraphs": [{"context": "The fox ran.",
"qas": [{"id": "1", "question": "Who?", "answers": [{"text": "fox", "answer_start": 4}], "is_impossible": false},
{"id": "2", "question": "Why?", "answers": [], "plausible_answers": [{"text": "x", "answer_start": 0}],
"is_impossible": true}, {"id": "3", "question": "Bad?", "answers": [{"text": "dog", "answer_start": 4}]}]}]}]})";

TEST(Readers, SquadWithAndWithoutAnswer) {
  const TempFolder folder;
  const auto file = folder.write("a.json", kSquad);
  const auto reader = open_reader({.file = file, .max_bad_rows = 1});
  const auto rows = read_all(*reader);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].answers[0].text, "fox");
  EXPECT_EQ(rows[1].id, "2");
  EXPECT_TRUE(rows[1].answers.empty());
  EXPECT_EQ(reader->bad_rows().count, 1u);
  EXPECT_NE(reader->bad_rows().messages[0].find("question 3"), std::string::npos);
}

// Going back to a position gives the row that was there, with its line.
TEST(Readers, PositionsCanBeSoughtInAnyOrder) {
  const TempFolder folder;
  std::string csv = "text,label\n", conll, json;
  for (int i = 0; i < 3000; ++i) {
    const std::string n = std::to_string(i);
    csv += "\"row " + n + (i % 3 == 0 ? "\n" : "") + "\"," + n + "\n";
    conll += "w" + n + " O\nx " + n + "\n\n";
    json += "{\"text\": \"" + n + "\", \"label\": \"" + n + "\"}\n";
  }
  for (const auto& file : {folder.write("a.csv", csv), folder.write("a.conll", conll), folder.write("a.jsonl", json),
                           folder.write("a.json", kSquad)}) {
    SCOPED_TRACE(file);
    const auto reader = open_reader({.file = file, .max_bad_rows = 1});
    std::vector<std::uint64_t> positions{reader->position()};
    std::vector<Row> rows;
    for (Row row; reader->next(row);) {
      rows.push_back(row);
      positions.push_back(reader->position());
    }
    EXPECT_EQ(reader->position(), reader->end());
    const auto other = open_reader({.file = file, .max_bad_rows = 1});
    for (const std::int64_t i : permutation(static_cast<std::int64_t>(rows.size()), 1, 2)) {
      const auto index = static_cast<std::size_t>(i);
      Row row;
      other->seek(positions[index]);
      ASSERT_TRUE(other->next(row));
      ASSERT_EQ(row.line, rows[index].line);
      ASSERT_EQ(row.text, rows[index].text);
      ASSERT_EQ(row.labels, rows[index].labels);
    }
    error_of(ErrorKind::invalid_argument, [&] { other->seek(other->end() + 1); });
  }
}

TEST(Readers, MalformedRowsAreNamedCountedAndLimited) {
  const TempFolder folder;
  const auto file =
      folder.write("a.jsonl", "{\"text\": \"a\"}\n{\"txt\": 1}\n{\"text\": \"b\"}\n{\n[]\n{\"text\": 5}\n");
  EXPECT_NE(error_of(ErrorKind::bad_format, [&] { read_all({.file = file}); }).find("a.jsonl:2: text is missing"),
            std::string::npos);
  const auto reader = open_reader({.file = file, .max_bad_rows = 4});
  EXPECT_EQ(read_all(*reader).size(), 2u);
  EXPECT_EQ(reader->bad_rows().count, 4u);
  reader->seek(0);
  EXPECT_EQ(read_all(*reader).size(), 2u);
  EXPECT_EQ(reader->bad_rows().count, 4u);
  const std::string message = error_of(ErrorKind::bad_format, [&] { read_all({.file = file, .max_bad_rows = 3}); });
  for (const char* part : {"4 malformed rows", "at most 3", "a.jsonl:2", "a.jsonl:4", "a.jsonl:5", "a.jsonl:6"}) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }
}

TEST(Readers, WhatIsWrongIsSaid) {
  const TempFolder folder;
  struct Case {
    const char *name, *text, *message;
    DataSource source;
  };
  const std::string long_line(20'000'000, 'x');
  const Case cases[] = {
      {"a.txt", "fine\nbad \xFF byte\n", "a.txt:2: byte 4 of the line is not UTF-8", {}},
      {"b.txt", "lonely\n", "b.txt:1", {.label_first = true}},
      {"c.csv", "text,label\na,\"open\nb,c\n", "c.csv:2: a quote opens", {}},
      {"d.csv", "text,label\na,\"x\"y\n", "d.csv:2: \"y\" follows", {}},
      {"e.csv", "text,label\na\n", "e.csv:2: has 1 columns, expected 2", {}},
      {"f.csv", "text,label\na,\n", "f.csv:2: the label is empty", {}},
      {"g.csv", "text,score\na,1.5x\n", "g.csv:2: the score is \"1.5x\"", {}},
      {"h.csv", "text,score\na,nan\n", "h.csv:2: the score is \"nan\"", {}},
      {"i.conll", "a O\nb\n", "i.conll:2: has 1 columns", {}},
      {"j.conll", "a O\n\tO\n", "j.conll:2: the word is empty", {}},
      {"k.conllu", "1\ta\tb\n", "k.conllu:1: has 3 columns, expected 10", {}},
      {"l.jsonl", "{\"words\": [\"a\"], \"tags\": []}", "l.jsonl:1: 1 words have 0 tags", {.needs = kTagged}},
      {"m.jsonl",
       "{\"text\": \"ab\", \"label\": {\"x\": {\"b\": [[1, 2]]}}}",
       "within the 2 characters",
       {.needs = kTagged}},
      {"q.jsonl", "{\"numbers\": [1, null]}", "q.jsonl:1: numbers[1] is null", {.needs = {RowField::numbers}}},
      {"r.jsonl", "{\"items\": [1.5]}", "r.jsonl:1: items is the number 1.5", {.needs = {RowField::items}}},
      {"s.jsonl", "{\"items\": \"a\"}", "s.jsonl:1: items is a string", {.needs = {RowField::items}}},
      {"t.jsonl", "{\"file\": \"\"}", "t.jsonl:1: the file name is empty", {.needs = {RowField::files}}},
      {"u.jsonl", "{\"file\": \"a\\u0000b\"}", "u.jsonl:1: the file name has a null", {.needs = {RowField::files}}},
      {"v.jsonl", "{\"text\": \"a\"}", "v.jsonl:1: texts is missing", {.needs = {RowField::texts}}},
      {"w.jsonl", "{\"answers\": {}}", "w.jsonl:1: has answers but no context", {.needs = {RowField::answers}}},
      {"n.jsonl", "{\"text\": \"a\", \"text\": \"b\"}", "n.jsonl:1", {}},
      {"o.json", "{\"data\": {}}", "data is an object, expected a list", {}},
      {"p.txt", long_line.c_str(), "p.txt:1: a row of 20000000 bytes", {}},
  };
  for (Case each : cases) {
    each.source.file = folder.write(each.name, each.text);
    const std::string message = error_of(ErrorKind::bad_format, [&] { read_all(each.source); });
    EXPECT_NE(message.find(each.message), std::string::npos) << message.substr(0, 500);
  }
  const auto csv = folder.write("z.csv", "a,b\n1,2\n");
  EXPECT_NE(error_of(ErrorKind::invalid_argument, [&] { read_all({.file = csv}); }).find("a, b"), std::string::npos);
  error_of(ErrorKind::invalid_argument, [&] { read_all({.file = csv, .columns = {.text = "2"}}); });
  error_of(ErrorKind::invalid_argument, [&] { read_all({.file = csv, .needs = kTagged}); });
  error_of(ErrorKind::invalid_argument, [&] { read_all({.file = csv, .format = "xml"}); });
  error_of(ErrorKind::invalid_argument, [&] { read_all({.file = folder.write("z.dat", "")}); });
  error_of(ErrorKind::not_found, [&] { read_all({.file = folder.path() / "none.csv"}); });
}

// Whatever bytes change, rows are read or refused, and reading comes to an end.
TEST(Readers, DamagedFilesAreReadOrRefused) {
  const TempFolder folder;
  const std::pair<const char*, std::string> files[] = {
      {"a.csv", "text,label\n\"a \"\"b\"\"\n\",x\nc,\"d\"\n\"e\",f\n"},
      {"a.tsv", "text\tlabel\na\tb\nc\td\n"},
      {"a.jsonl", "{\"text\": \"a\", \"label\": [\"b\"], \"score\": 1}\n{\"text\": \"c\", \"label\": 1}\n"},
      {"a.conll", "a O\nb B-X\n\nc O\n"},
      {"a.conllu", "# c\n1\ta\tb\tc\td\te\tf\tg\th\ti\n1.1\ta\tb\tc\td\te\tf\tg\th\ti\n\n"},
      {"a.json", kSquad},
      {"a.txt", "0 text\n1 more\n"},
  };
  const std::string_view alphabet = "\"\",\t\n\n\r {}[]:0aO-#.\xFF\xC3\0";
  RandomStream random{.seed = 5};
  std::size_t read = 0, refused = 0;
  for (const auto& [name, text] : files) {
    for (int round = 0; round < 100; ++round) {
      std::string damaged = text;
      for (std::uint64_t i = random.uniform_integer(6); i-- > 0;) {
        const std::size_t place = random.uniform_integer(damaged.size());
        const char byte = alphabet[random.uniform_integer(alphabet.size())];
        const std::uint64_t how = random.uniform_integer(3);
        if (how == 0) damaged[place] = byte;
        if (how == 1) damaged.insert(place, 1, byte);
        if (how == 2 && damaged.size() > 1) damaged.erase(place, 1 + random.uniform_integer(3));
        if (damaged.empty()) damaged.push_back(byte);
      }
      try {
        const auto reader =
            open_reader({.file = folder.write(name, damaged), .label_first = true, .max_bad_rows = 1000});
        read += read_all(*reader).size();
        refused += reader->bad_rows().count;
        ASSERT_LE(reader->bad_rows().count, damaged.size());
      } catch (const Error&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(read, 300u);
  EXPECT_GT(refused, 100u);
}

// Fields with everything that needs quotes come back as they were.
TEST(Readers, RandomCsvComesBack) {
  const TempFolder folder;
  const std::string_view alphabet = "ab,\"\n\r \t;é";
  RandomStream random{.seed = 6};
  std::vector<Strings> written;
  std::string text = "text,text_pair\n";
  for (int row = 0; row < 2000; ++row) {
    Strings fields;
    for (int column = 0; column < 2; ++column) {
      std::string field = column == 0 ? "r" : "";
      for (std::uint64_t i = random.uniform_integer(8); i-- > 0;) {
        const std::size_t place = random.uniform_integer(alphabet.size() - 1);
        field += place == alphabet.size() - 2 ? "é" : std::string(1, alphabet[place]);
      }
      text += column == 0 ? "\"" : ",\"";
      for (const char c : field) text += c == '"' ? std::string("\"\"") : std::string(1, c);
      text += '"';
      fields.push_back(field);
    }
    text += row % 2 == 0 ? "\n" : "\r\n";
    written.push_back(fields);
  }
  const auto rows = read_all({.file = folder.write("a.csv", text)});
  ASSERT_EQ(rows.size(), written.size());
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ((Strings{rows[i].text, *rows[i].pair}), written[i]);
}

// Public data sets, with the numbers of rows that their authors give.
TEST(Readers, PublicDataSets) {
  struct Case {
    std::string file;
    std::size_t rows;
    DataSource source{};
  };
  const DataSource similarity{.format = "csv", .columns = {.pair = "1", .score = "2"}, .header = false};
  const DataSource sentiment{.format = "lines", .label_first = true};
  const Case cases[] = {
      {"banking77/train.csv", 10003, {.columns = {.label = "category"}}},
      {"banking77/test.csv", 3080, {.columns = {.label = "category"}}},
      {"sst2/stsa.binary.train", 6920, sentiment},
      {"sst2/stsa.binary.dev", 872, sentiment},
      {"sst2/stsa.binary.test", 1821, sentiment},
      {"stsb/stsb-en-train.csv", 5749, similarity},
      {"stsb/stsb-en-dev.csv", 1500, similarity},
      {"stsb/stsb-en-test.csv", 1379, similarity},
      {"chnsenticorp/chnsenticorp.zip/train.tsv", 9600, {.columns = {.text = "text_a"}}},
      {"chnsenticorp/chnsenticorp.zip/dev.tsv", 1200, {.columns = {.text = "text_a"}}},
      {"conll2003/bio2_train.txt.gz", 14041, {.format = "conll"}},
      {"conll2003/bio2_test.txt.gz", 3453, {.format = "conll"}},
      {"wnut17/wnut17train.conll", 3394},
      {"wnut17/emerging.dev.conll", 1009},
      {"wnut17/emerging.test.annotated", 1287, {.format = "conll"}},
      {"ud_english_ewt/en_ewt-ud-dev.conllu.gz", 2001},
      {"ud_english_ewt/en_ewt-ud-test.conllu.gz", 2077},
      {"ud_chinese/zh-ud-dev.conllu.gz", 500},
      {"cluener2020/dev.jsonl", 1343, {.needs = kTagged}},
      {"cluener2020/train.jsonl.gz", 10748, {.needs = kTagged}},
      {"squad/dev-v1.1.json.zip/dev-v1.1.json", 10570},
      // Less three whose answers are not in the context.
      {"cmrc2018/cmrc2018_public.zip/dev.json", 3219 - 3, {.max_bad_rows = 3}},
  };
  if (!std::filesystem::exists(test::shared_data("data"))) GTEST_SKIP() << test::shared_data("data") << " is not there";
  for (Case each : cases) {
    SCOPED_TRACE(each.file);
    const TempFolder folder;
    each.source.file = test::unpacked(folder, each.file);
    const auto rows = read_all(each.source);
    EXPECT_EQ(rows.size(), each.rows);
    std::size_t words = 0;
    for (const Row& row : rows) words += row.words.size();
    if (each.file == "conll2003/bio2_test.txt.gz") {
      EXPECT_EQ(words, 46435u);
    }
  }
}

TEST(Readers, NumbersOfLabelsGetTheirNames) {
  const test::TempFolder folder;
  const auto file = folder.write("a.csv", "text,label\na,1\nb,no\nc,2\nd,0\n");
  const auto reader = open_reader({.file = file, .label_names = {"no", "yes"}, .max_bad_rows = 1});
  std::vector<std::string> labels;
  for (Row row; reader->next(row);) labels.push_back(row.labels.at(0));
  EXPECT_EQ(labels, (std::vector<std::string>{"yes", "no", "no"}));
  ASSERT_EQ(reader->bad_rows().count, 1u);
  EXPECT_NE(reader->bad_rows().messages[0].find("a.csv:4: the label is \"2\""), std::string::npos);
}

TEST(Readers, ColumnsMayHaveAnotherSeparator) {
  const test::TempFolder folder;
  const auto file = folder.write("a.csv", "text;label\n\"a; \"\"b\"\", c\";x\nd,e;y\n");
  const auto reader = open_reader({.file = file, .separator = ';'});
  Row row;
  ASSERT_TRUE(reader->next(row));
  EXPECT_EQ(row.text, "a; \"b\", c");
  EXPECT_EQ(row.labels, std::vector<std::string>{"x"});
  ASSERT_TRUE(reader->next(row));
  EXPECT_EQ(row.text, "d,e");
  EXPECT_THROW(open_reader({.file = file, .separator = '"'}), Error);
}

TEST(Readers, WordsOfConllFilesKnowTheirLines) {
  const test::TempFolder folder;
  const auto file = folder.write("a.conll", "-DOCSTART- O\n\na X\nb Y\n\n\nc Z\n");
  const auto reader = open_reader({.file = file});
  Row row;
  ASSERT_TRUE(reader->next(row));
  EXPECT_EQ(row.line, 3u);
  EXPECT_EQ(row.label_lines, (std::vector<std::size_t>{3, 4}));
  EXPECT_EQ(row.place_of_label(1), file.string() + ":4");
  ASSERT_TRUE(reader->next(row));
  EXPECT_EQ(row.place_of_label(0), file.string() + ":7");
}

}  // namespace
}  // namespace heed
