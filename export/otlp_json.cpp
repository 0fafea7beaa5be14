// 64-bit integers are strings, as the protocol's JSON has them. Tested by tests/unit/export/otlp_json_test.cpp.

#include "export/otlp_json.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "common/utf8.h"
#include "runtime/catalog/probe.h"

namespace dvm::exporting {
namespace {

using Json = nlohmann::ordered_json;
using runtime::Metric;
using runtime::MetricKind;
using runtime::Number;
using runtime::Point;

constexpr int kCumulative = 2;  // AggregationTemporality
constexpr int kInfo = 9;        // SeverityNumber

std::string wide(uint64_t value) { return fmt::format("{}", value); }
std::string wide(int64_t value) { return fmt::format("{}", value); }

Json attribute(const std::string& name, Json value) { return {{"key", name}, {"value", std::move(value)}}; }
Json attribute(const std::string& name, const std::string& text) { return attribute(name, Json{{"stringValue", text}}); }
Json attribute(const std::string& name, int64_t number) { return attribute(name, Json{{"intValue", wide(number)}}); }

Json resource(const OtlpResource& origin) {
  return {{"attributes", Json::array({attribute("service.name", std::string("dvm")), attribute("service.version", origin.version),
                                      attribute("host.name", origin.host)})}};
}

Json scope(const OtlpResource& origin) { return {{"name", "dvm"}, {"version", origin.version}}; }

// asInt has a sign: what does not fit is no integer any more.
void add_number(Json& point, const Number& number) {
  if (const auto* value = std::get_if<int64_t>(&number))
    point["asInt"] = wide(*value);
  else if (const auto* word = std::get_if<uint64_t>(&number); word && *word <= INT64_MAX)
    point["asInt"] = wide(*word);
  else
    point["asDouble"] = runtime::as_double(number);
}

void add_values(Json& object, const Metric& metric, const Point& point) {
  if (metric.kind == MetricKind::histogram) {
    object["count"] = wide(point.count);
    object["bucketCounts"] = Json::array();
    for (const uint64_t count : point.buckets) object["bucketCounts"].push_back(wide(count));
    object["explicitBounds"] = Json::array();
    for (const int64_t bound : metric.bounds) object["explicitBounds"].push_back(static_cast<double>(bound));
  } else if (metric.kind == MetricKind::summary) {
    object["count"] = wide(point.count);
    object["sum"] = runtime::as_double(point.value);
  } else {
    add_number(object, point.value);
  }
}

Json json_of(const Metric& metric, const Point& point, uint64_t time) {
  Json object = {{"attributes", Json::array()}};
  for (size_t i = 0; point.labels && i < point.labels->size(); i++)
    object["attributes"].push_back(attribute(metric.labels[i], (*point.labels)[i]));
  if (metric.kind != MetricKind::gauge) object["startTimeUnixNano"] = wide(metric.since);
  object["timeUnixNano"] = wide(time);
  add_values(object, metric, point);
  return object;
}

// The name of the kind's field, and what the field says besides its points.
std::pair<const char*, Json> kind_of(MetricKind kind) {
  switch (kind) {
    case MetricKind::counter:
      return {"sum", {{"aggregationTemporality", kCumulative}, {"isMonotonic", true}}};
    case MetricKind::sum:
      return {"sum", {{"aggregationTemporality", kCumulative}, {"isMonotonic", false}}};
    case MetricKind::summary:
      return {"summary", Json::object()};
    case MetricKind::histogram:
      return {"histogram", {{"aggregationTemporality", kCumulative}}};
    default:
      return {"gauge", Json::object()};
  }
}

Json json_of(const Metric& metric, uint64_t time) {
  auto [field, data] = kind_of(metric.kind);
  data["dataPoints"] = Json::array();
  for (const Point& point : metric.points) data["dataPoints"].push_back(json_of(metric, point, time));
  return {{"name", "dvm." + metric.name}, {"description", metric.help}, {field, std::move(data)}};
}

std::string dumped(const Json& body) { return body.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json json_of(const LogRecord& record, uint64_t time) {
  return {{"timeUnixNano", wide(record.time)},
          {"observedTimeUnixNano", wide(time)},
          {"severityNumber", kInfo},
          {"body", {{"stringValue", valid_utf8(record.text)}}},
          {"attributes",
           Json::array({attribute("dvm.probe", valid_utf8(record.probe ? *record.probe : "")),
                        attribute("cpu", int64_t{record.cpu}), attribute("process.pid", int64_t{record.pid}),
                        attribute("thread.id", int64_t{record.tid}), attribute("thread.name", valid_utf8(record.name))})}};
}

// 0: it is none, or below 0.
uint64_t number_in(const std::string& text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

}  // namespace

LogRecord LogRecords::make(runtime::RecordCopy copy) {
  const runtime::Probe& probe = *copy.probe;
  std::shared_ptr<const std::string>& description = probes_[probe.id];
  if (!description)
    description =
        std::make_shared<const std::string>(fmt::format("{}:{}:{}:{}", probe.provider, probe.module, probe.function, probe.name));
  return {.probe = description,
          .name = std::move(copy.name),
          .text = std::move(copy.text),
          .cpu = copy.cpu,
          .pid = copy.pid,
          .tid = copy.tid,
          .time = copy.wall_time};
}

std::string otlp_metrics(const runtime::Snapshot& snapshot, const OtlpResource& origin) {
  Json metrics = Json::array();
  for (const Metric& metric : snapshot.metrics)
    if (!metric.points.empty()) metrics.push_back(json_of(metric, snapshot.time));
  const Json scoped = {{"scope", scope(origin)}, {"metrics", std::move(metrics)}};
  const Json all = {{"resource", resource(origin)}, {"scopeMetrics", Json::array({scoped})}};
  return dumped({{"resourceMetrics", Json::array({all})}});
}

std::string otlp_logs(std::span<const LogRecord> records, uint64_t time, const OtlpResource& origin) {
  Json logs = Json::array();
  for (const LogRecord& record : records) logs.push_back(json_of(record, time));
  const Json scoped = {{"scope", scope(origin)}, {"logRecords", std::move(logs)}};
  const Json all = {{"resource", resource(origin)}, {"scopeLogs", Json::array({scoped})}};
  return dumped({{"resourceLogs", Json::array({all})}});
}

Rejected rejected_in(const std::string& answer) {
  const Json object = Json::parse(answer, nullptr, false);
  if (!object.is_object() || !object.contains("partialSuccess") || !object["partialSuccess"].is_object()) return {};
  const Json& part = object["partialSuccess"];
  Rejected rejected;
  for (const char* name : {"rejectedDataPoints", "rejectedLogRecords"}) {
    if (!part.contains(name)) continue;
    const Json& count = part[name];
    if (count.is_number_unsigned()) rejected.count += count.get<uint64_t>();
    if (count.is_string()) rejected.count += number_in(count.get_ref<const std::string&>());
  }
  if (part.contains("errorMessage") && part["errorMessage"].is_string()) rejected.reason = part["errorMessage"];
  return rejected;
}

}  // namespace dvm::exporting
