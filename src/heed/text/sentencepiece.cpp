#include "heed/text/sentencepiece.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <tuple>

#include "heed/base/error.h"
#include "heed/base/utf8.h"
#include "heed/text/charsmap.h"
#include "heed/text/pipelines.h"
#include "heed/text/vocabulary.h"

namespace heed::text {
namespace {

// Finding the merges of a piece takes time by the square of its length.
constexpr std::size_t kMaxPieceBytes = 4096;

// The fields of one protobuf message, one after the other.
class Message {
 public:
  Message(std::string_view bytes, const std::string& file) : bytes_(bytes), file_(file) {}

  // Goes to the next field; false at the end.
  bool next() {
    if (at_ == bytes_.size()) return false;
    const std::uint64_t key = read_varint();
    number_ = key >> 3;
    wire_ = key & 7;
    switch (wire_) {
      case 0: value_ = read_varint(); break;
      case 1: text_ = take(8); break;
      case 2: text_ = take(read_varint()); break;
      case 5: text_ = take(4); break;
      default: fail(ErrorKind::bad_format, file_, ": protobuf field ", number_, " has wire type ", wire_);
    }
    return true;
  }
  std::uint64_t number() const { return number_; }

  std::uint64_t integer() const {
    expect(0, "an integer");
    return value_;
  }
  std::int32_t signed_integer() const {
    const auto value = static_cast<std::int64_t>(integer());
    HEED_CHECK_AS(bad_format, std::in_range<std::int32_t>(value), file_, ": protobuf field ", number_, " is ", value);
    return static_cast<std::int32_t>(value);
  }
  std::string_view bytes() const {
    expect(2, "bytes");
    return text_;
  }
  std::string utf8() const {
    HEED_CHECK_AS(bad_format, !utf8_find_invalid(bytes()), file_, ": protobuf field ", number_, " is not UTF-8");
    return std::string(text_);
  }
  float number_f32() const {
    expect(5, "a float");
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 4; ++i) bits |= std::uint32_t{static_cast<unsigned char>(text_[i])} << 8 * i;
    return std::bit_cast<float>(bits);
  }

 private:
  void expect(std::uint64_t wire, std::string_view what) const {
    HEED_CHECK_AS(bad_format, wire_ == wire, file_, ": protobuf field ", number_, " has wire type ", wire_,
                  ", expected ", what);
  }
  std::uint64_t read_varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      HEED_CHECK_AS(bad_format, at_ < bytes_.size(), file_, ": a protobuf message ends inside a number");
      const auto byte = static_cast<unsigned char>(bytes_[at_++]);
      value |= std::uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return value;
    }
    fail(ErrorKind::bad_format, file_, ": a protobuf number has more than 64 bits");
  }
  std::string_view take(std::uint64_t count) {
    HEED_CHECK_AS(bad_format, count <= bytes_.size() - at_, file_, ": protobuf field ", number_, " has ", count,
                  " bytes where ", bytes_.size() - at_, " are left");
    at_ += count;
    return bytes_.substr(at_ - count, count);
  }

  std::string_view bytes_;
  const std::string& file_;
  std::size_t at_ = 0;
  std::uint64_t number_ = 0, wire_ = 0, value_ = 0;
  std::string_view text_;
};

SentencePieceModel::Entry read_piece(std::string_view bytes, std::size_t index, const std::string& file) {
  SentencePieceModel::Entry entry;
  for (Message message(bytes, file); message.next();) {
    if (message.number() == 1) entry.piece = message.utf8();
    if (message.number() == 2) entry.score = message.number_f32();
    if (message.number() == 3) {
      const std::uint64_t type = message.integer();
      HEED_CHECK_AS(bad_format, type >= 1 && type <= 6, file, ": piece ", index, " has type ", type,
                    ", expected 1 to 6");
      entry.type = static_cast<PieceType>(type);
    }
  }
  HEED_CHECK_AS(bad_format, !entry.piece.empty() && entry.piece.size() <= kMaxPieceBytes, file, ": piece ", index,
                " has ", entry.piece.size(), " bytes, expected 1 to ", kMaxPieceBytes);
  HEED_CHECK_AS(bad_format, entry.score == entry.score, file, ": the score of piece ", index, " is not a number");
  return entry;
}

void read_trainer(std::string_view bytes, SentencePieceModel& model, const std::string& file) {
  for (Message message(bytes, file); message.next();) {
    switch (message.number()) {
      case 3: {
        const std::uint64_t kind = message.integer();
        HEED_CHECK_AS(bad_format, kind == 1 || kind == 2, file, ": model_type is ", kind,
                      ", expected 1 (unigram) or 2 (bpe)");
        model.kind = static_cast<SentencePieceModel::Kind>(kind);
        break;
      }
      case 24:
        HEED_CHECK_AS(bad_format, message.integer() == 0, file, ": treat_whitespace_as_suffix is not supported");
        break;
      case 35: model.byte_fallback = message.integer() != 0; break;
      case 40: model.unk_id = message.signed_integer(); break;
      case 45: model.unk_piece = message.utf8(); break;
      case 46: model.bos_piece = message.utf8(); break;
      case 47: model.eos_piece = message.utf8(); break;
      case 48: model.pad_piece = message.utf8(); break;
      default: break;  // how it was trained
    }
  }
}

void read_normalizer(std::string_view bytes, SentencePieceModel& model, const std::string& file) {
  for (Message message(bytes, file); message.next();) {
    if (message.number() == 2) model.charsmap = message.bytes();
    if (message.number() == 3) model.add_dummy_prefix = message.integer() != 0;
  }
}

struct ImpliedMerge {
  std::string left, right;
  float score;
  std::size_t left_length, right_length;  // characters
  std::int32_t left_id, right_id;
};

// Every way to cut a piece into two pieces, by falling score of the whole. The order of equal ones is that of
// HuggingFace's converter: longer left parts first, then longer right parts, then by piece, then lower ids.
std::vector<ImpliedMerge> implied_merges(const SentencePieceModel& model) {
  Vocabulary vocabulary;
  for (std::size_t i = 0; i < model.pieces.size(); ++i) {
    vocabulary.add(model.pieces[i].piece, static_cast<std::int32_t>(i), "[sentencepiece]");
  }
  std::vector<ImpliedMerge> merges;
  for (const SentencePieceModel::Entry& entry : model.pieces) {
    const std::size_t first = merges.size(), length = utf8_length(entry.piece);
    std::size_t index = 0;
    for (const CodePoint& point : Utf8View(entry.piece)) {
      const std::size_t characters = index++;
      if (point.offset == 0) continue;
      const std::string_view left = std::string_view(entry.piece).substr(0, point.offset);
      const std::string_view right = std::string_view(entry.piece).substr(point.offset);
      const std::optional<std::int32_t> left_id = vocabulary.find(left), right_id = vocabulary.find(right);
      if (!left_id || !right_id) continue;
      merges.push_back(
          {std::string(left), std::string(right), entry.score, characters, length - characters, *left_id, *right_id});
    }
    std::sort(merges.begin() + static_cast<std::ptrdiff_t>(first), merges.end(), [](const auto& a, const auto& b) {
      return std::pair(a.left_id, a.right_id) < std::pair(b.left_id, b.right_id);
    });
  }
  std::ranges::stable_sort(merges, [](const ImpliedMerge& a, const ImpliedMerge& b) {
    return std::tuple(a.score, a.left_length, a.right_length) > std::tuple(b.score, b.left_length, b.right_length);
  });
  return merges;
}

}  // namespace

SentencePieceModel parse_sentencepiece(std::string_view bytes, const std::string& file) {
  SentencePieceModel model;
  for (Message message(bytes, file); message.next();) {
    if (message.number() == 1) model.pieces.push_back(read_piece(message.bytes(), model.pieces.size(), file));
    if (message.number() == 2) read_trainer(message.bytes(), model, file);
    if (message.number() == 3) read_normalizer(message.bytes(), model, file);
  }
  HEED_CHECK_AS(bad_format, !model.pieces.empty(), file, ": has no pieces; expected a SentencePiece model");
  HEED_CHECK_AS(bad_format, model.pieces.size() <= static_cast<std::size_t>(Vocabulary::kMaxIds), file, ": has ",
                model.pieces.size(), " pieces, expected up to ", Vocabulary::kMaxIds);
  HEED_CHECK_AS(bad_format, model.unk_id >= 0 && static_cast<std::size_t>(model.unk_id) < model.pieces.size(), file,
                ": unk_id is ", model.unk_id, ", expected 0 to ", model.pieces.size() - 1);
  if (!model.charsmap.empty()) static_cast<void>(Charsmap(model.charsmap, file));
  return model;
}

void use_sentencepiece_pipeline(Json& tokenizer, const SentencePieceModel& model) {
  Json steps = Json::array();
  if (!model.charsmap.empty()) {
    steps.push_back({{"type", "Precompiled"}, {"precompiled_charsmap", base64_encode(model.charsmap)}});
  }
  steps.push_back({{"type", "Strip"}, {"strip_left", false}, {"strip_right", true}});
  steps.push_back({{"type", "Replace"}, {"pattern", {{"Regex", " {2,}"}}}, {"content", "▁"}});
  use_metaspace_pipeline(tokenizer, {{"type", "Sequence"}, {"normalizers", std::move(steps)}});
  if (model.add_dummy_prefix) return;
  tokenizer["pre_tokenizer"]["prepend_scheme"] = "never";
  tokenizer["decoder"]["prepend_scheme"] = "never";
}

void use_fairseq_ids(SentencePieceModel& model, const std::vector<std::string>& languages) {
  using Entry = SentencePieceModel::Entry;
  std::vector<Entry> pieces = {{"<s>", 0, PieceType::kControl},
                               {"<pad>", 0, PieceType::kControl},
                               {"</s>", 0, PieceType::kControl},
                               {"<unk>", 0, PieceType::kUnknown}};
  pieces.insert(pieces.end(), model.pieces.begin() + std::min<std::ptrdiff_t>(3, std::ssize(model.pieces)),
                model.pieces.end());
  for (const std::string& language : languages) pieces.push_back({language, 0, PieceType::kControl});
  pieces.push_back({"<mask>", 0, PieceType::kControl});
  model.pieces = std::move(pieces);
  model.unk_id = 3;
}

Json sentencepiece_model_json(const SentencePieceModel& model) {
  if (model.kind == SentencePieceModel::Kind::kUnigram) {
    Json vocab = Json::array();
    for (const auto& entry : model.pieces) vocab.push_back(Json::array({entry.piece, entry.score}));
    return {{"type", "Unigram"}, {"unk_id", model.unk_id}, {"vocab", vocab}, {"byte_fallback", model.byte_fallback}};
  }
  Json vocab = Json::object(), merges = Json::array();
  for (std::size_t i = 0; i < model.pieces.size(); ++i) vocab[model.pieces[i].piece] = i;
  for (const ImpliedMerge& merge : implied_merges(model)) merges.push_back(Json::array({merge.left, merge.right}));
  return {{"type", "BPE"},
          {"dropout", nullptr},
          {"unk_token", model.unk_piece},
          {"continuing_subword_prefix", nullptr},
          {"end_of_word_suffix", nullptr},
          {"fuse_unk", true},
          {"byte_fallback", model.byte_fallback},
          {"ignore_merges", false},
          {"vocab", std::move(vocab)},
          {"merges", std::move(merges)}};
}

}  // namespace heed::text
