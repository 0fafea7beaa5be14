// Tested by tests/unit/view/saved_page_test.cpp and tests/runtime/scenarios/test_html.py.

#include "view/saved_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>

#include "common/utf8.h"
#include "runtime/consumer/aggregation_metrics.h"
#include "view/flame_graph.h"
#include "view/folded.h"

namespace dvm::view {
namespace {

using runtime::MergedAggregation;
using runtime::Metric;
using runtime::MetricKind;
using Labels = std::shared_ptr<const std::vector<std::string>>;

Labels labels_of(const Json& keys) {
  std::vector<std::string> labels;
  for (const Json& key : keys) labels.push_back(valid_utf8(key_line(key)));
  return std::make_shared<const std::vector<std::string>>(std::move(labels));
}

// "agg_x" of @x, as --html of a run has it.
std::string metric_name(const MergedAggregation& aggregation) {
  return aggregation.desc.name.empty() ? "agg" : "agg_" + aggregation.desc.name;
}

Metric table_of(const MergedAggregation& aggregation, size_t most, uint64_t& left_out) {
  std::vector<Results::KeyedRow> rows = Results::rows(aggregation);
  std::reverse(rows.begin(), rows.end());
  left_out = rows.size() - std::min(rows.size(), most);
  rows.resize(rows.size() - left_out);
  std::vector<const runtime::MergedRow*> values;
  std::vector<Labels> labels;
  for (const Results::KeyedRow& row : rows) values.push_back(row.row), labels.push_back(labels_of(row.keys));
  Metric metric = runtime::metric_of(aggregation, values, labels);
  metric.name = metric_name(aggregation);
  const size_t keys = labels.empty() ? 0 : labels.front()->size();
  for (size_t i = 0; i < keys; i++) metric.labels.push_back(fmt::format("key{}", i + 1));
  return metric;
}

uint64_t count_in(const Json& line) {
  const auto found = line.find("count");
  return found != line.end() && found->is_number_unsigned() ? found->get<uint64_t>() : 0;
}

// Lines of kind `type`, their counts added up by the text of `label`.
void add_losses(const Results& results, const char* type, Metric metric, const char* label, runtime::Snapshot& snapshot) {
  std::map<std::string, uint64_t> counts;
  for (const Json& line : results.losses()) {
    if (line["type"] != type) continue;
    const auto found = line.find(label);
    counts[found != line.end() && found->is_string() ? found->get<std::string>() : ""] += count_in(line);
  }
  for (const auto& [text, count] : counts) runtime::add_point(metric, {text}, count);
  if (!counts.empty()) snapshot.metrics.push_back(std::move(metric));
}

}  // namespace

runtime::Snapshot snapshot_of(const Results& results, size_t most) {
  runtime::Snapshot snapshot;
  Metric left = runtime::labelled_metric("aggregation_keys_left_out", "Keys of the aggregation that are not on the page",
                                         MetricKind::gauge, {"aggregation", "reason"});
  for (const MergedAggregation& aggregation : results.aggregations()) {
    uint64_t left_out = 0;
    snapshot.metrics.push_back(table_of(aggregation, most, left_out));
    if (left_out > 0) runtime::add_point(left, {metric_name(aggregation), "rows"}, left_out);
  }
  if (!left.points.empty()) snapshot.metrics.push_back(std::move(left));
  add_losses(results, "drop", runtime::labelled_metric("drops", "Data lost while tracing", MetricKind::counter, {"kind"}), "kind",
             snapshot);
  add_losses(results, "late", runtime::labelled_metric("late_values", "Values read late", MetricKind::counter, {"run"}), "run",
             snapshot);
  return snapshot;
}

std::vector<PageFlame> flames_of(const Results& results, const FlameStyle& style) {
  std::vector<PageFlame> made;
  for (const std::string& name : names_with_stacks(results)) {
    PageFlame& flame = made.emplace_back(PageFlame{"@" + name, "", ""});
    FlameStyle its = style;
    its.title = flame.title;
    Result<std::string> text = flame_graph(fold(results, name), its);
    if (text)
      flame.svg = *std::move(text);
    else
      flame.problem = text.error().message;
  }
  return made;
}

}  // namespace dvm::view
