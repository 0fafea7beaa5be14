#pragma once
// From DIF to machine code for the traced thread (runtime/agent/inside/aggregate.h runs it). Simple clauses consist of
// arithmetic, comparisons, constants, pid, tid, timestamp and cpu. Code that divides by 0 says that it has failed. They read
// arguments that lie in registers, scalar variables of the thread and of the clause, and globals that dvm alone writes. Anything
// else has no code, and dvm runs the clause.
//
//   %rdi  the saved registers, words of struct pt_regs      %rsi  the inside::Workspace
//   %r1 to %r5 of DIF: %rdx, %r8, %r9, %r10, %r11            %rax, %rcx: for a moment; %rax: the value

#include <cstdint>
#include <optional>
#include <span>

#include "runtime/agent/agent_process.h"
#include "runtime/instrument/in_dvm.h"
#include "runtime/instrument/uprobe/site_shape.h"

namespace dvm::runtime {

// What the code is for.
struct ClausePlace {
  const SiteShape& shape;
  std::optional<uint32_t> exit;  // of a return: the value of arg0
  int32_t pid = 0;
  const Probe* probe = nullptr;
  bool follows = false;                 // children fire there as well: the pid is that of the process at hand
  bool by_frame_pointers = false;       // stacks are found by these
  std::span<const uint16_t> globals{};  // variables that dvm keeps for threads
};

// The code of one DIFO, whose value is widened to the type. Any DIFO that the verifier admits.
struct ValueMachineCode {
  MachineCode code;
  InDvm in_dvm = InDvm::nothing;  // why it has none
};
ValueMachineCode make_value_code(const dif::Difo& difo, const dif::DataType& type, const ClausePlace& place);

}  // namespace dvm::runtime
