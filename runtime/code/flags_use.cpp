#include "runtime/code/flags_use.h"

#include <algorithm>

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

}  // namespace

bool overwrites_flags(CodeBytes code) {
  constexpr int kMost = 24;  // instructions
  for (int i = 0; i < kMost && !code.empty(); i++) {
    Operated one;
    if (!one.decode(code)) return false;
    if (is_one_of(one.instruction.mnemonic, kOverwrite)) return true;
    if (!is_one_of(one.instruction.mnemonic, kIgnore)) return false;
    code = code.subspan(one.instruction.length);
  }
  return false;
}

}  // namespace dvm::runtime
