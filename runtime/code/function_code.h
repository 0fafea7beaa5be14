#pragma once
// Analyses the machine code of traced files: the cost of a probe on an instruction, the cheapest place for an entry probe, and
// the instructions that leave a function. Zydis does the decoding.
//
//   bytes of a function -> FunctionCode -> EntryPlace: the instruction for the entry probe (entry_place.h)
//   a file -> ModuleCode: those bytes, and jumps into a function from outside of it (module_code.h)
//
// The kernel replaces the first byte of a probed instruction by a breakpoint. After the probe it emulates the simplest
// instructions: push of a register, nop, relative jump, branch and call. It runs every other instruction from a copy with the
// trap flag set. That is a second exception, which costs 3 to 15 times as much as the rest
// (bench/runtime/instruction_cost.cpp). Newer kernels replace a nop of five bytes by a call, which is cheaper still.
//
// The kernel recognises instructions by the first byte of their opcode and overlooks the prefix (VEX, EVEX) that puts vector
// instructions into tables of their own. `vmovdqu %ymm0, (%rdi)` has the 0x7f of `jg`: the kernel mistakes it for a branch and
// does not execute it, and the branch may go anywhere. Such an instruction is_misread, and a probe on it ruins the process.
//
// Files are untrusted. Decoding stops at invalid instructions, and the bytes behind them are not used. Consumer context.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dvm::runtime {

using CodeBytes = std::span<const unsigned char>;

enum class FiringCost : uint8_t { rewritten, emulated, stepped };
// "emulated"; and the typical cost of a firing there, in ns, measured on one machine.
const char* name_of(FiringCost cost);
unsigned expected_ns(FiringCost cost);

// True if the kernel is likely to refuse a probe on the instruction with these first two bytes. This is a hint: the kernel
// decides.
bool is_doubtful(CodeBytes code);

// True if the instruction at `offset` belongs to code that only calls rt_sigreturn(2). Every signal handler returns there,
// whatever the C library or the runtime of the language calls it. code: what lies around it, too.
bool is_signal_return(CodeBytes code, uint64_t offset);
// Why no uprobe or breakpoint lies there: the kernel delivers pending signals at each return from a trap, before this handler has
// ended.
inline constexpr const char* kNestsHandlers =
    "signal handlers return there, and signals that arrive during the trap would nest them until their stack is full; "
    "syscall::rt_sigreturn:entry fires at the same time";

// The next instruction to run after this one.
enum class Flow : uint8_t {
  next,
  call,      // to `target`, if known, then to the next
  branch,    // to `target` or the next
  jump,      // to `target`, if known
  return_,   // ret
  elsewhere  // a system call, a trap, an invalid instruction
};

struct MachineInstruction {
  uint32_t offset = 0;  // in its function
  uint8_t length = 0;
  FiringCost cost = FiringCost::stepped;
  Flow flow = Flow::next;

  bool is_misread = false;   // the kernel mistakes it for a branch, see above
  bool saves_flags = false;  // pushf or syscall: under a probe, it also saves the trap flag

  bool is_refused = false;     // the kernel refuses a probe because of a prefix
  bool is_repeated = false;    // such as `rep movsb`: the kernel single-steps each repetition
  bool is_table_jump = false;  // an indirect jump, possibly anywhere in the function
  // Offset from its function's beginning, possibly outside.
  std::optional<int64_t> target{};

  bool can_be_probed() const { return !is_misread && !is_refused; }
};

struct FunctionCode {
  std::vector<MachineInstruction> instructions;
  bool is_complete = false;  // all bytes are instructions, and each branch inside leads to the beginning of one

  std::vector<int64_t> table_targets{};  // offsets that jumps by tables may lead to; see jump_tables.h
  bool knows_tables = false;             // they lead nowhere else
  // Addresses of the tables, as the file has them, that hold distances and whose first entry leads to an instruction of it.
  std::vector<uint64_t> tables{};

  // The instruction that begins at the offset, or null.
  const MachineInstruction* at(uint64_t offset) const;
  bool has_table_jump() const;
  bool may_jump_anywhere() const { return has_table_jump() && !knows_tables; }
  // True if some instruction jumps to a place after the first instruction, up to and including `last`.
  bool is_entered_up_to(uint32_t last) const;
};

// Decodes until the end or the first invalid instruction.
FunctionCode decode_function(CodeBytes code);
std::optional<MachineInstruction> decode_instruction(CodeBytes code, uint32_t offset);

// Addresses that the code loads by `lea x(%rip)`, relative to the beginning of the code; ascending, without duplicates.
std::vector<int64_t> addresses_taken(CodeBytes code);

// "push %rbp"; empty: invalid.
std::string instruction_text(CodeBytes code, uint64_t address);

}  // namespace dvm::runtime
