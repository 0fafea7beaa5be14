#include "runtime/code/raised_signals.h"

#include <signal.h>

#include <algorithm>
#include <initializer_list>
#include <optional>

#include "runtime/code/operated.h"

namespace dvm::runtime {
namespace {

constexpr SignalSet set_of(std::initializer_list<int> signals) {
  SignalSet set = 0;
  for (const int signal : signals) set |= SignalSet{1} << (signal - 1);
  return set;
}

constexpr SignalSet kByMemory = set_of({SIGSEGV, SIGBUS}), kByNumbers = set_of({SIGFPE}), kByCode = set_of({SIGILL}),
                    kByAny = set_of({SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP});
constexpr int64_t kNear = 4096;  // a guard page, and what is beyond, is further away

template <class T>
bool is_among(T value, std::initializer_list<T> all) {
  return std::find(all.begin(), all.end(), value) != all.end();
}

bool writes_frame_pointer(const Operated& one) {
  return std::any_of(one.all().begin(), one.all().end(), [](const ZydisDecodedOperand& operand) {
    return operand.type == ZYDIS_OPERAND_TYPE_REGISTER && is_write(operand) && whole(operand.reg.value) == ZYDIS_REGISTER_RBP;
  });
}

bool begins_frame(const Operated& one) {
  return one.instruction.mnemonic == ZYDIS_MNEMONIC_MOV && one.operands[0].reg.value == ZYDIS_REGISTER_RBP &&
         one.operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER && one.operands[1].reg.value == ZYDIS_REGISTER_RSP;
}

// Offsets from which on %rbp is a frame pointer: it gets no other value than that of %rsp, and that of the caller again.
uint32_t frame_from(CodeBytes function, const FunctionCode& decoded) {
  uint32_t from = UINT32_MAX;
  for (const MachineInstruction& one : decoded.instructions) {
    Operated its;
    if (!its.decode(function.subspan(one.offset))) return UINT32_MAX;
    if (!writes_frame_pointer(its) || is_among(its.instruction.mnemonic, {ZYDIS_MNEMONIC_POP, ZYDIS_MNEMONIC_LEAVE})) continue;
    if (!begins_frame(its)) return UINT32_MAX;
    from = std::min(from, one.offset + one.length);
  }
  return from;
}

bool is_taken_for_granted(const ZydisDecodedOperandMem& memory, bool has_frame) {
  if (memory.index != ZYDIS_REGISTER_NONE || memory.type != ZYDIS_MEMOP_TYPE_MEM) return memory.type == ZYDIS_MEMOP_TYPE_AGEN;
  if (memory.segment == ZYDIS_REGISTER_FS) return memory.base == ZYDIS_REGISTER_NONE;
  if (memory.base != ZYDIS_REGISTER_RSP && !(has_frame && memory.base == ZYDIS_REGISTER_RBP)) return false;
  return memory.disp.value > -kNear && memory.disp.value < kNear;
}

bool is_in_file(const ZydisDecodedOperand& operand) {
  return operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.type == ZYDIS_MEMOP_TYPE_MEM &&
         operand.mem.base == ZYDIS_REGISTER_RIP && operand.mem.segment != ZYDIS_REGISTER_FS &&
         operand.mem.segment != ZYDIS_REGISTER_GS;
}

bool does_nothing(const Operated& one) {
  return is_among(one.instruction.meta.category, {ZYDIS_CATEGORY_NOP, ZYDIS_CATEGORY_WIDENOP, ZYDIS_CATEGORY_PREFETCH});
}

bool may_address_wrongly(const Operated& one, bool has_frame) {
  const auto& meta = one.instruction.meta;
  if (does_nothing(one)) return false;
  if (one.instruction.mnemonic == ZYDIS_MNEMONIC_LEAVE) return false;
  const bool is_indirect = meta.category == ZYDIS_CATEGORY_UNCOND_BR && !one.instruction.raw.imm[0].is_relative &&
                           one.operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER;
  return is_indirect || std::any_of(one.all().begin(), one.all().end(), [&](const ZydisDecodedOperand& operand) {
           return operand.type == ZYDIS_OPERAND_TYPE_MEMORY && !is_in_file(operand) &&
                  !is_taken_for_granted(operand.mem, has_frame);
         });
}

bool is_vector(const ZydisDecodedOperand& operand) {
  const ZydisRegisterClass kind = ZydisRegisterGetClass(operand.reg.value);
  return operand.type == ZYDIS_OPERAND_TYPE_REGISTER && kind >= ZYDIS_REGCLASS_XMM && kind <= ZYDIS_REGCLASS_ZMM;
}

// Vectors that are only moved raise nothing.
bool may_compute_wrongly(const Operated& one) {
  const auto& meta = one.instruction.meta;
  if (is_among(one.instruction.mnemonic, {ZYDIS_MNEMONIC_DIV, ZYDIS_MNEMONIC_IDIV}) || meta.isa_ext == ZYDIS_ISA_EXT_X87)
    return true;
  if (is_among(meta.category, {ZYDIS_CATEGORY_DATAXFER, ZYDIS_CATEGORY_LOGICAL, ZYDIS_CATEGORY_LOGICAL_FP})) return false;
  return std::any_of(one.all().begin(), one.all().end(), is_vector);
}

// Another processor may lack it, or it is meant to fail.
bool may_be_unknown(const Operated& one) {
  const auto& meta = one.instruction.meta;
  if (is_among(one.instruction.mnemonic, {ZYDIS_MNEMONIC_UD0, ZYDIS_MNEMONIC_UD1, ZYDIS_MNEMONIC_UD2})) return true;
  return !is_among(meta.isa_ext, {ZYDIS_ISA_EXT_BASE, ZYDIS_ISA_EXT_LONGMODE, ZYDIS_ISA_EXT_SSE, ZYDIS_ISA_EXT_SSE2,
                                  ZYDIS_ISA_EXT_X87, ZYDIS_ISA_EXT_MMX, ZYDIS_ISA_EXT_PAUSE, ZYDIS_ISA_EXT_CET});
}

bool may_be_forbidden(const Operated& one) {
  const auto& meta = one.instruction.meta;
  return (one.instruction.attributes & ZYDIS_ATTRIB_IS_PRIVILEGED) != 0 ||
         is_among(one.instruction.mnemonic, {ZYDIS_MNEMONIC_CPUID, ZYDIS_MNEMONIC_RDTSC, ZYDIS_MNEMONIC_RDTSCP}) ||
         is_among(meta.category, {ZYDIS_CATEGORY_INTERRUPT, ZYDIS_CATEGORY_IO, ZYDIS_CATEGORY_IOSTRINGOP, ZYDIS_CATEGORY_SYSCALL,
                                  ZYDIS_CATEGORY_SYSRET, ZYDIS_CATEGORY_SYSTEM});
}

SignalSet raised_by(const Operated& one, bool has_frame) {
  if (may_be_forbidden(one)) return kByAny;
  const bool is_static = !does_nothing(one) && std::any_of(one.all().begin(), one.all().end(), is_in_file);
  return (is_static ? kFileData : 0) | (may_address_wrongly(one, has_frame) ? kByMemory : 0) |
         (may_compute_wrongly(one) ? kByNumbers : 0) | (may_be_unknown(one) ? kByCode : 0);
}

}  // namespace

SignalSet raised_signals(CodeBytes function, const FunctionCode& decoded, uint32_t begin, uint32_t end) {
  std::optional<uint32_t> frame;
  const auto is_in_frame = [&](uint32_t at) {
    if (!frame) frame = frame_from(function, decoded);
    return at >= *frame;
  };
  SignalSet raised = 0;
  for (uint32_t at = begin; at < end;) {
    Operated one;
    if (at >= function.size() || !one.decode(function.subspan(at))) return kByAny;
    const SignalSet with_frame = raised_by(one, true), without = raised_by(one, false);
    raised |= with_frame != without && !is_in_frame(at) ? without : with_frame;
    at += one.instruction.length;
  }
  return raised;
}

std::vector<FileOperand> file_operands(CodeBytes code, uint64_t address) {
  std::vector<FileOperand> found;
  Operated one;
  for (size_t at = 0; at < code.size() && one.decode(code.subspan(at)); at += one.instruction.length)
    for (const ZydisDecodedOperand& operand : one.all()) {
      if (!is_in_file(operand)) continue;
      const auto distance = static_cast<uint64_t>(operand.mem.disp.value);
      found.push_back({address + at + one.instruction.length + distance, std::max(operand.size / 8U, 1U), is_write(operand)});
    }
  return found;
}

}  // namespace dvm::runtime
