// How BLEU cuts texts into words: the tokenizers of sacrebleu, by their names there.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace heed {

// From a text to the same with words between spaces. Safe to call from several threads at once.
using BleuTokenizer = std::function<std::string(std::string_view)>;

// 13a, intl, zh, char, none; flores101 and flores200, which cut by a SentencePiece model. Throws invalid_argument for
// another name, and where `sentencepiece_model` is missing or not wanted.
BleuTokenizer bleu_tokenizer(const std::string& name, const std::string& sentencepiece_model = "");

}  // namespace heed
