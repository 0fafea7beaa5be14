#pragma once
// The context of number_values, and what its files share. number_values.cpp walks the code; fold_comparison.cpp and
// simplify_value.cpp replace a step by a cheaper one before it is numbered.

#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "compiler/lower/code.h"
#include "compiler/lower/dominators.h"
#include "compiler/lower/operators.h"
#include "compiler/lower/range.h"
#include "compiler/lower/value_key.h"

namespace dvm::compiler {

struct Numbering {
  struct Definition {
    uint32_t block = 0;
    CodeStep step;  // that made it; a nop: not known
  };

  explicit Numbering(Code& c);

  Code& code;
  ArenaVector<CodeStep> steps;  // before the pass
  uint32_t at = 0;
  RegisterCounts counts;
  ArenaVector<uint32_t> last_write;
  ArenaVector<VirtualRegister> same;  // by register: the first register with the same value
  ArenaVector<Definition> made;
  ArenaVector<ValueRange> ranges;  // by register; if several steps write it, the union so far
  ArenaVector<bool> written;       // by register that several steps write: one of them was reached
  std::pmr::unordered_map<ValueKey, VirtualRegister, ValueKeyHash> numbers;

  Dominators dominators;
  ArenaVector<uint32_t> arrivals;  // by label: the block that dominates all branches to it
  uint32_t block = 0;
  bool is_reached = true;

  std::pmr::map<const Symbol*, uint32_t> versions;
  std::pmr::map<const Symbol*, Definition> stored;  // the last store, and where
  uint32_t memory = 0;
  std::optional<std::pair<uint64_t, uint64_t>> codes;  // values of the last comparison that give its result, if it is known
  bool has_decided = false;                            // a branch
};

inline bool computes(const CodeStep& s, Op op, bool with_sign = false) { return !s.is_label && s.op == opcode_of(op, with_sign); }

// number_values.cpp

// The value of a register, if it is known.
std::optional<uint64_t> constant(const Numbering& n, VirtualRegister r);
// No later step writes the register.
bool is_settled(const Numbering& n, VirtualRegister r);
// Adds a step before the current one. Returns the register that has its value.
VirtualRegister new_constant(Numbering& n, uint64_t value);
VirtualRegister new_value(Numbering& n, dif::Opcode op, VirtualRegister left, VirtualRegister right);
// If the register holds w >> k, where the k low bits of w are 0: w and k. Otherwise register 0.
std::pair<VirtualRegister, uint64_t> shifted_up(const Numbering& n, VirtualRegister r);

// These replace a step by a cheaper equivalent. fold_comparison() notes a known result in `codes`, and returns true if the
// comparison is still needed.
bool fold_comparison(Numbering& n, CodeStep& s);
void simplify_value(Numbering& n, CodeStep& s);

}  // namespace dvm::compiler
