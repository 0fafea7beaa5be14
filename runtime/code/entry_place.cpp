// The site chooser for entries. Covered by tests/unit/code/entry_place_test.cpp and tests/runtime/scenarios/test_sites.py.

#include "runtime/code/entry_place.h"

#include <algorithm>
#include <array>

#include "runtime/code/operated.h"

namespace dvm::runtime {
namespace {

constexpr size_t kMostInstructions = 16;
constexpr unsigned char kPushFramePointer = 0x55;

// Those whose effects are their operands alone, as is so of all vector instructions with a prefix of their own.
bool is_simple(const ZydisDecodedInstruction& instruction) {
  constexpr std::array kSimple = {
      ZYDIS_MNEMONIC_MOV,       ZYDIS_MNEMONIC_MOVZX,     ZYDIS_MNEMONIC_MOVSX,      ZYDIS_MNEMONIC_MOVSXD,
      ZYDIS_MNEMONIC_LEA,       ZYDIS_MNEMONIC_XOR,       ZYDIS_MNEMONIC_SUB,        ZYDIS_MNEMONIC_ADD,
      ZYDIS_MNEMONIC_AND,       ZYDIS_MNEMONIC_OR,        ZYDIS_MNEMONIC_NOT,        ZYDIS_MNEMONIC_NEG,
      ZYDIS_MNEMONIC_SHL,       ZYDIS_MNEMONIC_SHR,       ZYDIS_MNEMONIC_SAR,        ZYDIS_MNEMONIC_ROL,
      ZYDIS_MNEMONIC_ROR,       ZYDIS_MNEMONIC_CMP,       ZYDIS_MNEMONIC_TEST,       ZYDIS_MNEMONIC_PUSH,
      ZYDIS_MNEMONIC_NOP,       ZYDIS_MNEMONIC_ENDBR64,   ZYDIS_MNEMONIC_CDQE,       ZYDIS_MNEMONIC_PXOR,
      ZYDIS_MNEMONIC_XORPS,     ZYDIS_MNEMONIC_XORPD,     ZYDIS_MNEMONIC_MOVD,       ZYDIS_MNEMONIC_MOVQ,
      ZYDIS_MNEMONIC_MOVAPS,    ZYDIS_MNEMONIC_MOVAPD,    ZYDIS_MNEMONIC_MOVDQA,     ZYDIS_MNEMONIC_MOVSS,
      ZYDIS_MNEMONIC_PUNPCKLBW, ZYDIS_MNEMONIC_PUNPCKLWD, ZYDIS_MNEMONIC_PUNPCKLQDQ, ZYDIS_MNEMONIC_PSHUFD};
  const bool is_conditional =
      instruction.meta.category == ZYDIS_CATEGORY_SETCC || instruction.meta.category == ZYDIS_CATEGORY_CMOV;
  const bool is_vector =
      instruction.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX || instruction.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX;
  return is_conditional || is_vector || std::find(kSimple.begin(), kSimple.end(), instruction.mnemonic) != kSimple.end();
}

// In the order of the bits of Told.
bool is_told(ZydisRegister reg, Told told) {
  constexpr std::array kRegisters = {ZYDIS_REGISTER_RDI, ZYDIS_REGISTER_RSI, ZYDIS_REGISTER_RDX, ZYDIS_REGISTER_RCX,
                                     ZYDIS_REGISTER_R8,  ZYDIS_REGISTER_R9,  ZYDIS_REGISTER_RBP, ZYDIS_REGISTER_RAX,
                                     ZYDIS_REGISTER_RBX, ZYDIS_REGISTER_R10, ZYDIS_REGISTER_R11, ZYDIS_REGISTER_R14};
  const auto found = std::find(kRegisters.begin(), kRegisters.end(), reg);
  return found != kRegisters.end() && (told >> (found - kRegisters.begin()) & 1) != 0;
}

// The stack, what the file itself has, and what belongs to the thread. An address that is computed may be wrong.
bool is_there(const ZydisDecodedOperand& operand) {
  const auto& memory = operand.mem;
  if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || memory.type != ZYDIS_MEMOP_TYPE_MEM) return true;
  if (memory.index != ZYDIS_REGISTER_NONE) return false;
  if (memory.segment == ZYDIS_REGISTER_FS) return memory.base == ZYDIS_REGISTER_NONE;
  return memory.base == ZYDIS_REGISTER_RSP || memory.base == ZYDIS_REGISTER_RIP;
}

// True if the operand is written and is one of the values that the probe reports.
bool changes(const ZydisDecodedOperand& operand, Told told) {
  if (!is_write(operand)) return false;
  if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) return is_told(whole(operand.reg.value), told);
  const bool is_elsewhere = operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.base != ZYDIS_REGISTER_RSP;
  return is_elsewhere && (told & kToldMemory) != 0;
}

// True if everything that an entry probe reports is unchanged after it. A LOCK instruction only affects its operands.
bool keeps(const Operated& one, Told told) {
  const bool is_locked = (one.instruction.attributes & ZYDIS_ATTRIB_HAS_LOCK) != 0;
  if (!is_locked && !is_simple(one.instruction)) return false;
  if ((one.instruction.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPNE)) != 0) return false;
  return std::all_of(one.all().begin(), one.all().end(), [&](const ZydisDecodedOperand& operand) {
    return (is_locked || is_there(operand)) && !changes(operand, told);
  });
}

// True if it stores below %rsp, as a leaf function may.
bool stores_below_stack(const Operated& one) {
  return std::any_of(one.all().begin(), one.all().end(), [](const ZydisDecodedOperand& operand) {
    const bool is_named = operand.visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT;  // a push is known by its growth
    return is_named && operand.type == ZYDIS_OPERAND_TYPE_MEMORY && is_write(operand) && operand.mem.base == ZYDIS_REGISTER_RSP &&
           operand.mem.disp.value < 0;
  });
}

// At a push of the frame pointer the kernel takes the word that %rsp points to for a return address. The call that it makes of a
// nop of five bytes overwrites what lies below %rsp.
bool is_usable(CodeBytes code, const EntryPlace& place, const MachineInstruction& instruction, bool keeps_below) {
  if (keeps_below && instruction.cost == FiringCost::rewritten) return false;
  return code[place.moved] != kPushFramePointer || place.stack_moved == 0;
}

enum class Sought : uint8_t { cheap, possible };

bool is_sought(const MachineInstruction& instruction, Sought sought) {
  return sought == Sought::cheap ? instruction.cost != FiringCost::stepped : instruction.can_be_probed();
}

// By the entry block alone.
EntryPlace find_first(CodeBytes code, uint64_t alone, Told told, Sought sought, bool& grew) {
  EntryPlace place;
  bool keeps_below = false;
  for (size_t i = 0; i < kMostInstructions; i++) {
    const auto instruction = decode_instruction(code, place.moved);
    if (!instruction || place.moved >= alone) return {};
    grew = place.stack_moved > 0 || (code[place.moved] & 0xfe) == 0x40 || (code[place.moved] & 0xf8) == 0x50;
    if (is_sought(*instruction, sought) && is_usable(code, place, *instruction, keeps_below)) return place;
    Operated one;
    if (instruction->is_refused && place.moved != 0) return {};  // what may fault is passed only where no probe can lie before it
    if (instruction->flow != Flow::next || !one.decode(code.subspan(place.moved)) || !keeps(one, told)) return {};
    keeps_below |= stores_below_stack(one);
    const auto more = growth(one);
    if (!more || *more < INT16_MIN || *more > INT16_MAX || place.stack_moved + *more < 0) return {};
    place.stack_moved += static_cast<int32_t>(*more);
    place.moved += instruction->length;
  }
  return {};
}

EntryPlace choose(CodeBytes code, uint64_t alone, Told told, Sought sought) {
  bool grew = false;
  const EntryPlace place = find_first(code, alone, told, sought, grew);
  if (place.moved == 0) return {};
  const FunctionCode function = decode_function(code);
  if (!function.is_complete || function.is_entered_up_to(place.moved)) return {};
  return function.has_table_jump() && !grew ? EntryPlace{} : place;
}

}  // namespace

EntryPlace choose_entry(CodeBytes code, uint64_t alone, Told told) {
  const EntryPlace cheap = choose(code, alone, told, Sought::cheap);
  const auto first = decode_instruction(code, 0);
  return cheap.moved == 0 && first && !first->can_be_probed() ? choose(code, alone, told, Sought::possible) : cheap;
}

}  // namespace dvm::runtime
