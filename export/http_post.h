#pragma once
// HTTP requests of an exporter: POSTs JSON, with limits on the time and on the size of the answer.

#include <functional>
#include <memory>
#include <string>

#include "dvm/common/result.h"

namespace dvm::exporting {

struct HttpAnswer {
  long status = 0;          // HTTP status; 0: there was no answer
  long retry_after = 0;     // seconds, from the header Retry-After; 0: it had none
  std::string body, error;  // error: why there was no answer
};

struct HttpSettings {
  std::string headers;       // of all requests: NAME=VALUE,NAME=VALUE; parts without this form are ignored
  std::string certificates;  // file of the trusted certificates; empty: the system's
};

class HttpPost {
 public:
  // is_cancelled is asked several times a second while a request runs.
  HttpPost(std::function<bool()> is_cancelled, const HttpSettings& settings);
  ~HttpPost();
  HttpPost(const HttpPost&) = delete;
  HttpPost& operator=(const HttpPost&) = delete;

  // An error says why no request can be sent to the URL.
  static Status check(const std::string& url);
  HttpAnswer post(const std::string& url, const std::string& json);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dvm::exporting
