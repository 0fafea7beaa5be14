#pragma once
// An assembler for the few instructions of x86-64 in stubs. The caller gives absolute addresses.

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "runtime/agent/frame_rows.h"

namespace dvm::runtime {

enum class GeneralRegister : uint8_t { rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15 };

class CodeWriter {
 public:
  explicit CodeWriter(uint64_t address) : address_(address) {}

  uint64_t here() const { return address_ + bytes_.size(); }
  void add(std::initializer_list<unsigned char> bytes) { bytes_.insert(bytes_.end(), bytes); }
  void add(std::span<const unsigned char> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  void word(uint64_t value) { raw(value); }
  void add(std::initializer_list<unsigned char> opcode, size_t operand) {  // of four bytes
    add(opcode);
    raw(static_cast<uint32_t>(operand));
  }

  // mov $value, %reg; changes no flags.
  void load(GeneralRegister reg, uint64_t value) {
    const auto number = static_cast<unsigned char>(reg);
    const bool is_new = number >= 8;
    const auto opcode = static_cast<unsigned char>(0xb8 | (number & 7));
    if (value <= UINT32_MAX) {
      if (is_new) add({0x41});
      add({opcode});
      raw(static_cast<uint32_t>(value));
    } else {
      add({static_cast<unsigned char>(is_new ? 0x49 : 0x48), opcode});
      raw(value);
    }
  }
  // mov %rbx, %reg
  void copy_from_rbx(GeneralRegister reg) {
    const auto number = static_cast<unsigned char>(reg);
    add({static_cast<unsigned char>(number >= 8 ? 0x49 : 0x48), 0x89, static_cast<unsigned char>(0xd8 | (number & 7))});
  }
  // A register, to or from `offset` behind the address in another one.
  void store(GeneralRegister reg, GeneralRegister base, int32_t offset) { access(0x89, reg, base, offset); }
  void read(GeneralRegister reg, GeneralRegister base, int32_t offset) { access(0x8b, reg, base, offset); }
  void add_address(GeneralRegister reg, GeneralRegister base, int32_t offset) { access(0x8d, reg, base, offset); }  // lea
  // add word, %rbx: one in memory within 2 GiB
  void add_to_rbx(uint64_t address) { add({0x48, 0x03, 0x1d}, address - (here() + 7)); }
  // mov word, %rcx: the same
  void read_rcx_from(uint64_t address) { add({0x48, 0x8b, 0x0d}, address - (here() + 7)); }
  // Jumps to any address, which lies in a word behind the jump.
  void jump_far(uint64_t to) {
    add({0xff, 0x25, 0, 0, 0, 0});
    raw(to);
  }
  // The instruction at an offset is mov word(%rdi), %to, of seven bytes. Makes it lea 0(%from), %to, of as many. Not for %rsp and
  // %r12, which need a byte more.
  void read_register_at(size_t offset, GeneralRegister from) {
    const auto number = static_cast<unsigned>(from);
    unsigned char* code = bytes_.data() + offset;
    code[0] = static_cast<unsigned char>(code[0] | number >> 3);
    code[1] = 0x8d;
    code[2] = static_cast<unsigned char>((code[2] & ~7U) | (number & 7));
    std::memset(code + 3, 0, sizeof(int32_t));
  }
  // To the displacement at an offset.
  void add_to_word(size_t offset, uint32_t value) {
    uint32_t word = 0;
    std::memcpy(&word, bytes_.data() + offset, sizeof word);
    word += value;
    std::memcpy(bytes_.data() + offset, &word, sizeof word);
  }
  // cmp $constant, %reg
  void compare(GeneralRegister reg, int32_t constant) {
    const auto number = static_cast<unsigned>(reg);
    add({static_cast<unsigned char>(0x48 | number >> 3), 0x81, static_cast<unsigned char>(0xf8 | (number & 7))},
        static_cast<uint32_t>(constant));
  }
  // Within 2 GiB; the caller has checked that.
  void jump(uint64_t to) { relative(0xe9, to); }
  void call(uint64_t to) { relative(0xe8, to); }

  // Jumps forward: returns where the distance lies, until land() says that they lead here.
  size_t jump_ahead(std::initializer_list<unsigned char> opcode) {
    add(opcode);
    raw(uint32_t{0});
    return bytes_.size();
  }
  void land(size_t jump) {
    const auto distance = static_cast<uint32_t>(bytes_.size() - jump);
    std::memcpy(bytes_.data() + jump - sizeof distance, &distance, sizeof distance);
  }

  // Notes the layout of the stack from here, or from an offset, on.
  void note_frame(uint32_t depth, uint32_t kept, uint64_t counter) {
    note_frame({static_cast<uint32_t>(bytes_.size()), depth, kept, counter});
  }
  void note_frame(const FrameRow& row) { frames_.push_back(row); }
  const std::vector<FrameRow>& frames() const { return frames_; }

  std::vector<unsigned char> take() { return std::move(bytes_); }
  const std::vector<unsigned char>& bytes() const { return bytes_; }

 private:
  void access(unsigned char opcode, GeneralRegister reg, GeneralRegister base, int32_t offset) {
    const auto its = static_cast<unsigned>(reg), from = static_cast<unsigned>(base);
    const bool is_short = offset == static_cast<int8_t>(offset);
    const auto form = static_cast<unsigned char>((is_short ? 0x40 : 0x80) | (its & 7) << 3 | (from & 7));
    add({static_cast<unsigned char>(0x48 | its >> 3 << 2 | from >> 3), opcode, form});
    if ((from & 7) == static_cast<unsigned>(GeneralRegister::rsp)) add({0x24});
    if (is_short)
      raw(static_cast<int8_t>(offset));
    else
      raw(offset);
  }
  template <class T>
  void raw(T value) {
    const size_t at = bytes_.size();
    bytes_.resize(at + sizeof value);
    std::memcpy(bytes_.data() + at, &value, sizeof value);
  }
  void relative(unsigned char opcode, uint64_t to) {
    add({opcode});
    raw(static_cast<uint32_t>(to - (here() + 4)));
  }

  uint64_t address_;
  std::vector<unsigned char> bytes_;
  std::vector<FrameRow> frames_;
};

}  // namespace dvm::runtime
