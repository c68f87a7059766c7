#include "heed/metrics/entities.h"

#include <algorithm>
#include <set>

#include "heed/base/error.h"

namespace heed {
namespace {

struct Tag {
  char prefix;
  std::string type;
};

// Rules of a strict scheme. Each is three characters: the prefix before, the prefix here, and how the types compare (=
// the same, ! different); a dot stands for anything.
struct SchemeRules {
  TagScheme scheme;
  std::string_view name, prefixes, start, inside, end;
};
constexpr SchemeRules kSchemes[] = {
    {TagScheme::iob1, "iob1", "IOB", "OI. II! BI. IB= BB=", "BI= II=", "II! IO. IB. BO. BI! BB="},
    {TagScheme::iob2, "iob2", "IOB", ".B.", "BI= II=", "IO. II! IB. BO. BI! BB."},
    {TagScheme::ioe1, "ioe1", "IOE", "OI. II! EI. EE=", "II= IE=", "II! IO. IE! EI= EE="},
    {TagScheme::ioe2, "ioe2", "IOE", "OI. OE. EI. EE. II! IE!", "IE= II=", "E.."},
    {TagScheme::iobes, "iobes", "IOBES", ".B. .S.", "BI= BE= II= IE=", "S.. E.."},
    {TagScheme::bilou, "bilou", "BILOU", ".B. .U.", "BI= BL= II= IL=", "U.. L.."},
};

const SchemeRules& rules_of(TagScheme scheme) {
  const auto* found = std::ranges::find(kSchemes, scheme, &SchemeRules::scheme);
  HEED_CHECK(found != std::end(kSchemes), "[entities_of] scheme ", static_cast<int>(scheme), " is unknown");
  return *found;
}

bool matches(std::string_view rules, const Tag& before, const Tag& here) {
  for (; rules.size() >= 3; rules.remove_prefix(std::min<std::size_t>(4, rules.size()))) {
    const bool same = before.type == here.type;
    if ((rules[0] == '.' || rules[0] == before.prefix) && (rules[1] == '.' || rules[1] == here.prefix) &&
        (rules[2] == '.' || (rules[2] == '=') == same)) {
      return true;
    }
  }
  return false;
}

// conlleval takes what stands after the first dash as the type, strict schemes the tag less its prefix and dashes.
Tag split_tag(const std::string& text, const EntityOptions& options) {
  HEED_CHECK(!text.empty(), "[entities_of] a tag is empty");
  Tag tag{options.suffix ? text.back() : text.front(),
          options.suffix ? text.substr(0, text.size() - 1) : text.substr(1)};
  if (options.scheme != TagScheme::conll) {
    while (tag.type.starts_with('-')) tag.type.erase(0, 1);
    while (tag.type.ends_with('-')) tag.type.pop_back();
  } else if (options.suffix) {
    if (const auto dash = tag.type.rfind('-'); dash != std::string::npos) tag.type.erase(dash);
  } else if (const auto dash = tag.type.find('-'); dash != std::string::npos) {
    tag.type.erase(0, dash + 1);
  }
  if (tag.type.empty()) tag.type.assign(1, '_');
  return tag;
}

bool is_one_of(char prefix, std::string_view list) {
  return list.find(prefix) != std::string_view::npos;
}

bool lenient_end(const Tag& before, const Tag& here) {
  if (is_one_of(before.prefix, "ES")) return true;
  if (is_one_of(before.prefix, "BI") && is_one_of(here.prefix, "BSO")) return true;
  return !is_one_of(before.prefix, "O.") && before.type != here.type;
}

bool lenient_start(const Tag& before, const Tag& here) {
  if (is_one_of(here.prefix, "BS")) return true;
  if (is_one_of(before.prefix, "ESO") && is_one_of(here.prefix, "EI")) return true;
  return !is_one_of(here.prefix, "O.") && before.type != here.type;
}

// `tags` end with an "O".
std::vector<TaggedEntity> lenient_entities(const std::vector<Tag>& tags) {
  std::vector<TaggedEntity> entities;
  Tag before{'O', ""};
  std::size_t begin = 0;
  for (std::size_t i = 0; i < tags.size(); ++i) {
    if (lenient_end(before, tags[i])) entities.push_back({before.type, begin, i});
    if (lenient_start(before, tags[i])) begin = i;
    before = tags[i];
  }
  return entities;
}

std::vector<TaggedEntity> strict_entities(const std::vector<Tag>& tags, const SchemeRules& rules) {
  for (const Tag& tag : tags) {
    HEED_CHECK(is_one_of(tag.prefix, rules.prefixes), "[entities_of] a tag has the prefix '", tag.prefix,
               "', expected one of ", rules.prefixes, " in the scheme ", rules.name);
  }
  std::vector<TaggedEntity> entities;
  for (std::size_t i = 0; i < tags.size();) {
    if (!matches(rules.start, i == 0 ? tags.back() : tags[i - 1], tags[i])) {
      ++i;
      continue;
    }
    std::size_t end = i + 1;
    while (end < tags.size() && matches(rules.inside, tags[end - 1], tags[end])) ++end;
    if (end < tags.size() && matches(rules.end, tags[end - 1], tags[end])) entities.push_back({tags[i].type, i, end});
    i = end;
  }
  return entities;
}

void check_lengths(const std::vector<Tags>& expected, const std::vector<Tags>& found) {
  HEED_CHECK(expected.size() == found.size(), "[metrics] ", found.size(), " sequences of tags for ", expected.size(),
             " expected ones");
  for (std::size_t i = 0; i < expected.size(); ++i) {
    HEED_CHECK(expected[i].size() == found[i].size(), "[metrics] sequence ", i, " has ", found[i].size(),
               " tags, expected ", expected[i].size());
  }
}

}  // namespace

TagScheme tag_scheme_named(std::string_view name) {
  if (name == "conll") return TagScheme::conll;
  for (const SchemeRules& rules : kSchemes) {
    if (rules.name == name) return rules.scheme;
  }
  fail(ErrorKind::invalid_argument, "the scheme of tags is \"", name,
       "\", expected conll, iob1, iob2, ioe1, ioe2, iobes or bilou");
}

bool spell_entities(const std::vector<std::string>& labels) {
  const auto of_entity = [](const std::string& label) {
    return label.size() > 2 && label[1] == '-' && is_one_of(label[0], "BIESLU");
  };
  return std::ranges::any_of(labels, of_entity) &&
         std::ranges::all_of(labels, [&](const std::string& label) { return label == "O" || of_entity(label); });
}

std::vector<TaggedEntity> entities_of(const Tags& tags, const EntityOptions& options) {
  std::vector<Tag> split;
  for (const std::string& tag : tags) split.push_back(split_tag(tag, options));
  split.push_back({'O', "_"});
  return options.scheme == TagScheme::conll ? lenient_entities(split)
                                            : strict_entities(split, rules_of(options.scheme));
}

TagScheme detect_scheme(const std::vector<Tags>& sequences, bool suffix) {
  std::set<char> prefixes;
  for (const Tags& tags : sequences) {
    for (const std::string& tag : tags) prefixes.insert(split_tag(tag, {.suffix = suffix}).prefix);
  }
  if (prefixes.contains('U') || prefixes.contains('L')) return TagScheme::bilou;
  if (prefixes.contains('S') || (prefixes.contains('B') && prefixes.contains('E'))) return TagScheme::iobes;
  return prefixes.contains('E') ? TagScheme::ioe2 : TagScheme::iob2;
}

ScoreReport entity_report(const std::vector<Tags>& expected, const std::vector<Tags>& found,
                          const EntityOptions& options) {
  check_lengths(expected, found);
  std::map<std::string, HitCounts> counts;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto right = entities_of(expected[i], options);
    const std::set<TaggedEntity> wanted(right.begin(), right.end());
    for (const TaggedEntity& entity : wanted) ++counts[entity.type].expected;
    for (const TaggedEntity& entity : entities_of(found[i], options)) {
      HitCounts& count = counts[entity.type];
      ++count.found;
      if (wanted.contains(entity)) ++count.right;
    }
  }
  return score_report(counts, options.beta);
}

double tag_accuracy(const std::vector<Tags>& expected, const std::vector<Tags>& found) {
  check_lengths(expected, found);
  std::size_t right = 0, all = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    all += expected[i].size();
    for (std::size_t t = 0; t < expected[i].size(); ++t) right += expected[i][t] == found[i][t] ? 1 : 0;
  }
  return all == 0 ? 0 : static_cast<double>(right) / static_cast<double>(all);
}

}  // namespace heed
