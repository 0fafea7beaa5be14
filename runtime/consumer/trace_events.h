#pragma once
// Records as trace events, in the JSON that Perfetto and Chrome's viewer open: a track for each thread, a slice from a function's
// entry to its return, a mark for every other firing. What the actions print is shown as the argument `text`. All records still
// go to the printer that is wrapped.

#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/consumer/made.h"
#include "runtime/consumer/printer.h"

namespace dvm::runtime {

// The program with the thread and the time of the firing in every record.
dif::Program with_origins(dif::Program program);

class TraceEvents final : public Printer {
 public:
  TraceEvents(std::unique_ptr<Printer> printer, std::FILE* file, const dif::Options& options, const MadePrinter& made);
  ~TraceEvents() override;

  void begin(const PrintedRecord& record) override;
  void end(const PrintedRecord& record) override;
  void print_values(const ActionPlan& action, std::span<const Datum> values) override;
  void print_formatted(const Format& format, std::span<const Datum> values) override;
  void print_aggregations(const PrintedAggregations& printed) override { printer_->print_aggregations(printed); }
  void print_unprinted(std::span<const PrintedAggregations> rest) override { printer_->print_unprinted(rest); }
  void print_error(const ErrorRecord& error) override { printer_->print_error(error); }
  void print_more_errors(const MoreErrors& more, const std::string& text) override { printer_->print_more_errors(more, text); }
  void print_drop(const DropLine& drop, const std::string& text) override { printer_->print_drop(drop, text); }
  void print_late_values(uint64_t count, const std::string& text) override { printer_->print_late_values(count, text); }
  void print_notice(const std::string& text, std::span<const std::string> hints) override { printer_->print_notice(text, hints); }
  void print_exit(int status) override;

 private:
  using Thread = std::pair<int32_t, int32_t>;  // pid, tid
  struct Firing {
    const Probe* probe = nullptr;  // null: none is held
    uint64_t time = 0;             // ns
    Thread thread;
    std::string name, text;  // of the thread; printed by the clauses
  };

  void write_firing();
  void write_event(const char* phase, const std::string& name, bool with_text = true);
  void write_return();
  void name_thread();
  void write(const std::string& event);

  std::unique_ptr<Printer> printer_;
  std::FILE* file_;
  const dif::Options& options_;
  const MadePrinter& made_;
  Firing record_, held_;                             // the record that has begun, the firing whose records are still arriving
  std::map<Thread, std::vector<std::string>> open_;  // functions that each thread is in
  std::map<Thread, std::string> names_;
  bool is_first_ = true;
};

}  // namespace dvm::runtime
