#include "heed/text/legacy_translation.h"

#include <algorithm>
#include <set>
#include <sstream>
#include <utility>

#include "heed/base/file.h"
#include "heed/text/pipelines.h"
#include "heed/text/sentencepiece.h"
#include "heed/text/vocabulary.h"

namespace heed::text {
namespace {

namespace fs = std::filesystem;

// In the order of their ids.
constexpr std::string_view kMBartLanguages =
    "ar_AR cs_CZ de_DE en_XX es_XX et_EE fi_FI fr_XX gu_IN hi_IN it_IT ja_XX kk_KZ ko_KR lt_LT lv_LV my_MM ne_NP nl_XX "
    "ro_RO ru_RU si_LK tr_TR vi_VN zh_CN";
constexpr std::string_view kMBart50Languages =
    " af_ZA az_AZ bn_IN fa_IR he_IL hr_HR id_ID ka_GE km_KH mk_MK ml_IN mn_MN mr_IN pl_PL ps_AF pt_XX sv_SE sw_KE "
    "ta_IN "
    "te_IN th_TH tl_XX uk_UA ur_PK xh_ZA gl_ES sl_SI";
constexpr std::string_view kM2MLanguages =
    "af am ar ast az ba be bg bn br bs ca ceb cs cy da de el en es et fa ff fi fr fy ga gd gl gu ha he hi hr ht hu hy "
    "id ig ilo is it ja jv ka kk km kn ko lb lg ln lo lt lv mg mk ml mn mr ms my ne nl no ns oc or pa pl ps pt ro ru "
    "sd "
    "si sk sl so sq sr ss su sv sw ta th tl tn tr uk ur uz vi wo xh yi yo zh zu";
constexpr std::string_view kWmt21Languages = "en ha is ja cs ru zh de";

std::vector<std::string> words_of(std::string_view text, const std::string& mark = "") {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(mark + word + mark);
  return words;
}

class TranslationFiles {
 public:
  TranslationFiles(const LegacyFiles& files, Side side) : files_(files), side_(side), family_(files.family()) {}

  Json run() const {
    if (has_spelling()) return spelling();
    if (family_ == "Marian") return marian();
    if (family_ == "M2M100") return m2m();
    if (family_ == "Pegasus") return pegasus();
    return family_ == "BlenderbotSmall" ? blenderbot_small() : fairseq();
  }
  bool has_spelling() const {
    if (files_.has("merges.txt")) return false;
    const Json vocab = files_.json_file("vocab.json");
    const auto is_side = [&](const char* name) { return vocab.contains(name) && vocab[name].is_object(); };
    return is_side("source") && is_side("target");
  }

 private:
  std::string path(const char* name) const { return (files_.directory() / name).string(); }

  SentencePieceModel pieces_of(const char* name) const {
    return parse_sentencepiece(read_file(path(name), kMostLegacyBytes), path(name));
  }

  // The pieces, with ids by a list of their own.
  Json renumbered(const SentencePieceModel& model, const char* vocab_name) const {
    Json list = files_.json_file(vocab_name);
    const Vocabulary vocabulary = Vocabulary::from_json(list, path(vocab_name));
    Json ids = Json::array();
    for (const SentencePieceModel::Entry& entry : model.pieces)
      ids.push_back(vocabulary.find(entry.piece).value_or(-1));
    Json tokenizer = bare_tokenizer({{"type", "Renumbered"},
                                     {"unk_token", files_.special("unk_token", "<unk>").content},
                                     {"pieces", sentencepiece_model_json(model)},
                                     {"ids", std::move(ids)},
                                     {"vocab", std::move(list)}});
    use_sentencepiece_pipeline(tokenizer, model);
    return tokenizer;
  }

  void add_token(Json& tokenizer, const std::string& content, std::int64_t id, bool special) const {
    Json token = added_token(content, static_cast<std::int32_t>(id), special);
    token["normalized"] = false;
    tokenizer["added_tokens"].push_back(std::move(token));
  }

  void finish(Json& tokenizer, const std::string& single, const std::string& pair, const std::string& file) const {
    tokenizer["post_processor"] = template_processing(single, pair, ids_of(tokenizer, file));
  }

  // ">>fra<<" before a text says what to translate it to.
  Json marian() const {
    const bool target = side_ == Side::target;
    const char* vocab_name = target && files_.flag("separate_vocabs", false) ? "target_vocab.json" : "vocab.json";
    const std::string file = path(vocab_name);
    Json tokenizer = renumbered(pieces_of(target ? "target.spm" : "source.spm"), vocab_name);
    for (const auto& [token, id] : tokenizer["model"]["vocab"].items()) {
      if (token.starts_with(">>") && token.ends_with("<<")) {
        add_token(tokenizer, token, json_as<std::int32_t>(id, token, file), false);
      }
    }
    const std::string end = files_.special("eos_token", "</s>").content;
    files_.add_tokens(tokenizer, {files_.special("unk_token", "<unk>"), {end}, files_.special("pad_token", "<pad>")},
                      file);
    finish(tokenizer, "$A:0 " + end + ":0", "$A:0 $B:0 " + end + ":0", file);
    return tokenizer;
  }

  Json m2m() const {
    const std::string file = path("vocab.json");
    Json tokenizer = renumbered(pieces_of("sentencepiece.bpe.model"), "vocab.json");
    const auto codes = files_.setting<std::string>("language_codes", "m2m100");
    const std::int64_t first = std::ssize(tokenizer["model"]["vocab"]);
    const std::vector<std::string> languages = words_of(codes == "wmt21" ? kWmt21Languages : kM2MLanguages, "__");
    for (std::size_t i = 0; i < languages.size(); ++i) {
      add_token(tokenizer, languages[i], first + static_cast<std::int64_t>(i), true);
    }
    add_usual(tokenizer, file);
    finish_with_language(tokenizer, "__" + files_.setting<std::string>("src_lang", "en") + "__", true, file);
    return tokenizer;
  }

  Json fairseq() const {
    const std::string file = path("sentencepiece.bpe.model");
    SentencePieceModel model = pieces_of("sentencepiece.bpe.model");
    std::vector<std::string> languages = words_of(kMBartLanguages);
    if (family_ == "MBart50") languages = words_of(std::string(kMBartLanguages) + std::string(kMBart50Languages));
    if (family_ == "Nllb") languages = listed_languages();
    use_fairseq_ids(model, languages);
    Json tokenizer = bare_tokenizer(sentencepiece_model_json(model));
    use_sentencepiece_pipeline(tokenizer, model);
    for (std::size_t i = 0; i < model.pieces.size(); ++i) {
      if (model.pieces[i].type != PieceType::kControl) continue;
      add_token(tokenizer, model.pieces[i].piece, static_cast<std::int64_t>(i), true);
    }
    for (Json& token : tokenizer["added_tokens"]) {
      if (token["content"] == "<mask>") token["lstrip"] = true;
    }
    add_usual(tokenizer, file);
    const bool first = family_ == "MBart50" || (family_ == "Nllb" && !files_.flag("legacy_behaviour", false));
    const char* usual = family_ == "Nllb" ? "eng_Latn" : "en_XX";
    finish_with_language(tokenizer, files_.setting<std::string>("src_lang", usual), first, file);
    return tokenizer;
  }

  // NLLB's 202, of which special_tokens_map.json has the list.
  std::vector<std::string> listed_languages() const {
    const Json map = files_.json_file("special_tokens_map.json");
    const auto list =
        json_optional(map, "additional_special_tokens", std::vector<std::string>(), path("special_tokens_map.json"));
    HEED_CHECK_AS(bad_format, !list.empty(), path("special_tokens_map.json"),
                  ": has no additional_special_tokens, expected the languages of NLLB");
    return list;
  }

  void add_usual(Json& tokenizer, const std::string& file) const {
    files_.add_tokens(tokenizer, {{"<s>"}, {"<pad>"}, {"</s>"}, files_.special("unk_token", "<unk>")}, file);
  }

  void finish_with_language(Json& tokenizer, const std::string& language, bool first, const std::string& file) const {
    const std::string before = first ? language + ":0 " : "", after = first ? "" : " " + language + ":0";
    finish(tokenizer, before + "$A:0 </s>:0" + after, before + "$A:0 $B:0 </s>:0" + after, file);
  }

  // Tokens for masks and others that nothing uses stand before the pieces.
  Json pegasus() const {
    const std::string file = path("spiece.model");
    SentencePieceModel model = pieces_of("spiece.model");
    const auto offset = files_.setting<std::int64_t>("offset", 103);
    HEED_CHECK_AS(bad_format, offset >= 2 && offset <= 100'000, files_.config_file(), ": offset is ", offset,
                  ", expected 2 to 100000");
    using Entry = SentencePieceModel::Entry;
    const std::string end = files_.special("eos_token", "</s>").content;
    std::vector<Entry> pieces;
    for (const SpecialToken& token :
         {files_.special("pad_token", "<pad>"), SpecialToken{end}, files_.special("mask_token_sent", "<mask_1>"),
          files_.special("mask_token", "<mask_2>")}) {
      pieces.push_back({token.content, 0, PieceType::kControl});
    }
    for (std::int64_t i = 2; i < offset; ++i) {
      pieces.push_back({"<unk_" + std::to_string(i) + ">", -100, PieceType::kControl});
    }
    const auto specials = std::ssize(pieces);
    pieces.insert(pieces.end(), model.pieces.begin() + std::min<std::ptrdiff_t>(2, std::ssize(model.pieces)),
                  model.pieces.end());
    model.pieces = std::move(pieces);
    model.unk_id += static_cast<std::int32_t>(offset);
    Json tokenizer = bare_tokenizer(sentencepiece_model_json(model));
    use_sentencepiece_pipeline(tokenizer, model);
    Json steps = Json::array({{{"type", "WhitespaceSplit"}}, std::move(tokenizer["pre_tokenizer"])});
    tokenizer["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", std::move(steps)}};
    for (std::ptrdiff_t i = 0; i < specials; ++i) {
      add_token(tokenizer, model.pieces[static_cast<std::size_t>(i)].piece, i, true);
    }
    files_.add_tokens(tokenizer, {files_.special("unk_token", "<unk>")}, file);
    finish(tokenizer, "$A:0 " + end + ":0", "$A:0 $B:0 " + end + ":0", file);
    return tokenizer;
  }

  // Lower case; "@@" ends a piece that its word goes on after.
  Json blenderbot_small() const {
    const std::string file = path("vocab.json"), unknown = files_.special("unk_token", "__unk__").content;
    constexpr std::string_view kGoesOn = "@@", kEnd = "</w>";
    const auto begin = files_.special("bos_token", "__start__").content,
               end = files_.special("eos_token", "__end__").content,
               padding = files_.special("pad_token", "__null__").content;
    Json vocab = Json::object(), symbols = Json::object(), merges = Json::array(), ids = Json::array();
    const Json list = files_.json_file("vocab.json");
    for (const auto& [token, id] : list.items()) {
      const bool special = token == unknown || token == begin || token == end || token == padding;
      const bool goes_on = token.ends_with(kGoesOn) && token.size() > kGoesOn.size();
      const std::string name = goes_on ? token.substr(0, token.size() - kGoesOn.size()) : token + std::string(kEnd);
      vocab[special ? token : name] = id;
    }
    const Vocabulary vocabulary = Vocabulary::from_json(vocab, file);
    const auto symbol = [&](const std::string& name) {
      if (symbols.contains(name)) return;
      symbols[name] = ids.size();
      ids.push_back(vocabulary.find(name).value_or(-1));
    };
    for (const auto& item : vocab.items()) symbol(item.key());
    std::istringstream lines(read_file(path("merges.txt"), kMostLegacyBytes));
    for (std::string line; std::getline(lines, line);) {
      const std::size_t space = line.find(' ');
      if (line.starts_with("#version") || space == std::string::npos) continue;
      const std::string left = line.substr(0, space), right = line.substr(space + 1);
      for (const std::string& each : {left, right, left + right}) symbol(each);
      merges.push_back(Json::array({left, right}));
    }
    Json tokenizer = bare_tokenizer({{"type", "Renumbered"},
                                     {"unk_token", unknown},
                                     {"pieces",
                                      {{"type", "BPE"},
                                       {"unk_token", unknown},
                                       {"end_of_word_suffix", kEnd},
                                       {"vocab", std::move(symbols)},
                                       {"merges", std::move(merges)}}},
                                     {"ids", std::move(ids)},
                                     {"vocab", std::move(vocab)}});
    tokenizer["normalizer"] = {{"type", "Lowercase"}};
    // An apostrophe stands alone, other marks begin a word.
    tokenizer["pre_tokenizer"] = {{"type", "Split"},
                                  {"pattern", {{"Regex", R"('|[.,!?()][^\s.,!?()']*|[^\s.,!?()']+)"}}},
                                  {"behavior", "Removed"},
                                  {"invert", true}};
    tokenizer["decoder"] = {{"type", "BPEDecoder"}, {"suffix", kEnd}};
    files_.add_tokens(tokenizer, {{unknown}, {begin}, {end}, {padding}}, file);
    return tokenizer;
  }

  // A token for each character, and nothing about the text.
  Json spelling() const {
    const std::string file = path("vocab.json");
    Json vocab = files_.json_file("vocab.json")[side_ == Side::source ? "source" : "target"];
    Json tokenizer = bare_tokenizer({{"type", "WordLevel"}, {"unk_token", "<unk>"}, {"vocab", std::move(vocab)}});
    tokenizer["pre_tokenizer"] = {
        {"type", "Split"}, {"pattern", {{"Regex", R"([\s\S])"}}}, {"behavior", "Isolated"}, {"invert", false}};
    tokenizer["decoder"] = {{"type", "Fuse"}};
    std::vector<SpecialToken> specials;
    for (const auto& item : tokenizer["model"]["vocab"].items()) {
      const std::string& token = item.key();
      if (token.size() > 2 && token.front() == '<' && token.back() == '>') specials.push_back({token});
    }
    files_.add_tokens(tokenizer, specials, file);
    return tokenizer;
  }

  const LegacyFiles& files_;
  Side side_;
  std::string family_;
};

}  // namespace

bool is_translation_tokenizer(const LegacyFiles& files) {
  static const std::set<std::string> kFamilies = {"Marian", "M2M100",  "MBart",          "MBart50",
                                                  "Nllb",   "Pegasus", "BlenderbotSmall"};
  return kFamilies.contains(files.family()) || TranslationFiles(files, Side::source).has_spelling();
}

bool has_target_tokenizer(const LegacyFiles& files) {
  return (files.family() == "Marian" && files.has("target.spm")) ||
         TranslationFiles(files, Side::source).has_spelling();
}

Json translation_tokenizer_json(const LegacyFiles& files, Side side) {
  return TranslationFiles(files, side).run();
}

}  // namespace heed::text
