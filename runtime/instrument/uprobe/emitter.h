#pragma once
// Writes BPF instructions one by one: only those that capture programs need. Jumps go forward to a place given later by
// land(), or back to a place taken with here().

#include <linux/bpf.h>

#include <cstdint>
#include <vector>

namespace dvm::runtime {

class BpfEmitter {
 public:
  enum Register : uint8_t { r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, fp };
  using Label = size_t;

  void mov(Register to, Register from) { add(BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0); }
  void mov(Register to, int32_t value) { add(BPF_ALU64 | BPF_MOV | BPF_K, to, r0, 0, value); }
  void plus(Register to, Register what) { add(BPF_ALU64 | BPF_ADD | BPF_X, to, what, 0, 0); }
  void plus(Register to, int32_t value) { add(BPF_ALU64 | BPF_ADD | BPF_K, to, r0, 0, value); }
  void minus(Register to, Register what) { add(BPF_ALU64 | BPF_SUB | BPF_X, to, what, 0, 0); }
  void bits_and(Register to, int32_t mask) { add(BPF_ALU64 | BPF_AND | BPF_K, to, r0, 0, mask); }
  void bits_or(Register to, Register what) { add(BPF_ALU64 | BPF_OR | BPF_X, to, what, 0, 0); }
  void shift_left(Register to, int32_t by) { add(BPF_ALU64 | BPF_LSH | BPF_K, to, r0, 0, by); }
  void shift_right(Register to, int32_t by) { add(BPF_ALU64 | BPF_RSH | BPF_K, to, r0, 0, by); }
  void shift_right_signed(Register to, int32_t by) { add(BPF_ALU64 | BPF_ARSH | BPF_K, to, r0, 0, by); }

  void load(Register to, Register base, int16_t at) { add(BPF_LDX | BPF_MEM | BPF_DW, to, base, at, 0); }
  // 32 bits, widened by zeros.
  void load_word(Register to, Register base, int16_t at) { add(BPF_LDX | BPF_MEM | BPF_W, to, base, at, 0); }
  void store(Register base, int16_t at, Register value) { add(BPF_STX | BPF_MEM | BPF_DW, base, value, at, 0); }
  void store(Register base, int16_t at, int32_t value) { add(BPF_ST | BPF_MEM | BPF_DW, base, r0, at, value); }
  void atomic_add(Register base, int16_t at, Register value) { add(BPF_STX | BPF_ATOMIC | BPF_DW, base, value, at, BPF_ADD); }

  // The register has what was there before.
  void atomic_take(Register base, int16_t at, Register value) {
    add(BPF_STX | BPF_ATOMIC | BPF_DW, base, value, at, BPF_ADD | BPF_FETCH);
  }

  void load_constant(Register to, int64_t value) { wide(to, r0, static_cast<int32_t>(value), static_cast<int32_t>(value >> 32)); }
  void load_map(Register to, int fd) { wide(to, static_cast<Register>(BPF_PSEUDO_MAP_FD), fd, 0); }
  void load_map_value(Register to, int fd, int32_t at) { wide(to, static_cast<Register>(BPF_PSEUDO_MAP_VALUE), fd, at); }

  void call(bpf_func_id helper) { add(BPF_JMP | BPF_CALL, r0, r0, 0, static_cast<int32_t>(helper)); }
  void exit() { add(BPF_JMP | BPF_EXIT, r0, r0, 0, 0); }

  // condition: BPF_JEQ, BPF_JNE, BPF_JGT, BPF_JLT, BPF_JSGE, BPF_JSET ...
  [[nodiscard]] Label jump_if(uint8_t condition, Register left, int32_t right) {
    add(static_cast<uint8_t>(BPF_JMP | BPF_K | condition), left, r0, 0, right);
    return code_.size() - 1;
  }
  [[nodiscard]] Label jump_if(uint8_t condition, Register left, Register right) {
    add(static_cast<uint8_t>(BPF_JMP | BPF_X | condition), left, right, 0, 0);
    return code_.size() - 1;
  }
  // Jumps once the kernel thinks that the loop has gone on for long enough: a quarter of a second.
  [[nodiscard]] Label may_leave() {
    constexpr uint8_t kConditional = 0xe0;  // BPF_JCOND, newer than the headers that this may be built with
    add(BPF_JMP | kConditional, r0, r0, 0, 0);
    return code_.size() - 1;
  }
  [[nodiscard]] Label jump() {
    add(BPF_JMP | BPF_JA, r0, r0, 0, 0);
    return code_.size() - 1;
  }
  void land(Label jump) { code_[jump].off = static_cast<int16_t>(code_.size() - jump - 1); }
  Label here() const { return code_.size(); }
  void jump_back(Label to) {
    const auto distance = static_cast<int16_t>(static_cast<int64_t>(to) - static_cast<int64_t>(code_.size()) - 1);
    add(BPF_JMP | BPF_JA, r0, r0, distance, 0);
  }

  const std::vector<bpf_insn>& code() const { return code_; }

 private:
  void add(uint8_t code, Register to, Register from, int16_t at, int32_t value) {
    bpf_insn instruction{};
    instruction.code = code;
    instruction.dst_reg = to & 0xf;
    instruction.src_reg = from & 0xf;
    instruction.off = at;
    instruction.imm = value;
    code_.push_back(instruction);
  }
  void wide(Register to, Register kind, int32_t low, int32_t high) {
    add(BPF_LD | BPF_IMM | BPF_DW, to, kind, 0, low);
    add(0, r0, r0, 0, high);
  }

  std::vector<bpf_insn> code_;
};

}  // namespace dvm::runtime
