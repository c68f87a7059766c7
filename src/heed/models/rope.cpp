#include "heed/models/rope.h"

#include <cmath>

#include "heed/base/error.h"

namespace heed {
namespace {

using Kind = RopeScaling::Kind;

// The fields of one object of rope parameters; those that are not known are refused.
class RopeReader {
 public:
  RopeReader(const ConfigReader& reader, std::string field, Json object)
      : reader_(reader), field_(std::move(field)), object_(std::move(object)) {
    if (!object_.is_object()) reader_.refuse(field_, detail::json_kind(object_), "an object");
  }

  std::optional<double> number(const std::string& name) {
    known_.insert(name);
    const auto found = object_.find(name);
    if (found == object_.end() || found->is_null()) return {};
    if (!found->is_number()) reader_.refuse(field_ + "." + name, found->dump(), "a number");
    return found->get<double>();
  }
  double positive(const std::string& name, std::optional<double> fallback) {
    const std::optional<double> value = number(name);
    if (!value && !fallback) reader_.refuse(field_ + "." + name, "missing", "a positive number");
    const double used = value ? *value : *fallback;
    if (!(used > 0 && std::isfinite(used)))
      reader_.refuse(field_ + "." + name, std::to_string(used), "a positive number");
    return used;
  }
  std::vector<double> list(const std::string& name, std::size_t size) {
    known_.insert(name);
    const Json values = object_.value(name, Json());
    const bool fits = values.is_array() && values.size() == size;
    if (!fits) reader_.refuse(field_ + "." + name, detail::json_kind(values), std::to_string(size) + " numbers");
    std::vector<double> result;
    for (const Json& each : values) {
      if (!each.is_number() || !(each.get<double>() > 0)) {
        reader_.refuse(field_ + "." + name, each.dump(), "positive numbers");
      }
      result.push_back(each.get<double>());
    }
    return result;
  }
  bool flag(const std::string& name, bool fallback) {
    known_.insert(name);
    const Json value = object_.value(name, Json(fallback));
    if (!value.is_boolean()) reader_.refuse(field_ + "." + name, value.dump(), "true or false");
    return value.get<bool>();
  }
  Kind kind() {
    known_.insert({"rope_type", "type"});
    const Json value = object_.contains("rope_type") ? object_["rope_type"] : object_.value("type", Json("default"));
    const std::map<std::string, Kind> kinds = {
        {"default", Kind::none}, {"linear", Kind::linear},     {"dynamic", Kind::dynamic}, {"llama3", Kind::llama3},
        {"yarn", Kind::yarn},    {"longrope", Kind::longrope}, {"su", Kind::longrope}};
    const auto found = value.is_string() ? kinds.find(value.get<std::string>()) : kinds.end();
    if (found == kinds.end()) {
      reader_.refuse(field_ + ".rope_type", value.dump(), "default, linear, dynamic, llama3, yarn or longrope");
    }
    return found->second;
  }
  void finish() const {
    for (const auto& [name, value] : object_.items()) {
      if (!known_.contains(name)) reader_.refuse(field_ + "." + name, value.dump(), "fields of its rope_type only");
    }
  }
  void ignore(std::initializer_list<std::string> names) { known_.insert(names); }

 private:
  const ConfigReader& reader_;
  std::string field_;
  Json object_;
  std::set<std::string> known_;
};

double yarn_attention_factor(double factor, double weight) {
  return factor <= 1 ? 1 : 0.1 * weight * std::log(factor) + 1;
}

RopeScaling read_scaling(RopeReader& fields, std::int64_t width, std::int64_t max_positions,
                         std::optional<double> outer_original) {
  RopeScaling scaling{.kind = fields.kind()};
  if (scaling.kind == Kind::none) {
    fields.ignore({"factor", "original_max_position_embeddings", "attention_factor"});
    return scaling;
  }
  const std::optional<double> given = fields.number("original_max_position_embeddings");
  const double original = given ? *given : outer_original.value_or(static_cast<double>(max_positions));
  scaling.original_length = static_cast<std::int64_t>(original);
  const double ratio = static_cast<double>(max_positions) / original;
  const bool by_ratio = scaling.kind == Kind::longrope || scaling.kind == Kind::yarn;
  scaling.factor = fields.positive("factor", by_ratio ? std::optional(ratio) : std::nullopt);
  if (scaling.kind == Kind::llama3) {
    scaling.low_frequency_factor = fields.positive("low_freq_factor", {});
    scaling.high_frequency_factor = fields.positive("high_freq_factor", {});
  } else if (scaling.kind == Kind::yarn) {
    scaling.fast_turns = fields.positive("beta_fast", 32);
    scaling.slow_turns = fields.positive("beta_slow", 1);
    scaling.whole_pairs = fields.flag("truncate", true);
    const auto weight = fields.number("mscale"), all = fields.number("mscale_all_dim");
    const double usual =
        weight.value_or(0) > 0 && all.value_or(0) > 0
            ? yarn_attention_factor(scaling.factor, *weight) / yarn_attention_factor(scaling.factor, *all)
            : yarn_attention_factor(scaling.factor, 1);
    scaling.attention_factor = fields.positive("attention_factor", usual);
  } else if (scaling.kind == Kind::longrope) {
    scaling.short_factors = fields.list("short_factor", static_cast<std::size_t>(width / 2));
    scaling.long_factors = fields.list("long_factor", static_cast<std::size_t>(width / 2));
    const double usual = scaling.factor <= 1 ? 1 : std::sqrt(1 + std::log(scaling.factor) / std::log(original));
    scaling.attention_factor = fields.positive("attention_factor", usual);
  }
  return scaling;
}

}  // namespace

RotaryOptions read_rope(ConfigReader& reader, const RopeDefaults& defaults, const std::string& layer_type) {
  // Older files have the base beside the scaling, newer ones in one object, perhaps one per type of layer.
  const double theta = reader.positive("rope_theta", defaults.theta);
  const double partial = reader.positive("partial_rotary_factor", defaults.partial);
  const Json original = reader.get<Json>("original_max_position_embeddings", Json());
  Json object = reader.get<Json>("rope_parameters", Json());
  std::string field = "rope_parameters";
  const Json scaling = reader.get<Json>("rope_scaling", Json());
  if (object.is_null()) object = scaling, field = "rope_scaling";
  if (object.is_object() && object.contains("full_attention")) {
    const std::string type = layer_type.empty() ? "full_attention" : layer_type;
    object = object.value(type, Json::object());
    field += "." + type;
  } else if (layer_type == "sliding_attention") {
    object = Json();  // of the layers that see everything
  }
  if (object.is_null()) object = Json::object();
  RopeReader fields(reader, field, object);
  RotaryOptions options{.base = fields.positive("rope_theta", theta)};
  const double share = fields.positive("partial_rotary_factor", partial);
  const auto width = static_cast<std::int64_t>(static_cast<double>(defaults.head_dim) * share);
  if (share > 1 || width < 2 || width % 2 != 0) {
    reader.refuse("partial_rotary_factor", std::to_string(share),
                  "a share of " + std::to_string(defaults.head_dim) + " features that is an even number of them");
  }
  options.width = width;
  options.scaling = read_scaling(fields, width, defaults.max_positions,
                                 original.is_number() ? std::optional(original.get<double>()) : std::nullopt);
  fields.finish();
  return options;
}

}  // namespace heed
