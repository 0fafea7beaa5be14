// Tested by tests/unit/export/prometheus_text_test.cpp.

#include "runtime/consumer/metrics.h"

#include <utility>

namespace dvm::runtime {

double as_double(const Number& number) {
  return std::visit([](auto value) { return static_cast<double>(value); }, number);
}

Metric labelled_metric(std::string name, std::string help, MetricKind kind, std::vector<std::string> labels) {
  Metric metric;
  metric.name = std::move(name), metric.help = std::move(help), metric.kind = kind, metric.labels = std::move(labels);
  return metric;
}

void add_point(Metric& metric, std::vector<std::string> labels, Number value) {
  Point& point = metric.points.emplace_back();
  point.labels = std::make_shared<const std::vector<std::string>>(std::move(labels));
  point.value = value;
}

Metric plain_metric(std::string name, std::string help, MetricKind kind, Number value) {
  Metric metric = labelled_metric(std::move(name), std::move(help), kind, {});
  add_point(metric, {}, value);
  return metric;
}

}  // namespace dvm::runtime
