// Tested by tests/unit/view/page_test.cpp and tests/runtime/scenarios/test_html.py.

#include "view/page.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <variant>

namespace dvm::view {
namespace {

using nlohmann::json;
using runtime::as_double;
using runtime::Metric;
using runtime::MetricKind;
using runtime::Number;
using runtime::Point;

constexpr std::string_view kPlace = "/*DATA*/";

// Numbers are text: a script would round those above 2^53.
std::string text_of(const runtime::Number& number) {
  return std::visit([](auto value) { return fmt::format("{}", value); }, number);
}

json row_of(const Metric& metric, const Point& point) {
  json row = {{"keys", json::array()}};
  if (point.labels) row["keys"] = *point.labels;
  if (metric.kind == MetricKind::histogram) {
    row["value"] = text_of(runtime::normalized(Number(point.count), metric.normal));
    row["buckets"] = json::array();
    for (const uint64_t count : point.buckets)
      std::visit([&](auto number) { row["buckets"].push_back(number); }, runtime::normalized(Number(count), metric.normal));
  } else if (metric.kind == MetricKind::summary) {
    const double count = static_cast<double>(point.count);
    row["value"] = fmt::format("{}", point.count == 0 ? 0 : as_double(point.value) / count / static_cast<double>(metric.normal));
    row["count"] = fmt::format("{}", point.count);
  } else {
    row["value"] = text_of(runtime::normalized(point.value, metric.normal));
  }
  return row;
}

json table_of(const Metric& metric) {
  json table = {{"name", metric.name},
                {"title", metric.help},
                {"normal", metric.normal},
                {"labels", metric.labels},
                {"bounds", metric.bounds},
                {"isShape", metric.kind == MetricKind::histogram},
                {"isMean", metric.kind == MetricKind::summary},
                {"rows", json::array()}};
  for (const Point& point : metric.points) table["rows"].push_back(row_of(metric, point));
  return table;
}

json numbers_of(const Metric& metric) {
  json all = json::array();
  for (const Point& point : metric.points) {
    std::string labels;
    if (point.labels)
      for (const std::string& label : *point.labels) labels += (labels.empty() ? "" : ", ") + label;
    all.push_back({{"name", metric.name}, {"help", metric.help}, {"labels", labels}, {"value", text_of(point.value)}});
  }
  return all;
}

json data_of(const PageContents& contents) {
  json data = {{"version", contents.version}, {"tables", json::array()}, {"numbers", json::array()}, {"flames", json::array()}};
  data["history"] = contents.history != nullptr ? contents.history->json() : json();
  data["account"] = json::parse(contents.account, nullptr, false);
  if (data["account"].is_discarded()) data["account"] = nullptr;
  if (contents.last != nullptr) {
    data["ended"] = contents.last->time / 1'000'000;  // ms since 1970
    for (const Metric& metric : contents.last->metrics) {
      if (metric.is_aggregation)
        data["tables"].push_back(table_of(metric));
      else
        for (json& one : numbers_of(metric)) data["numbers"].push_back(std::move(one));
    }
  }
  for (const PageFlame& flame : contents.flames)
    data["flames"].push_back({{"title", flame.title}, {"svg", flame.svg}, {"problem", flame.problem}});
  return data;
}

}  // namespace

std::string page(std::string_view shell, const PageContents& contents) {
  const std::string data = data_of(contents).dump(-1, ' ', false, json::error_handler_t::replace);
  std::string escaped;
  escaped.reserve(data.size());
  for (const char c : data) {
    if (c == '<')
      escaped += "\\u003c";  // of a string; JSON has it nowhere else
    else
      escaped += c;
  }
  std::string text(shell);
  const size_t place = text.find(kPlace);
  return place == std::string::npos ? text : text.replace(place, kPlace.size(), escaped);
}

}  // namespace dvm::view
