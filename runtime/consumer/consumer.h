#pragma once
// The consumer: reads the records of the principal buffers in the order of the firings, keeps the aggregations, performs actions,
// and passes values to a printer. Consumer context: it allocates and prints.
//
//   record ── EPID ──> Ecb ── each action ──> format_<name> ──> Printer ──> Output ── flush ──> FILE
//
// Nothing is written before flush().

#include <cstdio>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>

#include "dvm/common/result.h"
#include "dvm/dif/option.h"
#include "runtime/consumer/aggregation.h"
#include "runtime/consumer/errors.h"
#include "runtime/consumer/made.h"
#include "runtime/consumer/output.h"
#include "runtime/consumer/printer.h"
#include "runtime/consumer/printf.h"
#include "runtime/consumer/record_merge.h"
#include "runtime/cost/step_counts.h"
#include "runtime/enabling/enabling.h"

namespace dvm::runtime {

class RecordCopies;
class RecordReader;
struct NamedRow;

class Consumer {
 public:
  Consumer(std::FILE* out, std::FILE* err, dif::Options& options, const Enabling& enabling, bool as_json,
           std::shared_ptr<UserSymbols> symbols = std::make_shared<UserSymbols>(), std::span<const NamedRow> named_rows = {});

  // Reads the formats, and declares the aggregations, of the clauses that were enabled since the last call.
  Status prepare();
  // Makes print_unprinted() also write aggregations to `file`, as JSON. stacks_only: those with a stack as a key go only to
  // `file`, and all others are only printed.
  void copy_aggregations(std::FILE* file, bool stacks_only) { copy_ = file, copies_stacks_only_ = stacks_only; }
  // Passes a copy of what each record prints to `reader`. The program must record origins (record_copies.h).
  void copy_records(std::shared_ptr<RecordReader> reader);
  // Counts the consumer's steps there.
  void count_into(StepCounts& counts) { counts_ = &counts; }

  // True if records may print or change aggregations, which must then be taken before records are consumed.
  bool uses_aggregations() const { return uses_aggregations_; }

  // Sets a function that is called periodically while records are consumed, because many records take long to print.
  void between_records(std::function<void()> work) { between_ = std::move(work); }
  void consume(std::vector<RecordLane> lanes);
  void take(AggregationSource& source);
  bool has_aggregated() const { return has_aggregated_; }
  // At the end of the session: prints every aggregation that no printa() has printed.
  void print_unprinted();
  void print_exit(int status) { printer_->print_exit(status); }
  // At the end of the session: prints the numbers of faults that were not printed.
  void report_more_errors();
  // Prints drops since `before`. True if there were any.
  bool report_drops(const Drops& before, const Drops& now);
  void report_late_values(uint64_t count) { printer_->print_late_values(count, late_text(count)); }
  void notice(const std::string& message, std::span<const std::string> hints = {}) { printer_->print_notice(message, hints); }
  // Keeps `shown` until something is written.
  void hold_until_flush(std::shared_ptr<void> shown) { output_.hold_until_flush(std::move(shown)); }
  // Writes the printed text. The error says why it failed.
  Status flush() { return output_.flush(); }

  Aggregations& aggregations() { return aggregations_; }
  void set_target(int32_t pid) { made_.set_target(pid); }
  void show_source() { made_.show_source(); }
  UserSymbols& symbols() { return *symbols_; }

  // The following functions are for format_<name>.
  void count(ConsumerStep step, uint64_t things = 0) {
    if (counts_ != nullptr) counts_->add(step, things);
  }
  Printer& printer() { return *printer_; }
  void count_values(std::span<const Datum> values);
  std::vector<Datum>& data() { return data_; }  // room for the values of one action
  size_t keys_of(uint32_t id);                  // of an aggregation
  const MadePrinter& made() const { return made_; }
  void print_aggregations(std::span<const uint32_t> ids, const PrintfFormat* format);
  // Writes all output so far, then runs a shell command.
  void run_command(const std::string& command);
  // Sends further results to this file, or to their original place if `path` is empty.
  void reopen(const std::string& path, const Ecb& ecb);
  void truncate() { output_.truncate(); }
  void set_option(const std::string& name, const std::string& value, const Ecb& ecb);
  const PrintfFormat& format_of(const ActionPlan& action) const { return formats_.at(action.desc); }

 private:
  void count_made(const Datum& datum);
  void consume_record(const PrintedRecord& record, const std::byte* bytes);
  const Ecb* next_ecb(std::span<const std::byte> records) const;
  PrintedAggregations printed(std::span<const uint32_t> ids, const PrintfFormat* format);
  void write_copy(std::span<const PrintedAggregations> copied);

  Output output_;
  dif::Options& options_;  // setopt() changes those that may change while tracing
  const Enabling& enabling_;
  Aggregations aggregations_;
  std::shared_ptr<UserSymbols> symbols_;
  MadePrinter made_{*symbols_};
  std::unique_ptr<Printer> printer_;
  RecordCopies* copies_ = nullptr;  // the printer, if records are copied
  std::unordered_map<const dif::ActDesc*, PrintfFormat> formats_;
  bool uses_aggregations_ = false, has_aggregated_ = false;
  ErrorLimit errors_;
  std::vector<Datum> data_;
  StepCounts* counts_ = nullptr;
  std::FILE* copy_ = nullptr;
  bool copies_stacks_only_ = false;
  std::function<void()> between_ = [] {};
};

}  // namespace dvm::runtime
