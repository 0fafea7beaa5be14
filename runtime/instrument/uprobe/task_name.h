#pragma once
// Finds where the kernel keeps a thread's name, parent, command line and numbers. Loading the name there costs a few ns; the
// helper of BPF costs 40.

#include <cstdint>
#include <optional>

#include "runtime/catalog/operand.h"
#include "runtime/instrument/uprobe/capture_inputs.h"

namespace dvm::runtime {

// Offset of the name, kCommBytes padded with NULs, in a task_struct; 0: not known, or this kernel does not pad it.
int16_t task_name_offset();

// The process id of the running thread's parent; nothing: the kernel does not say where that lies.
std::optional<Operand> parent_of_this_thread(const PidNamespace& pids);

// The addresses in the running thread's process between which its command line lies; 0 if it is a thread of the kernel.
struct CommandLinePlace {
  Operand begin, end;
};
std::optional<CommandLinePlace> command_line_of_this_thread();

// Offset of the pointer to that of the parent in a task_struct, and the path to the process id. Nothing: the kernel does not say.
struct AncestorPlace {
  int32_t parent = 0;
  Operand number{};
};
std::optional<AncestorPlace> ancestors_of_threads(const PidNamespace& pids);

// Element `number` of dvm_process[] of the running thread. Nothing: the kernel has no such number, or it does not say where.
struct ProcessNumber {
  Operand place;
  int32_t less = 0;  // to be taken off
};
std::optional<ProcessNumber> process_number_of_this_thread(const PidNamespace& pids, unsigned number);

}  // namespace dvm::runtime
