// Tested by tests/unit/export/prometheus_text_test.cpp.

#include "export/prometheus_names.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace dvm::exporting {
namespace {

using runtime::MetricKind;

// The names of samples that a metric of this name has in any format.
std::vector<std::string> sample_names(const std::string& name, MetricKind kind) {
  if (kind == MetricKind::summary) return {name, name + "_sum", name + "_count"};
  if (kind == MetricKind::histogram) return {name, name + "_bucket", name + "_sum", name + "_count"};
  return {name};
}

}  // namespace

std::string PrometheusNames::claim(const runtime::Metric& metric) {
  std::string name = "dvm_" + metric.name + (metric.kind == MetricKind::counter ? "_total" : "");
  const auto is_taken = [this](const std::string& sample) { return taken_.contains(sample); };
  std::vector<std::string> samples = sample_names(name, metric.kind);
  while (std::any_of(samples.begin(), samples.end(), is_taken)) samples = sample_names(name += '_', metric.kind);
  for (std::string& sample : samples) taken_.insert(std::move(sample));
  return name;
}

}  // namespace dvm::exporting
