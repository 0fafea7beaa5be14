#pragma once
// Aggregations as dtrace prints them without a format: the keys of a row, then its values; with the options agghist and aggpack a
// bar, or a distribution in one line, behind the keys.

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
  bool to_terminal = false;  // as append_formatted() has it
};

// All rows by the format of printa() (printa.cpp).
void append_by_format(std::string& out, const TableStyle& style, const MadePrinter& made, const PrintedAggregations& printed);
void append_table(std::string& out, const TableStyle& style, const MadePrinter& made, const PrintedAggregations& printed);

}  // namespace dvm::runtime
