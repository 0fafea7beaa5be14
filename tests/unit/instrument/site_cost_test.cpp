// The cost of clauses at a site, for comparing versions of their code.

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "placed_stub.h"
#include "runtime/agent/target_check.h"

namespace dvm::runtime {
namespace {

// Instructions are counted by single steps, which no load of the machine changes.

// The time of a firing less that of a call of an empty function: --gtest_also_run_disabled_tests --gtest_filter='SiteCost.*'. On
// a busy machine the least of many short rounds is the time without interruption.
double least_ns(uint64_t stub, uint64_t first, uint64_t second, const void* frame) {
  constexpr int kRounds = 4000, kCalls = 500;
  auto least = std::chrono::nanoseconds::max();
  for (int round = 0; round < kRounds; round++) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kCalls; i++)
      asm volatile("sub $256, %%rsp; push %%rbp; mov %3, %%rbp; call *%0; pop %%rbp; add $256, %%rsp"
                   :
                   : "r"(stub), "D"(first), "S"(second), "r"(frame)
                   : "memory", "cc");
    least = std::min<std::chrono::nanoseconds>(least, std::chrono::steady_clock::now() - begin);
  }
  return static_cast<double>(least.count()) / kCalls;
}

std::atomic<int> steps_made = 0;

// Instructions of the second firing, whose key is known, with those around the call, by single steps.
int instructions(uint64_t stub, uint64_t first, uint64_t second, const void* frame) {
  struct sigaction count {
  }, before{};
  count.sa_handler = [](int) { steps_made++; };
  sigaction(SIGTRAP, &count, &before);
  for (int i = 0; i < 2; i++) {
    steps_made = 0;
    asm volatile(
        "sub $256, %%rsp; push %%rbp; mov %3, %%rbp\n"
        "pushfq; orq $0x100, (%%rsp); popfq; call *%0; pushfq; andq $~0x100, (%%rsp); popfq\n"
        "pop %%rbp; add $256, %%rsp"
        :
        : "r"(stub), "D"(first), "S"(second), "r"(frame)
        : "memory", "cc");
  }
  sigaction(SIGTRAP, &before, nullptr);
  return steps_made;
}

// arg1 == 3
MachineCode is_three() {
  const auto set = [](unsigned index, unsigned rd) { return Instruction::indexed(Opcode::setx, index, rd); };
  const std::vector<Instruction> text = {load(BuiltIn::arg1, 1),
                                         set(0, 2),
                                         op(Opcode::cmp, 1, 2, 0),
                                         set(1, 3),
                                         Instruction::branch(Opcode::be, 6),
                                         op(Opcode::mov, 0, 0, 3),
                                         op(Opcode::ret, 0, 0, 3)};
  return make_value_code({text, {3, 1}, "", {}, kWord}, kWord, {SiteKind::entry, {}, 1}).code;
}

struct Case {
  const char* name;
  int instructions;  // at most, of a firing whose key is known, with the four that the window displaces
  AgentFirer firer;
};

std::vector<Case> cases() {
  const auto one = integer(masked(BuiltIn::arg0, 7));
  const auto count_by = [](std::vector<AgentKey> keys) {
    return firer({aggregation(1, SiteFunction::count, {}, std::move(keys))});
  };
  AgentFirer assignment = firer({step(Kind::time), step(Kind::evaluate, adds_to(dif::Scope::thread))});
  assignment.has_variables = 1;
  AgentFirer begin = firer({step(Kind::time), step(Kind::evaluate, assigns(BuiltIn::timestamp))});
  begin.has_variables = 1;
  const MachineCode argument = value_of(BuiltIn::arg0);
  return {
      {"count", 25, count_by({})},
      {"false predicate", 15,
       firer({step(Kind::predicate, masked(BuiltIn::arg0, 4), 1), aggregation(1, SiteFunction::count, {})})},
      {"false comparison", 6, firer({step(Kind::predicate, is_three(), 1), aggregation(1, SiteFunction::count, {})})},
      {"quantize", 57, firer({aggregation(1, SiteFunction::quantize, argument)})},
      {"sum by an integer", 74, firer({aggregation(1, SiteFunction::sum, argument, {one})})},
      {"quantize by an integer", 79, firer({aggregation(1, SiteFunction::quantize, argument, {one})})},
      {"count by three integers", 96, count_by({one, integer(value_of(BuiltIn::tid)), integer(value_of(BuiltIn::arg1))})},
      {"count by a string that lasts", 128, count_by({text(value_of(BuiltIn::arg1))})},
      {"count by two frames", 143, count_by({stack(2, 0)})},
      {"count by five frames", 242, count_by({stack(100, 0)})},
      {"self-> and the time", 81, assignment},
      {"self->x = timestamp", 66, begin},
  };
}

// Frames, which are only followed on the stack of the thread.
struct Chain {
  Chain() { words[0] = reinterpret_cast<uint64_t>(words + 2), words[2] = reinterpret_cast<uint64_t>(words + 4); }
  uint64_t words[6] = {0, 0x1111, 0, 0x2222, 0, 0x3333};
};
const auto text_at = reinterpret_cast<uint64_t>(Agent::kText) + 22;

class SiteCost : public PlacedStubTest {
 protected:
  SiteCost() { std::memcpy(nothing, kReturn, sizeof kReturn); }
  ~SiteCost() override { munmap(nothing, 4096); }
  static int instructions_of(uint64_t stub) { return instructions(stub, 3, text_at, Chain().words); }
  static double ns_of(uint64_t stub) { return least_ns(stub, 3, text_at, Chain().words); }
  uint64_t empty() const { return reinterpret_cast<uint64_t>(nothing); }

  static constexpr unsigned char kReturn[] = {0xc3};
  void* nothing = mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
};

TEST_F(SiteCost, IsOfFewInstructions) {
  const int around = instructions_of(empty());
  for (const Case& one : cases()) {
    if (std::string_view(one.name).starts_with("quantize") && !counts_leading_zeros()) continue;  // they call a function
    Agent agent(inside::kAlone);
    agent.keeps_flags = false;
    agent.place({one.firer});
    EXPECT_LE(instructions_of(agent.stub()) - around, one.instructions) << one.name;
  }
}

TEST_F(SiteCost, DISABLED_OfClauses) {
  const double base = ns_of(empty());
  const int around = instructions_of(empty());
  for (const Case& one : cases()) {
    Agent agent(inside::kAlone);
    agent.keeps_flags = false;
    agent.place({one.firer});
    std::printf("%-30s %5.1f ns %5d instructions\n", one.name, ns_of(agent.stub()) - base,
                instructions_of(agent.stub()) - around);
  }
}

}  // namespace
}  // namespace dvm::runtime
