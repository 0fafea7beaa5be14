// Decodes functions into instructions with their flow and their cost. Covered by tests/unit/code/function_code_test.cpp.

#include "runtime/code/function_code.h"

#include <Zydis/Zydis.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

namespace dvm::runtime {
namespace {

const ZydisDecoder& decoder() {
  static const ZydisDecoder made = [] {
    ZydisDecoder fresh;
    ZydisDecoderInit(&fresh, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return fresh;
  }();
  return made;
}

std::optional<ZydisDecodedInstruction> decode(CodeBytes code, uint32_t offset) {
  if (offset >= code.size()) return std::nullopt;
  ZydisDecodedInstruction decoded;
  const ZyanStatus status =
      ZydisDecoderDecodeInstruction(&decoder(), nullptr, code.data() + offset, code.size() - offset, &decoded);
  if (!ZYAN_SUCCESS(status) || decoded.length == 0) return std::nullopt;
  return decoded;
}

bool is_push_of_register(CodeBytes bytes) {
  const bool extended = bytes.size() == 2 && (bytes[0] == 0x40 || bytes[0] == 0x41);
  return (bytes.size() == 1 || extended) && (bytes.back() & 0xf8) == 0x50;
}

bool is_relative(CodeBytes bytes) {
  if (bytes.size() == 2) return bytes[0] == 0xeb || (bytes[0] & 0xf0) == 0x70;
  if (bytes.size() == 5) return bytes[0] == 0xe8 || bytes[0] == 0xe9;
  return bytes.size() == 6 && bytes[0] == 0x0f && (bytes[1] & 0xf0) == 0x80;
}

// Those that assemblers fill gaps with, but not with a segment prefix, which the kernel refuses.
bool is_nop(CodeBytes bytes) {
  while (bytes.size() > 1 && bytes[0] == 0x66) bytes = bytes.subspan(1);
  return bytes[0] == 0x90 ? bytes.size() == 1 : bytes.size() > 2 && bytes[0] == 0x0f && bytes[1] == 0x1f;
}

FiringCost cost_of(CodeBytes bytes) {
  constexpr std::array<unsigned char, 5> kNop = {0x0f, 0x1f, 0x44, 0x00, 0x00};
  if (std::equal(bytes.begin(), bytes.end(), kNop.begin(), kNop.end())) return FiringCost::rewritten;
  return is_push_of_register(bytes) || is_relative(bytes) || is_nop(bytes) ? FiringCost::emulated : FiringCost::stepped;
}

// Instructions that the kernel does not execute from a copy: branches, jumps, calls, nops, returns, popf, and the group of
// indirect jumps.
bool is_misread(const ZydisDecodedInstruction& decoded) {
  constexpr std::array<unsigned char, 11> kOther = {0x90, 0x9a, 0x9d, 0xc2, 0xc3, 0xca, 0xcb, 0xe8, 0xe9, 0xea, 0xeb};
  if (decoded.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY || decoded.encoding == ZYDIS_INSTRUCTION_ENCODING_3DNOW) return false;
  const bool is_branch = (decoded.opcode & 0xf0) == 0x70;
  return is_branch || decoded.opcode == 0xff || std::find(kOther.begin(), kOther.end(), decoded.opcode) != kOther.end();
}

bool saves_flags(const ZydisDecodedInstruction& decoded) {
  return decoded.mnemonic == ZYDIS_MNEMONIC_PUSHFQ || decoded.mnemonic == ZYDIS_MNEMONIC_PUSHF ||
         decoded.mnemonic == ZYDIS_MNEMONIC_SYSCALL;
}

// By a prefix that the kernel takes on no probed instruction: LOCK, and those of the segments that are not used any more.
bool is_refused(const ZydisDecodedInstruction& decoded) {
  constexpr std::array<unsigned char, 5> kRefused = {0x26, 0x2e, 0x36, 0x3e, 0xf0};
  const auto* prefixes = decoded.raw.prefixes;
  return std::any_of(prefixes, prefixes + decoded.raw.prefix_count, [&](const auto& prefix) {
    return std::find(kRefused.begin(), kRefused.end(), prefix.value) != kRefused.end();
  });
}

// A transaction that is aborted goes on behind its beginning, which is a branch to that place.
Flow flow_of(const ZydisDecodedInstruction& decoded) {
  if (decoded.mnemonic == ZYDIS_MNEMONIC_XABORT) return Flow::next;
  switch (decoded.meta.category) {
    case ZYDIS_CATEGORY_CALL:
      return Flow::call;
    case ZYDIS_CATEGORY_COND_BR:
      return Flow::branch;
    case ZYDIS_CATEGORY_UNCOND_BR:
      return Flow::jump;
    case ZYDIS_CATEGORY_RET:
      return Flow::return_;
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_SYSTEM:
    case ZYDIS_CATEGORY_SYSRET:
    case ZYDIS_CATEGORY_INTERRUPT:
      return Flow::elsewhere;
    default:
      break;
  }
  return decoded.mnemonic == ZYDIS_MNEMONIC_UD2 || decoded.mnemonic == ZYDIS_MNEMONIC_HLT ? Flow::elsewhere : Flow::next;
}

// An indirect jump may use a table if its target comes from an index or a register. A single pointer in memory is that of
// another function.
bool may_use_table(const ZydisDecodedInstruction& decoded) {
  const bool in_memory = decoded.raw.modrm.mod != 3;
  const bool has_index = in_memory && decoded.raw.modrm.rm == 4 &&
                         (decoded.raw.sib.index != 4 || (decoded.attributes & ZYDIS_ATTRIB_HAS_REX && decoded.raw.rex.X));
  return !in_memory || has_index;
}

MachineInstruction describe(const ZydisDecodedInstruction& decoded, CodeBytes bytes, uint32_t offset) {
  MachineInstruction made;
  made.offset = offset;
  made.length = decoded.length;
  made.cost = cost_of(bytes);
  made.is_misread = is_misread(decoded);
  made.saves_flags = saves_flags(decoded);
  made.is_refused = is_refused(decoded);
  made.is_repeated = (decoded.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)) != 0;
  made.flow = flow_of(decoded);
  const bool may_have_target = made.flow == Flow::call || made.flow == Flow::branch || made.flow == Flow::jump;
  if (may_have_target && decoded.raw.imm[0].is_relative)
    made.target = static_cast<int64_t>(offset) + decoded.length + decoded.raw.imm[0].value.s;
  made.is_table_jump = made.flow == Flow::jump && !made.target && may_use_table(decoded);
  return made;
}

bool branches_lead_to_instructions(const FunctionCode& function, uint64_t size) {
  return std::all_of(function.instructions.begin(), function.instructions.end(), [&](const MachineInstruction& one) {
    const bool inside = one.target && *one.target >= 0 && static_cast<uint64_t>(*one.target) < size;
    return !inside || function.at(static_cast<uint64_t>(*one.target)) != nullptr;
  });
}

}  // namespace

const char* name_of(FiringCost cost) {
  constexpr std::array<const char*, 3> kNames = {"rewritten", "emulated", "stepped"};
  return kNames[static_cast<size_t>(cost)];
}

// Measured by bench/runtime/instruction_cost.cpp.
unsigned expected_ns(FiringCost cost) {
  constexpr std::array<unsigned, 3> kNanoseconds = {220, 420, 7000};
  return kNanoseconds[static_cast<size_t>(cost)];
}

// AVX and later encodings, segment overrides and lock prefixes, breakpoints, port input and output, halt, and system calls.
bool is_doubtful(CodeBytes code) {
  constexpr std::array<unsigned char, 20> kFirst = {0x26, 0x2e, 0x36, 0x3e, 0x62, 0x6c, 0x6d, 0x6e, 0x6f, 0xc4,
                                                    0xc5, 0xcc, 0xcd, 0xe4, 0xe5, 0xe6, 0xe7, 0xf0, 0xf1, 0xf4};
  if (code.size() < 2) return false;
  if (code[0] == 0x0f) return code[1] == 0x05 || code[1] == 0x34;
  return std::find(kFirst.begin(), kFirst.end(), code[0]) != kFirst.end();
}

// Compares bytes: unwinders and debuggers recognize the first form in the same way.
bool is_signal_return(CodeBytes code, uint64_t offset) {
  constexpr std::string_view kBegin = "\xf3\x0f\x1e\xfa", kCall = "\x0f\x05";  // endbr64, syscall
  constexpr std::array<std::string_view, 2> kNumber = {{{"\x48\xc7\xc0\x0f\0\0\0", 7}, {"\xb8\x0f\0\0\0", 5}}};  // mov $15
  const auto holds = [&](uint64_t at, std::string_view wanted) {
    if (at > code.size() || code.size() - at < wanted.size()) return false;
    return std::ranges::equal(code.subspan(at, wanted.size()), wanted, {}, {},
                              [](char one) { return static_cast<unsigned char>(one); });
  };
  const auto begins = [&](uint64_t at) {
    return std::ranges::any_of(kNumber, [&](auto one) { return holds(at, one) && holds(at + one.size(), kCall); });
  };
  if (begins(offset) || (holds(offset, kBegin) && begins(offset + kBegin.size()))) return true;
  const auto ends = [&](auto one) { return offset >= one.size() && holds(offset - one.size(), one) && holds(offset, kCall); };
  return std::ranges::any_of(kNumber, ends);
}

const MachineInstruction* FunctionCode::at(uint64_t offset) const {
  const auto found = std::lower_bound(instructions.begin(), instructions.end(), offset,
                                      [](const MachineInstruction& one, uint64_t wanted) { return one.offset < wanted; });
  return found != instructions.end() && found->offset == offset ? &*found : nullptr;
}

bool FunctionCode::has_table_jump() const {
  return std::any_of(instructions.begin(), instructions.end(), [](const MachineInstruction& one) { return one.is_table_jump; });
}

bool FunctionCode::is_entered_up_to(uint32_t last) const {
  return std::any_of(instructions.begin(), instructions.end(),
                     [last](const MachineInstruction& one) { return one.target && *one.target > 0 && *one.target <= last; });
}

std::optional<MachineInstruction> decode_instruction(CodeBytes code, uint32_t offset) {
  const auto decoded = decode(code, offset);
  if (!decoded) return std::nullopt;
  return describe(*decoded, code.subspan(offset, decoded->length), offset);
}

std::vector<int64_t> addresses_taken(CodeBytes code) {
  std::set<int64_t> taken;
  uint32_t offset = 0;
  while (const auto one = decode(code, offset)) {
    offset += one->length;
    const bool is_relative = one->raw.modrm.mod == 0 && one->raw.modrm.rm == 5;
    if (one->mnemonic == ZYDIS_MNEMONIC_LEA && is_relative) taken.insert(int64_t{offset} + one->raw.disp.value);
  }
  return {taken.begin(), taken.end()};
}

FunctionCode decode_function(CodeBytes code) {
  FunctionCode function;
  uint32_t offset = 0;
  while (const auto instruction = decode_instruction(code, offset)) {
    function.instructions.push_back(*instruction);
    offset += instruction->length;
  }
  function.is_complete = offset == code.size() && offset > 0 && branches_lead_to_instructions(function, code.size());
  return function;
}

std::string instruction_text(CodeBytes code, uint64_t address) {
  ZydisDecodedInstruction decoded;
  std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands;
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder(), code.data(), code.size(), &decoded, operands.data()))) return "";
  ZydisFormatter formatter;
  ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_ATT);
  std::array<char, 128> text{};
  ZydisFormatterFormatInstruction(&formatter, &decoded, operands.data(), decoded.operand_count_visible, text.data(), text.size(),
                                  address, nullptr);
  return text.data();
}

}  // namespace dvm::runtime
