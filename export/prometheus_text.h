#pragma once
// A snapshot in Prometheus' text format, version 0.0.4. Histograms are exact: the last integer of each bucket of D is the bound
// `le`, which is inclusive.

#include <string>

#include "runtime/consumer/metrics.h"

namespace dvm::exporting {

inline constexpr const char* kPrometheusType = "text/plain; version=0.0.4; charset=utf-8";

std::string prometheus_text(const runtime::Snapshot& snapshot);

}  // namespace dvm::exporting
