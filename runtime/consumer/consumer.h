#pragma once
// The consumer: records of the principal buffer to text, in the order of the firings, and aggregations to tables. Consumer
// context: it allocates and it prints.
//
//   record ── EPID ──> Ecb ── each action ──> format_<name> ──> text ── flush ──> FILE
//
// Nothing is written before flush(); what dtrace(1) prints around records (the heading, CPU ID FUNCTION:NAME, the newline at
// their end) is made here too.

#include <cstdio>
#include <span>
#include <string>
#include <unordered_map>

#include "common/result.h"
#include "dvm/dif/option.h"
#include "runtime/consumer/aggregation.h"
#include "runtime/consumer/flow.h"
#include "runtime/consumer/made.h"
#include "runtime/consumer/printf.h"
#include "runtime/enabling/enabling.h"

namespace dvm::runtime {

class Consumer {
 public:
  Consumer(std::FILE* out, std::FILE* err, dif::Options& options, const Enabling& enabling)
      : out_(out), err_(err), options_(options), enabling_(enabling) {}

  // Reads the formats and learns the aggregations of what has been enabled since the last call.
  Status prepare();

  void consume(std::span<const std::byte> records);
  void take(AggregationBuffer& buffer);
  // The end of the session: a newline, then every aggregation that no printa() has printed.
  void print_rest();
  void notice(const std::string& lines) { notices_ += lines; }
  // Writes what has been printed. The error says why it could not be.
  Status flush();

  Aggregations& aggregations() { return aggregations_; }
  UserSymbols& symbols() { return symbols_; }

  // For format_<name>.
  std::string& text() { return text_; }
  const MadePrinter& made() const { return made_; }
  int stack_indent() const { return static_cast<int>(options_[dif::Option::stackindent]); }
  bool is_quiet() const { return options_[dif::Option::quiet] > 0; }
  SortOrder sort_order() const { return SortOrder(options_); }
  // Runs a shell command, with all output before it written.
  void run_command(const std::string& command);
  void set_option(const std::string& name, const std::string& value);
  const Format& format_of(const Action& action) const { return formats_.at(action.desc); }

 private:
  void consume_record(const Ecb& ecb, const std::byte* record, const Ecb* next);
  void print_heading();
  void print_columns(const Ecb& ecb, int cpu, const Ecb* next);
  const Ecb* next_ecb(std::span<const std::byte> records) const;

  std::FILE* out_;
  std::FILE* err_;
  dif::Options& options_;  // setopt() changes those that may change while tracing
  const Enabling& enabling_;
  Aggregations aggregations_;
  UserSymbols symbols_;
  MadePrinter made_{symbols_};
  std::unordered_map<const dif::ActDesc*, Format> formats_;
  Flow flow_;
  bool has_heading_ = false;
  std::string text_;
  std::string notices_;
  Status failure_;  // of a write before a command
};

// printa(): rows of aggregations, by a format or as a table.
void print_aggregations(Consumer& consumer, std::span<const uint32_t> ids, const Format* format);
// A row as a line of a table.
void append_table_row(Consumer& consumer, std::span<const uint32_t> ids, const JoinedRow& row);

}  // namespace dvm::runtime
