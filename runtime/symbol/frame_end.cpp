// Tested by tests/unit/instrument/unwinder_test.cpp.

#include "runtime/symbol/frame_end.h"

#include <cstring>

namespace dvm::runtime {
namespace {

// DWARF's numbers of the registers that instructions number 0 to 7; above they are the same.
constexpr std::array<unsigned, 8> kNumbers = {0, 2, 1, 3, 7, 6, 4, 5};

bool begins_with(std::span<const uint8_t> code, std::initializer_list<uint8_t> bytes) {
  return code.size() >= bytes.size() && std::memcmp(code.data(), std::data(bytes), bytes.size()) == 0;
}

// Length of "add $N, %rsp"; 0: another instruction.
size_t take_add(std::span<const uint8_t> code, FrameEnd& end) {
  int32_t freed = 0;
  const bool is_short = begins_with(code, {0x48, 0x83, 0xc4}), is_long = begins_with(code, {0x48, 0x81, 0xc4});
  const size_t length = is_short ? 4 : 7;
  if ((!is_short && !is_long) || code.size() < length) return 0;
  if (is_long) std::memcpy(&freed, code.data() + 3, sizeof freed);
  if (is_short) freed = static_cast<int8_t>(code[3]);
  if (freed <= 0) return 0;
  end.size += static_cast<uint32_t>(freed);
  return length;
}

size_t take_pop(std::span<const uint8_t> code, FrameEnd& end) {
  const size_t length = begins_with(code, {0x41}) ? 2 : 1;
  if (code.size() < length || (code[length - 1] & 0xf8) != 0x58) return 0;
  const unsigned low = code[length - 1] & 7, number = length == 2 ? low + 8 : kNumbers[low];
  if (number == kStackPointer) return 0;
  end.popped[number] = static_cast<int64_t>(end.size);
  end.pops |= 1u << number;
  end.size += sizeof(uint64_t);
  return length;
}

}  // namespace

std::optional<FrameEnd> decode_frame_end(std::span<const uint8_t> code) {
  FrameEnd end;
  while (!begins_with(code, {0xc3})) {
    size_t length = take_add(code, end);
    if (length == 0) length = take_pop(code, end);
    if (length == 0) return std::nullopt;
    code = code.subspan(length);
  }
  return end.size == 0 ? std::nullopt : std::optional(end);
}

}  // namespace dvm::runtime
