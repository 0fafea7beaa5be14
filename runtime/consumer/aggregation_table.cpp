// Tables of aggregations. Tested by tests/unit/runtime/aggregation_test.cpp and tests/runtime/aggregations.

#include "runtime/consumer/aggregation_table.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace dvm::runtime {
namespace {

using dif::Action;

bool is_total(const MergedAggregation& g) { return g.desc.function == Action::agg_count || g.desc.function == Action::agg_sum; }
bool can_pack(const MergedAggregation& g) {
  return g.desc.function == Action::agg_quantize || g.desc.function == Action::agg_lquantize;
}

class Table {
 public:
  Table(std::string& out, const TableStyle& style, const MadePrinter& made, const PrintedAggregations& printed)
      : out_(out), style_(style), made_(made), printed_(printed) {}

  void append_plain() {
    for (const JoinedRow& row : printed_.rows) {
      append_keys(row, false);
      for (size_t i = 0; i < row.rows.size(); i++) {
        append_value(out_, {nullptr, style_.bars}, *printed_.aggregations[i], row.rows[i]);
        if (style_.cpus > 0) append_parts(*printed_.aggregations[i], row.any().key);
      }
      out_ += '\n';
    }
  }

  // count() and sum(): a bar a row.
  void append_bars() {
    Bars bars(style_.bars);
    for (const JoinedRow& row : printed_.rows) bars.add(value(row));
    if (const int width = key_width())
      append_bar_header(out_, "key", width);
    else
      append_bar_header(out_, "value", 16);
    for (const JoinedRow& row : printed_.rows) {
      append_keys(row, true);
      const auto count = static_cast<long long>(normalized(value(row), printed_.aggregations[0]->normal));
      append(out_, " %s %-9lld\n", bars.bar(value(row)).c_str(), count);
    }
  }

  // quantize() and lquantize(): a line a row.
  void append_packed_rows() {
    const PackedBuckets buckets = packed_buckets();
    append_packed_header(out_, buckets, key_width());
    for (const JoinedRow& row : printed_.rows) {
      append_keys(row, true);
      append_packed(out_, buckets, row.any().state, style_.bars);
    }
  }

 private:
  // The value of each CPU.
  void append_parts(const MergedAggregation& aggregation, std::string_view key) {
    const int last = aggregation.by_cpu.empty() ? 0 : aggregation.by_cpu.rbegin()->first;
    for (int cpu = 0; cpu < std::max(style_.cpus, last + 1); cpu++) {
      const auto rows = aggregation.by_cpu.find(cpu);
      append(out_, "\n    [CPU %d]", cpu);
      append_value(out_, {nullptr, style_.bars}, aggregation,
                   rows == aggregation.by_cpu.end() ? nullptr : rows->second.find(key));
    }
  }

  static int64_t value(const JoinedRow& row) { return static_cast<int64_t>(row.any().state[0]); }

  PackedBuckets packed_buckets() const {
    const MergedAggregation& aggregation = *printed_.aggregations[0];
    if (aggregation.desc.function == Action::agg_lquantize)
      return packed_lquantize(aggregation.desc.parameters, aggregation.words);
    std::vector<std::span<const uint64_t>> states;
    for (const JoinedRow& row : printed_.rows) states.emplace_back(row.any().state);
    return packed_quantize(states);
  }

  int key_width() const {
    int width = 0;
    for (const Datum& key : keys_of(printed_.rows.front().any())) width += packed_key_width(key) + 1;
    return width;
  }

  void append_keys(const JoinedRow& row, bool packed) {
    for (const Datum& key : keys_of(row.any())) {
      if (key.is_made())
        made_.append(out_, key, style_.stack_indent);
      else
        append_key(out_, key, style_.keys, packed);
    }
  }

  std::string& out_;
  const TableStyle& style_;
  const MadePrinter& made_;
  const PrintedAggregations& printed_;
};

// Without the option, what the terminal is likely to show.
bool packs_in_utf8(const dif::Options& options) {
  const int64_t encoding = options[dif::Option::encoding];
  const char* terminal = std::getenv("TERM");
  return encoding >= 0 ? encoding == 1 : terminal == nullptr || std::string_view(terminal) != "dumb";
}

DatumStyle key_style(const dif::Options& options) {
  DatumStyle style = datum_style(options);
  style.quiet = false;  // keys always stand in their columns
  return style;
}

}  // namespace

TableStyle::TableStyle(const dif::Options& options)
    : bars{options[dif::Option::aggzoom] > 0, options[dif::Option::encoding] == 1, packs_in_utf8(options)},
      keys(key_style(options)),
      stack_indent(static_cast<int>(options[dif::Option::stackindent])),
      hist(options[dif::Option::agghist] > 0),
      pack(options[dif::Option::aggpack] > 0),
      cpus(options[dif::Option::aggpercpu] > 0 ? static_cast<int>(sysconf(_SC_NPROCESSORS_CONF)) : 0) {}

void append_table(std::string& out, const TableStyle& style, const MadePrinter& made, const PrintedAggregations& printed) {
  Table table(out, style, made, printed);
  const bool is_single = printed.aggregations.size() == 1 && !printed.rows.empty();
  if (is_single && style.hist && is_total(*printed.aggregations[0])) return table.append_bars();
  if (is_single && style.pack && can_pack(*printed.aggregations[0])) return table.append_packed_rows();
  table.append_plain();
}

}  // namespace dvm::runtime
