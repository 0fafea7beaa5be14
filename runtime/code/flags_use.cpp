#include "runtime/code/flags_use.h"

#include <algorithm>
#include <optional>

#include "runtime/code/operated.h"

namespace dvm::runtime {
namespace {

// These overwrite all of them.
constexpr std::array kOverwrite = {ZYDIS_MNEMONIC_ADD, ZYDIS_MNEMONIC_SUB,  ZYDIS_MNEMONIC_CMP, ZYDIS_MNEMONIC_AND,
                                   ZYDIS_MNEMONIC_OR,  ZYDIS_MNEMONIC_TEST, ZYDIS_MNEMONIC_XOR, ZYDIS_MNEMONIC_NEG};
// These neither read nor write any, and lead to the next instruction.
constexpr std::array kIgnore = {ZYDIS_MNEMONIC_PUSH,    ZYDIS_MNEMONIC_POP,    ZYDIS_MNEMONIC_MOV,    ZYDIS_MNEMONIC_MOVZX,
                                ZYDIS_MNEMONIC_MOVSX,   ZYDIS_MNEMONIC_MOVSXD, ZYDIS_MNEMONIC_LEA,    ZYDIS_MNEMONIC_NOP,
                                ZYDIS_MNEMONIC_ENDBR64, ZYDIS_MNEMONIC_LEAVE,  ZYDIS_MNEMONIC_MOVAPS, ZYDIS_MNEMONIC_MOVUPS,
                                ZYDIS_MNEMONIC_MOVQ,    ZYDIS_MNEMONIC_MOVD,   ZYDIS_MNEMONIC_PXOR,   ZYDIS_MNEMONIC_XORPS};

bool is_one_of(ZydisMnemonic mnemonic, const auto& all) { return std::find(all.begin(), all.end(), mnemonic) != all.end(); }

// Where a jump leads, as an offset in the function; none: that is not known.
std::optional<size_t> target_of(const Operated& jump, size_t at) {
  const auto& to = jump.instruction.raw.imm[0];
  if (!to.is_relative) return std::nullopt;
  return at + jump.instruction.length + static_cast<size_t>(to.value.s);
}

}  // namespace

bool overwrites_flags(CodeBytes function, size_t at) {
  constexpr int kMost = 24;  // instructions
  for (int i = 0; i < kMost && at < function.size(); i++) {
    Operated one;
    if (!one.decode(function.subspan(at))) return false;
    if (is_one_of(one.instruction.mnemonic, kOverwrite)) return true;
    const bool is_jump = one.instruction.mnemonic == ZYDIS_MNEMONIC_JMP;
    if (!is_jump && !is_one_of(one.instruction.mnemonic, kIgnore)) return false;
    const auto next = is_jump ? target_of(one, at) : at + one.instruction.length;
    if (!next) return false;
    at = *next;
  }
  return false;
}

}  // namespace dvm::runtime
