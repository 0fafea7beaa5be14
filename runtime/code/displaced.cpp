// Windows for jumps, and the copies of what lies in them. Tested by tests/unit/code/displaced_test.cpp.

#include "runtime/code/displaced.h"

#include <algorithm>
#include <cstring>

#include "runtime/code/operated.h"

namespace dvm::runtime {
namespace {

std::string_view harm_of(const MachineInstruction& one) {
  if (one.flow == Flow::call) return "a call lies in its first five bytes";
  if (one.flow == Flow::elsewhere) return "an instruction that enters the kernel lies in its first five bytes";
  return {};
}

bool ends_flow(const MachineInstruction& one) { return one.flow == Flow::jump || one.flow == Flow::return_; }

bool is_entered(const FunctionCode& decoded, uint32_t begin, uint32_t end) {
  const auto is_inside = [&](int64_t target) { return target > int64_t{begin} && target < int64_t{end}; };
  return std::ranges::any_of(decoded.table_targets, is_inside) ||
         std::ranges::any_of(decoded.instructions,
                             [&](const MachineInstruction& one) { return one.target && is_inside(*one.target); });
}

JumpWindow refused(std::string_view why) { return {.refusal = why}; }

bool fits(int64_t value) { return value == static_cast<int32_t>(value); }

class Copier {
 public:
  Copier(CodeBytes window, uint64_t from, uint64_t to) : window_(window), from_(from), to_(to) {}

  DisplacedCode copy() {
    uint32_t offset = 0;
    while (offset < window_.size() && made_.refusal.empty()) {
      Operated one;
      if (!one.decode(window_.subspan(offset))) {
        made_.refusal = "it holds bytes that are not instructions";
        break;
      }
      made_.moved.push_back({offset, static_cast<uint32_t>(made_.bytes.size())});
      copy_one(one, offset);
      offset += one.instruction.length;
    }
    return std::move(made_);
  }

 private:
  void copy_one(const Operated& one, uint32_t offset) {
    const ZydisDecodedInstruction& instruction = one.instruction;
    const CodeBytes bytes = window_.subspan(offset, instruction.length);
    if (instruction.raw.imm[0].is_relative) return copy_branch(one, offset);
    const auto category = instruction.meta.category;
    made_.falls_through = category != ZYDIS_CATEGORY_RET && category != ZYDIS_CATEGORY_UNCOND_BR;
    const size_t begin = made_.bytes.size();
    made_.bytes.insert(made_.bytes.end(), bytes.begin(), bytes.end());
    if ((instruction.attributes & ZYDIS_ATTRIB_IS_RELATIVE) != 0) move_displacement(instruction, offset, begin);
  }

  // The same memory is as much further away as the copy is nearer to it.
  void move_displacement(const ZydisDecodedInstruction& instruction, uint32_t offset, size_t begin) {
    const int64_t moved = static_cast<int64_t>(to_ + begin) - static_cast<int64_t>(from_ + offset);
    const int64_t displacement = instruction.raw.disp.value - moved;
    if (instruction.raw.disp.size != 32 || !fits(displacement)) {
      made_.refusal = "its operand is too far from any free memory for a copy";
      return;
    }
    const auto written = static_cast<int32_t>(displacement);
    std::memcpy(made_.bytes.data() + begin + instruction.raw.disp.offset, &written, sizeof written);
  }

  void copy_branch(const Operated& one, uint32_t offset) {
    const ZydisDecodedInstruction& instruction = one.instruction;
    const uint64_t target = from_ + offset + instruction.length + static_cast<uint64_t>(instruction.raw.imm[0].value.s);
    const bool is_jump = instruction.mnemonic == ZYDIS_MNEMONIC_JMP;
    const bool is_near = instruction.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && (instruction.opcode & 0xf0) == 0x70;
    const bool is_far = instruction.opcode_map == ZYDIS_OPCODE_MAP_0F && (instruction.opcode & 0xf0) == 0x80;
    if (!is_jump && !is_near && !is_far) {
      made_.refusal = "a branch that reaches only short distances lies in its first five bytes";
      return;
    }
    if (is_jump)
      made_.bytes.push_back(0xe9);
    else
      made_.bytes.insert(made_.bytes.end(), {0x0f, static_cast<unsigned char>(0x80 | (instruction.opcode & 0xf))});
    const int64_t distance = static_cast<int64_t>(target) - static_cast<int64_t>(to_ + made_.bytes.size() + 4);
    if (!fits(distance)) made_.refusal = "its target is too far from any free memory for a copy";
    const auto written = static_cast<int32_t>(distance);
    const auto* raw = reinterpret_cast<const unsigned char*>(&written);
    made_.bytes.insert(made_.bytes.end(), raw, raw + sizeof written);
    made_.falls_through = !is_jump;
  }

  CodeBytes window_;
  uint64_t from_, to_;
  DisplacedCode made_;
};

}  // namespace

JumpWindow find_window(CodeBytes function, const FunctionCode& decoded, uint32_t offset) {
  if (!decoded.is_complete) return refused("not all bytes of its function are known to be instructions");
  const MachineInstruction* one = decoded.at(offset);
  if (one == nullptr) return refused("no instruction begins there");
  JumpWindow window{.begin = offset};
  const MachineInstruction* end = decoded.instructions.data() + decoded.instructions.size();
  for (; one != end && window.length < kJumpBytes; one++) {
    if (const std::string_view harm = harm_of(*one); !harm.empty()) return refused(harm);
    window.length += one->length;
    if (ends_flow(*one) && window.length < kJumpBytes) return refused("the code ends before five bytes");
  }
  if (window.length < kJumpBytes || offset + window.length > function.size())
    return refused("the function has fewer than five bytes");
  if (is_entered(decoded, offset, offset + window.length)) return refused("a branch leads into its first five bytes");
  if (decoded.may_jump_anywhere()) return refused("an indirect jump of the function may lead into its first five bytes");
  window.copied = window.length;
  return window;
}

uint32_t count_padding(CodeBytes code) {
  constexpr unsigned char kBreakpoint = 0xcc;
  uint32_t count = 0;
  while (count < code.size()) {
    Operated one;
    const CodeBytes rest = code.subspan(count);
    if (rest[0] == kBreakpoint)
      count++;
    else if (one.decode(rest) && one.instruction.mnemonic == ZYDIS_MNEMONIC_NOP)
      count += one.instruction.length;
    else
      break;
  }
  return count;
}

JumpWindow find_exit_window(CodeBytes code, const FunctionCode& decoded, uint32_t exit, uint32_t bytes) {
  if (!decoded.is_complete) return refused("not all bytes of its function are known to be instructions");
  if (decoded.may_jump_anywhere()) return refused("an indirect jump of the function may lead to the instruction that leaves it");
  const MachineInstruction* last = decoded.at(exit);
  const bool is_known = last != nullptr && (last->flow == Flow::return_ || (last->flow == Flow::jump && last->target));
  if (!is_known) return refused("it leaves by a jump to another function");
  const uint32_t end = exit + last->length;
  const uint32_t padding = count_padding(code.subspan(end));
  for (const MachineInstruction* one = last;; one--) {
    const uint32_t copied = end - one->offset, length = std::max(copied, bytes);
    const bool has_room = copied + padding >= bytes;
    if (has_room && !is_entered(decoded, one->offset, one->offset + length)) return {one->offset, copied, length, {}};
    if (copied >= bytes) return refused("a branch leads into the five bytes at the instruction that leaves it");
    if (one == decoded.instructions.data() || !harm_of(one[-1]).empty() || ends_flow(one[-1]))
      return refused("there are no five bytes to replace where it returns");
  }
}

// Padding begins behind what ends the flow; a loop may begin behind it.
std::vector<uint32_t> find_relays(CodeBytes code, const FunctionCode& decoded, uint32_t offset) {
  std::vector<uint32_t> relays;
  for (const MachineInstruction& one : decoded.instructions) {
    const uint32_t begin = one.offset + one.length;
    const int64_t distance = int64_t{begin} - (int64_t{offset} + kShortJumpBytes);
    if (!ends_flow(one) || distance != static_cast<int8_t>(distance) || begin >= code.size()) continue;
    if (count_padding(code.subspan(begin)) < kJumpBytes || is_entered(decoded, begin - 1, begin + kJumpBytes)) continue;
    relays.push_back(begin);
  }
  return relays;
}

DisplacedCode displace(CodeBytes window, uint64_t from, uint64_t to) { return Copier(window, from, to).copy(); }

}  // namespace dvm::runtime
