// One HTTP GET, redirects included.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "heed/io/download.h"

namespace heed {

// A failure that another attempt may mend.
struct TransientFailure {
  std::string why;
  long status = 0;  // the server's answer, if it gave one
};

struct HttpReply {
  long status = 0;
  std::map<std::string, std::string> headers{};  // of the last host; names in lower case
  // What the first host says of the file it redirects to, else of the file it sends: the hub's X-Linked-Etag and
  // X-Linked-Size. Without quotes; "" and nothing if it does not say.
  std::string content_tag{};
  std::optional<std::uint64_t> content_size{};

  std::string header(const std::string& name) const;
  // A header that is a number; nothing if it is not there.
  std::optional<std::uint64_t> number(const std::string& name) const;
};

// Where the bytes of an answer 200 or 206 go.
class HttpBody {
 public:
  virtual ~HttpBody() = default;
  virtual void begin(const HttpReply& reply) = 0;
  virtual void write(std::span<const char> bytes) = 0;
};

// Throws TransientFailure for what may pass (no connection, 408, 429, 5xx, a body cut short) and Error for the rest.
// `headers` are lines "Name: value". At most ten redirects are followed, none from https to http.
HttpReply http_get(const std::string& url, const std::vector<std::string>& headers, const DownloadOptions& options,
                   HttpBody& body);

}  // namespace heed
