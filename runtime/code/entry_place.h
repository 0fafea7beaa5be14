#pragma once
// Chooses the place of an entry probe: the first instruction of the entry block that is cheap to probe, provided that a probe
// there fires exactly once for each entry.
//
//   f:  endbr64              a step: 7,000 ns
//       mov  %rdi, %rax      a step; no argument changes
//       push %rbp            emulated: 420 ns. The probe is put here; %rsp is what it was
//
// The probe may be moved to that place if, between the entry and the place,
// - every instruction runs exactly once for each entry. None of them branches, calls, or may fault on an address from the
// arguments.
//   Nothing jumps behind the first one: no branch of the function, no other symbol, no branch from outside (ModuleCode). If the
//   function has an indirect jump, which may lead anywhere through a table, the stack must have grown at or before the place,
//   because compilers do not make loops that grow the stack. A landing pad expects the exception in a register, so no entry runs
//   into one;
// - no instruction writes an argument register that the probe reports, or the frame pointer if the probe reports callers;
// - %rsp moves by a known number of bytes;
// - if the place is a nop of five bytes, nothing below %rsp is in use: Linux 6.18 replaces it by a call, which writes there.
//
// If the first instruction cannot be probed at all (MachineInstruction::can_be_probed) and none is cheap, the probe is placed on
// the next instruction that can be probed. A first instruction with a LOCK prefix then changes memory before the probe fires. If
// it faults, the entry is not seen.
//
// The values that the probe reports are then as exact as at the first instruction. Other registers may have changed, so clauses
// that read those get a probe on the first instruction.

#include <cstdint>

#include "runtime/code/function_code.h"

namespace dvm::runtime {

struct EntryPlace {
  uint32_t moved = 0;       // bytes from the first instruction
  int32_t stack_moved = 0;  // bytes from %rsp to the return address there
};

// The values that a probe reports, as bits. Bit n is for argument n in a register. Further bits are for callers found by the
// frame pointer, for the registers in which only Go passes arguments, and for memory other than the stack.
using Told = uint16_t;
inline constexpr Told kToldArguments = 0x3f, kToldCallers = 0x40, kToldMemory = 0x1000;
inline constexpr Told kToldAll = kToldArguments | kToldCallers | kToldMemory, kToldOfGo = 0xfff | kToldMemory;

// alone: bytes before the next symbol. Jumps from outside are not checked here.
EntryPlace choose_entry(CodeBytes code, uint64_t alone, Told told = kToldAll);

}  // namespace dvm::runtime
