#pragma once
// Serves the last snapshot over HTTP to Prometheus, in a thread of its own. Snapshots do not change, and publish() only exchanges
// a pointer, so no scraper delays the caller of publish(). The number of connections is limited, and they time out.

#include <memory>
#include <string>

#include "dvm/common/result.h"
#include "runtime/consumer/metrics.h"

namespace dvm::exporting {

class MetricsServer {
 public:
  MetricsServer();
  ~MetricsServer();  // closes all connections
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  // HOST:PORT; without a host: on all interfaces; port 0: any that is free.
  Status open(const std::string& address);
  std::string url() const;
  void publish(std::shared_ptr<const runtime::Snapshot> snapshot);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dvm::exporting
