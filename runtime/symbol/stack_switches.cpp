// Covered by tests/unit/instrument/stack_switches_test.cpp.

#include "runtime/symbol/stack_switches.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "runtime/symbol/open_elf.h"

namespace dvm::runtime {
namespace {

constexpr unsigned char kRexW = 0x48, kRexWB = 0x49, kRexWR = 0x4c;
constexpr unsigned char kMoveFromRegister = 0x89, kMoveToRegister = 0x8b;
constexpr unsigned kRsp = 4, kRbp = 5, kRegisterMode = 3;

unsigned mode_of(unsigned char operands) { return operands >> 6; }
unsigned register_of(unsigned char operands) { return operands >> 3 & 7; }
unsigned place_of(unsigned char operands) { return operands & 7; }

// mov disp(%reg), %rsp. Frames lie at %rbp or %rsp.
bool loads_stack_pointer(std::span<const unsigned char> code) {
  if (code.size() < 3 || (code[0] != kRexW && code[0] != kRexWB) || code[1] != kMoveToRegister) return false;
  const bool is_memory = mode_of(code[2]) != kRegisterMode && register_of(code[2]) == kRsp;
  return is_memory && place_of(code[2]) != kRsp && place_of(code[2]) != kRbp;
}

// mov 0xa0(%rdx), %rsp: swapcontext() and setcontext() of a program that is linked statically with glibc.
bool loads_context(std::span<const unsigned char> code) {
  constexpr unsigned char kLoadContext[] = {kRexW, kMoveToRegister, 0xa2, 0xa0, 0, 0, 0};
  return code.size() >= sizeof kLoadContext && std::equal(std::begin(kLoadContext), std::end(kLoadContext), code.begin());
}

// mov %reg, %rsp.
bool sets_stack_pointer(std::span<const unsigned char> code) {
  if (code.size() < 3 || (code[0] != kRexW && code[0] != kRexWR) || code[1] != kMoveFromRegister) return false;
  const bool is_frame_pointer = code[0] == kRexW && register_of(code[2]) == kRbp;
  return mode_of(code[2]) == kRegisterMode && place_of(code[2]) == kRsp && !is_frame_pointer;
}

// Size of a mov %rsp to a register, or to memory without an index; 0: it is none.
size_t saves_stack_pointer(std::span<const unsigned char> code) {
  constexpr size_t kSizes[] = {3, 4, 7, 3}, kRelative = 7;  // by mode
  if (code.size() < 3 || (code[0] != kRexW && code[0] != kRexWB) || code[1] != kMoveFromRegister) return 0;
  const unsigned mode = mode_of(code[2]), place = place_of(code[2]);
  if (register_of(code[2]) != kRsp || (mode != kRegisterMode && place == kRsp)) return 0;
  return mode == 0 && place == kRbp ? kRelative : kSizes[mode];
}

}  // namespace

bool switches_stacks(std::span<const unsigned char> code) {
  for (size_t at = 0; at + 1 < code.size(); at++) {
    if (code[at] != kRexW && code[at] != kRexWB) continue;
    const auto here = code.subspan(at);
    if (loads_context(here)) return true;
    const size_t saved = saves_stack_pointer(here);
    if (saved == 0 || saved >= here.size()) continue;
    const auto next = here.subspan(saved);
    if (sets_stack_pointer(next) || loads_stack_pointer(next)) return true;
  }
  return false;
}

bool switches_stacks(Elf* elf) {
  const std::vector<LoadSegment> segments = code_segments(elf);
  return std::any_of(segments.begin(), segments.end(), [&](const LoadSegment& one) {
    const Elf_Data* data = elf_getdata_rawchunk(elf, static_cast<int64_t>(one.offset), one.size, ELF_T_BYTE);
    return data == nullptr || data->d_buf == nullptr ||
           switches_stacks(std::span(static_cast<const unsigned char*>(data->d_buf), data->d_size));
  });
}

}  // namespace dvm::runtime
