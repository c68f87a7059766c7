#pragma once

#include <string>
#include <string_view>

namespace heed {

// The stem of an English word in small letters, by Porter's algorithm (1980) with the extensions that NLTK has on by
// default: irregular forms, -ied, -y after a consonant, -fulli and -logi.
std::string porter_stem(std::string_view word);

}  // namespace heed
