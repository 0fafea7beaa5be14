#pragma once
// Writes the few instructions of x86-64 that stubs consist of. All jumps and addresses are absolute for the caller.

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

namespace dvm::runtime {

enum class GeneralRegister : uint8_t { rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, r9, r10, r11 };

class CodeWriter {
 public:
  explicit CodeWriter(uint64_t address) : address_(address) {}

  uint64_t here() const { return address_ + bytes_.size(); }
  void add(std::initializer_list<unsigned char> bytes) { bytes_.insert(bytes_.end(), bytes); }
  void add(std::span<const unsigned char> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  void word(uint64_t value) { raw(value); }

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
  // To anywhere, through a word behind the jump.
  void jump_far(uint64_t to) {
    add({0xff, 0x25, 0, 0, 0, 0});
    raw(to);
  }
  // Within 2 GiB; the caller has checked that.
  void jump(uint64_t to) { relative(0xe9, to); }
  void call(uint64_t to) { relative(0xe8, to); }

  std::vector<unsigned char> take() { return std::move(bytes_); }
  const std::vector<unsigned char>& bytes() const { return bytes_; }

 private:
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
};

}  // namespace dvm::runtime
