#pragma once
// The stack frame of the code of a site, below the 128 bytes that a leaf function may use. It holds the words of struct pt_regs
// that the code needs, to which %rdi points, and an inside::Workspace. Flags are kept as by agent_enter.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "runtime/agent/code_bytes.h"
#include "runtime/agent/inside/format.h"

namespace dvm::runtime {

constexpr uint32_t word_bit(unsigned word) { return 1U << word; }

class SiteFrame {
 public:
  using Register = GeneralRegister;
  static constexpr int32_t kWorkspace = 8 * inside::kSavedWords;  // behind the words
  // All of it, below the stack pointer of the probed code.
  static constexpr int32_t kBytes = kWorkspace + static_cast<int32_t>(sizeof(inside::Workspace)) + 128;

  // address: of the instruction that is probed.
  SiteFrame(CodeWriter& code, uint64_t address, bool keeps_flags) : code_(code), address_(address), keeps_flags_(keeps_flags) {}

  bool keeps_flags() const { return keeps_flags_; }
  static bool can_hold(uint32_t words) { return (words & ~(kHeld | word_bit(inside::kStackWord) | word_bit(kRipWord))) == 0; }

  // Keeps the words that are read, and the registers that are changed.
  void open(uint32_t reads, uint32_t changes) {
    code_.add_address(Register::rsp, Register::rsp, -kBytes);
    note_open();
    keep(reads, changes | word_bit(kRaxWord), true);
    point_to_words(changes);
  }
  // More of them. %rax is changed.
  void extend(uint32_t reads, uint32_t changes) {
    keep(reads, changes, false);
    point_to_words(changes);
  }
  // As if nothing had been: of the registers that are changed before this place in the code.
  void close(uint32_t changes) {
    if (keeps_flags_) {
      code_.read(Register::rax, Register::rsp, 8 * kFlagsWord);
      code_.add({0x04, 0x7f, 0x9e});  // add $0x7f, %al; sahf
    }
    for (uint32_t left = changes | word_bit(kRaxWord); left != 0; left &= left - 1) load(std::countr_zero(left));
    code_.add_address(Register::rsp, Register::rsp, kBytes);
    code_.note_frame(0, 0, address_);
  }
  // What follows runs while it is open.
  void note_open() { code_.note_frame(kBytes, kept_, address_); }
  // Around a call that changes these registers, unless they are kept anyway.
  void keep_aside(uint32_t words) {
    for (uint32_t left = words & ~kept_; left != 0; left &= left - 1) store(std::countr_zero(left));
  }
  void put_back(uint32_t words) {
    for (uint32_t left = words & ~changes_; left != 0; left &= left - 1) load(std::countr_zero(left));
  }
  // %r12 would need a longer instruction (CodeWriter::read_register_at).
  static constexpr uint32_t kReadable = (1U << 15) - 1 - word_bit(3);
  static Register register_of(int word) { return kRegisters[static_cast<size_t>(word)]; }
  void load_stack_pointer(Register reg) { code_.add_address(reg, Register::rsp, kBytes); }

 private:
  // The registers in struct pt_regs.
  static constexpr std::array kRegisters = {Register::r15, Register::r14, Register::r13, Register::r12, Register::rbp,
                                            Register::rbx, Register::r11, Register::r10, Register::r9,  Register::r8,
                                            Register::rax, Register::rcx, Register::rdx, Register::rsi, Register::rdi};
  static constexpr int32_t kRaxWord = 10, kRdiWord = 14, kRipWord = 16, kFlagsWord = 15;  // one that is not asked for
  static constexpr uint32_t kHeld = (1U << kRegisters.size()) - 1;                        // words of registers

  void keep(uint32_t reads, uint32_t changes, bool is_first) {
    for (uint32_t left = (reads | changes) & kHeld & ~kept_; left != 0; left &= left - 1) store(std::countr_zero(left));
    const uint32_t others = reads & ~kHeld & ~kept_;
    kept_ |= reads | changes;
    changes_ |= changes;
    note_open();
    if (is_first && keeps_flags_) {
      code_.add({0x9f, 0x0f, 0x90, 0xc0});  // lahf; seto %al
      put(kFlagsWord);
    }
    if ((others & word_bit(kRipWord)) != 0) code_.load(Register::rax, address_), put(kRipWord);
    if ((others & word_bit(inside::kStackWord)) != 0) load_stack_pointer(Register::rax), put(inside::kStackWord);
  }
  void store(int word) { code_.store(kRegisters[static_cast<size_t>(word)], Register::rsp, 8 * word); }
  void load(int word) { code_.read(kRegisters[static_cast<size_t>(word)], Register::rsp, 8 * word); }
  void point_to_words(uint32_t changes) {
    if ((changes & word_bit(kRdiWord)) != 0) code_.add_address(Register::rdi, Register::rsp, 0);
  }
  void put(int32_t word) { code_.store(Register::rax, Register::rsp, 8 * word); }

  CodeWriter& code_;
  uint64_t address_;
  bool keeps_flags_;
  uint32_t kept_ = 0, changes_ = 0;
};

}  // namespace dvm::runtime
