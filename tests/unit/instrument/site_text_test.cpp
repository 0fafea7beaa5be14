// String keys that the code of a stub reads: of memory that lasts, of the stack, and of steady memory.

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>

#include "site_run.h"

namespace dvm::runtime {
namespace {

using SiteText = SiteRun;

TEST_F(SiteText, CopiesStrings) {
  const auto key = [](const MachineCode& address) {
    return aggregation(1, SiteFunction::count, {},
                       {integer(masked(BuiltIn::arg0, 1)), text(address), integer(masked(BuiltIn::arg0, 2))});
  };
  const auto somewhere = [&](Registers& registers) {
    registers.words[saved::rsi] = reinterpret_cast<uint64_t>(Agent::kText) + random_() % sizeof Agent::kText;
    registers.flags &= ~kAlignmentCheck;  // they are read word by word
  };
  compare({firer({key(value_of(BuiltIn::arg1))})}, 2000, somewhere);
  // Elsewhere it cannot be read, since system calls are muted: all of the clause is left to dvm.
  const auto anywhere = [&](Registers& registers) {
    registers.flags &= ~kAlignmentCheck;
    if (random_() % 4 != 0) somewhere(registers);
  };
  compare({firer({key(value_of(BuiltIn::arg1)), aggregation(2, SiteFunction::sum, value_of(BuiltIn::arg0))})}, 2000, anywhere);
}

// The last key: short ones are read by the code of the site.
TEST_F(SiteText, FindsStrings) {
  const auto somewhere = [&](Registers& registers) {
    registers.words[saved::rsi] = reinterpret_cast<uint64_t>(Agent::kText) + random_() % sizeof Agent::kText;
    if (random_() % 50 == 0) registers.words[saved::rsi] = random_();
  };
  for (const SiteFunction function : {SiteFunction::count, SiteFunction::sum, SiteFunction::quantize})
    for (const size_t integers : {0, 1, 2}) {
      std::vector<AgentKey> keys(integers, integer(masked(BuiltIn::arg0, 1)));
      keys.push_back(text(value_of(BuiltIn::arg1)));
      const MachineCode value = function == SiteFunction::count ? MachineCode() : value_of(BuiltIn::arg0);
      const auto last = aggregation(2, SiteFunction::max, value_of(BuiltIn::arg2));
      compare({firer({aggregation(1, function, value, keys), last})}, 1000, somewhere);
    }
}

TEST_F(SiteText, FindsShortStringsByItself) {
  for (const size_t at : {0, 4, 22, 34, 41, 58, 74, 93, 94}) {
    Agent agent(inside::kAlone);
    agent.place({firer({aggregation(1, SiteFunction::count, {}, {text(value_of(BuiltIn::arg1))})})});
    Registers registers = some_registers(random_);
    registers.words[saved::rsi] = reinterpret_cast<uint64_t>(Agent::kText) + at;
    for (int i = 0; i < 2; i++) agent.fire(registers);
    if (std::strlen(Agent::kText + at) < 16) agent.forbid_inside_code();
    for (int i = 0; i < 5; i++) agent.fire(registers);
    EXPECT_EQ(agent.firings(), 7);
  }
}

// Makes the entry by a firing, and finds it by others.
void find_by_itself(Agent& agent, Registers registers, const char* at) {
  agent.place({firer({aggregation(1, SiteFunction::count, {}, {text(value_of(BuiltIn::arg1))})})});
  registers.words[saved::rsi] = reinterpret_cast<uint64_t>(at);
  agent.fire(registers);
  agent.forbid_lookup();
  for (int i = 0; i < 5; i++) agent.fire(registers);
  EXPECT_EQ(agent.firings(), 6);
  EXPECT_EQ(agent.text(), at);
}

// Begins at any address of a word.
constexpr std::array<char, 64> kSome{"......................eighteen letters!"};
constexpr size_t kFirst = 22, kEnd = 40;

TEST_F(SiteText, FindsShortStringsOnTheStack) {
  std::array<char, 64> some = kSome;
  for (size_t at = kFirst + 3; at <= kEnd; at++) {
    Agent agent(inside::kAlone);
    find_by_itself(agent, some_registers(random_), some.data() + at);
  }
}

// What lies below the stack pointer may vanish.
TEST_F(SiteText, LeavesStringsBelowTheStackPointer) {
  constexpr size_t kBelow = 128 * 1024;
  volatile char here = 0;
  auto* at = const_cast<char*>(&here) - kBelow;
  std::memcpy(at, "below", 6);
  Agent agent(inside::kAlone);
  agent.place({firer({aggregation(1, SiteFunction::count, {}, {text(value_of(BuiltIn::arg1))})})});
  Registers registers = some_registers(random_);
  registers.words[saved::rsi] = reinterpret_cast<uint64_t>(at);
  agent.fire(registers);
  EXPECT_EQ(std::string(at), "below");
  EXPECT_EQ(agent.first_arena().used, 0);
}

TEST_F(SiteText, FindsShortStringsOfSteadyMemory) {
  constexpr size_t kPage = inside::kPage;
  auto* page = static_cast<char*>(mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  const auto begin = reinterpret_cast<uint64_t>(page);
  std::memcpy(page + kPage - kSome.size(), kSome.data(), kSome.size());
  for (const size_t room : {kSome.size(), kPage})
    for (size_t at = kFirst + 3; at <= kEnd; at++) {
      Agent agent(inside::kAlone);
      agent.make_steady({begin, begin + kPage});
      std::memcpy(page + kPage - room, kSome.data(), kSome.size());
      find_by_itself(agent, some_registers(random_), page + kPage - room + at);
    }
  munmap(page, kPage);
}

// A string whose words would lie behind the end of the memory is left to agent_find. So is one of memory that is not steady now.
TEST_F(SiteText, LeavesOtherStringsOfSteadyMemory) {
  constexpr size_t kPage = inside::kPage;
  auto* page = static_cast<char*>(mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  munmap(page + kPage, kPage);
  const auto begin = reinterpret_cast<uint64_t>(page);
  Agent agent(inside::kAlone);
  agent.make_steady({begin, begin + kPage});
  agent.place({firer({aggregation(1, SiteFunction::count, {}, {text(value_of(BuiltIn::arg1))})})});
  Registers registers = some_registers(random_);
  registers.words[saved::rsi] = begin + kPage - 5;
  std::memcpy(page + kPage - 5, "last", 5);
  agent.fire(registers);
  EXPECT_EQ(agent.text(), std::string("last"));
  inside::steady_memory(agent.context()).is_off = 1;
  agent.fire(registers);
  EXPECT_EQ(agent.firings(), 2);
  EXPECT_EQ(inside::steady_memory(agent.context()).misses, 2);
  munmap(page, kPage);
}

}  // namespace
}  // namespace dvm::runtime
