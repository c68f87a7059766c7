#include "heed/text/template_processing.h"

#include <algorithm>
#include <map>

namespace heed::text {
namespace {

// One special token of the template may stand for several tokens.
struct Special {
  std::vector<std::int32_t> ids;
  std::vector<std::string> texts;
};

struct TemplatePiece {
  int sequence = -1;  // 0: A, 1: B, -1: a special token
  const Special* special = nullptr;
  std::int32_t type_id = 0;
};

class TemplateProcessing final : public PostProcessor {
 public:
  explicit TemplateProcessing(Fields& fields) {
    read_specials(fields);
    single_ = read_template(fields, "single");
    pair_ = read_template(fields, "pair");
    const auto uses = [](const std::vector<TemplatePiece>& pieces, int sequence) {
      return std::any_of(pieces.begin(), pieces.end(), [&](const TemplatePiece& p) { return p.sequence == sequence; });
    };
    HEED_CHECK_AS(bad_format, !uses(single_, 1), fields.context(), ": single uses the sequence B, expected only A");
    HEED_CHECK_AS(bad_format, pair_.empty() || (uses(pair_, 0) && uses(pair_, 1)), fields.context(),
                  ": pair does not use both sequences A and B");
  }

  std::size_t added_tokens(bool pair) const override {
    std::size_t sum = 0;
    for (const TemplatePiece& piece : pair ? pair_ : single_) sum += piece.special ? piece.special->ids.size() : 0;
    return sum;
  }

  void process(std::vector<Encoding>& encodings, bool add_special, const TokenTexts& texts) const override {
    Encoding result;
    for (const TemplatePiece& piece : encodings.size() == 2 ? pair_ : single_) {
      if (!piece.special) {
        // The windows keep the type of their text, as HuggingFace has it.
        Encoding& encoding = encodings[static_cast<std::size_t>(piece.sequence)];
        encoding.type_ids.assign(encoding.size(), piece.type_id);
        result.merge(encoding);
      } else if (add_special) {
        Encoding special;
        for (std::size_t i = 0; i < piece.special->ids.size(); ++i) {
          special.append_special(piece.special->ids[i], piece.special->texts[i], piece.type_id, texts);
        }
        result.merge(special);
      }
    }
    encodings.clear();
    encodings.push_back(std::move(result));
  }

 private:
  // {"[CLS]": {"id": "[CLS]", "ids": [101], "tokens": ["[CLS]"]}, ...}
  void read_specials(Fields& fields) {
    const Json& object = fields.at("special_tokens");
    HEED_CHECK_AS(bad_format, object.is_object(), fields.context(), ": special_tokens is ",
                  heed::detail::json_kind(object), ", expected an object");
    for (const auto& item : object.items()) {
      Fields token(item.value(), fields.context() + ": special token " + item.key());
      token.required<std::string>("id");
      Special special;
      special.ids = token.required<std::vector<std::int32_t>>("ids");
      special.texts = token.required<std::vector<std::string>>("tokens");
      token.done();
      HEED_CHECK_AS(bad_format, special.ids.size() == special.texts.size(), token.context(), " has ",
                    special.ids.size(), " ids but ", special.texts.size(), " tokens");
      specials_[item.key()] = std::move(special);
    }
  }

  // [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}, ...]
  std::vector<TemplatePiece> read_template(Fields& fields, const std::string& key) const {
    std::vector<TemplatePiece> pieces;
    for (const Json& json : fields.required<std::vector<Json>>(key)) {
      const bool sequence = json.is_object() && json.size() == 1 && json.contains("Sequence");
      HEED_CHECK_AS(bad_format, sequence || (json.is_object() && json.size() == 1 && json.contains("SpecialToken")),
                    fields.context(), ": ", key, " has ", json.dump(), ", expected a Sequence or a SpecialToken");
      Fields inner(json.front(), fields.context() + ": " + key);
      TemplatePiece piece;
      piece.type_id = inner.required<std::int32_t>("type_id");
      if (sequence) {
        piece.sequence = static_cast<int>(inner.choice("id", {"A", "B"}));
      } else {
        const auto found = specials_.find(inner.required<std::string>("id"));
        HEED_CHECK_AS(bad_format, found != specials_.end(), inner.context(), " names the special token ",
                      json.front()["id"].dump(), ", which special_tokens does not have");
        piece.special = &found->second;
      }
      inner.done();
      pieces.push_back(piece);
    }
    return pieces;
  }

  std::map<std::string, Special> specials_;
  std::vector<TemplatePiece> single_, pair_;
};

}  // namespace

std::unique_ptr<PostProcessor> make_template_processing(Fields& fields) {
  return std::make_unique<TemplateProcessing>(fields);
}

}  // namespace heed::text
