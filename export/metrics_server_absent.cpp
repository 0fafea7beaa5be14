// No server: dvm was built without GNU libmicrohttpd.

#include "export/metrics_server.h"

namespace dvm::exporting {

struct MetricsServer::Impl {};

MetricsServer::MetricsServer() = default;
MetricsServer::~MetricsServer() = default;
Status MetricsServer::open(const std::string&) {
  return Error{"--prometheus is not available: dvm was built without libmicrohttpd"};
}
std::string MetricsServer::url() const { return ""; }
void MetricsServer::publish(std::shared_ptr<const runtime::Snapshot>) {}

}  // namespace dvm::exporting
