#pragma once
// A snapshot in Prometheus' protobuf format: metric families, each after its length. It has what the text has, and distributions
// of quantize() also as native histograms of schema 0.
//
// D's bucket of 2^i holds 2^i to 2^(i+1)-1. A native bucket includes its upper bound and not its lower one, so that from 2^i to
// 2^(i+1) is right for all of D's bucket but the value 2^i itself. The values 0, 1 and -1 are exact: the buckets that end at 1
// and -1 hold no other integer. Distributions have no sum; the format demands one, so it is NaN.

#include <string>

#include "runtime/consumer/metrics.h"

namespace dvm::exporting {

inline constexpr const char* kPrometheusProtobufType =
    "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited";

// False: dvm was built without libprotobuf, and prometheus_protobuf() returns nothing.
bool has_prometheus_protobuf();

std::string prometheus_protobuf(const runtime::Snapshot& snapshot);

}  // namespace dvm::exporting
