// Tested by tests/runtime/scenarios/test_trace_events.py and test_otlp.py.

#include "runtime/consumer/record_copies.h"

#include "dvm/dif/leaves_record.h"
#include "dvm/dif/text.h"
#include "runtime/consumer/json_printer.h"
#include "runtime/consumer/typed.h"

namespace dvm::runtime {
namespace {

// The hidden actions, by the formats that they are told by: no trace() of a script has one.
constexpr const char* kTime = "origin.time";
constexpr const char* kWallTime = "origin.walltime";
constexpr const char* kThread = "origin.thread";  // the process in the upper half
constexpr const char* kPrefix = "origin.";
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

}  // namespace

// Behind all others, so that their numbers stay.
dif::Program with_origins(dif::Program program) {
  constexpr uint32_t kNameBytes = 16;  // names of threads have no more
  const dif::DataType word{dif::TypeKind::integer, false, false, 8, "uint64_t"},
      name{dif::TypeKind::string, false, true, kNameBytes, "string"};
  const std::vector<dif::ActDesc> origin = {
      recorded(kTime, "ldgs timestamp, %r1\nret %r1\n", word), recorded(kWallTime, "ldgs walltimestamp, %r1\nret %r1\n", word),
      recorded(kThread, "ldgs pid, %r1\nsetx 32, %r2\nsll %r1, %r2, %r1\nldgs tid, %r2\nor %r1, %r2, %r1\nret %r1\n", word),
      recorded(kName, "ldgs execname, %r1\nret %r1\n", name)};
  for (dif::EcbDesc& clause : program.clauses)
    if (leaves_record(clause)) clause.actions.insert(clause.actions.end(), origin.begin(), origin.end());
  return program;
}

RecordCopies::RecordCopies(std::unique_ptr<Printer> printer, const dif::Options& options, const MadePrinter& made)
    : printer_(std::move(printer)), options_(options), made_(made) {}

void RecordCopies::begin(const PrintedRecord& record) {
  record_ = {};
  record_.probe = record.ecb.probe;
  record_.cpu = record.cpu;
  printer_->begin(record);
}

bool RecordCopies::take_origin(const std::string& format, const Datum& value) {
  if (!format.starts_with(kPrefix)) return false;
  if (format == kTime) return record_.time = value.unsigned_value(), true;
  if (format == kWallTime) return record_.wall_time = value.unsigned_value(), true;
  if (format == kName) return record_.name = value.text(), true;
  if (format != kThread) return false;
  record_.pid = static_cast<int32_t>(value.unsigned_value() >> 32);
  record_.tid = static_cast<int32_t>(value.unsigned_value());
  return true;
}

void RecordCopies::print_values(const ActionPlan& action, std::span<const Datum> values) {
  const std::string& format = action.desc->format;
  if (!format.empty() && take_origin(format, values[0])) return;
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

void RecordCopies::print_formatted(const PrintfFormat& format, std::span<const Datum> values) {
  printer_->print_formatted(format, values);
  append_formatted(record_.text, format, values, made_);
}

void RecordCopies::end(const PrintedRecord& record) {
  printer_->end(record);
  for (size_t i = 1; i < readers_.size(); i++) readers_[i]->read(record_);
  readers_.front()->read(std::move(record_));
}

void RecordCopies::print_exit(int status) {
  for (const std::shared_ptr<RecordReader>& reader : readers_) reader->end_records();
  printer_->print_exit(status);
}

}  // namespace dvm::runtime
