#pragma once
// HTTP requests of an exporter: POST of JSON, with limits for time and for the size of the answer.

#include <functional>
#include <memory>
#include <string>

#include "dvm/common/result.h"

namespace dvm::exporting {

struct HttpAnswer {
  long status = 0;          // of HTTP; 0: there was no answer
  long retry_after = 0;     // seconds that the server wants to be left alone; 0: it did not say
  std::string body, error;  // error: why there was no answer
};

struct HttpSettings {
  std::string headers;       // of all requests: NAME=VALUE,NAME=VALUE; what is not of this form is left out
  std::string certificates;  // file of those that are trusted; empty: the system's
};

class HttpPost {
 public:
  // is_cancelled is asked several times a second while a request runs.
  HttpPost(std::function<bool()> is_cancelled, const HttpSettings& settings);
  ~HttpPost();
  HttpPost(const HttpPost&) = delete;
  HttpPost& operator=(const HttpPost&) = delete;

  // The error says why no request can be sent to such an URL.
  static Status check(const std::string& url);
  HttpAnswer post(const std::string& url, const std::string& json);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dvm::exporting
