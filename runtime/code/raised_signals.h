#pragma once
// Signals that instructions may raise by a fault. A handler of such a signal sees the address of the instruction, and may go on
// by that: it knows a load that is allowed to fail, say. It does not know a copy of the instruction elsewhere (displaced.h).
//
// What an instruction does on the stack of its thread is taken for granted: a push, a pop, a word that is near the stack pointer
// or the frame pointer. So are absolute words of thread-local storage.
//
// Consumer context. Tested by tests/unit/code/raised_signals_test.cpp.

#include <cstdint>
#include <vector>

#include "runtime/code/function_code.h"

namespace dvm::runtime {

// Signals, a bit each, as in /proc/PID/status: number n is bit n - 1.
using SignalSet = uint64_t;
inline constexpr SignalSet kAllSignals = ~SignalSet{0};
// In place of the highest signal: SIGSEGV and SIGBUS, but only if the process has changed what it may do with data of its files.
inline constexpr SignalSet kFileData = SignalSet{1} << 63;

// Those that instructions of the function may raise, from the offset `begin` up to `end`, where another one begins. `decoded` are
// its instructions.
SignalSet raised_signals(CodeBytes function, const FunctionCode& decoded, uint32_t begin, uint32_t end);

// Memory that an instruction addresses relative to itself.
struct FileOperand {
  uint64_t address = 0, bytes = 1;
  bool is_written = false;
};
// All that instructions from an address on have.
std::vector<FileOperand> file_operands(CodeBytes code, uint64_t address);

}  // namespace dvm::runtime
