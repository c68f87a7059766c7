#include "heed/io/checksum.h"

#include <openssl/evp.h>

#include <algorithm>
#include <initializer_list>
#include <memory>

#include "heed/base/error.h"
#include "heed/base/stop.h"

namespace heed {
namespace {

std::string digest(const EVP_MD* kind, std::initializer_list<std::span<const std::byte>> parts) {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  unsigned char bytes[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  bool works = context && EVP_DigestInit_ex(context.get(), kind, nullptr) == 1;
  constexpr std::size_t kBetweenQuestions = 16 << 20;
  for (auto part : parts) {
    while (!part.empty()) {
      StopScope::current().check("[checksum]");
      const auto next = part.first(std::min(part.size(), kBetweenQuestions));
      works = works && EVP_DigestUpdate(context.get(), next.data(), next.size()) == 1;
      part = part.subspan(next.size());
    }
  }
  works = works && EVP_DigestFinal_ex(context.get(), bytes, &size) == 1;
  HEED_CHECK_AS(internal, works, "[checksum] OpenSSL could not compute it");
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (unsigned int i = 0; i < size; ++i) (text += kDigits[bytes[i] >> 4]) += kDigits[bytes[i] & 15];
  return text;
}

}  // namespace

std::string sha256(std::span<const std::byte> bytes) {
  return digest(EVP_sha256(), {bytes});
}

std::string git_blob_sha1(std::span<const std::byte> bytes) {
  const std::string header = "blob " + std::to_string(bytes.size());
  return digest(EVP_sha1(), {std::as_bytes(std::span(header.c_str(), header.size() + 1)), bytes});
}

bool is_hexadecimal(std::string_view text, std::size_t digits) {
  return text.size() == digits && text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

}  // namespace heed
