#include "heed/text/legacy.h"

#include <algorithm>
#include <map>
#include <utility>

#include "heed/base/file.h"
#include "heed/base/utf8.h"
#include "heed/text/charsmap.h"
#include "heed/text/legacy_files.h"
#include "heed/text/legacy_translation.h"
#include "heed/text/pipelines.h"
#include "heed/text/sentencepiece.h"

namespace heed::text {
namespace {

namespace fs = std::filesystem;

// The lines of a file, without their ends.
std::vector<std::string> read_lines(const fs::path& path) {
  const std::string text = read_file(path, kMostLegacyBytes);
  const std::optional<std::size_t> invalid = utf8_find_invalid(text);
  HEED_CHECK_AS(bad_format, !invalid, path.string(), ": is not UTF-8 at byte ", *invalid);
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    if (!lines.back().empty() && lines.back().back() == '\r') lines.back().pop_back();
    at = end + 1;
  }
  return lines;
}

// What is being built of the files.
class Converter : private LegacyFiles {
 public:
  explicit Converter(const fs::path& directory) : LegacyFiles(directory) {}

  Json run() {
    if (is_translation_tokenizer(*this)) return translation_tokenizer_json(*this, Side::source);
    if (fs::exists(directory() / "vocab.txt")) return bert();
    if (fs::exists(directory() / "vocab.json") && fs::exists(directory() / "merges.txt")) return byte_level_bpe();
    for (const char* name : {"spiece.model", "sentencepiece.bpe.model", "tokenizer.model"}) {
      if (fs::exists(directory() / name)) return sentencepiece(directory() / name);
    }
    fail(ErrorKind::not_found, directory().string(),
         ": no tokenizer.json, vocab.txt, vocab.json with merges.txt, spiece.model, sentencepiece.bpe.model or "
         "tokenizer.model");
  }

  Json sentencepiece(const fs::path& path) {
    const std::string file = path.string();
    expect_family({"T5", "XLMRoberta", "Albert", "Llama"}, config_file());
    const std::string kind = family();
    HEED_CHECK_AS(bad_format, !kind.empty() || model_type().empty(), file, ": config.json has the model_type \"",
                  model_type(),
                  "\", and which ids and special tokens that makes of the pieces is known for albert, llama, ",
                  "m2m_100, marian, mbart, mt5, pegasus, t5, umt5 and xlm-roberta alone; expected a tokenizer.json, as "
                  "HuggingFace's save_pretrained writes");
    SentencePieceModel model = parse_sentencepiece(read_file(path, kMostLegacyBytes), file);
    if (kind == "XLMRoberta") use_fairseq_ids(model, {});
    if (kind == "Albert") use_albert_scores(model);
    if (kind == "T5") {
      for (auto i = setting<std::int64_t>("extra_ids", 100); i > 0; --i) {
        model.pieces.push_back({"<extra_id_" + std::to_string(i - 1) + ">", 0, PieceType::kControl});
        HEED_CHECK_AS(bad_format, i <= 100'000, config_file(), ": extra_ids is ", i, ", expected up to 100000");
      }
    }
    Json tokenizer = bare_tokenizer(sentencepiece_model_json(model));
    for (std::size_t i = 0; i < model.pieces.size(); ++i) {
      const PieceType type = model.pieces[i].type;
      if (type != PieceType::kControl && (type != PieceType::kUserDefined || kind == "Albert")) continue;
      Json token = added_token(model.pieces[i].piece, static_cast<std::int32_t>(i), type == PieceType::kControl);
      token["normalized"] = false;
      tokenizer["added_tokens"].push_back(std::move(token));
    }
    if (kind == "Llama") {
      use_llama_pipeline(tokenizer, file);
    } else {
      use_sentencepiece_pipeline(tokenizer, model);
      if (kind == "Albert") tokenizer["normalizer"] = albert_normalizer(model);
      add_tokens(tokenizer, sentencepiece_specials(kind, model), file);
      if (kind == "T5") use_listed_ids(tokenizer, model);
      const auto id_of = ids_of(tokenizer, file);
      if (kind == "T5")
        tokenizer["post_processor"] = template_processing("$A:0 </s>:0", "$A:0 </s>:0 $B:0 </s>:0", id_of);
      if (kind == "XLMRoberta") {
        tokenizer["post_processor"] =
            template_processing("<s>:0 $A:0 </s>:0", "<s>:0 $A:0 </s>:0 </s>:0 $B:0 </s>:0", id_of);
      }
      if (kind == "Albert") {
        Json steps = Json::array({{{"type", "WhitespaceSplit"}}, std::move(tokenizer["pre_tokenizer"])});
        tokenizer["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", std::move(steps)}};
        tokenizer["post_processor"] =
            template_processing("[CLS]:0 $A:0 [SEP]:0", "[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1", id_of);
      }
    }
    return tokenizer;
  }

 private:
  Json bert() {
    const std::string file = (directory() / "vocab.txt").string();
    expect_family({"Bert", "DistilBert", "Electra", "MobileBert", "MPNet", "Basic"}, config_file());
    const bool mpnet = family() == "MPNet";
    const std::vector<std::string> lines = read_lines(file);
    Json vocab = Json::object();
    for (std::size_t i = 0; i < lines.size(); ++i) vocab[lines[i]] = i;
    const std::string unknown = special("unk_token", "[UNK]").content;
    const std::string cls = special("cls_token", mpnet ? "<s>" : "[CLS]").content;
    const std::string sep = special("sep_token", mpnet ? "</s>" : "[SEP]").content;
    SpecialToken mask = special("mask_token", mpnet ? "<mask>" : "[MASK]");
    mask.lstrip |= mpnet;
    Json tokenizer = bare_tokenizer({{"type", "WordPiece"},
                                     {"unk_token", unknown},
                                     {"continuing_subword_prefix", "##"},
                                     {"max_input_chars_per_word", 100},
                                     {"vocab", std::move(vocab)}});
    use_bert_pipeline(tokenizer, {flag("do_lower_case", true), flag("tokenize_chinese_chars", true),
                                  setting("strip_accents", Json())});
    add_tokens(tokenizer, {special("pad_token", mpnet ? "<pad>" : "[PAD]"), {unknown}, {cls}, {sep}, mask}, file);
    const std::string first = cls + ":0 $A:0 " + sep + ":0", between = mpnet ? " " + sep + ":0" : "";
    tokenizer["post_processor"] =
        template_processing(first, first + between + " $B:1 " + sep + ":1", ids_of(tokenizer, file));
    return tokenizer;
  }

  Json byte_level_bpe() {
    const std::string file = (directory() / "vocab.json").string(), merges_file = (directory() / "merges.txt").string();
    expect_family({"GPT2", "Roberta", "Bart", "Longformer"}, config_file());
    const std::string kind = family();
    const bool roberta = !kind.empty() && kind != "GPT2";
    Json merges = Json::array();
    for (std::string& line : read_lines(merges_file)) {
      if (!line.empty() && !line.starts_with("#version")) merges.push_back(std::move(line));
    }
    Json tokenizer = bare_tokenizer({{"type", "BPE"},
                                     {"dropout", nullptr},
                                     {"unk_token", nullptr},
                                     {"continuing_subword_prefix", ""},
                                     {"end_of_word_suffix", ""},
                                     {"fuse_unk", false},
                                     {"byte_fallback", false},
                                     {"ignore_merges", false},
                                     {"vocab", parse_json(read_file(file, kMostLegacyBytes), file)},
                                     {"merges", std::move(merges)}});
    const bool prefix_space = flag("add_prefix_space", false);
    use_byte_level_pipeline(tokenizer, prefix_space);
    if (!roberta) {
      const std::string end = "<|endoftext|>";
      add_tokens(tokenizer, {special("bos_token", end), special("eos_token", end), special("unk_token", end)}, file);
      return tokenizer;
    }
    const SpecialToken cls = special("cls_token", "<s>"), sep = special("sep_token", "</s>");
    SpecialToken mask = special("mask_token", "<mask>");
    mask.lstrip = true;
    add_tokens(tokenizer, {cls, special("pad_token", "<pad>"), sep, special("unk_token", "<unk>"), mask}, file);
    const auto id_of = ids_of(tokenizer, file);
    tokenizer["post_processor"] = {{"type", "RobertaProcessing"},
                                   {"sep", Json::array({sep.content, id_of(sep.content)})},
                                   {"cls", Json::array({cls.content, id_of(cls.content)})},
                                   {"trim_offsets", true},
                                   {"add_prefix_space", prefix_space}};
    return tokenizer;
  }

  // The ids of added tokens are taken as they are listed, also where the pieces have others. Then these lose theirs.
  static void use_listed_ids(Json& tokenizer, const SentencePieceModel& model) {
    const Json& added = tokenizer["added_tokens"];
    auto next = std::ssize(model.pieces);
    std::map<std::int64_t, std::string> listed;
    bool differs = false;
    for (const Json& token : added) {
      const auto id = token["id"].get<std::int64_t>();
      listed[id] = token["content"];
      if (id >= 0 && id < std::ssize(model.pieces)) {
        differs |= model.pieces[static_cast<std::size_t>(id)].piece != listed[id];
      } else {
        differs |= id != next++;
      }
    }
    if (!differs) return;
    Json vocab = Json::object(), ids = Json::array();
    for (std::int64_t i = 0; i < std::ssize(model.pieces); ++i) {
      ids.push_back(i);
      if (!listed.contains(i)) vocab[model.pieces[static_cast<std::size_t>(i)].piece] = i;
    }
    for (const auto& [id, content] : listed) vocab[content] = id;
    const std::string unknown = listed.contains(model.unk_id)
                                    ? listed[model.unk_id]
                                    : model.pieces[static_cast<std::size_t>(model.unk_id)].piece;
    tokenizer["model"] = {{"type", "Renumbered"},
                          {"unk_token", unknown},
                          {"pieces", std::move(tokenizer["model"])},
                          {"ids", std::move(ids)},
                          {"vocab", std::move(vocab)}};
  }

  // "7," is "7" and "," rather than a piece of its own. Symbols that its authors defined, ( ) " - . and the like, need
  // nothing: they are pieces with the best score, which leaves what follows them inside its word.
  static void use_albert_scores(SentencePieceModel& model) {
    for (SentencePieceModel::Entry& entry : model.pieces) {
      const std::size_t size = entry.piece.size();
      const bool number = size >= 2 && entry.piece[size - 2] >= '0' && entry.piece[size - 2] <= '9';
      if (number && entry.piece.back() == ',') entry.score -= 100;
    }
  }

  std::vector<SpecialToken> sentencepiece_specials(const std::string& kind, const SentencePieceModel& model) const {
    if (kind == "Albert") {
      return {special("pad_token", "<pad>"),
              special("unk_token", "<unk>"),
              special("cls_token", "[CLS]"),
              special("sep_token", "[SEP]"),
              {special("mask_token", "[MASK]").content, true}};
    }
    if (kind == "XLMRoberta") {
      return {{"<s>"}, {"<pad>"}, {"</s>"}, {"<unk>"}, {special("mask_token", "<mask>").content, true}};
    }
    if (kind == "T5") {
      return {special("pad_token", "<pad>"), special("eos_token", "</s>"), special("unk_token", "<unk>")};
    }
    return {special("unk_token", model.pieces[static_cast<std::size_t>(model.unk_id)].piece)};
  }

  Json albert_normalizer(const SentencePieceModel& model) const {
    Json steps = Json::array();
    for (const char* quotes : {"``", "''"}) {
      steps.push_back({{"type", "Replace"}, {"pattern", {{"String", quotes}}}, {"content", "\""}});
    }
    if (!flag("keep_accents", false)) {
      steps.push_back({{"type", "NFKD"}});
      steps.push_back({{"type", "StripAccents"}});
    }
    if (flag("do_lower_case", true)) steps.push_back({{"type", "Lowercase"}});
    if (!model.charsmap.empty()) {
      steps.push_back({{"type", "Precompiled"}, {"precompiled_charsmap", base64_encode(model.charsmap)}});
    }
    steps.push_back({{"type", "Replace"}, {"pattern", {{"Regex", " {2,}"}}}, {"content", " "}});
    return {{"type", "Sequence"}, {"normalizers", std::move(steps)}};
  }

  void use_llama_pipeline(Json& tokenizer, const std::string& file) const {
    const auto replace = [](const char* from, const char* to) -> Json {
      return {{"type", "Replace"}, {"pattern", {{"String", from}}}, {"content", to}};
    };
    const Json prepend = {{"type", "Prepend"}, {"prepend", "▁"}};
    tokenizer["normalizer"] = {{"type", "Sequence"}, {"normalizers", Json::array({prepend, replace(" ", "▁")})}};
    const Json bytes = {{"type", "ByteFallback"}}, fuse = {{"type", "Fuse"}};
    const Json strip = {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}};
    tokenizer["decoder"] = {{"type", "Sequence"}, {"decoders", Json::array({replace("▁", " "), bytes, fuse, strip})}};
    const std::string bos = special("bos_token", "<s>").content, eos = special("eos_token", "</s>").content;
    add_tokens(tokenizer, {special("unk_token", "<unk>"), {bos}, {eos}}, file);
    const bool with_bos = flag("add_bos_token", true), with_eos = flag("add_eos_token", false);
    const auto side = [&](const std::string& sequence, const std::string& type) {
      return (with_bos ? bos + ":" + type + " " : "") + "$" + sequence + ":" + type +
             (with_eos ? " " + eos + ":" + type : "");
    };
    tokenizer["post_processor"] =
        template_processing(side("A", "0"), side("A", "0") + " " + side("B", "1"), ids_of(tokenizer, file));
  }
};

}  // namespace

Json legacy_tokenizer_json(const fs::path& directory) {
  return Converter(directory).run();
}

std::optional<Json> legacy_target_tokenizer_json(const fs::path& directory) {
  const LegacyFiles files(directory);
  if (!has_target_tokenizer(files)) return {};
  return translation_tokenizer_json(files, Side::target);
}

Json sentencepiece_tokenizer_json(const fs::path& model) {
  return Converter(model).sentencepiece(model);  // a file has no files inside that could say more
}

}  // namespace heed::text
