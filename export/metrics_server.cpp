// The server by GNU libmicrohttpd. Tested by tests/runtime/scenarios/test_prometheus.py.

#include "export/metrics_server.h"

#include <fmt/format.h>
#include <microhttpd.h>
#include <sys/socket.h>

#include <mutex>
#include <string_view>
#include <utility>

#include "export/listen.h"
#include "export/prometheus_text.h"

namespace dvm::exporting {
namespace {

constexpr unsigned kMostConnections = 32;
constexpr unsigned kIdleSeconds = 10;  // until a connection that makes no progress is closed

using Text = std::shared_ptr<const std::string>;

// Keeps the text until the last connection has sent it.
MHD_Response* response_of(Text text) {
  auto* kept = new Text(std::move(text));
  const std::string& bytes = **kept;
  const auto drop = [](void* owner) { delete static_cast<Text*>(owner); };
  return MHD_create_response_from_buffer_with_free_callback_cls(bytes.size(), const_cast<char*>(bytes.data()), drop, kept);
}

MHD_Result answer(MHD_Connection* connection, unsigned status, Text text, const char* type) {
  MHD_Response* response = response_of(std::move(text));
  if (response == nullptr) return MHD_NO;
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
  const MHD_Result queued = MHD_queue_response(connection, status, response);
  MHD_destroy_response(response);
  return queued;
}

}  // namespace

struct MetricsServer::Impl {
  MHD_Daemon* daemon = nullptr;
  int socket = -1;
  std::mutex mutex;
  std::shared_ptr<const runtime::Snapshot> snapshot;  // by mutex
  // Of the server's thread: the text of a snapshot, for all who ask before the next.
  std::shared_ptr<const runtime::Snapshot> written;
  Text text;

  Text current() {
    std::shared_ptr<const runtime::Snapshot> last;
    {
      const std::lock_guard lock(mutex);
      last = snapshot;
    }
    if (last && last != written) text = std::make_shared<const std::string>(prometheus_text(*last)), written = last;
    return text;
  }

  MHD_Result handle(MHD_Connection* connection, std::string_view path, std::string_view method) {
    constexpr const char* kPlain = "text/plain; charset=utf-8";
    const auto say = [&](unsigned status, const char* message) {
      return answer(connection, status, std::make_shared<const std::string>(message), kPlain);
    };
    if (method != MHD_HTTP_METHOD_GET && method != MHD_HTTP_METHOD_HEAD) return say(MHD_HTTP_METHOD_NOT_ALLOWED, "GET only\n");
    if (path != "/metrics") return say(MHD_HTTP_NOT_FOUND, "The metrics are at /metrics\n");
    const Text metrics = current();
    return metrics ? answer(connection, MHD_HTTP_OK, metrics, kPrometheusType)
                   : say(MHD_HTTP_SERVICE_UNAVAILABLE, "Tracing has not begun\n");
  }
};

namespace {

// libmicrohttpd calls it first with the headers of a request and once more after its body.
template <class Impl>
MHD_Result on_request(void* server, MHD_Connection* connection, const char* path, const char* method, const char*, const char*,
                      size_t* body, void** state) {
  static char has_headers;
  if (*state == nullptr) return *state = &has_headers, MHD_YES;
  if (*body > 0) return *body = 0, MHD_YES;
  return static_cast<Impl*>(server)->handle(connection, path, method);
}

}  // namespace

MetricsServer::MetricsServer() : impl_(std::make_unique<Impl>()) {}
MetricsServer::~MetricsServer() {
  if (impl_->daemon != nullptr) MHD_stop_daemon(impl_->daemon);
}

Status MetricsServer::open(const std::string& address) {
  const Result<int> socket = listen_at(address);
  if (!socket) return socket.error();
  impl_->socket = *socket;
  impl_->daemon = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD, 0, nullptr, nullptr, on_request<Impl>, impl_.get(),
                                   MHD_OPTION_LISTEN_SOCKET, static_cast<MHD_socket>(*socket), MHD_OPTION_CONNECTION_LIMIT,
                                   kMostConnections, MHD_OPTION_CONNECTION_TIMEOUT, kIdleSeconds, MHD_OPTION_END);
  if (impl_->daemon == nullptr) return Error{fmt::format("cannot serve metrics at '{}': the server did not start", address)};
  return {};
}

std::string MetricsServer::url() const { return fmt::format("http://{}/metrics", address_of(impl_->socket)); }

void MetricsServer::publish(std::shared_ptr<const runtime::Snapshot> snapshot) {
  const std::lock_guard lock(impl_->mutex);
  impl_->snapshot.swap(snapshot);
}

}  // namespace dvm::exporting
