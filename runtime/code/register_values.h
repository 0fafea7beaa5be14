#pragma once
// Follows addresses through registers and memory over the instructions that lead to a jump. Memory is known by a register and a
// constant, such as -16(%rbp), until that register changes; stores by other ways to the same place are not seen. Probes are
// never placed by what this finds, they are only refused by it. Consumer context.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "runtime/code/operated.h"

namespace dvm::runtime {

// The values that a register or a word of memory may hold.
struct AddressValue {
  static constexpr size_t kMost = 16;  // of each

  std::set<uint64_t> bases{};  // addresses that it is made of
  // Those of entries of four bytes that it is made of: the address, and how far behind it the entries begin.
  std::set<std::pair<uint64_t, int64_t>> tables{};
  bool is_computed = false;
  bool is_anywhere = false;  // it is made of more than those

  void add_base(uint64_t base) { add(bases, base); }
  void add_table(uint64_t base, int64_t behind) { add(tables, {base, behind}); }
  void add(const AddressValue& other) {
    for (const uint64_t base : other.bases) add_base(base);
    for (const auto& table : other.tables) add(tables, table);
    is_anywhere |= other.is_anywhere;
  }
  size_t size() const { return bases.size() + tables.size(); }
  bool has_table(uint64_t base) const { return tables.contains({base, 0}); }

 private:
  template <class T>
  void add(std::set<T>& to, const T& one) {
    if (to.size() < kMost || to.contains(one))
      to.insert(one);
    else
      is_anywhere = true;
  }
};

// Instructions `pop` that calls lead to, and the address that each call pushes. Ascending.
using PoppedCalls = std::vector<std::pair<uint64_t, uint64_t>>;

struct AddressSource {
  bool is_fixed = false;
  // The address that the dynamic linker stores there.
  std::function<std::optional<uint64_t>(uint64_t)> pointer;
  PoppedCalls popped{};
};

class RegisterValues {
 public:
  RegisterValues(const AddressSource& source, size_t& work) : source_(source), work_(work) {}

  void run(const Operated& one, uint64_t behind);
  // Where the jump leads.
  AddressValue target(const Operated& jump) const;

 private:
  // From where %rsp pointed first, or from another register as it is.
  using Place = std::pair<ZydisRegister, int64_t>;

  void run_call(const Operated& call);
  AddressValue made_by(const Operated& one) const;
  AddressValue popped(const Operated& pop) const;
  AddressValue sum(const Operated& one) const;
  AddressValue loaded(const ZydisDecodedOperand& operand) const;
  AddressValue extended(const Operated& one) const;
  AddressValue at(ZydisRegister reg) const;
  AddressValue at(const Place& place) const;
  AddressValue stored(const ZydisDecodedOperand& operand) const;
  std::optional<Place> place_of(const ZydisDecodedOperand& operand) const;
  void run_on_memory(const Operated& one);
  void spend(size_t work) { work_ -= std::min(work_, work); }
  void set(ZydisRegister reg, const AddressValue& value);
  void exchange(ZydisRegister one, ZydisRegister other);
  void forget_by(ZydisRegister base);

  const AddressSource& source_;
  size_t& work_;
  uint64_t behind_ = 0;  // the instruction
  int64_t depth_ = 0;    // of the stack since the first instruction
  std::map<ZydisRegister, AddressValue> values_;
  std::map<Place, AddressValue> memory_;
  std::map<ZydisRegister, AddressValue> narrow_;  // entries of tables whose signs are not extended yet
};

}  // namespace dvm::runtime
