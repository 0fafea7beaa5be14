// No requests: dvm was built without libcurl.

#include "export/http_post.h"

namespace dvm::exporting {

struct HttpPost::Impl {};

HttpPost::HttpPost(std::function<bool()>, const HttpSettings&) {}
HttpPost::~HttpPost() = default;
Status HttpPost::check(const std::string&) { return Error{"--otlp is not available: dvm was built without libcurl"}; }
HttpAnswer HttpPost::post(const std::string&, const std::string&) { return {}; }

}  // namespace dvm::exporting
