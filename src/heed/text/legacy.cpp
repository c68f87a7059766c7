#include "heed/text/legacy.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "heed/base/file.h"
#include "heed/base/join.h"
#include "heed/base/utf8.h"
#include "heed/text/charsmap.h"
#include "heed/text/pipelines.h"
#include "heed/text/sentencepiece.h"

namespace heed::text {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxBytes = std::size_t{1} << 30;

Json read_json_if_there(const fs::path& path) {
  return fs::exists(path) ? parse_json(read_file(path, kMaxBytes), path.string()) : Json::object();
}

// The lines of a file, without their ends.
std::vector<std::string> read_lines(const fs::path& path) {
  const std::string text = read_file(path, kMaxBytes);
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

struct SpecialToken {
  std::string content;
  bool lstrip = false;
};

// What the small files of a directory say, and what is being built.
class Converter {
 public:
  explicit Converter(fs::path directory)
      : directory_(std::move(directory)),
        config_file_((directory_ / "tokenizer_config.json").string()),
        config_(read_json_if_there(config_file_)),
        special_map_(read_json_if_there(directory_ / "special_tokens_map.json")) {
    HEED_CHECK_AS(bad_format, config_.is_object() && special_map_.is_object(), config_file_,
                  ": it or special_tokens_map.json is not an object");
  }

  Json run() {
    if (fs::exists(directory_ / "vocab.txt")) return bert();
    if (fs::exists(directory_ / "vocab.json") && fs::exists(directory_ / "merges.txt")) return byte_level_bpe();
    for (const char* name : {"spiece.model", "sentencepiece.bpe.model", "tokenizer.model"}) {
      if (fs::exists(directory_ / name)) return sentencepiece(directory_ / name);
    }
    fail(ErrorKind::not_found, directory_.string(),
         ": no tokenizer.json, vocab.txt, vocab.json with merges.txt, spiece.model, sentencepiece.bpe.model or "
         "tokenizer.model");
  }

  Json sentencepiece(const fs::path& path) {
    const std::string file = path.string();
    expect_family({"T5", "XLMRoberta", "Albert", "Llama"}, config_file_);
    const std::string kind = family();
    HEED_CHECK_AS(
        bad_format, !kind.empty() || model_type().empty(), file, ": config.json has the model_type \"", model_type(),
        "\", and which ids and special tokens that makes of the pieces is known for albert, ",
        "llama, t5 and xlm-roberta alone; expected a tokenizer.json, as HuggingFace's save_pretrained writes");
    SentencePieceModel model = parse_sentencepiece(read_file(path, kMaxBytes), file);
    if (kind == "XLMRoberta") use_fairseq_ids(model);
    if (kind == "Albert") use_albert_scores(model);
    if (kind == "T5") {
      for (auto i = json_optional<std::int64_t>(config_, "extra_ids", 100, config_file_); i > 0; --i) {
        model.pieces.push_back({"<extra_id_" + std::to_string(i - 1) + ">", 0, PieceType::kControl});
        HEED_CHECK_AS(bad_format, i <= 100'000, config_file_, ": extra_ids is ", i, ", expected up to 100000");
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
      use_metaspace_pipeline(tokenizer, kind == "Albert" ? albert_normalizer(model) : sentencepiece_normalizer(model));
      if (!model.add_dummy_prefix) tokenizer["pre_tokenizer"]["prepend_scheme"] = "never";
      if (!model.add_dummy_prefix) tokenizer["decoder"]["prepend_scheme"] = "never";
      add_tokens(tokenizer, sentencepiece_specials(kind, model), file);
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
  // "Bert" for BertTokenizer and BertTokenizerFast; "" when nothing says.
  std::string family() const {
    auto name = json_optional<std::string>(config_, "tokenizer_class", "", config_file_);
    for (const std::string_view ending : {"Fast", "Tokenizer"}) {
      if (name.ends_with(ending)) name.resize(name.size() - ending.size());
    }
    if (!name.empty() && name != "PreTrained") return name;
    static const std::map<std::string, std::string> kFamilies = {{"bert", "Bert"},
                                                                 {"distilbert", "DistilBert"},
                                                                 {"electra", "Electra"},
                                                                 {"gpt2", "GPT2"},
                                                                 {"t5", "T5"},
                                                                 {"roberta", "Roberta"},
                                                                 {"xlm-roberta", "XLMRoberta"},
                                                                 {"albert", "Albert"},
                                                                 {"mpnet", "MPNet"},
                                                                 {"llama", "Llama"}};
    const auto found = kFamilies.find(model_type());
    return found == kFamilies.end() ? "" : found->second;
  }

  // Of config.json; "" when nothing says.
  std::string model_type() const {
    const fs::path path = directory_ / "config.json";
    return json_optional<std::string>(read_json_if_there(path), "model_type", "", path.string());
  }

  void expect_family(std::initializer_list<std::string_view> known, const std::string& file) const {
    const std::string found = family();
    if (found.empty() || std::ranges::find(known, found) != known.end()) return;
    fail(ErrorKind::bad_format, file, ": the tokenizer is of the family ", found, ", expected one of ",
         join(known, ", "));
  }

  bool flag(const std::string& key, bool fallback) const { return json_optional(config_, key, fallback, config_file_); }

  // "cls_token" and the like: a string, or an object with its content.
  SpecialToken special(const std::string& role, const std::string& fallback) const {
    for (const Json* source : {&config_, &special_map_}) {
      const auto found = source->find(role);
      if (found == source->end() || found->is_null()) continue;
      if (found->is_string()) return {found->get<std::string>()};
      return {json_required<std::string>(*found, "content", config_file_ + ": " + role),
              json_optional(*found, "lstrip", false, config_file_ + ": " + role)};
    }
    return {fallback};
  }

  // All tokens that are matched before the model sees the text: those listed with their ids, or the special ones.
  void add_tokens(Json& tokenizer, const std::vector<SpecialToken>& specials, const std::string& file) const {
    std::map<std::int32_t, Json> added;
    const Json& vocab = tokenizer["model"]["vocab"];
    std::int32_t next = 0;
    if (vocab.is_object()) {
      for (const auto& item : vocab.items()) next = std::max(next, json_as<std::int32_t>(item.value(), "id", file) + 1);
    } else {
      next = static_cast<std::int32_t>(vocab.size());
    }
    for (const Json& old : tokenizer["added_tokens"]) added[old.at("id").get<std::int32_t>()] = old;
    const auto listed = json_optional(config_, "added_tokens_decoder", Json::object(), config_file_);
    HEED_CHECK_AS(bad_format, listed.is_object(), config_file_, ": added_tokens_decoder is not an object");
    for (const auto& item : listed.items()) {
      const std::string context = config_file_ + ": added_tokens_decoder." + item.key();
      const auto id = json_as<std::int32_t>(parse_json(item.key(), context), "id", context);
      Json token = added_token(json_required<std::string>(item.value(), "content", context), id, false);
      for (const char* key : {"single_word", "lstrip", "rstrip", "normalized", "special"}) {
        token[key] = json_optional(item.value(), key, token[key].get<bool>(), context);
      }
      added[id] = std::move(token);
    }
    const fs::path path = directory_ / "added_tokens.json";
    const Json more = read_json_if_there(path);
    HEED_CHECK_AS(bad_format, more.is_object(), path.string(), ": is not an object");
    for (const auto& item : more.items()) {
      const auto id = json_as<std::int32_t>(item.value(), item.key(), path.string());
      if (!added.contains(id)) added[id] = added_token(item.key(), id, false);
    }
    for (const SpecialToken& token : specials) {
      const auto same = [&](const auto& entry) { return entry.second["content"] == token.content; };
      if (const auto found = std::ranges::find_if(added, same); found != added.end()) {
        if (listed.empty()) found->second["special"] = true;
        continue;
      }
      const std::optional<std::int32_t> known = find_id(tokenizer["model"], token.content);
      if (!added.empty()) next = std::max(next, added.rbegin()->first + 1);
      const std::int32_t id = known ? *known : next++;
      added[id] = added_token(token.content, id, true);
      added[id]["lstrip"] = token.lstrip;
    }
    tokenizer["added_tokens"] = Json::array();
    for (auto& [id, token] : added) tokenizer["added_tokens"].push_back(std::move(token));
  }

  static std::optional<std::int32_t> find_id(const Json& model, const std::string& token) {
    try {
      return id_in_model(model, token, "");
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  std::function<std::int32_t(const std::string&)> ids_of(const Json& tokenizer, const std::string& file) const {
    return [&tokenizer, file](const std::string& token) {
      for (const Json& added : tokenizer["added_tokens"]) {
        if (added["content"] == token) return added["id"].get<std::int32_t>();
      }
      return id_in_model(tokenizer["model"], token, file);
    };
  }

  Json bert() {
    const std::string file = (directory_ / "vocab.txt").string();
    expect_family({"Bert", "DistilBert", "Electra", "MobileBert", "MPNet", "Basic"}, config_file_);
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
                                  json_optional(config_, "strip_accents", Json(), config_file_)});
    add_tokens(tokenizer, {special("pad_token", mpnet ? "<pad>" : "[PAD]"), {unknown}, {cls}, {sep}, mask}, file);
    const std::string first = cls + ":0 $A:0 " + sep + ":0", between = mpnet ? " " + sep + ":0" : "";
    tokenizer["post_processor"] =
        template_processing(first, first + between + " $B:1 " + sep + ":1", ids_of(tokenizer, file));
    return tokenizer;
  }

  Json byte_level_bpe() {
    const std::string file = (directory_ / "vocab.json").string(), merges_file = (directory_ / "merges.txt").string();
    expect_family({"GPT2", "Roberta", "Bart", "Longformer"}, config_file_);
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
                                     {"vocab", parse_json(read_file(file, kMaxBytes), file)},
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

  static Json sentencepiece_normalizer(const SentencePieceModel& model) {
    Json steps = Json::array();
    if (!model.charsmap.empty()) {
      steps.push_back({{"type", "Precompiled"}, {"precompiled_charsmap", base64_encode(model.charsmap)}});
    }
    steps.push_back({{"type", "Strip"}, {"strip_left", false}, {"strip_right", true}});
    steps.push_back({{"type", "Replace"}, {"pattern", {{"Regex", " {2,}"}}}, {"content", "▁"}});
    return {{"type", "Sequence"}, {"normalizers", std::move(steps)}};
  }

  // fairseq put <s>, <pad>, </s>, <unk> before the pieces and <mask> after them.
  static void use_fairseq_ids(SentencePieceModel& model) {
    using Entry = SentencePieceModel::Entry;
    std::vector<Entry> pieces = {{"<s>", 0, PieceType::kControl},
                                 {"<pad>", 0, PieceType::kControl},
                                 {"</s>", 0, PieceType::kControl},
                                 {"<unk>", 0, PieceType::kUnknown}};
    pieces.insert(pieces.end(), model.pieces.begin() + std::min<std::ptrdiff_t>(3, std::ssize(model.pieces)),
                  model.pieces.end());
    pieces.push_back({"<mask>", 0, PieceType::kControl});
    model.pieces = std::move(pieces);
    model.unk_id = 3;
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

  fs::path directory_;
  std::string config_file_;
  Json config_, special_map_;
};

}  // namespace

Json legacy_tokenizer_json(const fs::path& directory) {
  return Converter(directory).run();
}

Json sentencepiece_tokenizer_json(const fs::path& model) {
  return Converter(model).sentencepiece(model);  // a file has no files inside that could say more
}

}  // namespace heed::text
