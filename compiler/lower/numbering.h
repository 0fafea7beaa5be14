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
  ArenaVector<CodeStep> steps;  // as they were
  uint32_t at = 0;
  RegisterCounts counts;
  ArenaVector<uint32_t> last_write;
  ArenaVector<Register> same;  // a register with the same value, that was there first
  ArenaVector<Definition> made;
  ArenaVector<ValueRange> ranges;  // by register; of one with several values, those so far
  ArenaVector<bool> written;       // of the latter
  std::pmr::unordered_map<ValueKey, Register, ValueKeyHash> numbers;

  Dominators dominators;
  ArenaVector<uint32_t> arrivals;  // by label: what dominates all branches to it
  uint32_t block = 0;
  bool is_reached = true;

  std::pmr::map<const Symbol*, uint32_t> versions;
  std::pmr::map<const Symbol*, Definition> stored;  // the last store, and where
  uint32_t memory = 0;
  std::optional<std::pair<uint64_t, uint64_t>> codes;  // what was compared, if it is known
};

inline bool computes(const CodeStep& s, Op op, bool with_sign = false) { return !s.is_label && s.op == opcode_of(op, with_sign); }

// number_values.cpp

// The value of a register, if it is known.
std::optional<uint64_t> constant(const Numbering& n, Register r);
// The register keeps the value that it has now.
bool is_settled(const Numbering& n, Register r);
// Adds a step before the current one. Returns the register that has its value.
Register new_constant(Numbering& n, uint64_t value);
Register new_value(Numbering& n, dif::Opcode op, Register left, Register right);
// The w of a register that has w >> k with nothing in the k low bits of w, and k; register 0 for another.
std::pair<Register, uint64_t> shifted_up(const Numbering& n, Register r);

// Replace a step by one that does the same for less. A comparison whose result is known is noted in `codes`; the answer is
// whether it must stay.
bool fold_comparison(Numbering& n, CodeStep& s);
void simplify_value(Numbering& n, CodeStep& s);

}  // namespace dvm::compiler
