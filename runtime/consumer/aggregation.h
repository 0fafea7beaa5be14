#pragma once
// The consumer's aggregations: snapshots of the aggregation buffer, merged by key, until clear() or trunc(). The operations of
// each aggregating function (merge, compare, print) are in a table made from aggregations.def.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "dvm/dif/option.h"
#include "dvm/dif/program.h"
#include "runtime/buffer/sources.h"
#include "runtime/consumer/datum.h"
#include "runtime/consumer/histogram.h"
#include "runtime/consumer/keys.h"
#include "runtime/consumer/printf.h"
#include "runtime/consumer/row_table.h"

namespace dvm::runtime {

struct FunctionRow;  // the operations of an aggregating function

struct MergedAggregation {
  dif::AggregationDesc desc;
  unsigned words = 0;
  uint64_t initial = 0;
  const FunctionRow* function = nullptr;
  RowTable rows;
  std::map<int32_t, RowTable> by_cpu;  // with aggpercpu: the values of the same keys on each CPU

  int64_t normal = 1;       // the divisor of normalize()
  bool is_printed = false;  // a printa() has printed it, so it is not printed at the end
  uint64_t clears = 0;      // how often clear() or trunc() has removed values
};

// Gives an aggregation its function and the size of its state.
void define(MergedAggregation& aggregation, const dif::AggregationDesc& desc, unsigned words, uint64_t initial);
// Adds a state to the row of the key, whose bytes are a multiple of 8; returns the row.
MergedRow& merge(MergedAggregation& into, std::string_view key, std::span<const uint64_t> words);
// The order of two rows of an aggregation by value: negative, 0 or positive. Null is a row of zeros.
int compare_values(const MergedRow* a, const MergedRow* b);

// One line of a printa(): the rows of one key, one for each aggregation; null for an aggregation without the key.
struct JoinedRow {
  std::span<const MergedRow* const> rows;
  const MergedRow& any() const;
};

// All lines of a printa(), in order.
class JoinedRows {
 public:
  JoinedRows() = default;
  JoinedRows(JoinedRows&&) = default;  // lines point into cells, which move as a whole
  JoinedRows& operator=(JoinedRows&&) = default;
  std::vector<JoinedRow>::const_iterator begin() const { return lines_.begin(); }
  std::vector<JoinedRow>::const_iterator end() const { return lines_.end(); }
  size_t size() const { return lines_.size(); }
  bool empty() const { return lines_.empty(); }
  const JoinedRow& front() const { return lines_.front(); }

 private:
  friend class Aggregations;
  std::vector<const MergedRow*> cells_;  // line by line
  std::vector<JoinedRow> lines_;
};

// The order of rows, by dtrace's options aggsortkey, aggsortkeypos, aggsortpos and aggsortrev. Also option aggskipzero, which
// leaves rows out.
struct SortOrder {
  explicit SortOrder(const dif::Options& options);
  SortOrder() = default;
  bool by_key = false;
  bool reversed = false;
  bool skips_zero = false;
  size_t key_position = 0;
  size_t value_position = 0;
};

class Aggregations {
 public:
  void declare(const dif::AggregationDesc& desc, unsigned words, uint64_t initial);
  MergedAggregation* find(uint32_t id);

  // Merges the entries of a source, empties it, and returns their number. rewrite may change keys, to unify those that mean the
  // same.
  using RewriteKey = std::function<void(const MergedAggregation&, std::string& key)>;
  size_t take(AggregationSource& source, const RewriteKey& rewrite = {});

  void clear(uint32_t id);
  // Removes rows. count 0: all; positive: all but the largest `count`; negative: all but the smallest -count.
  void trunc(uint32_t id, int64_t count);
  void normalize(uint32_t id, int64_t normal);

  // Ids of the aggregations that no printa() has printed, in the order in which they are printed.
  std::vector<uint32_t> unprinted(const SortOrder& order) const;
  JoinedRows joined(std::span<const uint32_t> ids, const SortOrder& order);

 private:
  JoinedRows join(std::span<const uint32_t> ids);

  std::deque<MergedAggregation> all_;
  std::unordered_map<uint32_t, MergedAggregation*> by_id_;
};

// The keys of a row, as values.
std::vector<Datum> keys_of(const MergedRow& row);

// The value of a row. Not for distributions.
int64_t number_of(const MergedAggregation& aggregation, const MergedRow& row);

// How one value is printed: under an @ conversion, or without one in the column of unformatted printa().
struct ValueStyle {
  const PrintfConversion* conversion = nullptr;
  BarStyle bars;
};
// Prints the value of a row. Null: prints that of an empty state.
void append_value(std::string& out, const ValueStyle& style, const MergedAggregation& aggregation, const MergedRow* row);

}  // namespace dvm::runtime
