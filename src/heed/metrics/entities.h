// How well entities were found in sequences of tags, by the rules of seqeval. An entity is right when its type and both
// its ends are.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "heed/metrics/report.h"

namespace heed {

// How tags spell entities. conll is lenient, as the conlleval program: whatever the prefixes, neighbours of one type
// belong together unless a prefix begins or ends an entity. The others are strict: what breaks the scheme is no entity,
// and a prefix that the scheme does not have is an error.
enum class TagScheme { conll, iob1, iob2, ioe1, ioe2, iobes, bilou };
// "conll", "iob1", ...; throws invalid_argument for another name.
TagScheme tag_scheme_named(std::string_view name);

using Tags = std::vector<std::string>;

// Whether labels are O and B-PER, I-PER ... of any scheme, with at least one of the latter; parts of speech are not.
bool spell_entities(const std::vector<std::string>& labels);

struct TaggedEntity {
  std::string type;  // "_" where a tag is a prefix alone
  std::size_t begin = 0, end = 0;
  bool operator==(const TaggedEntity&) const = default;
  bool operator<(const TaggedEntity& other) const {
    return std::tie(type, begin, end) < std::tie(other.type, other.begin, other.end);
  }
};

struct EntityOptions {
  TagScheme scheme = TagScheme::conll;
  bool suffix = false;  // PER-B instead of B-PER
  double beta = 1;
};

std::vector<TaggedEntity> entities_of(const Tags& tags, const EntityOptions& options = {});

// The strict scheme whose prefixes these tags have; iob2 where several do.
TagScheme detect_scheme(const std::vector<Tags>& sequences, bool suffix = false);

// Throws invalid_argument for sequences of different lengths.
ScoreReport entity_report(const std::vector<Tags>& expected, const std::vector<Tags>& found,
                          const EntityOptions& options = {});
// The share of tags that are right.
double tag_accuracy(const std::vector<Tags>& expected, const std::vector<Tags>& found);

}  // namespace heed
