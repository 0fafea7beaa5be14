#pragma once
// Prints records and aggregations as JSON, one object in each line. docs/json.md describes them; the schema is
// docs/json.schema.json.

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dvm/runtime/handle.h"
#include "runtime/consumer/made.h"
#include "runtime/consumer/output.h"
#include "runtime/consumer/printer.h"

namespace dvm::runtime {

// Adds the time of the firing to every record of the program, for JSON.
dif::Program with_times(dif::Program program);

class JsonPrinter final : public Printer {
 public:
  JsonPrinter(Output& output, const dif::Options& options, const Enabling& enabling, const MadePrinter& made,
              std::span<const NamedRow> named = {});

  void begin(const PrintedRecord& record) override;
  void end(const PrintedRecord& record) override;
  void print_values(const ActionPlan& action, std::span<const Datum> values) override;
  void print_formatted(const PrintfFormat& format, std::span<const Datum> values) override;
  void print_aggregations(const PrintedAggregations& printed) override;
  void print_unprinted(std::span<const PrintedAggregations> rest) override;
  // Prints lines with a limited number of rows, each written before the next one is made.
  void print_in_parts(const PrintedAggregations& printed);
  void print_error(const ErrorRecord& error) override;
  void print_more_errors(const MoreErrors& more, const std::string& message) override;
  void print_drop(const DropLine& drop, const std::string& message) override;
  void print_late_values(uint64_t count, const std::string& message) override;
  void print_notice(const std::string& message, std::span<const std::string> hints) override;
  void print_exit(int status) override;

 private:
  void write(const nlohmann::ordered_json& object);
  const std::string& head_of(const PrintedRecord& record);
  void begin_action(std::string_view name);
  void append_row(const NamedRow& row, const PrintfFormat& format, std::span<const Datum> values);

  Output& output_;
  const dif::Options& options_;
  const Enabling& enabling_;
  const MadePrinter& made_;
  std::span<const NamedRow> named_;
  std::vector<std::string> heads_;  // by EPID
  std::string actions_, time_;      // of the current record
};

}  // namespace dvm::runtime
