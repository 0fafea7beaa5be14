#pragma once
// Translates DIF to machine code for the traced thread (runtime/agent/inside/aggregate.h runs it). The DIF of simple clauses
// consists of arithmetic, comparisons, constants, pid, tid, timestamp and cpu. It reads arguments in registers, scalar
// thread-local and clause-local variables, and globals. Code that divides by 0 sets Workspace::failed. For any other DIF there is
// no code, and dvm runs the clause.
//
// A DIFO changes at most one global, by a locked instruction: from the value that it has read. If another thread has changed it
// meanwhile, the code runs again.
//
// The registers of the machine code are:
//   %rdi                         The saved registers, words of struct pt_regs.
//   %rsi                         The inside::Workspace.
//   %rbx                         The thread-local variables.
//   %rdx, %r8, %r9, %r10, %r11   Registers %r1 to %r5 of DIF.
//   %rax, %rcx                   Temporaries. At the end, %rax is the value.

#include "runtime/agent/agent_process.h"
#include "runtime/instrument/agent/clause_place.h"
#include "runtime/instrument/in_dvm.h"

namespace dvm::runtime {

// The code of one DIFO, which must be verified. The value is widened to the type.
struct ValueMachineCode {
  MachineCode code;
  InDvm in_dvm = InDvm::nothing;  // why it has none
};
ValueMachineCode make_value_code(const dif::Difo& difo, const dif::DataType& type, const ClausePlace& place);

}  // namespace dvm::runtime
