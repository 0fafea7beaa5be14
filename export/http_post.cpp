// By libcurl. Tested by tests/runtime/scenarios/test_otlp.py.

#include "export/http_post.h"

#include <curl/curl.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <sstream>
#include <string>
#include <utility>

namespace dvm::exporting {
namespace {

constexpr long kConnectMilliseconds = 5000, kRequestMilliseconds = 10000;
constexpr size_t kMostAnswer = 1 << 16;  // bytes; the rest is not kept

size_t keep(const char* data, size_t, size_t size, void* answer) {
  std::string& body = *static_cast<std::string*>(answer);
  body.append(data, std::min(size, kMostAnswer - body.size()));
  return size;
}

int go_on(void* is_cancelled, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return (*static_cast<const std::function<bool()>*>(is_cancelled))() ? 1 : 0;
}

// Programs that a script starts get no connections.
curl_socket_t open_socket(void*, curlsocktype, curl_sockaddr* address) {
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

// Once, before there are threads.
bool start_library() {
  static const bool has_started = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  return has_started;
}

}  // namespace

struct HttpPost::Impl {
  std::function<bool()> is_cancelled;
  CURL* curl = nullptr;
  curl_slist* headers = nullptr;
  char error[CURL_ERROR_SIZE] = "";

  std::string reason_of(CURLcode code) {
    long number = 0;
    curl_easy_getinfo(curl, CURLINFO_OS_ERRNO, &number);
    if (code == CURLE_COULDNT_CONNECT && number != 0) return std::strerror(static_cast<int>(number));
    return error[0] != '\0' ? error : curl_easy_strerror(code);
  }

  // A name or value with a control character would be another header.
  void add_header(const std::string& setting) {
    const size_t sign = setting.find('=');
    const bool is_plain = std::none_of(setting.begin(), setting.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; });
    if (sign != std::string::npos && sign > 0 && is_plain)
      headers = curl_slist_append(headers, (setting.substr(0, sign) + ": " + setting.substr(sign + 1)).c_str());
  }

  void set_up(const HttpSettings& settings) {
    headers = curl_slist_append(headers, "Content-Type: application/json");
    headers = curl_slist_append(headers, "Expect:");  // the body goes with the headers
    std::istringstream further(settings.headers);
    for (std::string setting; std::getline(further, setting, ',');) add_header(setting);
    if (!settings.certificates.empty()) curl_easy_setopt(curl, CURLOPT_CAINFO, settings.certificates.c_str());
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "dvm");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, kConnectMilliseconds);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, kRequestMilliseconds);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, error);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, keep);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, go_on);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &is_cancelled);
  }
};

HttpPost::HttpPost(std::function<bool()> is_cancelled, const HttpSettings& settings) : impl_(std::make_unique<Impl>()) {
  impl_->is_cancelled = std::move(is_cancelled);
  if (!start_library() || (impl_->curl = curl_easy_init()) == nullptr) return;
  impl_->set_up(settings);
}

HttpPost::~HttpPost() {
  curl_slist_free_all(impl_->headers);
  curl_easy_cleanup(impl_->curl);
}

Status HttpPost::check(const std::string& url) {
  const auto failed = [&](const char* reason) { return Error{fmt::format("cannot export to '{}': {}", url, reason)}; };
  if (!url.starts_with("http://") && !url.starts_with("https://"))
    return failed("the URL begins with neither http:// nor https://");
  const std::unique_ptr<CURLU, void (*)(CURLU*)> parts(curl_url(), curl_url_cleanup);
  const CURLUcode code = curl_url_set(parts.get(), CURLUPART_URL, url.c_str(), 0);
  return code == CURLUE_OK ? Status() : failed(curl_url_strerror(code));
}

HttpAnswer HttpPost::post(const std::string& url, const std::string& json) {
  HttpAnswer answer;
  CURL* curl = impl_->curl;
  if (curl == nullptr) return answer.error = "libcurl did not start", answer;
  impl_->error[0] = '\0';
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_POSTFIELDS, json.c_str());
  curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(json.size()));
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer.body);
  const CURLcode code = curl_easy_perform(curl);
  if (code != CURLE_OK) return answer.error = impl_->reason_of(code), answer;
  curl_off_t wait = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer.status);
  curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &wait);
  answer.retry_after = static_cast<long>(wait);
  return answer;
}

}  // namespace dvm::exporting
