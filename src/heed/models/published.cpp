#include "heed/models/published.h"

#include <algorithm>
#include <numeric>

#include "heed/base/error.h"

namespace heed {
namespace {

// name = path or path.rest: the rest, with its dot.
std::optional<std::string> rest_after(const std::string& path, const std::string& name) {
  if (!name.starts_with(path)) return {};
  if (name.size() > path.size() && name[path.size()] != '.') return {};
  return name.substr(path.size());
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const std::size_t at = text.find(what);
  return at == std::string::npos ? text : text.replace(at, what.size(), with);
}

// "a.{b,c}.d" to {"a.b.d", "a.c.d"}
std::vector<std::string> alternatives(const std::string& name) {
  const std::size_t open = name.find('{'), close = name.find('}');
  if (open == std::string::npos) return {name};
  std::vector<std::string> names;
  for (std::size_t at = open; at < close;) {
    const std::size_t next = std::min(name.find(',', at + 1), close);
    names.push_back(name.substr(0, open) + name.substr(at + 1, next - at - 1) + name.substr(close + 1));
    at = next;
  }
  return names;
}

// # and @ of `theirs` filled in for our block of this number.
std::string numbered(const std::string& theirs, std::int64_t block, std::int64_t blocks_per_group) {
  if (theirs.find('@') == std::string::npos) return replaced(theirs, "#", std::to_string(block));
  return replaced(replaced(theirs, "@", std::to_string(block / blocks_per_group)), "#",
                  std::to_string(block % blocks_per_group));
}

// ".weight.2", the third part of a stored weight: 2, and the number is cut off.
std::optional<std::size_t> part_number(std::string& rest) {
  const std::size_t dot = rest.rfind('.');
  if (dot == std::string::npos || rest.find_first_not_of("0123456789", dot + 1) != std::string::npos) return {};
  const std::size_t number = std::stoul(rest.substr(dot + 1));
  rest.resize(dot);
  return number;
}

// Whether a name is of the form that ModelFamily::unused says.
bool fits(std::string_view name, std::string_view pattern) {
  while (!pattern.empty()) {
    if (pattern.front() == '#') {
      const std::size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
      if (digits == 0) return false;
      name.remove_prefix(digits);
    } else {
      if (!name.starts_with(pattern.front())) return false;
      name.remove_prefix(1);
    }
    if (pattern == ".") return true;
    pattern.remove_prefix(1);
  }
  return name.empty();
}

// Appends the published tensors of the parameter called `ours`, if one of the names covers it.
bool append_published(std::vector<PublishedTensor>& tensors, const std::vector<PublishedName>& names,
                      const std::string& ours, const PublishedTensor& parameter, std::int64_t blocks_per_group,
                      std::int64_t heads) {
  std::string pattern = ours;
  std::int64_t number = 0;
  constexpr std::string_view kLayer = "layer.";
  const std::size_t at = ours.starts_with(kLayer) ? 0 : ours.find("." + std::string(kLayer)) + 1;
  if (ours.compare(at, kLayer.size(), kLayer) == 0) {
    const std::size_t begin = at + kLayer.size(), end = ours.find('.', begin);
    number = std::stoll(ours.substr(begin, end - begin));
    pattern = ours.substr(0, begin) + "#" + ours.substr(end);
  }
  for (const PublishedName& name : names) {
    auto rest = rest_after(name.ours, pattern);
    if (!rest) continue;
    const auto part = part_number(*rest);
    const auto parts = alternatives(parameter.name + numbered(name.theirs, number, blocks_per_group) + *rest);
    if (part) {
      tensors.push_back({parts.at(*part), parameter.values, name.layout, parameter.part, heads});
      return true;
    }
    const std::vector<std::int64_t> shares =
        name.shares.empty() ? std::vector<std::int64_t>(parts.size(), 1) : name.shares;
    const std::int64_t unit = parameter.values.size(0) / std::accumulate(shares.begin(), shares.end(), std::int64_t{0});
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const std::int64_t end = begin + unit * shares[i];
      tensors.push_back({parts[i], parameter.values.detached_slice(0, begin, end), name.layout, parameter.part, heads,
                         parameter.parameter, begin, parameter.is_buffer});
      begin = end;
    }
    return true;
  }
  return false;
}

}  // namespace

std::int64_t PublishedTensor::row_in_file(std::int64_t row) const {
  if (layout == PublishedName::Layout::reversed) return values.size(0) - 1 - row;
  // Ours: the rows of all queries, of all keys, of all values, each head by head.
  const std::int64_t rows = values.size(0) / 3, width = rows / heads;
  const std::int64_t kind = row / rows, head = row % rows / width;
  return (head * 3 + kind) * width + row % width;
}

Tensor PublishedTensor::arranged(const Tensor& source) const {
  if (is_transposed()) return source.detached_transpose(0, 1);
  if (!has_other_rows()) return source;
  Tensor result = Tensor::empty(source.shape(), source.dtype());
  for (std::int64_t row = 0; row < result.size(0); ++row) {
    const std::int64_t theirs = row_in_file(row);
    Tensor into = result.detached_slice(0, row, row + 1);
    into.copy_from(source.detached_slice(0, theirs, theirs + 1));
  }
  return result;
}

Tensor PublishedTensor::written() const {
  const Tensor ours =
      element_size(values.dtype()) < element_size(DType::f32) ? values.detached_to(DType::f32) : values.detach();
  if (is_transposed()) return ours.detached_transpose(0, 1).detached_contiguous();
  if (!has_other_rows()) return ours.detached_contiguous();
  Tensor result = Tensor::empty(ours.shape(), ours.dtype());
  for (std::int64_t row = 0; row < ours.size(0); ++row) {
    const std::int64_t theirs = row_in_file(row);
    Tensor into = result.detached_slice(0, theirs, theirs + 1);
    into.copy_from(ours.detached_slice(0, row, row + 1));
  }
  return result;
}

PublishedTensor PublishedTensor::with_values(const Tensor& others) const {
  PublishedTensor same = *this;
  same.values = others;
  if (layout == PublishedName::Layout::transposed) same.layout = PublishedName::Layout::same;
  return same;
}

std::string published_name(const std::vector<PublishedName>& names, std::string_view ours, std::int64_t block,
                           std::int64_t blocks_per_group) {
  const auto known = std::ranges::find(names, ours, &PublishedName::ours);
  HEED_CHECK_AS(internal, known != names.end(), "[published_name] no name for ", ours);
  return numbered(known->theirs, block, blocks_per_group);
}

std::vector<PublishedTensor> published_tensors(const Model& model) {
  const ModelConfig& config = model.config();
  std::vector<PublishedTensor> tensors;
  const auto append = [&](const NamedConstParameter& each, bool is_buffer) {
    const auto& [name, values] = each;
    const ParameterPlace::Part part = model.place(name).part;
    const bool of_head = part == ParameterPlace::Part::head;
    const auto& names = of_head ? config.head_config(model.head()).names : config.names;
    const std::string prefix = of_head ? "" : config.family->prefix;
    return append_published(
        tensors, names, name.substr(name.find('.') + 1),
        {.name = prefix, .values = *values, .part = part, .parameter = name, .is_buffer = is_buffer},
        config.blocks_per_group, config.info.heads);
  };
  for (const NamedConstParameter& each : named_parameters(model)) {
    const bool found = append(each, false);
    HEED_CHECK_AS(internal, found, "[", config.info.model_type, "] parameter ", each.name, " has no published name");
  }
  for (const NamedConstParameter& each : named_buffers(model)) append(each, true);
  return tensors;
}

bool belongs_to_head(const std::string& name, const ModelConfig& config) {
  const auto covers = [&](const PublishedName& known) { return rest_after(known.theirs, name).has_value(); };
  const auto owns = [&](const HeadConfig& head) {
    return std::ranges::any_of(head.names, covers) || std::ranges::any_of(head.copies, covers);
  };
  return std::ranges::any_of(config.heads, owns);
}

bool is_unused(const std::string& name, const ModelFamily& family) {
  return std::ranges::any_of(family.unused, [&](const std::string& pattern) { return fits(name, pattern); });
}

CanonicalNames::CanonicalNames(const TensorFiles& files, const ModelConfig& config, const std::string& where)
    : files_(files) {
  const std::string& prefix = config.family->prefix;
  const auto names = files.names();
  const bool prefixed = std::ranges::any_of(names, [&](const auto& name) { return name.starts_with(prefix); });
  const std::string& bare = config.family->bare_prefix;
  const std::string before_bare = prefix.substr(0, prefix.size() - bare.size());
  for (const std::string& name : names) {
    std::string canonical = name;
    if (canonical.ends_with(".gamma")) canonical.replace(canonical.size() - 5, 5, "weight");
    if (canonical.ends_with(".beta")) canonical.replace(canonical.size() - 4, 4, "bias");
    if (!prefixed && !belongs_to_head(canonical, config) && !is_unused(canonical, *config.family)) {
      canonical = (canonical.starts_with(bare) ? before_bare : prefix) + canonical;
    }
    has_pooler_ = has_pooler_ || canonical.starts_with(prefix + "pooler.");
    const auto [place, fresh] = names_.emplace(canonical, name);
    HEED_CHECK_AS(bad_format, fresh, where, ": ", name, " and ", place->second, " are names of one tensor");
  }
}

bool CanonicalNames::has_head(const HeadConfig& head) const {
  return std::ranges::any_of(names_, [&](const auto& item) {
    return std::ranges::any_of(head.names,
                               [&](const auto& known) { return rest_after(known.theirs, item.first).has_value(); });
  });
}

}  // namespace heed
