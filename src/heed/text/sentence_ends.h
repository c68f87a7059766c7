// Where sentences end within a block of text.
#pragma once

#include <cstddef>
#include <string_view>

namespace heed::text {

// Whether the code point may end a sentence.
bool is_end_mark(char32_t point);

// Marks that follow each other, and the quotes and brackets after them.
struct EndMarks {
  std::size_t begin = 0, marks_end = 0;  // the marks
  std::size_t end = 0;                   // with quotes and brackets
  bool stops = true;                     // nothing but full stops
  bool several = false;                  // an ellipsis, if they are full stops
  bool wide = false;                     // one of them needs no space after it
  bool ellipsis = false;
  bool closes() const { return end > marks_end; }
};

class SentenceEnds {
 public:
  // Looks at the bytes of `text` before `end` alone. Both views must outlive it.
  SentenceEnds(std::string_view text, std::size_t end, std::string_view language)
      : text_(text.substr(0, end)), language_(language) {}

  // Those that begin at `at`, where an end mark is. `in_quotes`: a straight quote before it has not been closed.
  EndMarks marks_at(std::size_t at, bool in_quotes) const;
  // Whether the marks, after which there is something, end the sentence that begins at `begin`.
  bool ends_at(const EndMarks& marks, std::size_t begin) const;

 private:
  bool stop_ends(const EndMarks& marks, std::size_t begin, std::size_t next) const;
  std::string_view word_at(std::size_t at) const;
  std::string_view word_before(std::size_t end, std::size_t begin) const;
  std::size_t next_letter(std::size_t at) const;
  std::size_t spaced_closer(std::size_t at) const;

  std::string_view text_, language_;
};

}  // namespace heed::text
