#pragma once
// What stack(), ustack(), usym() and kin record, as dtrace prints it.
//
//   a stack    | pid | address | address ... | 0 ... |      its lines, each indented, after a newline
//   a symbol   | pid | address |                             module`function, a column of 50

#include <cstdint>
#include <string>

#include "dvm/dif/program.h"
#include "runtime/consumer/datum.h"
#include "runtime/symbol/user_symbols.h"

namespace dvm::runtime {

inline constexpr int kStackIndent = 14;

class MadePrinter {
 public:
  explicit MadePrinter(UserSymbols& symbols) : symbols_(symbols) {}
  // Option noresolve: addresses alone.
  void leave_unresolved() { resolves_ = false; }
  // indent: of a stack's lines.
  void append(std::string& out, const Datum& datum, int indent) const;
  // Makes symbol keys that print the same the same.
  void unify(const dif::AggregationDesc& desc, std::string& key) const;
  // A symbol without its column, for a format.
  std::string symbol_text(const Datum& datum) const;

 private:
  void append_stack(std::string& out, std::span<const std::byte> words, int indent) const;
  std::string address_text(int32_t pid, uint64_t address) const;

  std::optional<UserSymbol> find(int32_t pid, uint64_t address) const;

  UserSymbols& symbols_;
  bool resolves_ = true;
};

}  // namespace dvm::runtime
