// A file that is one text, in pieces: language models learn from the whole of it, blank lines and line ends included.
#include <algorithm>

#include "heed/base/error.h"
#include "heed/data/reader_formats.h"

namespace heed::detail {
namespace {

// A batch reads the pieces of its samples again, so they are small; the context of a window ends with its piece, so
// they are not too small.
constexpr std::size_t kPieceBytes = 1 << 15;

// Where the piece that begins the text ends: after a line if there is one in its second half, else after a space, else
// between two characters.
std::size_t piece_end(std::string_view text) {
  if (text.size() <= kPieceBytes) return text.size();
  for (const char border : {'\n', ' '}) {
    const std::size_t found = text.rfind(border, kPieceBytes - 1);
    if (found != std::string_view::npos && found >= kPieceBytes / 2) return found + 1;
  }
  std::size_t end = kPieceBytes;
  while (end > kPieceBytes - 4 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return end;
}

class DocumentReader : public FileReader {
 public:
  using FileReader::FileReader;

 protected:
  bool read(Row& row) override {
    if (file_.at_end()) return false;
    const std::uint64_t begin = file_.position();
    const std::string_view rest = file_.text().substr(begin);
    const std::string_view piece = rest.substr(0, piece_end(rest));
    file_.seek(begin + piece.size());
    file_.check_row(piece);
    row.file = file_.name();
    row.line = file_.line_number(begin);
    row.text = piece;
    row.continues = piece.size() < rest.size();
    return true;
  }
};

}  // namespace

std::unique_ptr<RowReader> open_document(const DataSource& source) {
  return std::make_unique<DocumentReader>(source);
}

}  // namespace heed::detail
