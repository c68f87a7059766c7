#include "heed/text/metaspace.h"

#include <algorithm>

#include "heed/text/single_character.h"
#include "heed/text/unicode.h"

namespace heed::text {
namespace {

class Metaspace final : public PreTokenizer {
 public:
  explicit Metaspace(const MetaspaceSettings& settings) : settings_(settings) {
    append_point(replacement_, settings.replacement);
  }

  void apply(PreTokenized& text) const override {
    const std::string_view all = text.string.text();
    text.rewrite(all.size() * 3 / 2 + 16, [&](const PreToken& part, Rewriter& rewriter) {
      if (gets_prefix(all.substr(part.span.begin), text.string.source(part.span.begin))) {
        rewriter.prepend(replacement_);
      }
      while (rewriter.cursor() < part.span.end) {
        const std::size_t from = rewriter.cursor();
        const std::size_t space = std::min<std::size_t>(all.find(' ', from), part.span.end);
        rewriter.keep(space - from);
        if (space < part.span.end) rewriter.replace_next(replacement_);
      }
    });
    if (settings_.split) {
      text.split([&](std::string_view part, std::vector<Span>& words) { split_words(part, words); });
    }
  }

 private:
  bool gets_prefix(std::string_view part, Span source) const {
    if (settings_.scheme == PrependScheme::never || part.starts_with(' ') || part.starts_with(replacement_))
      return false;
    return settings_.scheme == PrependScheme::always || source.begin == 0;
  }

  // Every replacement character starts a word.
  void split_words(std::string_view part, std::vector<Span>& words) const {
    std::size_t begin = 0;
    while (begin < part.size()) {
      const std::size_t end = std::min(part.find(replacement_, begin + 1), part.size());
      words.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)});
      begin = end;
    }
  }

  MetaspaceSettings settings_;
  std::string replacement_;
};

}  // namespace

MetaspaceSettings metaspace_settings(Fields& fields) {
  MetaspaceSettings settings;
  settings.replacement =
      single_character(fields.optional<std::string>("replacement", "\u2581"), fields.context() + ": replacement");
  if (fields.find("prepend_scheme")) {
    settings.scheme = static_cast<PrependScheme>(fields.choice("prepend_scheme", {"always", "first", "never"}));
  } else {
    settings.scheme = PrependScheme::always;
  }
  // Files of before 2024 say add_prefix_space instead; false stands for never.
  if (!fields.optional("add_prefix_space", true)) {
    HEED_CHECK_AS(bad_format, !fields.find("prepend_scheme") || settings.scheme == PrependScheme::never,
                  fields.context(), ": add_prefix_space is false but prepend_scheme is not \"never\"");
    settings.scheme = PrependScheme::never;
  }
  settings.split = fields.optional("split", true);
  fields.find("str_rep");  // the replacement once more, in old files
  return settings;
}

std::unique_ptr<PreTokenizer> make_metaspace(Fields& fields) {
  return std::make_unique<Metaspace>(metaspace_settings(fields));
}

}  // namespace heed::text
