// Code of stubs that takes common firings: what it does, and that it keeps all registers, the flags and the 128 bytes below the
// stack pointer.

#include "runtime/agent/site_code.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <cstring>
#include <random>

#include "dvm/dif/variable.h"
#include "load_and_call.h"
#include "runtime/instrument/agent/clause_code.h"

namespace dvm::runtime {
namespace {

using dif::BuiltIn, dif::Instruction, dif::Opcode;

constexpr uint32_t kAsked = 1, kEnded = 2;
constexpr uint64_t kAddress = 0x7654321fedcb;
const dif::DataType kWord{dif::TypeKind::integer, true, false, 8, "int64_t"};

// The code as it lies in a stub. `outcome` is written where the call of agent_enter would be, and where a firing ends.
class Stubs {
 public:
  Stubs()
      : memory_(static_cast<unsigned char*>(
            mmap(nullptr, kBytes, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0))) {}
  Stubs(const Stubs&) = delete;
  Stubs& operator=(const Stubs&) = delete;
  ~Stubs() { munmap(memory_, kBytes); }

  void make(const std::vector<AgentFirer>& firers) {
    CodeWriter code(reinterpret_cast<uint64_t>(memory_) + kCodeAt);
    size_t outcome_bytes = 0;
    const bool ends = add_site_code(code, firers, {kAddress, context}, [&] {
      const size_t begin = code.bytes().size();
      add_outcome(code, kEnded);
      outcome_bytes = code.bytes().size() - begin;
    });
    bytes = code.bytes().size() - outcome_bytes;
    inside::Context unplaced = context;  // as it is when room is sought
    unplaced.armed = unplaced.data = unplaced.variables = unplaced.tails = unplaced.lane = unplaced.own = 0;
    EXPECT_LE(bytes, site_code_bytes(firers, unplaced));
    EXPECT_EQ(ends, bytes != 0);
    add_outcome(code, kAsked);
    std::memcpy(memory_ + kCodeAt, code.bytes().data(), code.bytes().size());
  }
  uint32_t run(Registers& registers) {
    std::memset(memory_, 0, sizeof(uint32_t));
    load_and_call(memory_ + kCodeAt, registers.words.data());
    uint32_t outcome = 0;
    std::memcpy(&outcome, memory_, sizeof outcome);
    return outcome;
  }

  size_t bytes = 0;
  inside::Context context{};

 private:
  static constexpr size_t kBytes = 4096, kCodeAt = 64;
  void add_outcome(CodeWriter& code, uint32_t outcome) {
    const auto at = static_cast<uint32_t>(reinterpret_cast<uint64_t>(memory_));
    code.add({0xc7, 0x04, 0x25});  // movl $outcome, at
    for (const uint32_t word : {at, outcome})
      code.add({static_cast<unsigned char>(word), static_cast<unsigned char>(word >> 8), static_cast<unsigned char>(word >> 16),
                static_cast<unsigned char>(word >> 24)});
    code.add({0xc3});
  }
  unsigned char* memory_;
};

MachineCode code_of(const std::vector<Instruction>& text, SiteShape shape = SiteKind::entry) {
  return make_value_code({text, {7}, "", {}, kWord}, kWord, {shape, {}, 1}).code;
}
Instruction load(BuiltIn variable, unsigned rd) {
  return Instruction::indexed(Opcode::ldgs, static_cast<unsigned>(variable), rd);
}
Instruction op(Opcode opcode, unsigned r1, unsigned r2, unsigned rd) { return Instruction::registers(opcode, r1, r2, rd); }

// arg == 7, by a branch to the second of two returns.
MachineCode is_seven(BuiltIn argument) {
  return code_of({load(argument, 1), Instruction::indexed(Opcode::setx, 0, 5), op(Opcode::cmp, 1, 5, 0),
                  Instruction::branch(Opcode::be, 5), op(Opcode::ret, 0, 0, 0), op(Opcode::ret, 0, 0, 1)});
}

AgentStep step(inside::ClauseStep::Kind kind, MachineCode code = {}, uint32_t skip = 0) {
  return {{kind, skip, 0}, std::move(code)};
}
AgentFirer gated(MachineCode predicate) {
  AgentFirer firer;
  firer.steps = {step(inside::ClauseStep::Kind::predicate, std::move(predicate), 1), step(inside::ClauseStep::Kind::record)};
  return firer;
}

class SiteCode : public testing::Test {
 protected:
  Registers some() { return some_registers(random_); }
  // Registers are what they were, whatever happens.
  uint32_t run(const Registers& given) {
    Registers registers = given;
    const uint32_t outcome = stubs_.run(registers);
    EXPECT_EQ(registers, given);
    return outcome;
  }

  std::mt19937_64 random_{7};
  Stubs stubs_;
};

TEST_F(SiteCode, EndsAFiringWhosePredicatesAreFalse) {
  stubs_.make({gated(is_seven(BuiltIn::arg0)), gated(is_seven(BuiltIn::arg3))});
  EXPECT_GT(stubs_.bytes, 0);
  for (int i = 0; i < 1000; i++) {
    Registers registers = some();
    EXPECT_EQ(run(registers), kEnded);
    registers.words[saved::rdi] = 7;
    EXPECT_EQ(run(registers), kAsked);
    registers.words[saved::rdi] = 8, registers.words[saved::rcx] = 7;
    EXPECT_EQ(run(registers), kAsked);
  }
}

TEST_F(SiteCode, ReadsEachRegister) {
  for (uint8_t word = 0; word <= saved::rsp; word++) {
    SiteShape shape = SiteKind::inside;
    shape.args[0] = {.kind = Operand::Kind::saved, .base = word};
    stubs_.make({gated(code_of({load(BuiltIn::arg0, 1), op(Opcode::ret, 0, 0, 1)}, shape))});
    Registers registers = some();
    const bool is_register = word < registers.words.size();
    if (is_register) registers.words[word] = 0;
    EXPECT_EQ(run(registers), is_register ? kEnded : kAsked) << int{word};
    if (is_register) registers.words[word] = 1;
    EXPECT_EQ(run(registers), kAsked) << int{word};
    EXPECT_EQ(stubs_.bytes == 0, !is_register && word != saved::rip && word != saved::rsp);
  }
}

TEST_F(SiteCode, KnowsThePlace) {
  const auto compare = [&](uint8_t word, uint64_t with) {
    SiteShape shape = SiteKind::inside;
    shape.args[0] = {.kind = Operand::Kind::saved, .base = word};
    shape.args[1] = {.kind = Operand::Kind::constant, .value = static_cast<int64_t>(with)};
    const auto text = {load(BuiltIn::arg0, 1), load(BuiltIn::arg1, 2), op(Opcode::sub, 1, 2, 1), op(Opcode::ret, 0, 0, 1)};
    stubs_.make({gated(code_of(text, shape))});
    return run(some());
  };
  EXPECT_EQ(compare(saved::rip, kAddress), kEnded);
  EXPECT_EQ(compare(saved::rip, kAddress + 1), kAsked);
}

TEST_F(SiteCode, LeavesOtherFiringsToAgentEnter) {
  AgentFirer always;
  stubs_.make({gated(is_seven(BuiltIn::arg0)), always});
  EXPECT_EQ(stubs_.bytes, 0);
  always.steps = {step(inside::ClauseStep::Kind::record)};
  stubs_.make({gated(is_seven(BuiltIn::arg0)), always});
  EXPECT_EQ(stubs_.bytes, 0);
  stubs_.make({gated(code_of({load(BuiltIn::tid, 1), op(Opcode::ret, 0, 0, 1)}))});
  EXPECT_EQ(stubs_.bytes, 0);
  EXPECT_EQ(run(some()), kAsked);
}

}  // namespace
}  // namespace dvm::runtime
