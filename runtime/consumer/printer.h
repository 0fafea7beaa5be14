#pragma once
// A printer shows records and aggregations, as text like dtrace(1) (text_printer.h) or as JSON (json_printer.h). The consumer
// reads the records, keeps the aggregations, and performs the actions that need no printing.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/buffer/drops.h"
#include "runtime/consumer/aggregation.h"
#include "runtime/consumer/printf.h"
#include "runtime/enabling/enabling.h"

namespace dvm::runtime {

struct PrintedRecord {
  const Ecb& ecb;
  int32_t cpu;
  const Ecb* next;  // of the next record, or null
};

// The aggregations of one printa(), or the one aggregation that is printed at the end.
struct PrintedAggregations {
  std::vector<const MergedAggregation*> aggregations;
  JoinedRows rows;
  const PrintfFormat* format = nullptr;
};

struct MoreErrors;

// The number of drops since the last report.
struct DropLine {
  const DropInfo& kind;
  size_t cpu;
  uint64_t count;
};

class Printer {
 public:
  virtual ~Printer() = default;

  virtual void begin(const PrintedRecord& record) = 0;
  virtual void end(const PrintedRecord& record) = 0;
  // Prints the values that an action recorded, with its format if it has one.
  virtual void print_values(const ActionPlan& action, std::span<const Datum> values) = 0;
  virtual void print_formatted(const PrintfFormat& format, std::span<const Datum> values) = 0;
  virtual void print_aggregations(const PrintedAggregations& printed) = 0;

  // At the end: aggregations that no printa() has printed.
  virtual void print_unprinted(std::span<const PrintedAggregations> rest) = 0;
  virtual void print_error(const ErrorRecord& error) = 0;
  virtual void print_more_errors(const MoreErrors& more, const std::string& message) = 0;
  virtual void print_drop(const DropLine& drop, const std::string& message) = 0;
  virtual void print_late_values(uint64_t count, const std::string& message) = 0;
  // A message about a failed request, with suggestions.
  virtual void print_notice(const std::string& message, std::span<const std::string> hints) = 0;
  // The argument of exit(), after everything else.
  virtual void print_exit(int status) = 0;
};

}  // namespace dvm::runtime
