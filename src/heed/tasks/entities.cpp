#include "heed/tasks/entities.h"

#include <algorithm>

#include "heed/base/error.h"

namespace heed {
namespace {

constexpr std::pair<std::string_view, Aggregation> kAggregations[] = {{"none", Aggregation::none},
                                                                      {"simple", Aggregation::simple},
                                                                      {"first", Aggregation::first},
                                                                      {"average", Aggregation::average},
                                                                      {"max", Aggregation::max}};

std::size_t best_of(const std::vector<float>& scores) {
  return static_cast<std::size_t>(std::ranges::max_element(scores) - scores.begin());
}

// B-PER is the tag PER and begins an entity; I-PER, or PER alone, may continue one.
struct Label {
  explicit Label(std::string_view text) : begins(text.starts_with("B-")) {
    tag = begins || text.starts_with("I-") ? text.substr(2) : text;
  }
  bool begins;
  std::string_view tag;
};

Entity token_entity(const TagToken& token, const std::vector<std::string>& labels) {
  const std::size_t best = best_of(token.scores);
  return {labels[best], token.scores[best], token.text, token.start, token.end, token.index};
}

// One word's tokens as one entity.
Entity word_entity(std::span<const TagToken> tokens, const std::vector<std::string>& labels, Aggregation aggregation,
                   const JoinTokens& join) {
  std::vector<float> scores = tokens[0].scores;
  if (aggregation == Aggregation::max) {
    const auto peak = [](const TagToken& token) { return std::ranges::max(token.scores); };
    scores = std::ranges::max_element(tokens, {}, peak)->scores;
  } else if (aggregation == Aggregation::average) {
    for (std::size_t label = 0; label < scores.size(); ++label) {
      double sum = 0;
      for (const TagToken& token : tokens) sum += static_cast<double>(token.scores[label]);
      scores[label] = static_cast<float>(sum / static_cast<double>(tokens.size()));
    }
  }
  std::vector<std::string> texts;
  for (const TagToken& token : tokens) texts.push_back(token.text);
  const std::size_t best = best_of(scores);
  return {labels[best], scores[best], join(std::move(texts)), tokens.front().start, tokens.back().end, {}};
}

std::vector<Entity> word_entities(std::span<const TagToken> tokens, const std::vector<std::string>& labels,
                                  Aggregation aggregation, const JoinTokens& join) {
  std::vector<Entity> words;
  for (std::size_t begin = 0, end = 0; begin < tokens.size(); begin = end) {
    while (end < tokens.size() && tokens[end].word == tokens[begin].word) ++end;
    words.push_back(word_entity(tokens.subspan(begin, end - begin), labels, aggregation, join));
  }
  return words;
}

Entity merged_entity(std::span<const Entity> parts, const JoinTokens& join) {
  std::vector<std::string> texts;
  double sum = 0;
  for (const Entity& part : parts) {
    texts.push_back(part.word);
    sum += static_cast<double>(part.score);
  }
  return {std::string(Label(parts[0].label).tag),
          static_cast<float>(sum / static_cast<double>(parts.size())),
          join(std::move(texts)),
          parts.front().start,
          parts.back().end,
          {}};
}

// Neighbours of one tag, until the next B-.
std::vector<Entity> grouped(std::span<const Entity> parts, const JoinTokens& join) {
  std::vector<Entity> groups;
  for (std::size_t begin = 0, end = 0; begin < parts.size(); begin = end) {
    const Label first(parts[begin].label);
    for (end = begin + 1; end < parts.size(); ++end) {
      const Label next(parts[end].label);
      if (next.begins || next.tag != first.tag) break;
    }
    groups.push_back(merged_entity(parts.subspan(begin, end - begin), join));
  }
  return groups;
}

}  // namespace

Aggregation aggregation_named(std::string_view name) {
  for (const auto& [known, aggregation] : kAggregations) {
    if (name == known) return aggregation;
  }
  fail(ErrorKind::invalid_argument, "[tag] aggregation is \"", name,
       "\", expected none, simple, first, average or max");
}

std::vector<Entity> aggregate(std::span<const TagToken> tokens, const std::vector<std::string>& labels,
                              Aggregation aggregation, const JoinTokens& join) {
  std::vector<Entity> parts;
  if (aggregation == Aggregation::none || aggregation == Aggregation::simple) {
    for (const TagToken& token : tokens) parts.push_back(token_entity(token, labels));
  } else {
    parts = word_entities(tokens, labels, aggregation, join);
  }
  return aggregation == Aggregation::none ? parts : grouped(parts, join);
}

std::vector<Entity> merge_windows(std::vector<Entity> entities) {
  std::ranges::stable_sort(entities, {}, &Entity::start);
  std::vector<Entity> merged;
  for (Entity& entity : entities) {
    if (merged.empty() || entity.start >= merged.back().end) {
      merged.push_back(std::move(entity));
      continue;
    }
    const auto rank = [](const Entity& each) { return std::pair(each.end - each.start, each.score); };
    if (rank(entity) > rank(merged.back())) merged.back() = std::move(entity);
  }
  return merged;
}

}  // namespace heed
