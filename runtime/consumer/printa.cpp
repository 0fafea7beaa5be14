// printa(): tables and formats over aggregations. Tested by tests/unit/runtime/aggregation_test.cpp.

#include <algorithm>

#include "runtime/consumer/aggregation_table.h"
#include "runtime/consumer/text_printer.h"

namespace dvm::runtime {

void TextPrinter::append_by_format(const PrintedAggregations& printed, const JoinedRow& row) {
  std::string& out = output_.text();
  std::vector<Datum> keys = keys_of(row.any());
  const BarStyle bars = TableStyle(options_).bars;
  size_t key = 0, value = 0;
  for (const Conversion& piece : printed.format->pieces()) {
    out += piece.literal;
    if (piece.kind == 0) continue;
    if (!piece.is_aggregation) {
      if (key < keys.size()) append_converted(out, piece, keys[key++], made_);
      continue;
    }
    size_t which = std::min(value++, row.rows.size() - 1);  // a last aggregation serves all conversions that are left
    append_value(out, {&piece, bars}, *printed.aggregations[which], row.rows[which]);
  }
}

void TextPrinter::print_aggregations(const PrintedAggregations& printed) {
  if (printed.format) {
    for (const JoinedRow& row : printed.rows) append_by_format(printed, row);
    return;
  }
  output_.text() += '\n';
  append_table(output_.text(), TableStyle(options_), made_, printed);
}

void TextPrinter::print_rest(std::span<const PrintedAggregations> rest) {
  output_.text() += '\n';
  for (const PrintedAggregations& printed : rest) append_table(output_.text(), TableStyle(options_), made_, printed);
}

}  // namespace dvm::runtime
