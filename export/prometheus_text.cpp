// Tested by tests/unit/export/prometheus_text_test.cpp.

#include "export/prometheus_text.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <string_view>
#include <utility>
#include <variant>

#include "export/prometheus_names.h"

namespace dvm::exporting {
namespace {

using runtime::Metric;
using runtime::MetricKind;
using runtime::Number;
using runtime::Point;

std::string_view type_of(MetricKind kind) {
  switch (kind) {
    case MetricKind::counter:
      return "counter";
    case MetricKind::summary:
      return "summary";
    case MetricKind::histogram:
      return "histogram";
    default:
      return "gauge";
  }
}

void append_escaped(std::string& out, std::string_view text, bool is_label) {
  for (const char c : text) {
    if (c == '\\')
      out += "\\\\";
    else if (c == '\n')
      out += "\\n";
    else if (c == '"' && is_label)
      out += "\\\"";
    else
      out += c;
  }
}

class MetricsWriter {
 public:
  std::string take() { return std::move(out_); }

  void write(const Metric& metric) {
    const std::string name = names_.claim(metric);
    out_ += fmt::format("# HELP {} ", name);
    append_escaped(out_, metric.help, false);
    out_ += fmt::format("\n# TYPE {} {}\n", name, type_of(metric.kind));
    for (const Point& point : metric.points) write(name, metric, point);
  }

 private:
  void write(const std::string& name, const Metric& metric, const Point& point) {
    const std::string labels = labels_of(metric, point);
    if (metric.kind == MetricKind::histogram) return write_buckets(name, metric, point, labels);
    if (metric.kind != MetricKind::summary) return sample(name, labels, point.value);
    sample(name + "_sum", labels, point.value);
    sample(name + "_count", labels, point.count);
  }

  void write_buckets(const std::string& name, const Metric& metric, const Point& point, const std::string& labels) {
    uint64_t below = 0;
    const std::string before = labels + (labels.empty() ? "" : ",");
    for (size_t i = 0; i < point.buckets.size(); i++) {
      const std::string end = i < metric.bounds.size() ? fmt::format("{}", metric.bounds[i]) : "+Inf";
      sample(name + "_bucket", before + fmt::format("le=\"{}\"", end), below += point.buckets[i]);
    }
    sample(name + "_count", labels, point.count);
  }

  static std::string labels_of(const Metric& metric, const Point& point) {
    std::string text;
    for (size_t i = 0; point.labels && i < point.labels->size(); i++) {
      text += fmt::format("{}{}=\"", i > 0 ? "," : "", metric.labels[i]);
      append_escaped(text, (*point.labels)[i], true);
      text += '"';
    }
    return text;
  }

  void sample(const std::string& name, const std::string& labels, const Number& value) {
    out_ += name;
    if (!labels.empty()) out_ += '{' + labels + '}';
    out_ += ' ';
    std::visit([this](auto number) { fmt::format_to(std::back_inserter(out_), "{}", number); }, value);
    out_ += '\n';
  }

  std::string out_;
  PrometheusNames names_;
};

}  // namespace

std::string prometheus_text(const runtime::Snapshot& snapshot) {
  MetricsWriter writer;
  for (const Metric& metric : snapshot.metrics) writer.write(metric);
  return writer.take();
}

}  // namespace dvm::exporting
