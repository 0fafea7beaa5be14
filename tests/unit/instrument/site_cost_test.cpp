// The cost of clauses at a site, for comparing versions of their code.

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "placed_stub.h"

namespace dvm::runtime {
namespace {

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

TEST(SiteCost, DISABLED_OfClauses) {
  const auto one = integer(masked(BuiltIn::arg0, 7));
  const auto count_by = [](std::vector<AgentKey> keys) {
    return firer({aggregation(1, SiteFunction::count, {}, std::move(keys))});
  };
  AgentFirer assignment = firer({step(Kind::time), step(Kind::evaluate, adds_to(dif::Scope::thread))});
  assignment.has_variables = 1;
  AgentFirer begin = firer({step(Kind::time), step(Kind::evaluate, assigns(BuiltIn::timestamp))});
  begin.has_variables = 1;
  uint64_t chain[] = {0, 0x1111, 0, 0x2222, 0, 0x3333};
  chain[0] = reinterpret_cast<uint64_t>(chain + 2), chain[2] = reinterpret_cast<uint64_t>(chain + 4);
  const std::pair<const char*, AgentFirer> all[] = {
      {"count", count_by({})},
      {"false predicate", firer({step(Kind::predicate, masked(BuiltIn::arg0, 4), 1), aggregation(1, SiteFunction::count, {})})},
      {"sum by an integer", firer({aggregation(1, SiteFunction::sum, value_of(BuiltIn::arg0), {one})})},
      {"quantize by an integer", firer({aggregation(1, SiteFunction::quantize, value_of(BuiltIn::arg0), {one})})},
      {"count by three integers", count_by({one, integer(value_of(BuiltIn::tid)), integer(value_of(BuiltIn::arg1))})},
      {"count by a string that lasts", count_by({text(value_of(BuiltIn::arg1))})},
      {"count by two frames", count_by({stack(2, 0)})},
      {"count by five frames", count_by({stack(100, 0)})},
      {"self-> and the time", assignment},
      {"self->x = timestamp", begin},
  };
  const unsigned char nothing[] = {0xc3};
  void* memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::memcpy(memory, nothing, sizeof nothing);
  const auto text_at = reinterpret_cast<uint64_t>(Agent::kText) + 22;
  const double base = least_ns(reinterpret_cast<uint64_t>(memory), 3, text_at, chain);
  const int around = instructions(reinterpret_cast<uint64_t>(memory), 3, text_at, chain);
  for (const auto& [name, made] : all) {
    Agent agent(inside::kAlone);
    agent.keeps_flags = false;
    agent.place({made});
    const double ns = least_ns(agent.stub(), 3, text_at, chain) - base;
    std::printf("%-30s %5.1f ns %5d instructions\n", name, ns, instructions(agent.stub(), 3, text_at, chain) - around);
  }
  munmap(memory, 4096);
}

}  // namespace
}  // namespace dvm::runtime
