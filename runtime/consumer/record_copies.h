#pragma once
// Copies the text of records for readers besides the printer: trace events, exporters. Each copy has the place and time of its
// firing. All records also go to the wrapped printer.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/consumer/made.h"
#include "runtime/consumer/printer.h"

namespace dvm::runtime {

// Adds the thread and the time of the firing to every record of the program.
dif::Program with_origins(dif::Program program);

struct RecordCopy {
  const Probe* probe = nullptr;
  int32_t cpu = 0, pid = 0, tid = 0;
  uint64_t time = 0, wall_time = 0;  // timestamp and walltimestamp, in ns
  std::string name, text;            // the name of the thread; the text that the clause prints
};

class RecordReader {
 public:
  virtual ~RecordReader() = default;
  virtual void read(RecordCopy copy) = 0;
  // Called after the last record.
  virtual void end_records() {}
};

class RecordCopies final : public Printer {
 public:
  RecordCopies(std::unique_ptr<Printer> printer, const dif::Options& options, const MadePrinter& made);

  void add(std::shared_ptr<RecordReader> reader) { readers_.push_back(std::move(reader)); }

  void begin(const PrintedRecord& record) override;
  void end(const PrintedRecord& record) override;
  void print_values(const ActionPlan& action, std::span<const Datum> values) override;
  void print_formatted(const PrintfFormat& format, std::span<const Datum> values) override;
  void print_aggregations(const PrintedAggregations& printed) override { printer_->print_aggregations(printed); }
  void print_unprinted(std::span<const PrintedAggregations> rest) override { printer_->print_unprinted(rest); }
  void print_error(const ErrorRecord& error) override { printer_->print_error(error); }
  void print_more_errors(const MoreErrors& more, const std::string& text) override { printer_->print_more_errors(more, text); }
  void print_drop(const DropLine& drop, const std::string& text) override { printer_->print_drop(drop, text); }
  void print_late_values(uint64_t count, const std::string& text) override { printer_->print_late_values(count, text); }
  void print_notice(const std::string& text, std::span<const std::string> hints) override { printer_->print_notice(text, hints); }
  void print_exit(int status) override;

 private:
  bool take_origin(const std::string& format, const Datum& value);

  std::unique_ptr<Printer> printer_;
  const dif::Options& options_;
  const MadePrinter& made_;
  std::vector<std::shared_ptr<RecordReader>> readers_;
  RecordCopy record_;  // the current one
};

}  // namespace dvm::runtime
