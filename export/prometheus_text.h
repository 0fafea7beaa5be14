#pragma once
// A snapshot in Prometheus' text format, version 0.0.4. Histograms are exact: a bucket of D ends at an integer that belongs to
// it, as `le` has it.

#include <string>

#include "runtime/consumer/metrics.h"

namespace dvm::exporting {

inline constexpr const char* kPrometheusType = "text/plain; version=0.0.4; charset=utf-8";

std::string prometheus_text(const runtime::Snapshot& snapshot);

}  // namespace dvm::exporting
