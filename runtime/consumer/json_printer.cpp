// Records as JSON. Tested by tests/runtime/scenarios/test_json.py.

#include "runtime/consumer/json_printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "dvm/dif/leaves_record.h"
#include "dvm/dif/text.h"
#include "runtime/consumer/aggregation_table.h"
#include "runtime/consumer/errors.h"
#include "runtime/consumer/json_text.h"
#include "runtime/consumer/json_value.h"

namespace dvm::runtime {
namespace {

constexpr const char* kTimeFormat = "time";  // of the action that records the time: no trace() of a script has a format

Json probe_of(const Probe& probe) {
  return {{"id", probe.id},
          {"provider", probe.provider},
          {"module", probe.module},
          {"function", probe.function},
          {"name", probe.name}};
}

std::string_view name_of(dif::Action kind) {
  if (const dif::AggregationInfo* function = dif::find_aggregation(kind)) return function->name;
  const dif::ActionInfo* action = dif::find_action(kind);
  return action ? action->name : "unknown";
}

// Adds what the values do not tell, if an aggregation is of that kind.
void add_states(Json& object, const PrintedAggregations& printed, const JoinedRow& row) {
  const auto told = [](const MergedAggregation* aggregation) { return tells_state(*aggregation); };
  if (std::all_of(printed.aggregations.begin(), printed.aggregations.end(), told)) return;
  for (size_t i = 0; i < row.rows.size(); i++) object["states"].push_back(state_of(*printed.aggregations[i], row.rows[i]));
}

// The conversions of the values that a format takes, one letter each; empty: some are a width or precision.
std::string conversions_of(const PrintfFormat& format) {
  std::string kinds;
  for (const PrintfConversion& piece : format.pieces()) {
    if (piece.is_measured()) return "";
    if (piece.kind != 0 && piece.kind != '%' && !piece.is_aggregation) kinds += piece.kind;
  }
  return kinds;
}

// Replaces addresses that the format prints as symbols by these.
void name_addresses(Json& values, const PrintfFormat* format, std::span<const Datum> data, const MadePrinter& made) {
  const std::string kinds = format != nullptr ? conversions_of(*format) : "";
  for (size_t i = 0; i < std::min(kinds.size(), data.size()); i++)
    if (kinds[i] == 'A' && values[i].is_number()) values[i] = json_of(made.in_target(data[i].unsigned_value()), made);
}

// The values under the names of their columns; null: they have none.
Json named_row(std::span<const NamedRow> named, const std::string& aggregation, const Json& values) {
  for (const NamedRow& one : named) {
    if (one.aggregation != aggregation || one.columns.size() != values.size()) continue;
    Json row;
    for (size_t i = 0; i < values.size(); i++) row[one.columns[i]] = values[i];
    return row;
  }
  return nullptr;
}

Json row_of(const JoinedRow& row, const PrintedAggregations& printed, const MadePrinter& made) {
  Json keys = Json::array(), values = Json::array();
  for (const Datum& key : keys_of(row.any())) keys.push_back(key_of(key, made));
  for (size_t i = 0; i < row.rows.size(); i++) values.push_back(json_of(*printed.aggregations[i], row.rows[i]));
  Json object = {{"keys", keys}, {"values", values}};
  add_states(object, printed, row);
  return object;
}

// Adds the aggregations; their rows come behind them.
void describe(Json& object, const PrintedAggregations& printed) {
  object["aggregations"] = Json::array();
  for (const MergedAggregation* aggregation : printed.aggregations) object["aggregations"].push_back(json_of(*aggregation));
  object["rows"] = Json::array();
}

// named: their columns.
void describe(Json& object, const PrintedAggregations& printed, const MadePrinter& made, std::span<const NamedRow> named) {
  describe(object, printed);
  for (const JoinedRow& row : printed.rows) {
    Json& added = object["rows"].emplace_back(row_of(row, printed, made));
    if (named.empty()) continue;
    Json columns = added["keys"];
    name_addresses(columns, printed.format, keys_of(row.any()), made);
    columns.insert(columns.end(), added["values"].begin(), added["values"].end());
    Json its = named_row(named, "@" + printed.aggregations[0]->desc.name, columns);
    if (!its.is_null()) added["row"] = std::move(its);
  }
}

}  // namespace

// Behind all others, so that their numbers stay.
dif::Program with_times(dif::Program program) {
  dif::ActDesc time;
  time.kind = dif::Action::trace;
  time.format = kTimeFormat;
  dif::Difo& difo = time.args.emplace_back().difo;
  difo = *dif::assemble("ldgs walltimestamp, %r1\nret %r1\n");
  difo.result = {dif::TypeKind::integer, true, false, 8, "int64_t"};
  for (dif::EcbDesc& clause : program.clauses)
    if (leaves_record(clause)) clause.actions.push_back(time);
  return program;
}

JsonPrinter::JsonPrinter(Output& output, const dif::Options& options, const Enabling& enabling, const MadePrinter& made,
                         std::span<const NamedRow> named)
    : output_(output), options_(options), enabling_(enabling), made_(made), named_(named) {}

void JsonPrinter::write(const Json& object) {
  append_json(output_.text(), object);
  output_.text() += '\n';
}

// The beginning of all records of a clause and probe.
const std::string& JsonPrinter::head_of(const PrintedRecord& record) {
  const size_t epid = record.ecb.epid;
  if (epid >= heads_.size()) heads_.resize(epid + 1);
  std::string& head = heads_[epid];
  if (!head.empty()) return head;
  append_json(head,
              {{"type", "record"}, {"epid", epid}, {"clause", record.ecb.plan->clause}, {"probe", probe_of(*record.ecb.probe)}});
  head.back() = ',';
  return head;
}

void JsonPrinter::begin(const PrintedRecord&) { actions_.clear(), time_ = "null"; }

void JsonPrinter::end(const PrintedRecord& record) {
  fmt::format_to(std::back_inserter(output_.text()), "{}\"cpu\":{},\"time\":{},\"actions\":[{}]}}\n", head_of(record), record.cpu,
                 time_, actions_);
}

void JsonPrinter::begin_action(std::string_view name) {
  if (!actions_.empty()) actions_ += ',';
  fmt::format_to(std::back_inserter(actions_), "{{\"action\":\"{}\"", name);
}

void JsonPrinter::print_values(const ActionPlan& action, std::span<const Datum> values) {
  if (action.desc->format == kTimeFormat) {
    time_ = std::to_string(values[0].unsigned_value());
    return;
  }
  begin_action(name_of(action.kind));
  const bool is_typed = action.kind == dif::Action::print && !action.desc->layout.empty();
  if (is_typed) actions_ += ",\"ctype\":", append_json_string(actions_, action.desc->layout[0].type);
  if (!values.empty()) actions_ += ",\"value\":";
  if (is_typed)
    append_json(actions_, json_of(action.desc->layout, values.back().bytes));
  else if (!values.empty())
    append_json_datum(actions_, values.back(), made_);
  actions_ += '}';
}

void JsonPrinter::print_formatted(const PrintfFormat& format, std::span<const Datum> values) {
  begin_action("printf");
  std::string text;
  append_formatted(text, format, values, made_);
  actions_ += ",\"text\":", append_json_string(actions_, text);
  actions_ += ",\"arguments\":[";
  for (size_t i = 0; i < values.size(); i++) {
    if (i > 0) actions_ += ',';
    append_json_datum(actions_, values[i], made_);
  }
  actions_ += ']';
  for (const NamedRow& row : named_)
    if (row.aggregation.empty() && row.columns.size() == values.size()) {
      append_row(row, format, values);
      break;
    }
  actions_ += '}';
}

// The values under the names of their columns.
void JsonPrinter::append_row(const NamedRow& row, const PrintfFormat& format, std::span<const Datum> values) {
  const std::string kinds = conversions_of(format);
  for (size_t i = 0; i < values.size(); i++) {
    actions_ += i == 0 ? ",\"row\":{" : ",";
    append_json_string(actions_, row.columns[i]);
    actions_ += ':';
    const bool is_address = i < kinds.size() && kinds[i] == 'A' && values[i].is_integer() && !values[i].is_made();
    if (is_address)
      append_json(actions_, json_of(made_.in_target(values[i].unsigned_value()), made_));
    else
      append_json_datum(actions_, values[i], made_);
  }
  if (!values.empty()) actions_ += '}';
}

void JsonPrinter::print_aggregations(const PrintedAggregations& printed) {
  Json object = {{"action", "printa"}};
  std::string text;
  if (printed.format) append_by_format(text, TableStyle(options_), made_, printed), object["text"] = text;
  describe(object, printed, made_, named_);
  if (!actions_.empty()) actions_ += ',';
  append_json(actions_, object);
}

void JsonPrinter::print_unprinted(std::span<const PrintedAggregations> rest) {
  for (const PrintedAggregations& printed : rest) {
    Json object = {{"type", "aggregation"}};
    describe(object, printed, made_, {});
    write(object);
  }
}

void JsonPrinter::print_in_parts(const PrintedAggregations& printed) {
  constexpr size_t kRows = 256;
  Json object = {{"type", "aggregation"}};
  describe(object, printed);
  for (const JoinedRow& row : printed.rows) {
    object["rows"].push_back(row_of(row, printed, made_));
    if (object["rows"].size() < kRows) continue;
    write(object);
    (void)output_.flush();  // the next flush says what became of it
    object["rows"].clear();
  }
  write(object);
}

void JsonPrinter::print_error(const ErrorRecord& error) {
  const Ecb* ecb = enabling_.ecb(error.epid);
  write({{"type", "error"},
         {"epid", error.epid},
         {"probe", ecb ? probe_of(*ecb->probe) : Json(nullptr)},
         {"action", error.action},
         {"offset", error.offset},
         {"fault", fault_text(error.fault)},
         {"value", error.value},
         {"message", error_text(error, enabling_)}});
}

void JsonPrinter::print_more_errors(const MoreErrors& more, const std::string& message) {
  write({{"type", "errors"},
         {"clause", more.clause},
         {"fault", fault_text(more.fault)},
         {"count", more.count},
         {"message", message}});
}

void JsonPrinter::print_drop(const DropLine& drop, const std::string& message) {
  write({{"type", "drop"},
         {"kind", drop.kind.name},
         {"cpu", drop.kind.per_cpu ? Json(drop.cpu) : Json(nullptr)},
         {"count", drop.count},
         {"message", message}});
}

void JsonPrinter::print_late_values(uint64_t count, const std::string& message) {
  write({{"type", "late"}, {"count", count}, {"message", message}});
}

void JsonPrinter::print_notice(const std::string& message, std::span<const std::string> hints) {
  write({{"type", "notice"}, {"message", message}, {"hints", std::vector(hints.begin(), hints.end())}});
}

void JsonPrinter::print_exit(int status) { write({{"type", "exit"}, {"status", status}}); }

}  // namespace dvm::runtime
