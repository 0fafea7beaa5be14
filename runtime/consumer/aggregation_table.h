#pragma once
// Prints aggregations without a format, as dtrace does: the keys of a row, then its values. With option agghist a bar follows the
// keys, with aggpack a distribution in one line.

#include <string>

#include "dvm/dif/option.h"
#include "runtime/consumer/printer.h"

namespace dvm::runtime {

struct TableStyle {
  explicit TableStyle(const dif::Options& options);
  BarStyle bars;
  DatumStyle keys;
  int stack_indent = kStackIndent;
  bool hist = false, pack = false;
  int cpus = 0;              // with aggpercpu, those of this machine
  bool to_terminal = false;  // see append_formatted()
};

// All rows by the format of printa() (printa.cpp).
void append_by_format(std::string& out, const TableStyle& style, const MadePrinter& made, const PrintedAggregations& printed);
void append_table(std::string& out, const TableStyle& style, const MadePrinter& made, const PrintedAggregations& printed);

}  // namespace dvm::runtime
