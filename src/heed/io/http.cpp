#include "heed/io/http.h"

#include <curl/curl.h>

#include <algorithm>
#include <charconv>
#include <exception>
#include <memory>

#include "heed/base/error.h"
#include "heed/base/stop.h"

namespace heed {
namespace {

constexpr int kMostRedirects = 10;
constexpr std::size_t kMostHeaderBytes = 1 << 20, kMostErrorBytes = 4096;
constexpr long kConnectSeconds = 30;

struct CurlDeleter {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using CurlHandle = std::unique_ptr<CURL, CurlDeleter>;
using CurlUrl = std::unique_ptr<CURLU, CurlDeleter>;
using CurlList = std::unique_ptr<curl_slist, CurlDeleter>;

CurlUrl parsed_url(const std::string& url) {
  CurlUrl parsed(curl_url());
  const CURLUcode code = curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0);
  HEED_CHECK(code == CURLUE_OK, url, ": is not a URL: ", curl_url_strerror(code));
  return parsed;
}

std::string url_part(const CurlUrl& url, CURLUPart part) {
  char* text = nullptr;
  if (curl_url_get(url.get(), part, &text, CURLU_DEFAULT_PORT) != CURLUE_OK) return "";
  std::string result(text);
  curl_free(text);
  return result;
}

// scheme://host:port
std::string origin_of(const std::string& url) {
  const CurlUrl parsed = parsed_url(url);
  const std::string scheme = url_part(parsed, CURLUPART_SCHEME);
  HEED_CHECK(scheme == "https" || scheme == "http", url, ": expected a URL of https or http");
  return scheme + "://" + url_part(parsed, CURLUPART_HOST) + ":" + url_part(parsed, CURLUPART_PORT);
}

std::string resolved(const std::string& base, const std::string& location) {
  const CurlUrl url = parsed_url(base);
  HEED_CHECK_AS(bad_format, curl_url_set(url.get(), CURLUPART_URL, location.c_str(), 0) == CURLUE_OK, base,
                ": redirects to \"", location.substr(0, 200), "\", which is not a URL");
  return url_part(url, CURLUPART_URL);
}

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string without_quotes(std::string tag) {
  if (tag.starts_with("W/")) tag.erase(0, 2);
  std::erase(tag, '"');
  return tag;
}

// One request and its answer; what the callbacks of libcurl see.
class Exchange {
 public:
  // `at_home`: the answer is that of the first host.
  Exchange(const std::string& url, bool at_home, HttpReply& reply, HttpBody& body)
      : url_(url), at_home_(at_home), reply_(reply), body_(body) {}

  CURLcode run(const std::vector<std::string>& headers, const DownloadOptions& options) {
    static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
    HEED_CHECK_AS(internal, ready == CURLE_OK, "libcurl: ", curl_easy_strerror(ready));
    const CurlHandle handle(curl_easy_init());
    CurlList list;
    for (const std::string& header : headers) list.reset(curl_slist_append(list.release(), header.c_str()));
    CURL* curl = handle.get();
    curl_easy_setopt(curl, CURLOPT_URL, url_.c_str());
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, list.get());
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "heed");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, static_cast<long>(options.stall.count()));
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, &Exchange::on_header);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, this);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &Exchange::on_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, this);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, &Exchange::on_progress);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, this);
    const CURLcode code = curl_easy_perform(curl);
    if (thrown_) std::rethrow_exception(thrown_);
    if (code == CURLE_OK && delivers() && !begun_) body_.begin(reply_);  // an empty body
    return code;
  }
  // The beginning of what an answer that is an error says.
  const std::string& complaint() const { return complaint_; }

 private:
  bool delivers() const { return reply_.status == 200 || reply_.status == 206; }

  static std::size_t on_header(char* data, std::size_t size, std::size_t count, void* self) {
    return static_cast<Exchange*>(self)->guarded([&](Exchange& e) {
      e.take_header({data, size * count});
    }) * (size * count);
  }
  static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* self) {
    return static_cast<Exchange*>(self)->guarded([&](Exchange& e) {
      e.take_body({data, size * count});
    }) * (size * count);
  }
  // Once a second at least, whether bytes come or not.
  static int on_progress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    const std::size_t taken =
        static_cast<Exchange*>(self)->guarded([](Exchange&) { StopScope::current().check("[download]"); });
    return taken == 1 ? 0 : 1;
  }
  // Exceptions must not pass through libcurl: 0 bytes taken ends the transfer, and run() throws it again.
  template <class Action>
  std::size_t guarded(const Action& action) {
    try {
      action(*this);
      return 1;
    } catch (...) {
      thrown_ = std::current_exception();
      return 0;
    }
  }

  void take_header(std::string_view line) {
    header_bytes_ += line.size();
    HEED_CHECK_AS(bad_format, header_bytes_ <= kMostHeaderBytes, url_, ": more than ", kMostHeaderBytes,
                  " bytes of headers");
    if (line.starts_with("HTTP/")) {  // the first line of an answer, perhaps after that of a proxy
      reply_.headers.clear();
      const std::size_t space = line.find(' ');
      reply_.status = 0;
      if (space != std::string_view::npos) {
        const std::string_view digits = line.substr(space + 1, 3);
        std::from_chars(digits.data(), digits.data() + digits.size(), reply_.status);
      }
      return;
    }
    if (trimmed(line).empty() && at_home_) return note_content();
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return;
    std::string name(trimmed(line.substr(0, colon)));
    std::ranges::transform(name, name.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
    reply_.headers[name] = trimmed(line.substr(colon + 1));
  }

  // At the end of the headers.
  void note_content() {
    const std::string linked = reply_.header("x-linked-etag");
    if (!linked.empty()) {
      reply_.content_tag = without_quotes(linked);
      reply_.content_size = reply_.number("x-linked-size");
    } else if (reply_.content_tag.empty() && delivers()) {
      reply_.content_tag = without_quotes(reply_.header("etag"));
    }
  }

  void take_body(std::span<const char> bytes) {
    if (!delivers()) {
      const std::size_t room = kMostErrorBytes - std::min(kMostErrorBytes, complaint_.size());
      complaint_.append(bytes.data(), std::min(room, bytes.size()));
      return;
    }
    if (!begun_) body_.begin(reply_);
    begun_ = true;
    body_.write(bytes);
  }

  const std::string& url_;
  bool at_home_;
  HttpReply& reply_;
  HttpBody& body_;
  bool begun_ = false;
  std::size_t header_bytes_ = 0;
  std::string complaint_;
  std::exception_ptr thrown_;
};

bool may_pass(CURLcode code) {
  switch (code) {
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_PARTIAL_FILE:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_WEIRD_SERVER_REPLY: return true;
    default: return false;
  }
}

// Throws for every status but 200, 206 and redirects.
void check_status(const std::string& url, const HttpReply& reply, const std::string& complaint) {
  const long status = reply.status;
  if (status == 200 || status == 206 || (status >= 300 && status < 400 && status != 304)) return;
  if (status == 408 || status == 416 || status == 429 || status >= 500) {
    throw TransientFailure{"the server answered " + std::to_string(status), status};
  }
  const std::string said = complaint.empty() ? "" : " (" + std::string(trimmed(complaint.substr(0, 300))) + ")";
  if (status == 401 || status == 403) {
    fail(ErrorKind::not_found, url, ": the server answered ", status, said,
         ". The repository does not exist, or is private or gated: ask for access on its page and set HF_TOKEN");
  }
  HEED_CHECK_AS(not_found, status != 404, url, ": is not there, the server answered 404", said);
  fail(ErrorKind::io, url, ": the server answered ", status, said);
}

}  // namespace

std::string HttpReply::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

std::optional<std::uint64_t> HttpReply::number(const std::string& name) const {
  const std::string text = header(name);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

HttpReply http_get(const std::string& url, const std::vector<std::string>& headers, const DownloadOptions& options,
                   HttpBody& body) {
  HttpReply reply;
  std::string at = url;
  const std::string home = origin_of(url);
  for (int hop = 0; hop <= kMostRedirects; ++hop) {
    const bool at_home = origin_of(at) == home;
    std::vector<std::string> lines = headers;
    if (at_home && !options.token.empty()) lines.push_back("Authorization: Bearer " + options.token);
    Exchange exchange(at, at_home, reply, body);
    const CURLcode code = exchange.run(lines, options);
    if (may_pass(code)) throw TransientFailure{curl_easy_strerror(code)};
    HEED_CHECK_AS(io, code == CURLE_OK, at, ": ", curl_easy_strerror(code));
    check_status(at, reply, exchange.complaint());
    if (reply.status < 300) return reply;
    const std::string location = reply.header("location");
    HEED_CHECK_AS(bad_format, !location.empty(), at, ": the server answered ", reply.status, " without a location");
    const std::string next = resolved(at, location);
    HEED_CHECK_AS(bad_format, !at.starts_with("https:") || next.starts_with("https:"), at, ": redirects from https to ",
                  next.substr(0, 200));
    at = next;
  }
  fail(ErrorKind::io, url, ": more than ", kMostRedirects, " redirects");
}

}  // namespace heed
