#pragma once
// Finds the signals that instructions may raise by a fault. A handler of such a signal sees the address of the instruction, and
// may act on it: for example, the program may know a load that is allowed to fail. It does not know the address of a copy
// (displaced.h).
//
// Accesses to the stack of the thread are assumed not to fault: push, pop, and words near the stack pointer or the frame pointer.
// The same holds for absolute words of thread-local storage.
//
// Consumer context.

#include <cstdint>
#include <vector>

#include "runtime/code/function_code.h"

namespace dvm::runtime {

// A set of signals, as in /proc/PID/status: signal n is bit n - 1.
using SignalSet = uint64_t;
inline constexpr SignalSet kAllSignals = ~SignalSet{0};
// Uses the bit of the highest signal: SIGSEGV and SIGBUS, but only if the process has changed the protection of data of its
// files.
inline constexpr SignalSet kFileData = SignalSet{1} << 63;

// The signals that the instructions of a function may raise, from offset `begin` up to `end`. Both must be the beginning of an
// instruction. decoded: the instructions of the function.
SignalSet raised_signals(CodeBytes function, const FunctionCode& decoded, uint32_t begin, uint32_t end);

// Memory that an instruction addresses relative to the program counter.
struct FileOperand {
  uint64_t address = 0, bytes = 1;
  bool is_written = false;
};
// The operands of this kind in the code, which lies at `address`.
std::vector<FileOperand> file_operands(CodeBytes code, uint64_t address);

}  // namespace dvm::runtime
