// The server by GNU libmicrohttpd. Tested by tests/runtime/scenarios/test_prometheus.py.

#include "export/metrics_server.h"

#include <fmt/format.h>
#include <microhttpd.h>
#include <strings.h>
#include <sys/socket.h>

#include <chrono>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "export/accept.h"
#include "export/listen.h"
#include "export/prometheus_protobuf.h"
#include "export/prometheus_text.h"
#include "export/request_deadline.h"

namespace dvm::exporting {
namespace {

constexpr unsigned kMostConnections = 256;
constexpr unsigned kIdleSeconds = 10;  // until a connection that makes no progress is closed
constexpr std::chrono::seconds kRequestTime{20};

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
  MHD_add_response_header(response, MHD_HTTP_HEADER_VARY, MHD_HTTP_HEADER_ACCEPT);
  const MHD_Result queued = MHD_queue_response(connection, status, response);
  MHD_destroy_response(response);
  return queued;
}

// All headers Accept of a request.
std::string accepted(MHD_Connection* connection) {
  std::string all;
  const auto add = [](void* text, MHD_ValueKind, const char* name, const char* value) {
    if (value != nullptr && strcasecmp(name, MHD_HTTP_HEADER_ACCEPT) == 0)
      *static_cast<std::string*>(text) += std::string(value) + ',';
    return MHD_YES;
  };
  MHD_get_connection_values(connection, MHD_HEADER_KIND, add, &all);
  return all;
}

int socket_of(MHD_Connection* connection) {
  return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

void on_connection(void* deadline, MHD_Connection* connection, void**, MHD_ConnectionNotificationCode what) {
  auto& its = *static_cast<RequestDeadline*>(deadline);
  what == MHD_CONNECTION_NOTIFY_STARTED ? its.begins(socket_of(connection)) : its.closed(socket_of(connection));
}

void on_completed(void* deadline, MHD_Connection* connection, void**, MHD_RequestTerminationCode) {
  static_cast<RequestDeadline*>(deadline)->begins(socket_of(connection));
}

// The last snapshot that was asked for in a format.
struct Page {
  std::string (*format)(const runtime::Snapshot&);
  const char* type;
  std::shared_ptr<const runtime::Snapshot> written;
  Text text;

  void write(std::shared_ptr<const runtime::Snapshot> snapshot) {
    if (snapshot == written) return;
    text = std::make_shared<const std::string>(format(*snapshot));
    written = std::move(snapshot);
  }
};

}  // namespace

struct MetricsServer::Impl {
  MHD_Daemon* daemon = nullptr;
  int socket = -1;
  RequestDeadline deadline{kRequestTime};
  std::mutex mutex;
  std::shared_ptr<const runtime::Snapshot> snapshot;  // by mutex
  // Of the server's thread: a snapshot in each format, for all who ask before the next.
  Page text{prometheus_text, kPrometheusType, {}, {}}, protobuf{prometheus_protobuf, kPrometheusProtobufType, {}, {}};

  // Null: there is no snapshot yet.
  const Page* current(MHD_Connection* connection) {
    std::shared_ptr<const runtime::Snapshot> last;
    {
      const std::lock_guard lock(mutex);
      last = snapshot;
    }
    if (!last) return nullptr;
    Page& page = has_prometheus_protobuf() && prefers_protobuf(accepted(connection)) ? protobuf : text;
    page.write(std::move(last));
    return &page;
  }

  MHD_Result handle(MHD_Connection* connection, std::string_view path, std::string_view method) {
    deadline.answers(socket_of(connection));
    constexpr const char* kPlain = "text/plain; charset=utf-8";
    const auto say = [&](unsigned status, const char* message) {
      return answer(connection, status, std::make_shared<const std::string>(message), kPlain);
    };
    if (method != MHD_HTTP_METHOD_GET && method != MHD_HTTP_METHOD_HEAD) return say(MHD_HTTP_METHOD_NOT_ALLOWED, "GET only\n");
    if (path != "/metrics") return say(MHD_HTTP_NOT_FOUND, "The metrics are at /metrics\n");
    const Page* page = current(connection);
    return page != nullptr ? answer(connection, MHD_HTTP_OK, page->text, page->type)
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
  impl_->daemon =
      MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD, 0, nullptr, nullptr, on_request<Impl>, impl_.get(),
                       MHD_OPTION_LISTEN_SOCKET, static_cast<MHD_socket>(*socket), MHD_OPTION_CONNECTION_LIMIT, kMostConnections,
                       MHD_OPTION_CONNECTION_TIMEOUT, kIdleSeconds, MHD_OPTION_NOTIFY_CONNECTION, on_connection, &impl_->deadline,
                       MHD_OPTION_NOTIFY_COMPLETED, on_completed, &impl_->deadline, MHD_OPTION_END);
  if (impl_->daemon == nullptr) return Error{fmt::format("cannot serve metrics at '{}': the server did not start", address)};
  return {};
}

std::string MetricsServer::url() const { return fmt::format("http://{}/metrics", bound_address(impl_->socket)); }

void MetricsServer::publish(std::shared_ptr<const runtime::Snapshot> snapshot) {
  const std::lock_guard lock(impl_->mutex);
  impl_->snapshot.swap(snapshot);
}

}  // namespace dvm::exporting
