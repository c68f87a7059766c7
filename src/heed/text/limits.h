// How long an encoding may be and what it is filled up to: the "truncation" and "padding" of tokenizer.json.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heed/base/json.h"
#include "heed/text/encoding.h"

namespace heed::text {

struct Truncation {
  enum class Strategy { longest_first, only_first, only_second };
  std::size_t max_length = 512;  // special tokens included
  std::size_t stride = 0;        // tokens that neighbouring windows share
  Strategy strategy = Strategy::longest_first;
  Direction direction = Direction::right;

  static Truncation from_json(const Json& json, const std::string& context);
  Json to_json() const;
  // Shortens one encoding, or a pair, to max_length less the `added` special tokens to come.
  void apply(std::vector<Encoding>& encodings, std::size_t added) const;
};

struct Padding {
  std::optional<std::size_t> fixed;  // else the longest of the batch
  std::optional<std::size_t> multiple_of;
  Encoding::Pad pad;

  static Padding from_json(const Json& json, const std::string& context);
  Json to_json() const;
  void apply(std::vector<Encoding>& batch, const TokenTexts& texts) const;
};

}  // namespace heed::text
