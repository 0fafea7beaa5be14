#pragma once
// Prints the records of stack(), ustack(), usym() and the like, as dtrace does:
//
//   a stack    | pid | address | address ... | 0 ... |      a newline, then one indented line for each frame
//   a symbol   | pid | address |                             module`function, in a column of width 50

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dvm/dif/program.h"
#include "runtime/consumer/datum.h"
#include "runtime/symbol/user_symbols.h"

namespace dvm::runtime {

inline constexpr int kStackIndent = 14;

struct UserAddress {
  int32_t pid;  // kKernelPid: the kernel
  uint64_t address;
};
// The frames of a stack, innermost first, or the address of a symbol.
std::vector<UserAddress> frames_of(const Datum& datum);
UserAddress place_of(const Datum& datum);

class MadePrinter {
 public:
  explicit MadePrinter(UserSymbols& symbols) : symbols_(symbols) {}
  // The process in which addresses without a process are looked up.
  void set_target(int32_t pid) { target_ = pid; }
  UserAddress in_target(uint64_t address) const { return {target_, address}; }
  std::string target_text(uint64_t address) const { return address_text(in_target(address)); }
  // An address of the kernel.
  std::string kernel_text(uint64_t address) const;
  // module`function; empty: not known.
  std::string target_function(uint64_t address) const;
  // Option noresolve: prints addresses only.
  void leave_unresolved() { resolves_ = false; }
  // indent: columns before each line of a stack.
  void append(std::string& out, const Datum& datum, int indent) const;
  // Makes symbol keys with the same text equal.
  void unify(const dif::AggregationDesc& desc, std::string& key) const;
  std::optional<UserSymbol> find(const UserAddress& place) const;
  // Adds files, lines and inlined functions to frames in JSON.
  void show_source() { shows_source_ = true; }
  // The source lines of a frame, innermost inlined function first. is_caller: take the line of the call. Empty: unknown or not
  // shown.
  std::vector<SourcePlace> source_of(const UserAddress& frame, bool is_caller) const;
  // A symbol without its column, for a format.
  std::string symbol_text(const Datum& datum) const;

 private:
  void append_stack(std::string& out, const Datum& datum, int indent) const;
  std::string address_text(const UserAddress& place) const;

  UserSymbols& symbols_;
  bool resolves_ = true;
  bool shows_source_ = false;
  int32_t target_ = 0;
};

}  // namespace dvm::runtime
