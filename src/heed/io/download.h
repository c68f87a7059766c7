// Files over HTTP and HTTPS, by libcurl: resumed where they stopped, tried again when the network fails, and in place
// only when whole and verified.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace heed {

struct DownloadOptions {
  // Sent as a bearer token to the host of the first URL only, never to one it redirects to.
  std::string token{};
  int attempts = 5;                      // in a row that bring no new byte
  std::chrono::milliseconds pause{500};  // before the second attempt; doubles each time
  std::chrono::seconds stall{60};        // without a byte: the attempt has failed
};

// Errors: not_found for what the server does not have or does not show (401, 403, 404), io for a network that does not
// work after all attempts, bad_format for answers that break a rule, cancelled within about a second when the thread is
// to stop (StopScope); what arrived is kept.

// The body of a small answer; more than `most_bytes` is an error.
std::string fetch_text(const std::string& url, std::size_t most_bytes, const DownloadOptions& options);

// Called with the bytes there are so far and the size of the file, 0 if the server does not tell.
using OnBytes = std::function<void(std::uint64_t done, std::uint64_t total)>;

// The file at `url` as `path`. It grows as `part` (with a note beside it of what it is a part of), which a later call
// continues after a crash; `path` appears by a rename. Both must be on one file system; their folders are made.
// Checked are the size, and what the hub says of the contents: an ETag of 64 hexadecimal digits is their SHA-256, one
// of 40 the SHA-1 of the git blob.
void fetch_file(const std::string& url, const std::filesystem::path& path, const std::filesystem::path& part,
                const DownloadOptions& options, const OnBytes& on_bytes = {});

}  // namespace heed
