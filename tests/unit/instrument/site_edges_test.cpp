// Firings at the edges: of rings, stacks and lanes. Both by the code of the stub and by agent_enter alone.

#include <gtest/gtest.h>
#include <sched.h>
#include <x86intrin.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <latch>
#include <thread>
#include <vector>

#include "placed_stub.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kRecordBytes = 24;  // its head, and a word
constexpr uint16_t kWays[] = {inside::kAlone, inside::kShared};

uint64_t ring_at(Agent& agent, size_t lane) { return agent.context().data + inside::rings_at(kLanes) + lane * kRing; }
const uint64_t* words_at(uint64_t address) { return reinterpret_cast<const uint64_t*>(address); }
AgentStep count(uint32_t number, std::vector<AgentKey> keys = {}) {
  return aggregation(number, SiteFunction::count, {}, std::move(keys));
}

class SiteEdges : public PlacedStubTest {};

TEST_F(SiteEdges, ARingIsFilledToItsEnd) {
  struct Case {
    uint64_t tail, head, head_behind;
  };
  constexpr Case kCases[] = {
      {0, kRing - kRecordBytes, kRing}, {0, kRing - 16, kRing - 16}, {32, kRing - 16, kRing + kRecordBytes},
      {32, kRing + 8, kRing + 32},      {24, kRing + 8, kRing + 8},  {16, kRing, kRing},
      {8, kRing - 8, kRing - 8}};
  for (const uint16_t armed : kWays) {
    Agent agent(armed);
    agent.place({firer({})});
    agent.fire({});
    uint64_t lost = 0;
    for (const auto& [tail, head, behind] : kCases) {
      agent.lane().tail = tail, agent.lane().head = head;
      agent.fire({});
      EXPECT_EQ(agent.lane().head, behind) << head;
      lost += head == behind ? 1 : 0;
      EXPECT_EQ(agent.lane().full, lost) << head;
    }
    const uint64_t next = ring_at(agent, agent.lane_number() + 1);
    for (uint64_t i = 0; i < kRecordBytes / 8; i++) EXPECT_EQ(words_at(next)[i], 0);
    EXPECT_EQ(words_at(next)[-2], 0);  // the ring is unused from there
  }
}

TEST_F(SiteEdges, ARecordHasItsTimeAndCpu) {
  cpu_set_t before, one;
  sched_getaffinity(0, sizeof before, &before);
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
    if (!CPU_ISSET(cpu, &before)) continue;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    for (const uint16_t armed : kWays) {
      Agent agent(armed);
      agent.place({firer({})});
      for (uint64_t i = 0; i < 3; i++) {
        const uint64_t begin = __rdtsc();
        agent.fire({});
        const uint64_t* words = words_at(ring_at(agent, agent.lane_number()) + i * kRecordBytes);
        EXPECT_EQ(words[0], 8);
        EXPECT_GE(words[1], begin);
        EXPECT_LE(words[1], __rdtsc());
        EXPECT_EQ(words[2], static_cast<uint64_t>(cpu) << 48 | 1);
      }
    }
  }
  sched_setaffinity(0, sizeof before, &before);
}

// As the program has left them.
TEST_F(SiteEdges, ARecordHasAnyVectorRegister) {
  constexpr uint64_t kFirst = 0x1122334455667700;
  std::array<inside::RecordStep, 16> steps;
  for (uint8_t n = 0; n < steps.size(); n++) steps[n] = {.kind = inside::RecordStep::Kind::xmm, .base = n, .at = 8U + 8U * n};
  const inside::RecordProgram program{steps.size(), 8 + 8 * steps.size(), 0, 0};
  AgentFirer made = firer({});
  made.program.resize(sizeof program + sizeof steps);
  std::memcpy(made.program.data(), &program, sizeof program);
  std::memcpy(made.program.data() + sizeof program, steps.data(), sizeof steps);
  Agent agent(inside::kAlone);
  agent.place({made});
  uint64_t value = kFirst;
  asm volatile(
      "sub $256, %%rsp\n"
      ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
      "movq %0, %%xmm\\n\n inc %0\n"
      ".endr\n"
      "call *%1; add $256, %%rsp"
      : "+r"(value)
      : "r"(agent.stub())
      : "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",
        "xmm13", "xmm14", "xmm15");
  const uint64_t* words = words_at(ring_at(agent, agent.lane_number()));
  for (uint64_t n = 0; n < steps.size(); n++) EXPECT_EQ(words[3 + n], kFirst + n);
}

// That of another thread than the first one, which dvm has not found, in a process that restricts its system calls.
TEST_F(SiteEdges, AStackThatMayNotBeReadIsCounted) {
  for (const std::vector<AgentKey>& keys : {std::vector<AgentKey>{stack(9, 0)},
                                            {stack(9, 0), integer(value_of(BuiltIn::arg0))},
                                            {integer(value_of(BuiltIn::arg0)), stack(9, -1)}})
    for (const SiteFunction function : {SiteFunction::count, SiteFunction::sum})
      for (const uint16_t armed : kWays) {
        Agent agent(armed);
        agent.place({firer({aggregation(1, function, value_of(BuiltIn::arg1), keys), count(2)}), firer({count(3)})});
        std::thread([&] {
          for (int i = 0; i < 4; i++) agent.fire({});
        }).join();
        EXPECT_EQ(agent.header().muted, 4);
        EXPECT_EQ(agent.count_of(2), 4);
        EXPECT_EQ(agent.count_of(3), 4);
        EXPECT_EQ(agent.first_arena().used, 0);
        EXPECT_EQ(agent.lane().turns, 8);
        EXPECT_EQ(agent.lane().head, 0);
      }
}

// dvm has found it. It ends at the thread pointer.
TEST_F(SiteEdges, AStackOfAnotherThreadIsReadWhereItLies) {
  for (const uint16_t armed : kWays) {
    Agent agent(armed);
    agent.place({firer({count(1, {stack(9, 0)})})});
    std::thread([&] {
      const uint64_t end = inside::thread_pointer();
      const auto here = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
      const inside::MemoryRange its{here - 65536, end};
      uint64_t chain[] = {0, 0x1111, 0, 0, 0, 0x2222};  // a frame without a return address is left out
      chain[0] = reinterpret_cast<uint64_t>(chain + 2), chain[2] = reinterpret_cast<uint64_t>(chain + 4);
      Registers whole{}, part{}, last{};
      whole.words[saved::rbp] = reinterpret_cast<uint64_t>(chain);
      part.words[saved::rbp] = reinterpret_cast<uint64_t>(chain + 4);
      last.words[saved::rbp] = end - 8;  // of which only the first word lies on the stack
      agent.fire(whole);
      EXPECT_EQ(agent.lane().asked_thread, end);
      EXPECT_EQ(agent.header().muted, 1);
      agent.lane().stack = its;
      for (const Registers& one : {whole, part, last, whole, part, last}) agent.fire(one);
      EXPECT_EQ(agent.header().muted, 1);
      for (const inside::MemoryRange& other : {inside::MemoryRange{here - 65536, end + 16}, {here + 8, end}, {0, 0}}) {
        agent.lane().stack = other;
        agent.fire(whole);
      }
      EXPECT_EQ(agent.header().muted, 4);
      agent.lane().stack = its;
      if (armed == inside::kAlone) agent.forbid_inside_code();
      for (const Registers& one : {whole, part, last, whole}) agent.fire(one);
    }).join();
    const auto* at = reinterpret_cast<const uint64_t*>(&agent.first_arena() + 1);
    const auto frames_and_count = [&] {
      const auto* entry = reinterpret_cast<const inside::ArenaEntry*>(at);
      at += sizeof *entry / sizeof *at + 3;  // the process, the probed address, the return address
      const std::vector<uint64_t> found(at, at + entry->key_words - 3 + 1);
      at += found.size();
      return found;
    };
    EXPECT_EQ(frames_and_count(), (std::vector<uint64_t>{0x1111, 0x2222, 0, 4}));
    EXPECT_EQ(frames_and_count(), (std::vector<uint64_t>{0x2222, 0, 3}));
    EXPECT_EQ(frames_and_count(), (std::vector<uint64_t>{0, 3}));
    EXPECT_EQ(reinterpret_cast<uint64_t>(at) - reinterpret_cast<uint64_t>(&agent.first_arena() + 1), agent.first_arena().used);
  }
}

// No memory may lie there.
TEST_F(SiteEdges, NothingIsReadBehindTheEndOfAStack) {
  uint64_t words[8];
  std::fill(std::begin(words), std::end(words), 0x4444);
  const auto end = reinterpret_cast<uint64_t>(words + 4);
  for (const int32_t return_at : {-1, 0, 1 << 30})
    for (const uint16_t armed : kWays) {
      Agent agent(armed);
      agent.end_stack_at(end);
      agent.place({firer({count(1, {stack(9, return_at)})})});
      const auto fire_all = [&] {
        for (const uint64_t pointer : {end - 16, end - 8, end, end - 15}) {
          Registers registers{};
          registers.words[saved::rbp] = pointer;
          agent.fire(registers);
        }
      };
      for (int i = 0; i < 2; i++) fire_all();
      if (armed == inside::kAlone && return_at <= 0) agent.forbid_inside_code();
      fire_all();
      EXPECT_EQ(agent.firings(), 12);
      const auto* entry = reinterpret_cast<const inside::ArenaEntry*>(&agent.first_arena() + 1);
      const auto* key = reinterpret_cast<const uint64_t*>(entry + 1);
      EXPECT_EQ(key[entry->key_words - 2], 0x4444);
      EXPECT_EQ(key[entry->key_words], 3);
      EXPECT_EQ(agent.first_arena().used, 2 * sizeof *entry + (2 * entry->key_words + 1) * sizeof(uint64_t));
    }
}

TEST_F(SiteEdges, StacksOfTwoClausesInOneBucketAreToldApart) {
  const uint64_t key[] = {static_cast<uint64_t>(getpid()), Agent::kAddress, 0};
  uint32_t other = 1;
  while (inside::first_bucket(other, key, 3) != inside::first_bucket(0, key, 3)) other++;
  for (const uint16_t armed : kWays) {
    Agent agent(armed);
    agent.place(
        {firer({count(0, {stack(1, -1)}), aggregation(other, SiteFunction::sum, value_of(BuiltIn::arg0), {stack(1, -1)})})});
    Registers registers{};
    registers.words[saved::rdi] = 10;
    for (int i = 0; i < 5; i++) agent.fire(registers);
    const auto* words = reinterpret_cast<const uint64_t*>(&agent.first_arena() + 1);
    constexpr size_t kState = sizeof(inside::ArenaEntry) / sizeof(uint64_t) + 3;
    EXPECT_EQ(words[kState], 5);
    EXPECT_EQ(words[2 * kState + 1], 50);
  }
}

// In pieces of 32 words. A frame may begin with the last one of a piece.
TEST_F(SiteEdges, AStackThatIsNotKnownIsCopied) {
  Agent agent(inside::kAlone);
  agent.page().muted = 0;
  agent.place({firer({count(1, {stack(4, -1)})})});
  std::thread([&] {
    uint64_t chain[200] = {};
    size_t at = 1;
    for (const size_t next : {4, 32, 190}) {
      chain[at] = reinterpret_cast<uint64_t>(chain + next), chain[at + 1] = at;
      at = next;
    }
    Registers registers{};
    registers.words[saved::rbp] = reinterpret_cast<uint64_t>(chain + 1);
    agent.fire(registers);
  }).join();
  const auto* entry = reinterpret_cast<const inside::ArenaEntry*>(&agent.first_arena() + 1);
  const auto* words = reinterpret_cast<const uint64_t*>(entry + 1);
  const std::vector<uint64_t> key(words, words + entry->key_words);
  EXPECT_EQ(key, (std::vector<uint64_t>{static_cast<uint64_t>(getpid()), Agent::kAddress, 1, 4, 32, 0}));
  EXPECT_EQ(agent.header().muted, 0);
}

TEST_F(SiteEdges, AStringOnTheStackIsReadAboveItsPointer) {
  alignas(8) const char text_here[32] = "on the stack";
  for (const uint16_t armed : kWays)
    for (const bool is_last : {false, true}) {
      Agent agent(armed);
      std::vector<AgentKey> keys = {text(value_of(BuiltIn::arg0))};
      keys.insert(is_last ? keys.begin() : keys.end(), integer(value_of(BuiltIn::arg1)));
      agent.place({firer({count(1, keys)})});
      Registers registers{};
      registers.words[saved::rdi] = reinterpret_cast<uint64_t>(text_here);
      for (int i = 0; i < 4; i++) agent.fire(registers);
      const auto* entry = reinterpret_cast<const inside::ArenaEntry*>(&agent.first_arena() + 1);
      ASSERT_EQ(entry->key_words, 3);
      EXPECT_EQ(reinterpret_cast<const uint64_t*>(entry + 1)[3], 4);
      EXPECT_EQ(agent.firings(), 4);  // no lane was taken a second time
      EXPECT_EQ(agent.lane().head, 0);
    }
}

// dvm and the process may write any bits there.
TEST_F(SiteEdges, TheSideIsTheLowestBit) {
  for (const uint16_t armed : kWays) {
    Agent agent(armed);
    agent.place({firer({count(1), count(2, {integer(value_of(BuiltIn::arg0))})})});
    agent.fire({});
    agent.lane().arena = 6;
    agent.fire({});
    EXPECT_EQ(agent.lane().counts[1][0], 2);
    agent.lane().arena = ~uint64_t{0};
    for (int i = 0; i < 3; i++) agent.fire({});
    EXPECT_EQ(agent.lane().counts[1][1], 3);
    const auto* second =
        reinterpret_cast<const inside::Arena*>(reinterpret_cast<uint64_t>(&agent.first_arena()) + inside::kArenaBytes);
    EXPECT_EQ(agent.first_arena().used, second->used);
    EXPECT_NE(second->used, 0);
  }
}

// Behind the call that knows whether the function was left.
TEST_F(SiteEdges, AReturnBehindAJumpHasItsValues) {
  for (const uint16_t armed : kWays) {
    Agent agent(armed);
    AgentFirer leaves = firer({});
    leaves.tail = inside::Tail::leaves, leaves.function = 7;
    agent.place({leaves});
    const uint64_t jump = agent.stub();
    AgentFirer returns = firer(
        {aggregation(1, SiteFunction::sum, masked(BuiltIn::arg1, 0xff),
                     {integer(masked(BuiltIn::arg0, 3)), integer(value_of(BuiltIn::tid)), integer(value_of(BuiltIn::arg2))})});
    returns.tail = inside::Tail::returns, returns.function = 7;
    agent.place({returns});
    Registers registers{};
    registers.words[saved::rdi] = 6, registers.words[saved::rsi] = 0x105, registers.words[saved::rdx] = 9;
    for (int i = 0; i < 3; i++)
      for (const uint64_t stub : {jump, agent.stub(), agent.stub()}) Agent::fire(stub, registers);
    const auto* entry = reinterpret_cast<const inside::ArenaEntry*>(&agent.first_arena() + 1);
    const auto* words = reinterpret_cast<const uint64_t*>(entry + 1);
    EXPECT_EQ(entry->key_words, 3);
    EXPECT_EQ(words[0], 2);
    EXPECT_EQ(words[1], agent.lane().owner);
    EXPECT_EQ(words[2], 9);
    EXPECT_EQ(words[3], 15);
  }
}

// A lane is only taken over once its thread is gone.
TEST_F(SiteEdges, ThreadsKeepTheirLanesWhileTheyLive) {
  for (const uint16_t armed : kWays) {
    Agent agent(armed);
    agent.page().muted = 0;
    agent.place({firer({count(1, {integer(value_of(BuiltIn::arg0))})})});
    std::latch over(1);
    std::vector<std::thread> threads;
    for (uint32_t i = 0; i < kLanes; i++) {
      std::latch fired(1);
      threads.emplace_back([&] { agent.fire({}), fired.count_down(), over.wait(); });
      fired.wait();
    }
    auto* tails = reinterpret_cast<inside::TailCalls*>(agent.context().tails);
    for (uint32_t i = 0; i < kLanes; i++) tails[i].count = 2;
    agent.fire({});
    EXPECT_EQ(agent.header().homeless, 1);
    EXPECT_NE(agent.header().searched, 0);  // so that the next firing does not search again
    EXPECT_EQ(agent.firings(), kLanes);
    over.count_down();
    for (std::thread& one : threads) one.join();
    agent.header().searched = 0, agent.page().muted = 1;  // the kernel cannot be asked
    agent.fire({});
    EXPECT_EQ(agent.header().homeless, 2);
    agent.page().muted = 0;
    for (uint32_t i = 0; i < kLanes; i++) agent.lanes()[i].turns++;  // as if they had ended in a firing
    agent.fire({});
    EXPECT_EQ(agent.header().homeless, 3);
    for (uint32_t i = 0; i < kLanes; i++) agent.lanes()[i].turns--;
    agent.header().searched = 0;
    agent.fire({});
    EXPECT_EQ(agent.firings(), kLanes + 1);
    uint64_t left = 0;
    for (uint32_t i = 0; i < kLanes; i++) left += tails[i].count;
    EXPECT_EQ(left, 2 * (kLanes - 1));
  }
}

// As it has none at its very end with some C libraries.
TEST_F(SiteEdges, AThreadWithoutANumberHasNoLane) {
  auto& number = *reinterpret_cast<volatile uint32_t*>(inside::thread_pointer() + kThreadOffset);
  for (const uint16_t armed : kWays) {
    Agent agent(armed);
    agent.place({firer({count(1)})});
    agent.fire({});
    const uint32_t before = number;
    number = 0;
    for (int i = 0; i < 2; i++) agent.fire({});
    number = before;
    EXPECT_EQ(agent.header().homeless, 2);
    uint64_t counted = 0;
    for (uint32_t i = 0; i < kLanes; i++) counted += agent.lanes()[i].counts[1][0];
    EXPECT_EQ(counted, 1);
  }
}

Agent* watched = nullptr;
uint64_t taken_steps = 0, steps_unguarded = 0;

void check_frame(int) {
  if (watched->lane().turns % 2 == 0) return;
  const uint64_t frame = watched->lane().frame;
  taken_steps++;
  steps_unguarded += frame == 0 || words_at(frame)[inside::kGuardWord] != inside::kGuard ? 1 : 0;
}

// As long as a lane is taken, it says by which firing.
TEST_F(SiteEdges, ATakenLaneHasTheFrameOfItsFiring) {
  Agent agent(inside::kAlone);
  agent.place({firer({count(1, {integer(value_of(BuiltIn::arg0))})})});
  agent.fire({});
  struct sigaction check {
  }, before{};
  check.sa_handler = check_frame;
  sigaction(SIGTRAP, &check, &before);
  for (const bool by_code : {true, false}) {
    watched = &agent, taken_steps = steps_unguarded = 0;
    if (!by_code) agent.page().muted = 0, agent.lane().arena = 1;  // the entry is made by agent_enter's functions
    asm volatile(
        "sub $256, %%rsp; pushfq; orq $0x100, (%%rsp); popfq\n"
        "call *%0\n"
        "pushfq; andq $~0x100, (%%rsp); popfq; add $256, %%rsp"
        :
        : "r"(agent.stub())
        : "memory", "cc");
    EXPECT_GT(taken_steps, 20);
    EXPECT_EQ(steps_unguarded, 0);
    EXPECT_EQ(agent.lane().turns % 2, 0);
    EXPECT_EQ(agent.lane().frame, 0);
  }
  sigaction(SIGTRAP, &before, nullptr);
}

}  // namespace
}  // namespace dvm::runtime
