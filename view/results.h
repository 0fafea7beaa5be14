#pragma once
// The results of runs, read back from the JSON that they printed (docs/json.md). A file is not trusted: what does not fit the
// format is an error that names the line.

#include <cstdint>
#include <deque>
#include <istream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "dvm/common/result.h"
#include "runtime/consumer/aggregation.h"
#include "runtime/consumer/json_value.h"

namespace dvm::view {

using runtime::Json;

bool is_stack(const Json& key);

// The aggregations of one run or of several, merged as the consumer merges those of several CPUs.
class Results {
 public:
  // Adds a run; `name` is for messages.
  Status add(const std::string& name, std::istream& lines);

  struct KeyedRow {
    Json keys;
    const runtime::MergedRow* row;
  };
  // The keys of a row. They take up to ten times the memory that the row keeps them in.
  static Json keys_of(const runtime::MergedRow& row);
  // Rows in the order in which dvm run prints them: by value, then by key.
  static std::vector<KeyedRow> rows(const runtime::MergedAggregation& aggregation);
  // In the order in which the runs printed them.
  const std::deque<runtime::MergedAggregation>& aggregations() const { return all_; }
  // The lines that report a loss or an error, unchanged but for the name of their run.
  const std::vector<Json>& losses() const { return losses_; }
  // Runs without a last line: they were killed, or their files were cut.
  const std::vector<std::string>& unfinished() const { return unfinished_; }
  // Inputs with several runs, and their number: dvm run -o appends to a file.
  const std::vector<std::pair<std::string, size_t>>& repeated() const { return repeated_; }

 private:
  Status add_aggregation(const Json& line);
  Result<runtime::MergedAggregation*> declare(const Json& described);
  Status add_row(runtime::MergedAggregation& aggregation, const Json& row);

  std::deque<runtime::MergedAggregation> all_;
  std::map<std::string, std::map<std::string, size_t>> buckets_;  // of each aggregation, by bounds
  std::map<std::string, Json> first_keys_;                        // of each aggregation
  std::vector<Json> losses_;
  std::vector<std::string> unfinished_;
  std::vector<std::pair<std::string, size_t>> repeated_;
};

}  // namespace dvm::view
