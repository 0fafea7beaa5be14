#pragma once
// Prices of one machine, and sums of them. Engines count, the model prices: a profile says what one use of each row of the tables
// costs, in clocks of its machine, and how far measurements of it lay apart. A row is named by its table and its own name:
//
//   opcode/add  variable/pid  subroutine/strlen                  what DIF is made of (dif_rows)
//   action/printf  aggregation/count  source/pid/trigger ...     what the runtime adds (runtime/cost/rows.h)

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dvm/dif/difo.h"

namespace dvm::vm {

// Clocks of one use: m, and n more for each byte (of a row that is priced by size). spread: by how much m may be off.
struct Price {
  double m = 0;
  double n = 0;
  double spread = 0;
  friend bool operator==(const Price&, const Price&) = default;
};

// Clocks, and by how much they may be off. Uses of one row are all off by the same, and rows that were measured in one state of
// the machine likewise, so spreads are added up: the sum is off by no more than that.
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

class Profile {
 public:
  void set(const std::string& row, const Price& price) { prices_[row] = price; }
  // Null: the row has no price.
  const Price* find(std::string_view row) const {
    const auto found = prices_.find(row);
    return found == prices_.end() ? nullptr : &found->second;
  }
  const std::map<std::string, Price, std::less<>>& prices() const { return prices_; }

  std::string name, machine;
  double clock_hz = 0;
  bool in_kernel = false;  // the VM is the kernel's, as DTrace's is

 private:
  std::map<std::string, Price, std::less<>> prices_;
};

// A row of the tables of DIF: which table, and where in it (of opcodes: the number).
struct DifRow {
  enum class Table : uint8_t { opcode, variable, subroutine };

  Table table = Table::opcode;
  unsigned at = 0;

  // "opcode/add".
  std::string name() const;
};

// Where the price of an instruction belongs: its subroutine, its built-in variable, or its opcode.
DifRow row_of(dif::Instruction instruction);

// A store of a string or a structure copies it, unlike that of an integer, so it has a row of its own: "opcode/stgs_ref".
inline constexpr std::string_view kByReference = "_ref";
// Of the stores, the scope of the variable that is stored.
std::optional<dif::Scope> stored_scope(dif::Opcode opcode);

// The names of the rows that a script can use, in the order of the tables.
std::vector<std::string> dif_rows();

}  // namespace dvm::vm
