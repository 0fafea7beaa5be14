#pragma once
// Code before its registers are assigned and the tables of its DIFO are made.
//
//   Emitter ──> Code ── number_values, remove_dead, sink_loads (optimize.h) ── assign_registers ── encode ──> Difo
//
// Registers are virtual: 0 is %r0, and there are as many others as the code needs. Each is written once, except one to which both
// arms of a condition move their value. No path reads a register before it writes it. Branches go forward, to labels.
//
// Most code has only a few steps, but the passes need some fifty small tables. They come from the code's arena, which is freed as
// a whole.

#include <array>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <string>
#include <vector>

#include "compiler/types/symbols.h"
#include "dvm/dif/difo.h"

namespace dvm::compiler {

using VirtualRegister = uint32_t;
using CodeLabel = uint32_t;

struct CodeStep {
  dif::Opcode op = dif::Opcode::nop;
  bool is_label = false;  // label `value`, no instruction

  std::array<VirtualRegister, 3> reads{};  // operands in order; of a store: value, address
  VirtualRegister writes = 0;              // 0: nothing
  uint64_t value = 0;                      // a constant, or the number of a label, string, subroutine or the like
  const Symbol* symbol = nullptr;          // of a user variable

  static CodeStep move(VirtualRegister from, VirtualRegister to) {
    return {.op = dif::Opcode::mov, .reads = {from}, .writes = to};
  }
  static CodeStep constant(uint64_t value, VirtualRegister to) {
    return value == 0 ? move(0, to) : CodeStep{.op = dif::Opcode::setx, .writes = to, .value = value};
  }
  static CodeStep jump(CodeLabel to) { return {.op = dif::Opcode::ba, .value = to}; }

  bool has_format(dif::Format format) const { return !is_label && dif::info(op).format == format; }
  bool is_branch() const { return has_format(dif::Format::branch); }
  bool is_conditional() const { return is_branch() && dif::is_conditional(op); }
  bool is_compare() const { return has_format(dif::Format::cmp) || has_format(dif::Format::tst); }
  bool is_move() const { return !is_label && dif::is_move(op); }
};

using CodeArena = std::pmr::memory_resource;
template <class T>
using ArenaVector = std::pmr::vector<T>;

struct Code {
  CodeArena* arena() const { return steps.get_allocator().resource(); }

  ArenaVector<CodeStep> steps;       // the last one is a ret
  std::vector<std::string> strings;  // operands of sets
  VirtualRegister registers = 1;
  CodeLabel labels = 0;
};

// Loads of scalar variables, built-in variables included.
bool is_scalar_load(const CodeStep& step);
bool is_memory_load(const CodeStep& step);
// The step stores to a user variable.
bool is_variable_store(const CodeStep& step);
// The step may change memory that later loads read.
bool changes_memory(const CodeStep& step);

// The result of an arithmetic opcode on constants. Nothing if it would fault, or if the opcode is not arithmetic.
std::optional<uint64_t> evaluate(dif::Opcode op, uint64_t left, uint64_t right);

// How often each register is written, and read.
struct RegisterCounts {
  explicit RegisterCounts(const Code& code);
  ArenaVector<uint32_t> writes, reads;
};

}  // namespace dvm::compiler
