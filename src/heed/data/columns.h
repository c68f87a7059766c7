// Where the fields of a row are in a file. One table, which readers' users walk: the training config and its further
// heads, the flags of the command line.
#pragma once

#include <string>
#include <string_view>

namespace heed {

// Names (of the header, of JSON fields, of CoNLL-U's columns) or numbers from 0. What is not set is taken by its usual
// name, given here; what is set must be there.
struct Columns {
  std::string text{};      // "text", column 0 without a header; with answers "question"
  std::string pair{};      // "text_pair"; with answers "context". Of lines: the endings of two files' names, "de", "en"
  std::string texts{};     // "texts": a list
  std::string words{};     // "words": a list; CoNLL column 0, CoNLL-U "form"
  std::string label{};     // "label"; of words "tags", CoNLL the last column, CoNLL-U "upos"
  std::string score{};     // "score"
  std::string numbers{};   // "numbers": a list
  std::string answers{};   // "answers": {"text": [..], "answer_start": [..]}
  std::string files{};     // "files": a list; "file", "image" or "audio"
  std::string items{};     // "items": a list
  std::string messages{};  // "messages": a list; or what data/conversation.h knows
  std::string id{};        // "id"
};

struct Column {
  std::string_view name;  // --name, data.name
  std::string Columns::*place;
  std::string_view help;
};
inline constexpr Column kColumns[] = {
    {"text", &Columns::text, "column or field of the text: a name, or a number from 0"},
    {"pair", &Columns::pair, "column or field of the second text"},
    {"texts", &Columns::texts, "field of further texts: candidates, sentences to compare"},
    {"words", &Columns::words, "column or field of the words of a tagged sentence"},
    {"label", &Columns::label, "column or field of the label, or of the tags"},
    {"score", &Columns::score, "column or field of the score, for regression and similarity"},
    {"numbers", &Columns::numbers, "field of a series of numbers"},
    {"answers", &Columns::answers, "field of the answers to a question and where they start"},
    {"files", &Columns::files, "column or field of the file or files: images, sound"},
    {"items", &Columns::items, "field of a list of item ids"},
    {"messages", &Columns::messages, "field of a conversation"},
    {"id", &Columns::id, "field of the id of a question"}};

}  // namespace heed
