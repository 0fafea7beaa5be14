#pragma once
// Prices of one machine, and sums of them. Engines count, the model prices: a profile says what one use of each row of the tables
// costs, in clocks of its machine, and how far measurements of it lay apart. A row is named by its table and its own name:
//
//   opcode/add  variable/pid  subroutine/strlen                  instructions (dif_rows)
//   string/name  tuple/integer                                   their operands (operands.h)
//   action/printf  aggregation/count  source/pid/trigger ...     the runtime (runtime/cost/rows.h)

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dvm/dif/difo.h"

namespace dvm::vm {

// Clocks of one use: m, and n more for each unit, as a byte (dif::CostClass). spread: the error of m.
struct Price {
  double m = 0;
  double n = 0;
  double spread = 0;
  friend bool operator==(const Price&, const Price&) = default;
};

// Clocks, and their error. All uses of a row have the same error, and rows that were measured in one state of the machine err the
// same way. So the spreads are added up: the error of the sum is at most that.
struct Cost {
  double clocks = 0;
  double spread = 0;

  static Cost of(const Price& price, double bytes = 0) { return {price.m + price.n * bytes, price.spread}; }
  Cost times(double count) const { return {clocks * count, spread * count}; }
  Cost& operator+=(const Cost& other) {
    clocks += other.clocks, spread += other.spread;
    return *this;
  }
  friend Cost operator+(Cost a, const Cost& b) { return a += b; }
};

// The machine that prices were measured on; empty: not known.
struct Machine {
  std::string cpu, kernel, version;  // version: of dvm
  friend bool operator==(const Machine&, const Machine&) = default;
};

// What a core of one's own reads where it is asked whether it is one, in cycles (lab/noise/core_share.h); 0: not known.
struct QuietCore {
  double near = 0, far = 0;
  friend bool operator==(const QuietCore&, const QuietCore&) = default;
};

// The name of a row. Nothing but tables makes one (DifRow here, runtime/cost/rows.h), so that a mistyped row does not compile.
class RowName {
 public:
  static RowName of_table(std::string name) { return RowName(std::move(name)); }
  // The same row, measured elsewhere: "llvm/opcode/add". An empty folder is none.
  RowName in(std::string_view folder) const { return folder.empty() ? *this : RowName(std::string(folder) + "/" + text_); }
  const std::string& text() const { return text_; }

 private:
  explicit RowName(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

class Profile {
 public:
  void set(const RowName& row, const Price& price) { prices_[row.text()] = price; }
  // Null: the row has no price.
  const Price* find(const RowName& row) const {
    const auto found = prices_.find(row.text());
    return found == prices_.end() ? nullptr : &found->second;
  }
  const std::map<std::string, Price, std::less<>>& prices() const { return prices_; }
  void clear_prices() { prices_.clear(); }

  std::string name, machine;
  Machine made_on;
  double clock_hz = 0;
  double core_speed = 0;  // cycles of the core in one of these clocks, when prices were measured; 0: not known
  QuietCore quiet_core;
  double disturbed = 0;  // the fraction of the series of measurements that a neighbour disturbed in every pass

 private:
  std::map<std::string, Price, std::less<>> prices_;
};

// A row of the tables of DIF: which table, and where in it (of opcodes: the number). Some opcodes do different work by what they
// are given, and have two rows:
//
//   stgs stts stls stgaa sttaa  "opcode/stgs_ref"   the variable is a string or a structure, and copied
//   ret                         "opcode/ret_alone"  the DIFO is a built-in variable and nothing else, which needs no dispatch
struct DifRow {
  enum class Table : uint8_t { opcode, variant, variable, subroutine };

  Table table = Table::opcode;
  unsigned at = 0;

  // "opcode/add".
  std::string name() const;
};

// The row that prices an instruction of the DIFO: that of its subroutine, its built-in variable, its opcode, or a variant of the
// opcode.
DifRow row_of(const dif::Difo& difo, dif::Instruction instruction);
// Empty: there is no variant.
std::string_view variant_suffix(dif::Opcode opcode);

// True if the DIFO only loads a built-in variable, as most keys and values do.
bool is_getter_alone(const dif::Difo& difo);

// The names of the rows that a script can use, in the order of the tables.
std::vector<std::string> dif_rows();

}  // namespace dvm::vm
