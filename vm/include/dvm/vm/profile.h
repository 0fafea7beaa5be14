#pragma once
// The prices of one machine, and sums of them. Engines count, and the model prices the counts. A profile has the price of one use
// of each row of the tables, in clocks of its machine, and the spread of the measurements. A row is named by its table and its
// name:
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

// Clocks of one use: m, plus n for each unit, such as a byte (dif::CostClass). spread: the error of m.
struct Price {
  double m = 0;
  double n = 0;
  double spread = 0;
  friend bool operator==(const Price&, const Price&) = default;
};

// Clocks, and their error. Errors are not independent: all uses of a row have the same error, and rows measured in one state of
// the machine err in the same direction. So spreads are added, which gives an upper bound.
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

// The machine on which prices were measured; empty: not known.
struct Machine {
  std::string cpu, kernel, version;  // version: of dvm
  std::string build;                 // of dvm: a build id; empty: not known
  friend bool operator==(const Machine&, const Machine&) = default;
};

// Readings of the gauges of lab/noise/core_share.h on an undisturbed core, in cycles; 0: not known.
struct QuietCore {
  double near = 0, far = 0;
  friend bool operator==(const QuietCore&, const QuietCore&) = default;
};

// The name of a row. Only tables make one (DifRow here, runtime/cost/rows.h), so that a mistyped name does not compile.
class RowName {
 public:
  static RowName of_table(std::string name) { return RowName(std::move(name)); }
  // The same row in a folder of the profile: "llvm/opcode/add". An empty folder changes nothing.
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
  void forget(const RowName& row) { prices_.erase(row.text()); }

  std::string name, machine;
  Machine made_on;
  double clock_hz = 0;
  double core_speed = 0;  // core cycles per clock when the prices were measured; 0: not known
  QuietCore quiet_core;
  double disturbed = 0;  // fraction of the series of measurements that a neighbour disturbed in every pass

 private:
  std::map<std::string, Price, std::less<>> prices_;
};

// A row of the tables of DIF: the table, and the position in it (of opcodes: the number). The work of some opcodes depends on the
// operands. They have two rows:
//
//   stgs stts stls stgaa sttaa  "opcode/stgs_ref"   the variable is a string or a structure, which is copied
//   ret                         "opcode/ret_alone"  the DIFO is one load, which needs no dispatch (is_load_alone())
struct DifRow {
  enum class Table : uint8_t { opcode, variant, variable, subroutine };

  Table table = Table::opcode;
  unsigned at = 0;

  // "opcode/add".
  std::string name() const;
};

// The row that prices an instruction of the DIFO: a subroutine, a built-in variable, an opcode, or a variant of an opcode.
DifRow row_of(const dif::Difo& difo, dif::Instruction instruction);
// The suffix of an opcode's second row, such as "_ref". Empty: it has one row.
std::string_view variant_suffix(dif::Opcode opcode);

// True if the DIFO only loads a built-in variable or a global or clause-local scalar, as most keys, values and predicates do.
bool is_load_alone(const dif::Difo& difo);

// The names of the rows that a script can use, in the order of the tables.
std::vector<std::string> dif_rows();

}  // namespace dvm::vm
