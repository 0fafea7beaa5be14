// Tested by tests/runtime/scenarios/test_trace_events.py.

#include "runtime/consumer/trace_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "dvm/dif/text.h"
#include "runtime/consumer/json_printer.h"
#include "runtime/consumer/json_value.h"
#include "runtime/consumer/typed.h"

namespace dvm::runtime {
namespace {

constexpr size_t kMostText = 4096;  // bytes of one firing

// The hidden actions, by the formats that they are told by: no trace() of a script has one.
constexpr const char* kTime = "origin.time";
constexpr const char* kPid = "origin.pid";
constexpr const char* kTid = "origin.tid";
constexpr const char* kName = "origin.name";

dif::ActDesc recorded(const char* format, const char* code, dif::DataType type) {
  dif::ActDesc action;
  action.kind = dif::Action::trace;
  action.format = format;
  dif::Difo& difo = action.args.emplace_back().difo;
  difo = *dif::assemble(code);
  difo.result = std::move(type);
  return action;
}

std::string dumped(const Json& object) { return object.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

// Behind all others, so that their numbers stay.
dif::Program with_origins(dif::Program program) {
  const dif::DataType time{dif::TypeKind::integer, false, false, 8, "uint64_t"},
      id{dif::TypeKind::integer, true, false, 4, "pid_t"};
  const dif::DataType name{dif::TypeKind::string, false, true, 256, "string"};
  const std::vector<dif::ActDesc> origin = {
      recorded(kTime, "ldgs timestamp, %r1\nret %r1\n", time), recorded(kPid, "ldgs pid, %r1\nret %r1\n", id),
      recorded(kTid, "ldgs tid, %r1\nret %r1\n", id), recorded(kName, "ldgs execname, %r1\nret %r1\n", name)};
  for (dif::EcbDesc& clause : program.clauses)
    if (has_record(clause)) clause.actions.insert(clause.actions.end(), origin.begin(), origin.end());
  return program;
}

TraceEvents::TraceEvents(std::unique_ptr<Printer> printer, std::FILE* file, const dif::Options& options, const MadePrinter& made)
    : printer_(std::move(printer)), file_(file), options_(options), made_(made) {}
TraceEvents::~TraceEvents() = default;

// The array need not be closed: what a killed dvm leaves can be opened.
void TraceEvents::write(const std::string& event) {
  std::fputs(is_first_ ? "[\n" : ",\n", file_);
  std::fputs(event.c_str(), file_);
  is_first_ = false;
}

void TraceEvents::begin(const PrintedRecord& record) {
  record_ = {};
  record_.probe = record.ecb.probe;
  printer_->begin(record);
}

void TraceEvents::print_values(const ActionPlan& action, std::span<const Datum> values) {
  const std::string& format = action.desc->format;
  if (format == kTime) return void(record_.time = values[0].unsigned_value());
  if (format == kPid) return void(record_.thread.first = static_cast<int32_t>(values[0].signed_value()));
  if (format == kTid) return void(record_.thread.second = static_cast<int32_t>(values[0].signed_value()));
  if (format == kName) return void(record_.name = values[0].text());
  printer_->print_values(action, values);
  if (!format.empty()) return;  // the time of the record, for JSON
  const bool is_typed = action.kind == dif::Action::print && !action.desc->layout.empty();
  if (is_typed) return append_typed(record_.text, action.desc->layout, values[0].bytes, made_);
  if (action.kind == dif::Action::tracemem) return append_dump(record_.text, values[0].bytes);
  for (const Datum& datum : values) {
    if (datum.is_made())
      made_.append(record_.text, datum, 0);
    else
      append_traced(record_.text, datum, datum_style(options_));
  }
}

void TraceEvents::print_formatted(const Format& format, std::span<const Datum> values) {
  printer_->print_formatted(format, values);
  append_formatted(record_.text, format, values, made_);
}

// Clauses on the same probe each leave a record of the same firing.
void TraceEvents::end(const PrintedRecord& record) {
  printer_->end(record);
  if (held_.probe != record_.probe || held_.thread != record_.thread || held_.time != record_.time) {
    write_firing();
    held_ = std::move(record_);
  } else {
    held_.text += record_.text;
  }
  if (held_.text.size() > kMostText) held_.text.resize(kMostText);
}

void TraceEvents::name_thread() {
  std::string& known = names_[held_.thread];
  if (known == held_.name) return;
  known = held_.name;
  const auto [pid, tid] = held_.thread;
  for (const char* kind : {"process_name", "thread_name"})
    write(dumped({{"ph", "M"}, {"name", kind}, {"pid", pid}, {"tid", tid}, {"args", {{"name", known}}}}));
}

void TraceEvents::write_event(const char* phase, const std::string& name, bool with_text) {
  const auto [pid, tid] = held_.thread;
  Json event = {{"ph", phase}, {"name", name}, {"cat", held_.probe->provider}, {"pid", pid}, {"tid", tid}};
  if (*phase == 'i') event["s"] = "t";  // on the track of its thread
  if (with_text && !held_.text.empty()) event["args"] = {{"text", held_.text}};
  std::string text = dumped(event);
  text.insert(text.size() - 1, fmt::format(",\"ts\":{}.{:03}", held_.time / 1000, held_.time % 1000));  // us, not rounded
  write(text);
}

// Closes the functions above it too, whose returns were lost. A function that was entered before tracing has no slice.
void TraceEvents::write_return() {
  std::vector<std::string>& functions = open_[held_.thread];
  const std::string& name = held_.probe->function;
  const auto entered = std::find(functions.rbegin(), functions.rend(), name);
  if (entered == functions.rend()) return write_event("i", name + ":return");
  for (auto inner = functions.rbegin(); inner != entered; ++inner) write_event("E", *inner, false);
  write_event("E", name);
  functions.erase(std::prev(entered.base()), functions.end());
}

void TraceEvents::write_firing() {
  if (held_.probe == nullptr) return;
  const Probe& probe = *held_.probe;
  name_thread();
  if (probe.name == "entry") {
    open_[held_.thread].push_back(probe.function);
    write_event("B", probe.function);
  } else if (probe.name == "return") {
    write_return();
  } else {
    write_event("i", probe.function.empty() ? probe.name : probe.function + ":" + probe.name);
  }
}

void TraceEvents::print_exit(int status) {
  write_firing();
  held_.probe = nullptr;
  if (is_first_) std::fputs("[", file_);
  std::fputs("\n]\n", file_);
  printer_->print_exit(status);
}

}  // namespace dvm::runtime
