// printa(): tables and formats over aggregations. Tested by tests/unit/runtime/aggregation_test.cpp.

#include "runtime/consumer/consumer.h"

namespace dvm::runtime {
namespace {

void append_by_format(Consumer& consumer, const Format& format, std::span<const uint32_t> ids, const JoinedRow& row) {
  std::string& out = consumer.text();
  std::vector<Datum> keys = keys_of(row.any());
  size_t key = 0, value = 0;
  for (const Conversion& piece : format.pieces()) {
    out += piece.literal;
    if (piece.kind == 0) continue;
    if (!piece.is_aggregation) {
      if (key < keys.size()) append_converted(out, piece, keys[key++], consumer.made());
      continue;
    }
    size_t which = std::min(value++, ids.size() - 1);  // a last aggregation serves all conversions that are left
    if (const MergedAggregation* aggregation = consumer.aggregations().find(ids[which]))
      append_value(out, piece, *aggregation, row.rows[which]);
  }
}

}  // namespace

void append_table_row(Consumer& consumer, std::span<const uint32_t> ids, const JoinedRow& row) {
  std::string& out = consumer.text();
  for (const Datum& key : keys_of(row.any()))
    key.is_made() ? consumer.made().append(out, key, consumer.stack_indent()) : append_key(out, key);
  for (size_t i = 0; i < ids.size(); i++)
    if (const MergedAggregation* aggregation = consumer.aggregations().find(ids[i])) append_value(out, *aggregation, row.rows[i]);
  out += '\n';
}

void print_aggregations(Consumer& consumer, std::span<const uint32_t> ids, const Format* format) {
  Aggregations& aggregations = consumer.aggregations();
  std::string& out = consumer.text();
  if (ids.empty()) return;
  if (format == nullptr) out += '\n';
  for (const JoinedRow& row : aggregations.joined(ids, consumer.sort_order())) {
    if (format)
      append_by_format(consumer, *format, ids, row);
    else
      append_table_row(consumer, ids, row);
  }
  for (uint32_t id : ids)
    if (MergedAggregation* aggregation = aggregations.find(id)) aggregation->is_printed = true;
}

}  // namespace dvm::runtime
