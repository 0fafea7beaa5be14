#pragma once
// Names of metrics for Prometheus, in all its formats. No two metrics share a name, and no metric has the name of a sample of
// another.

#include <set>
#include <string>

#include "runtime/consumer/metrics.h"

namespace dvm::exporting {

class PrometheusNames {
 public:
  // The name of the next metric of a snapshot.
  std::string claim(const runtime::Metric& metric);

 private:
  std::set<std::string> taken_;
};

}  // namespace dvm::exporting
