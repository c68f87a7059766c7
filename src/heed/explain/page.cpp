#include "heed/explain/page.h"

#include <cmath>
#include <numbers>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/json.h"
#include "heed/explain/web.h"
#include "heed/tasks/label_scores.h"

namespace heed {
namespace {

// JSON inside a script element: without < no text can end the element or begin a comment.
std::string script_json(const Json& value) {
  const std::string plain = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string safe;
  safe.reserve(plain.size());
  for (const char c : plain) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe.push_back(c);
    }
  }
  return safe;
}

std::string element(const std::string& type, const std::string& id, const std::string& text) {
  return "<script type=\"" + type + "\" id=\"" + id + "\">" + text + "</script>\n";
}

std::string name_of(const std::string& kind, std::int64_t layer, std::int64_t head) {
  return kind + "-" + std::to_string(layer) + "-" + std::to_string(head);
}

// Writes the page around what write_data(file) writes.
template <class WriteData>
void write_around(const std::filesystem::path& path, const WriteData& write_data) {
  AtomicFile file(path);
  std::string_view rest = kWebPage;
  const auto up_to = [&](std::string_view marker) {
    const std::size_t at = rest.find(marker);
    HEED_CHECK_AS(internal, at != rest.npos, "[write_page] web/page.html has no ", marker);
    file.write(rest.substr(0, at));
    rest.remove_prefix(at + marker.size());
  };
  up_to("<!--heed:style-->");
  file.write(kWebStyle);
  up_to("<!--heed:data-->");
  write_data(file);
  up_to("<!--heed:script-->");
  file.write(kWebScript);
  file.write(rest);
  file.commit();
}

// Six significant digits: more would be noise, and make large matrices larger.
double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return 0;
  const double unit = std::pow(10, 5 - std::floor(std::log10(std::abs(value))));
  return std::round(value * unit) / unit;
}

Json rounded_list(std::span<const double> values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(rounded(value));
  return list;
}

Json text_json(const ReadText& text) {
  Json words = Json::array();
  for (const TextWord& word : text.words) words.push_back({word.first, word.count, word.text});
  return {{"tokens", text.tokens}, {"special", text.encoding.special_mask}, {"words", words}, {"cut", text.cut}};
}

Json gradients_json(const Attribution& found, const ReadText& text) {
  return {{"tokens", rounded_list(found.tokens)},
          {"words", rounded_list(sums_of_words(found.tokens, text.words))},
          {"score", found.score},
          {"baselineScore", found.baseline_score},
          {"baseline", found.baseline},
          {"gap", found.gap()},
          {"steps", found.steps}};
}

Json label_json(const std::string& label, const Attribution& gradients, const Occlusion& occlusion,
                const ReadText& text) {
  return {{"label", label},
          {"gradients", gradients_json(gradients, text)},
          {"occlusion",
           {{"tokens", rounded_list(occlusion.tokens)},
            {"words", rounded_list(occlusion.words)},
            {"replacement", occlusion.replacement}}}};
}

// The best label's evidence, and that of the others that have some.
Json evidence_json(const ClassifierEvidence& found, const ReadText& text) {
  Json evidence = label_json(found.labels.front().label, found.gradients, found.occlusion, text);
  evidence["labels"] = to_json(found.labels);
  evidence["others"] = Json::array();
  for (const LabelEvidence& other : found.others) {
    evidence["others"].push_back(label_json(other.label, other.gradients, other.occlusion, text));
  }
  return evidence;
}

Json expected_json(const std::vector<ExpectedToken>& tokens) {
  Json list = Json::array();
  for (const ExpectedToken& token : tokens) {
    Json best = Json::array(), layers = Json::array();
    for (const Guess& guess : token.alternatives) best.push_back({guess.text, rounded(guess.probability)});
    for (std::size_t i = 0; i < token.layers.size(); ++i) {
      layers.push_back({token.layers[i].text, rounded(token.layers[i].probability), rounded(token.own[i])});
    }
    list.push_back({{"place", token.place},
                    {"probability", rounded(token.probability)},
                    {"rank", token.rank},
                    {"best", best},
                    {"layers", layers}});
  }
  return list;
}

Json look_json(const Look& look, const PageLayout& layout, const std::string& model) {
  Json entropy = Json::array();
  for (std::int64_t layer = 0; layer < look.attention.layer_count(); ++layer) {
    Json heads = Json::array();
    for (std::int64_t head = 0; head < look.attention.heads(); ++head) {
      heads.push_back(rounded(look.attention.mean_entropy(layer, head) / std::numbers::ln2));
    }
    entropy.push_back(std::move(heads));
  }
  Json data = text_json(look.text);
  if (look.attention.memory > 0) data["memory"] = look.attention.memory;
  data.update({{"kind", "attention"},
               {"model", model},
               {"layers", look.attention.layer_count()},
               {"heads", look.attention.heads()},
               {"block", layout.block},
               {"links", layout.links},
               {"entropy", entropy}});
  if (look.evidence) {
    data["evidence"] = evidence_json(*look.evidence, look.text);
  } else {
    data["evidenceNote"] =
        look.text.tokens.size() > kMostExplained
            ? "Gradients and occlusion are computed for texts of at most " + std::to_string(kMostExplained) + " tokens."
            : std::string("This model is not a text classifier: there is no score whose reasons could be asked for.");
  }
  if (!look.expected.empty()) {
    data["expected"] = expected_json(look.expected);
    data["writtenFrom"] = look.written_from;
  }
  if (!look.rollout.empty()) data["rollout"] = rounded_list(look.rollout);
  return data;
}

}  // namespace

void write_page(const Look& look, const std::string& model, const std::filesystem::path& path) {
  const TextAttention& attention = look.attention;
  const std::int64_t heads = attention.heads();
  HEED_CHECK(static_cast<std::int64_t>(look.maps.size()) == attention.layer_count() * heads && !look.maps.empty(),
             "[write_page] the look has ", look.maps.size(), " maps of ", attention.layer_count() * heads, " heads");
  const PageLayout layout = layout_of(attention);
  write_around(path, [&](AtomicFile& file) {
    file.write(element("application/json", "data", script_json(look_json(look, layout, model))));
    for (std::size_t i = 0; i < look.maps.size(); ++i) {
      const auto layer = static_cast<std::int64_t>(i) / heads, head = static_cast<std::int64_t>(i) % heads;
      const auto at = static_cast<std::size_t>(layer);
      file.write(
          element("text/plain", name_of("links", layer, head),
                  packed_links(attention.layers[at].link_keys, attention.layers[at].link_weights, head, layout.links)));
      file.write(element("text/plain", name_of("map", layer, head), look.maps[i]));
    }
    for (const auto& [place, map] : look.full) {
      file.write(element("text/plain", name_of("full", place.first, place.second), map));
    }
  });
}

void write_page(const SimilarityExplanation& similarity, const std::string& model, const std::filesystem::path& path) {
  Json texts = Json::array();
  for (std::size_t i = 0; i < 2; ++i) {
    Json text = text_json(similarity.texts[i]);
    text["sums"] = rounded_list(similarity.token_sums(i));
    if (similarity.attributions) {
      text["gradients"] = gradients_json((*similarity.attributions)[i], similarity.texts[i]);
    }
    texts.push_back(std::move(text));
  }
  Json data = {{"kind", "similarity"}, {"model", model}, {"cosine", similarity.cosine}, {"texts", texts}};
  if (similarity.matrix.defined()) data["matrix"] = rounded_list(similarity.matrix.to_vector<double>());
  write_around(path, [&](AtomicFile& file) { file.write(element("application/json", "data", script_json(data))); });
}

}  // namespace heed
