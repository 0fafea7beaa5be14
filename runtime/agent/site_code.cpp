#include "runtime/agent/site_code.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace dvm::runtime {
namespace {

using Register = GeneralRegister;

constexpr int32_t kFrameBytes = 8 * inside::kSavedWords, kRedZone = 128;
// The registers in struct pt_regs.
constexpr std::array kRegisters = {Register::r15, Register::r14, Register::r13, Register::r12, Register::rbp,
                                   Register::rbx, Register::r11, Register::r10, Register::r9,  Register::r8,
                                   Register::rax, Register::rcx, Register::rdx, Register::rsi, Register::rdi};
constexpr uint32_t kRaxWord = 10, kRdiWord = 14, kRipWord = 16, kFlagsWord = 18;
constexpr uint32_t bit(uint32_t word) { return 1U << word; }
constexpr uint32_t kHeld = (1U << kRegisters.size()) - 1;  // words of registers

// Words of struct pt_regs on the stack, below what a leaf function may use: those that are needed. %rdi points to them. Flags are
// kept as agent_enter does it.
class Frame {
 public:
  Frame(CodeWriter& code, uint32_t reads, uint32_t changes, uint64_t address)
      : code_(code), reads_(reads), changes_(changes | bit(kRaxWord) | bit(kRdiWord)), address_(address) {}

  static bool can_hold(uint32_t words) { return (words & ~(kHeld | bit(inside::kStackWord) | bit(kRipWord))) == 0; }

  void open() {
    code_.add_address(Register::rsp, Register::rsp, -kFrameBytes - kRedZone);
    for (uint32_t left = (reads_ | changes_) & kHeld; left != 0; left &= left - 1) {
      const int word = std::countr_zero(left);
      code_.store(kRegisters[static_cast<size_t>(word)], Register::rsp, 8 * word);
    }
    code_.add({0x9f, 0x0f, 0x90, 0xc0});  // lahf; seto %al
    put(kFlagsWord);
    if ((reads_ & bit(kRipWord)) != 0) code_.load(Register::rax, address_), put(kRipWord);
    if ((reads_ & bit(inside::kStackWord)) != 0)
      code_.add_address(Register::rax, Register::rsp, kFrameBytes + kRedZone), put(inside::kStackWord);
    code_.add_address(Register::rdi, Register::rsp, 0);
  }
  void close() {
    code_.read(Register::rax, Register::rsp, 8 * kFlagsWord);
    code_.add({0x04, 0x7f, 0x9e});  // add $0x7f, %al; sahf
    for (uint32_t left = changes_; left != 0; left &= left - 1) {
      const int word = std::countr_zero(left);
      code_.read(kRegisters[static_cast<size_t>(word)], Register::rsp, 8 * word);
    }
    code_.add_address(Register::rsp, Register::rsp, kFrameBytes + kRedZone);
  }

 private:
  void put(uint32_t word) { code_.store(Register::rax, Register::rsp, 8 * static_cast<int32_t>(word)); }

  CodeWriter& code_;
  uint32_t reads_, changes_;
  uint64_t address_;
};

void add_in_place(CodeWriter& code, const MachineCode& value) {
  code.add(std::span(value.bytes).first(value.bytes.size() - 1));  // without its ret
}

// The predicates of all clauses, one of which must be true for anything to happen; none: something may happen anyway, or they
// read more than registers.
std::vector<const MachineCode*> gates_of(std::span<const AgentFirer> firers) {
  std::vector<const MachineCode*> gates;
  for (const AgentFirer& firer : firers) {
    if (firer.steps.empty()) return {};
    for (size_t i = 0; i < firer.steps.size(); i += 1 + firer.steps[i].step.skip) {
      const AgentStep& one = firer.steps[i];
      const bool is_gate = one.step.kind == inside::ClauseStep::Kind::predicate && !one.code.has_workspace;
      if (!is_gate || one.code.empty() || !Frame::can_hold(one.code.reads)) return {};
      gates.push_back(&one.code);
    }
  }
  return gates;
}

}  // namespace

std::vector<size_t> add_site_code(CodeWriter& code, std::span<const AgentFirer> firers, uint64_t address) {
  const std::vector<const MachineCode*> gates = gates_of(firers);
  if (gates.empty()) return {};
  uint32_t reads = 0, changes = 0;
  for (const MachineCode* gate : gates) reads |= gate->reads, changes |= gate->changes;
  Frame frame(code, reads, changes, address);
  frame.open();
  std::vector<size_t> opened;
  for (const MachineCode* gate : gates) {
    add_in_place(code, *gate);
    code.add({0x48, 0x85, 0xc0});                     // test %rax, %rax
    opened.push_back(code.jump_ahead({0x0f, 0x85}));  // jnz
  }
  frame.close();
  const size_t done = code.jump_ahead({0xe9});
  for (const size_t jump : opened) code.land(jump);
  frame.close();
  return {done};
}

size_t site_code_bytes(std::span<const AgentFirer> firers) {
  constexpr uint64_t kHighest = 0x7ffffffff000;  // its constants are the longest
  CodeWriter code(kHighest);
  add_site_code(code, firers, kHighest);
  return code.bytes().size();
}

}  // namespace dvm::runtime
