// printa(): formats over aggregations, and where its tables begin. Tested by tests/unit/runtime/aggregation_test.cpp.

#include <algorithm>

#include "common/printable.h"
#include "runtime/consumer/aggregation_table.h"
#include "runtime/consumer/text_printer.h"

namespace dvm::runtime {
namespace {

void append_row(std::string& out, const TableStyle& style, const MadePrinter& made, const PrintedAggregations& printed,
                const JoinedRow& row) {
  const std::vector<Datum> data = keys_of(row.any());
  PrintfArguments keys(data);
  size_t value = 0;
  for (const PrintfConversion& piece : printed.format->pieces()) {
    out += piece.literal;
    if (piece.kind == 0) continue;
    const PrintfConversion conversion = measured(piece, keys);
    if (!piece.is_aggregation) {
      const size_t begin = out.size();
      if (const Datum* key = keys.next()) append_converted(out, conversion, *key, made);
      if (style.to_terminal) make_printable(out, begin, kLayout);
      continue;
    }
    size_t which = std::min(value++, row.rows.size() - 1);  // a last aggregation serves all conversions that are left
    append_value(out, {&conversion, style.bars}, *printed.aggregations[which], row.rows[which]);
  }
}

}  // namespace

void append_by_format(std::string& out, const TableStyle& style, const MadePrinter& made, const PrintedAggregations& printed) {
  for (const JoinedRow& row : printed.rows) append_row(out, style, made, printed, row);
}

void TextPrinter::print_aggregations(const PrintedAggregations& printed) {
  TableStyle style(options_);
  style.to_terminal = output_.is_terminal();
  if (printed.format) return append_by_format(output_.text(), style, made_, printed);
  output_.text() += '\n';
  append_table(output_.text(), style, made_, printed);
}

void TextPrinter::print_unprinted(std::span<const PrintedAggregations> rest) {
  const TableStyle style(options_);
  output_.text() += '\n';
  for (const PrintedAggregations& printed : rest) append_table(output_.text(), style, made_, printed);
}

}  // namespace dvm::runtime
