// Covered by tests/unit/code/system_call_finder_test.cpp.

#include "runtime/code/dead_ends.h"

#include <algorithm>

#include "runtime/code/operated.h"

namespace dvm::runtime {
namespace {

// The kernel sends a signal, or the processor has no such address.
bool ends_program(const Operated& one) {
  const auto& meta = one.instruction.meta;
  const bool is_io = meta.category == ZYDIS_CATEGORY_IO || meta.category == ZYDIS_CATEGORY_IOSTRINGOP;
  const bool is_flag = one.instruction.mnemonic == ZYDIS_MNEMONIC_CLI || one.instruction.mnemonic == ZYDIS_MNEMONIC_STI;
  if (is_io || is_flag || (one.instruction.attributes & ZYDIS_ATTRIB_IS_PRIVILEGED) != 0) return true;
  return std::ranges::any_of(one.all(), [](const ZydisDecodedOperand& operand) {
    constexpr int64_t kHighest = int64_t{1} << 56;  // of processes
    const bool is_absolute = operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.type == ZYDIS_MEMOP_TYPE_MEM &&
                             operand.mem.base == ZYDIS_REGISTER_NONE && operand.mem.index == ZYDIS_REGISTER_NONE &&
                             operand.mem.segment != ZYDIS_REGISTER_FS && operand.mem.segment != ZYDIS_REGISTER_GS;
    return is_absolute && (operand.mem.disp.value < 0 || operand.mem.disp.value >= kHighest);
  });
}

class DeadEndFinder {
 public:
  explicit DeadEndFinder(const CodeAt& code_at) : code_at_(code_at) {}

  bool is_dead(uint64_t address) {
    for (; left_ > 0; left_--) {
      const CodeBytes code = code_at_(address);
      const auto one = decode_instruction(code, 0);
      Operated its;
      if (!one || !its.decode(code) || ends_program(its)) return true;
      if (one->flow == Flow::return_ || one->flow == Flow::elsewhere) return false;
      const uint64_t next = address + one->length;
      if (one->flow == Flow::next) {
        address = next;
        continue;
      }
      if (!one->target) return false;
      const uint64_t target = address + static_cast<uint64_t>(*one->target);
      if (one->flow == Flow::branch && !is_dead(next)) return false;
      address = target;
    }
    return false;
  }

 private:
  const CodeAt& code_at_;
  unsigned left_ = 64;  // instructions
};

}  // namespace

bool is_dead_end(const CodeAt& code_at, uint64_t address) { return DeadEndFinder(code_at).is_dead(address); }

}  // namespace dvm::runtime
