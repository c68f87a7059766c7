// Any bytes as a document, as a text with markup, and as one whose language is asked for.
#include <algorithm>
#include <string>
#include <vector>

#include "heed/text/inline_markup.h"
#include "heed/text/languages.h"
#include "heed/text/protected_parts.h"
#include "heed/text/sentences.h"
#include "promise.h"
#include "text/spaced_words.h"

namespace {

using namespace heed::text;
using heed::fuzz::expect;
using heed::test::words_of;

void split_and_join(std::string_view document) {
  const auto sentences = split_sentences(document);
  std::vector<std::string> texts;
  std::size_t at = 0;
  for (const Sentence& sentence : sentences) {
    expect(sentence.begin >= at && sentence.begin < sentence.end, "sentences in order");
    at = sentence.end;
    texts.emplace_back(sentence.of(document));
  }
  expect(join_sentences(document, sentences, texts) == document, "sentences join to the document");
  std::string together;
  for (const std::string_view piece : cut_text(document, 16, [](std::string_view text) { return text.size(); })) {
    together += piece;
  }
  expect(together == document, "pieces are the text");
}

// The first half of the words as the translation of all, linked by the bytes of the text.
void strip_and_restore(std::string_view source) {
  const StrippedText stripped = strip_markup(source);
  AlignedText words{stripped.text, stripped.text.substr(0, stripped.text.size() / 2), words_of(stripped.text), {}, {}};
  words.target_words = words_of(words.target);
  for (std::size_t i = 0; i < words.source_words.size() && !words.target_words.empty(); i += 2) {
    const auto byte = static_cast<unsigned char>(stripped.text[words.source_words[i].begin]);
    words.alignment.push_back({i, byte % words.target_words.size()});
  }
  const AlignedText kept = keep_protected(words);
  kept.check();
  const std::string restored = restore_markup(stripped, kept);
  for (const MarkupSpan& span : stripped.spans) {
    expect(span.begin <= span.end && span.end <= stripped.text.size(), "spans inside the text");
    expect(restored.find(span.open) != std::string::npos, "every tag");
    expect(restored.find(span.close) != std::string::npos, "every closing tag");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = heed::fuzz::text_of(data, size);
  split_and_join(bytes);
  strip_and_restore(bytes);
  const DetectedLanguage found = detect_language(bytes);
  expect(found.confidence >= 0 && found.confidence <= 1, "a confidence from 0 to 1");
  return 0;
}
