#pragma once
// The place of a probe's argument in the traced thread when the probe fires.
//
//   constant   `value`.
//   saved      The register in word `base` of struct pt_regs.
//   vector     The low bytes of the vector register %xmm`base`. Kernel uprobes cannot read it.
//   memory     The bytes at base + index * scale + value; base and index are words of struct pt_regs, or none.
//   counter    The program counter that a timer interrupted. value 0: of the kernel, 1: of the process; the other one is 0.
//   result     The result of a system call; -1: it failed.
//   error      The error number of a system call; 0: it did not fail.
//   kernel     Memory of the kernel. `base` is a word that a tracepoint passes, or kThisThread. From there, `depth` pointers are
//              followed, each at offset path[i]. The bytes lie at offset `value` from the last one.
//   kernel_address  The address of those bytes. D uses the addresses of the kernel for its own memory, so the top bit is cleared.
//   handed     Word `base` that a tracepoint passes.
//   number     The number of a thread or process in dvm's pid namespace. Its numbers in all namespaces lie where a kernel operand
//              would. If it has none in dvm's, minus that in the initial one.
//   relative_number  Likewise, but 0 if it has none, as getppid() tells a parent.
//
// Registers and memory are read with a width of `size` bytes (1, 2, 4 or 8), and sign- or zero-extended. `shift` is the position
// of the lowest bit in a register (8 for %ah).

#include <array>
#include <cstddef>
#include <cstdint>

namespace dvm::runtime {

inline constexpr uint8_t kNoWord = 0xff;
inline constexpr uint8_t kThisThread = 0xfe;  // the kernel's task_struct of the thread that runs
inline constexpr size_t kMostPath = 3;
inline constexpr uint8_t kVectorRegisters = 16;  // %xmm0 to %xmm15

// Words of struct pt_regs that arguments are made of; dvm/dif/registers.def has all of them.
namespace saved {
inline constexpr uint8_t r14 = 1, rbp = 4, rbx = 5, r11 = 6, r10 = 7, r9 = 8, r8 = 9, rax = 10, rcx = 11, rdx = 12, rsi = 13,
                         rdi = 14, orig_rax = 15, rip = 16, rsp = 19;
}  // namespace saved

// The arguments of a system call, which are there also when it returns.
inline constexpr std::array kSyscallRegisters = {saved::rdi, saved::rsi, saved::rdx, saved::r10, saved::r8, saved::r9};

struct Operand {
  enum class Kind : uint8_t {
    none,
    constant,
    saved,
    vector,
    memory,
    counter,
    result,
    error,
    kernel,
    kernel_address,
    handed,
    number,
    relative_number
  };

  Kind kind = Kind::none;
  uint8_t base = kNoWord;
  uint8_t index = kNoWord;
  uint8_t scale = 1;  // 1, 2, 4 or 8
  uint8_t size = 8;
  uint8_t shift = 0;
  bool is_signed = false;
  int64_t value = 0;
  uint8_t depth = 0;
  std::array<int16_t, kMostPath> path{};

  static Operand constant(int64_t value) { return {.kind = Kind::constant, .value = value}; }
  static Operand of_register(uint8_t word) { return {.kind = Kind::saved, .base = word}; }
  static Operand of_vector(uint8_t number, uint8_t size) { return {.kind = Kind::vector, .base = number, .size = size}; }
  static Operand memory(uint8_t base, int64_t displacement) {
    return {.kind = Kind::memory, .base = base, .value = displacement};
  }
  static Operand handed(uint8_t word) { return {.kind = Kind::handed, .base = word}; }
  static Operand of_kind(Kind kind) { return {.kind = kind}; }
  static Operand counter(int64_t whose) { return {.kind = Kind::counter, .value = whose}; }

  friend bool operator==(const Operand&, const Operand&) = default;
};

// Numbers of arg0 to arg9, and of the goroutine's number (goid).
inline constexpr size_t kArguments = 10, kGoroutine = kArguments;
using Operands = std::array<Operand, kArguments + 1>;

}  // namespace dvm::runtime
