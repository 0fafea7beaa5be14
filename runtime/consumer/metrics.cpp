// Tested by tests/unit/export/prometheus_text_test.cpp.

#include "runtime/consumer/metrics.h"

#include <utility>

#include "runtime/consumer/aggregation.h"

namespace dvm::runtime {

double as_double(const Number& number) {
  return std::visit([](auto value) { return static_cast<double>(value); }, number);
}

Number normalized(const Number& number, int64_t normal) {
  if (const auto* value = std::get_if<double>(&number)) return *value / static_cast<double>(normal);
  const auto* word = std::get_if<uint64_t>(&number);
  const int64_t value = normalized(word != nullptr ? static_cast<int64_t>(*word) : std::get<int64_t>(number), normal);
  return word != nullptr && normal > 0 ? Number(static_cast<uint64_t>(value)) : Number(value);
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
