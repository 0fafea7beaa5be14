// Finds the ways out of a function. Covered by tests/unit/code/exits_test.cpp.

#include "runtime/code/exits.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "runtime/code/operated.h"

namespace dvm::runtime {
namespace {

enum class Way : uint8_t { inside, out, unknown };

// Compilers add the entry of a table to the table's address, then jump there. They do not compute addresses of functions so.
bool is_sum(CodeBytes code, const MachineInstruction& before, const MachineInstruction& jump) {
  const CodeBytes sum = code.subspan(before.offset, before.length);
  const CodeBytes last = code.subspan(jump.offset, jump.length);
  constexpr unsigned kModeRegister = 0xc0;
  if (sum.size() != 3 || (sum[0] & 0xf8) != 0x48 || (sum[2] & kModeRegister) != kModeRegister) return false;
  if ((last.back() & kModeRegister) != kModeRegister) return false;
  const bool to_first = sum[1] == 0x01, to_second = sum[1] == 0x03;
  const unsigned target = to_first ? sum[2] & 7U : sum[2] >> 3 & 7U;
  const bool is_high = (sum[0] & (to_first ? 1 : 4)) != 0;
  const bool jumps_high = last.size() > 2 && (last[last.size() - 3] & 0xf1) == 0x41;
  return (to_first || to_second) && target == (last.back() & 7U) && is_high == jumps_high;
}

bool has_index(CodeBytes code, const MachineInstruction& jump) {
  const CodeBytes bytes = code.subspan(jump.offset, jump.length);
  const auto opcode = std::find(bytes.begin(), bytes.end(), 0xff);
  return bytes.end() - opcode > 1 && (opcode[1] & 0xc0) != 0xc0;
}

Way way_of_indirect(CodeBytes code, const MachineInstruction* before, const MachineInstruction& jump) {
  if (!jump.is_table_jump) return Way::out;
  if (has_index(code, jump)) return Way::inside;
  return before != nullptr && is_sum(code, *before, jump) ? Way::inside : Way::unknown;
}

bool leads_inside(CodeBytes code, const MachineInstruction& one) {
  return one.target && *one.target >= 0 && static_cast<uint64_t>(*one.target) < code.size();
}

// A `ret` behind `push %reg` or `mov %reg, (%rsp)` is an indirect jump.
bool sets_return_address(CodeBytes code, const MachineInstruction& one) {
  const CodeBytes bytes = code.subspan(one.offset, one.length);
  const bool is_push = bytes.size() <= 2 && (bytes.back() & 0xf8) == 0x50 && (bytes.size() == 1 || (bytes[0] & 0xf0) == 0x40);
  const bool is_store = bytes.size() == 4 && (bytes[0] & 0xf8) == 0x48 && bytes[1] == 0x89 && (bytes[2] & 0xc7) == 0x04;
  return is_push || (is_store && bytes[3] == 0x24);
}

// A `ret` of the function may then return into the function. Compilers call so in place of an indirect jump (retpolines).
bool calls_itself_inside(CodeBytes code, const MachineInstruction& one) {
  return one.flow == Flow::call && one.target && *one.target > 0 && static_cast<uint64_t>(*one.target) < code.size();
}

Way way_of(CodeBytes code, const MachineInstruction* before, const MachineInstruction& one,
           const std::function<Beyond(int64_t)>& beyond) {
  const bool is_indirect = one.flow == Flow::return_ && before != nullptr && sets_return_address(code, *before);
  if (is_indirect || calls_itself_inside(code, one)) return Way::unknown;
  if (one.flow == Flow::return_) return Way::out;
  if (one.flow == Flow::jump && !one.target) return way_of_indirect(code, before, one);
  if (one.flow != Flow::jump && one.flow != Flow::branch) return Way::inside;
  if (leads_inside(code, one)) return Way::inside;
  const Beyond there = beyond(*one.target);
  if (there == Beyond::part) return Way::inside;
  return one.flow == Flow::jump && there == Beyond::function ? Way::out : Way::unknown;
}

// depth: bytes that the stack has grown by since the call.
bool uses_return_address(const Operated& one, int64_t depth) {
  if (one.instruction.mnemonic == ZYDIS_MNEMONIC_POP && depth == 0) return true;
  return std::any_of(one.all().begin(), one.all().end(), [&](const ZydisDecodedOperand& operand) {
    const auto& memory = operand.mem;
    return operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT &&
           memory.base == ZYDIS_REGISTER_RSP && memory.index == ZYDIS_REGISTER_NONE && memory.disp.value == depth;
  });
}

constexpr size_t kMostSeen = 128;  // instructions; functions that keep their return address are short

// Depths by offset. Nothing: paths arrive with different depths, as in a loop that grows the stack, or behind a call that does
// not return.
using Depths = std::map<uint32_t, std::optional<int64_t>>;

struct CodePath {
  uint32_t at;
  std::optional<int64_t> depth;
};

// False if the path brings nothing new.
bool arrive(const CodePath& path, Depths& depths) {
  const auto seen = depths.find(path.at);
  if (seen == depths.end()) return depths.size() < kMostSeen && depths.emplace(path.at, path.depth).second;
  if (!seen->second || seen->second == path.depth) return false;
  seen->second.reset();
  return true;
}

// Adds the paths that lead on from an instruction, unless its effect on the stack is not known.
void follow(CodeBytes code, const CodePath& here, std::vector<CodePath>& paths) {
  const auto instruction = decode_instruction(code, here.at);
  Operated one;
  if (!instruction || !one.decode(code.subspan(here.at))) return;
  const Flow flow = instruction->flow;
  const bool jumps = flow == Flow::jump || flow == Flow::branch;
  if (jumps && leads_inside(code, *instruction)) paths.push_back({static_cast<uint32_t>(*instruction->target), here.depth});
  if (flow == Flow::jump || flow == Flow::return_) return;
  const auto more = flow == Flow::call ? 0 : growth(one);  // a call leaves the stack as it was
  if (!more) return;
  const auto depth = here.depth ? std::optional(*here.depth + *more) : std::nullopt;
  paths.push_back({here.at + instruction->length, depth});
}

Depths find_depths(CodeBytes code) {
  Depths depths;
  std::vector<CodePath> paths = {{0, 0}};
  while (!paths.empty()) {
    const CodePath here = paths.back();
    paths.pop_back();
    if (arrive(here, depths)) follow(code, {here.at, depths.at(here.at)}, paths);
  }
  return depths;
}

void look_at(CodeBytes code, uint32_t at, int64_t depth, Beginning& beginning) {
  const auto instruction = decode_instruction(code, at);
  Operated one;
  if (!instruction || !one.decode(code.subspan(at))) return;
  if (uses_return_address(one, depth)) beginning.keeps_return_address = true;
  if (instruction->flow == Flow::jump && depth == 0 && instruction->target && !leads_inside(code, *instruction))
    beginning.continues.push_back(*instruction->target);
}

}  // namespace

Exits find_exits(CodeBytes code, const std::function<Beyond(int64_t)>& beyond) {
  const FunctionCode function = decode_function(code);
  Exits exits;
  exits.is_complete = exits.is_leaf = function.is_complete;
  const MachineInstruction* before = nullptr;
  for (const MachineInstruction& one : function.instructions) {
    const Way way = way_of(code, before, one, beyond);
    if (way == Way::out) exits.offsets.push_back(one.offset);
    if (way == Way::out && one.flow != Flow::return_) exits.has_jump = true;
    if (way == Way::unknown) exits.is_complete = false;
    const bool goes_beyond = one.target ? !leads_inside(code, one) : way != Way::inside && one.flow != Flow::return_;
    if (one.flow == Flow::call || one.flow == Flow::elsewhere || goes_beyond) exits.is_leaf = false;
    before = &one;
  }
  return exits;
}

bool only_leads_back(CodeBytes part, int64_t begin, uint64_t size) {
  const FunctionCode code = decode_function(part);
  return code.is_complete && std::ranges::all_of(code.instructions, [&](const MachineInstruction& one) {
           if (one.flow != Flow::jump && one.flow != Flow::branch) return one.flow != Flow::return_;
           return one.target &&
                  (leads_inside(part, one) || (*one.target >= begin && static_cast<uint64_t>(*one.target - begin) < size));
         });
}

Beginning read_beginning(CodeBytes code) {
  Beginning beginning;
  for (const auto& [at, depth] : find_depths(code))
    if (depth) look_at(code, at, *depth, beginning);
  return beginning;
}

bool jumps_by_register(CodeBytes code) {
  Operated one;
  const bool is_jump = one.decode(code) && one.instruction.mnemonic == ZYDIS_MNEMONIC_JMP;
  const ZydisDecodedOperand& to = one.operands[0];
  return is_jump && to.type == ZYDIS_OPERAND_TYPE_MEMORY && to.mem.base != ZYDIS_REGISTER_RIP;
}

bool is_jump_by_pointer(CodeBytes code) {
  constexpr std::array<unsigned char, 4> kMark = {0xf3, 0x0f, 0x1e, 0xfa};  // endbr64
  constexpr std::array<unsigned char, 2> kNumber = {0x41, 0xbb};            // mov $n, %r11d
  constexpr uint32_t kNumberBytes = 6;
  const auto begins_with = [](CodeBytes bytes, const auto& with) {
    return bytes.size() >= with.size() && std::equal(with.begin(), with.end(), bytes.begin());
  };
  uint32_t at = begins_with(code, kMark) ? static_cast<uint32_t>(kMark.size()) : 0;
  if (begins_with(code.subspan(at), kNumber)) at += kNumberBytes;
  const auto one = at < code.size() ? decode_instruction(code, at) : std::nullopt;
  return one && one->flow == Flow::jump && !one->target && !one->is_table_jump;
}

}  // namespace dvm::runtime
