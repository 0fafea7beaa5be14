#pragma once
// Prints records as dtrace(1) does: the heading, CPU ID FUNCTION:NAME or the arrows of flowindent, values in columns, a newline.

#include <set>
#include <string>

#include "dvm/dif/option.h"
#include "runtime/consumer/flow.h"
#include "runtime/consumer/made.h"
#include "runtime/consumer/output.h"
#include "runtime/consumer/printer.h"

namespace dvm::runtime {

class TextPrinter final : public Printer {
 public:
  TextPrinter(Output& output, const dif::Options& options, const Enabling& enabling, const MadePrinter& made)
      : output_(output), options_(options), enabling_(enabling), made_(made) {}

  void begin(const PrintedRecord& record) override;
  void end(const PrintedRecord& record) override;
  void print_values(const ActionPlan& action, std::span<const Datum> values) override;
  void print_formatted(const PrintfFormat& format, std::span<const Datum> values) override;
  void print_aggregations(const PrintedAggregations& printed) override;
  void print_unprinted(std::span<const PrintedAggregations> rest) override;
  void print_error(const ErrorRecord& error) override;
  void print_more_errors(const MoreErrors& more, const std::string& message) override;
  void print_drop(const DropLine& drop, const std::string& message) override;
  void print_late_values(uint64_t count, const std::string& message) override;
  void print_notice(const std::string& message, std::span<const std::string> hints) override;
  void print_exit(int) override {}

 private:
  bool is_set(dif::Option option) const { return options_[option] > 0; }
  int stack_indent() const { return static_cast<int>(options_[dif::Option::stackindent]); }
  void print_heading();

  Output& output_;
  const dif::Options& options_;  // setopt() changes them
  const Enabling& enabling_;
  const MadePrinter& made_;
  FlowColumn flow_;
  bool has_heading_ = false;
  std::set<std::string> hints_;  // about errors; each is printed once
};

}  // namespace dvm::runtime
