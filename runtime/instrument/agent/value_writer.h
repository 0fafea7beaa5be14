#pragma once
// Writes machine code of values (value_code.h). Registers have their numbers in instructions: %rax is 0, %r15 is 15.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace dvm::runtime {

class ValueWriter {
 public:
  static constexpr unsigned kRax = 0, kRcx = 1, kRdx = 2;
  static constexpr unsigned kLoad = 0x8b, kStore = 0x89;  // of a register

  std::vector<unsigned char> bytes;

  void add(std::initializer_list<unsigned> all) {
    for (const unsigned one : all) bytes.push_back(static_cast<unsigned char>(one));
  }
  template <class T>
  void raw(T value) {
    const auto* begin = reinterpret_cast<const unsigned char*>(&value);
    bytes.insert(bytes.end(), begin, begin + sizeof value);
  }
  // opcode reg, r/m: both registers, 64 bits.
  void operate(std::initializer_list<unsigned> opcode, unsigned reg, unsigned rm) {
    add({0x48U | (reg >> 3) << 2 | rm >> 3});
    add(opcode);
    add({0xc0U | (reg & 7) << 3 | (rm & 7)});
  }
  void move(unsigned from, unsigned to) {
    if (from != to) operate({0x89}, from, to);
  }
  // Changes no flags.
  void load_constant(unsigned to, uint64_t value) {
    const bool is_short = value <= UINT32_MAX;  // the upper half becomes 0
    add({(is_short ? 0x40U : 0x48U) | to >> 3, 0xb8U | (to & 7)});
    is_short ? raw(static_cast<uint32_t>(value)) : raw(value);
  }
  // Always of eight bytes. Returns where they lie.
  size_t load_word(unsigned to, uint64_t value) {
    add({0x48U | to >> 3, 0xb8U | (to & 7)});
    raw(value);
    return bytes.size() - sizeof value;
  }
  // The number of the CPU: rdpid, of which Linux fills 12 bits with it.
  void load_cpu(unsigned to) {
    add({0xf3, 0x40U | to >> 3, 0x0f, 0xc7, 0xf8U | (to & 7)});
    add({0x40U | to >> 3, 0x81, 0xe0U | (to & 7)});  // and $0xfff
    raw(uint32_t{0xfff});
  }
  // A register, from or to what lies behind the address in another one, which is of the first eight.
  void access(unsigned opcode, unsigned reg, unsigned base, size_t offset) {
    add({0x48U | (reg >> 3) << 2, opcode, 0x80U | (reg & 7) << 3 | base});
    raw(static_cast<uint32_t>(offset));
  }
  // movq $0, to what lies behind the address.
  void clear(unsigned base, size_t offset) {
    add({0x48, 0xc7, 0x80U | base});
    raw(static_cast<uint32_t>(offset));
    raw(uint32_t{0});
  }
  void widen(unsigned size, bool is_signed, unsigned from, unsigned to) {
    if (size == 4 && is_signed) return operate({0x63}, to, from);
    if (size == 4) return add({0x40U | (to >> 3) << 2 | from >> 3, kLoad, 0xc0U | (to & 7) << 3 | (from & 7)});
    if (size == 2) return operate({0x0f, is_signed ? 0xbfU : 0xb7U}, to, from);
    if (size == 1) return operate({0x0f, is_signed ? 0xbeU : 0xb6U}, to, from);
    move(from, to);
  }
};

}  // namespace dvm::runtime
