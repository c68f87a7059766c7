// Special tokens: which parts they play, as HuggingFace's settings call them, and those that vocabularies begin with.
#pragma once

#include <array>
#include <string_view>

namespace heed::text {

struct TokenRole {
  const char* name;                             // in tokenizer_config.json and special_tokens_map.json
  std::array<std::string_view, 2> spellings{};  // usual ones, the likelier first; "": there is none
};

inline constexpr std::array<TokenRole, 7> kTokenRoles = {{{"bos_token", {}},
                                                          {"eos_token", {"<|endoftext|>", "</s>"}},
                                                          {"unk_token", {"[UNK]", "<unk>"}},
                                                          {"sep_token", {"[SEP]", "</s>"}},
                                                          {"pad_token", {"[PAD]", "<pad>"}},
                                                          {"cls_token", {"[CLS]", "<s>"}},
                                                          {"mask_token", {"[MASK]", "<mask>"}}}};

// In the order of their ids.
inline constexpr std::array<const char*, 5> kBertTokens = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
inline constexpr std::array<const char*, 5> kRobertaTokens = {"<s>", "<pad>", "</s>", "<unk>", "<mask>"};

}  // namespace heed::text
