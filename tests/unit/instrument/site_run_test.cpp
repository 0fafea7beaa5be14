// Aggregations, keys, variables and lanes of firings that the code of a stub takes.

#include "site_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <thread>

namespace dvm::runtime {
namespace {

TEST_F(SiteRun, AggregatesByEachFunction) {
  for (uint32_t function = 0; function < inside::kUpdateFunctions; function++) {
    const auto its = static_cast<SiteFunction>(function);
    compare({firer({aggregation(3, its, value_of(BuiltIn::arg1))})});
    compare({firer({aggregation(3, its, value_of(BuiltIn::arg1), {integer(masked(BuiltIn::arg0, 7))})})});
  }
}

TEST_F(SiteRun, QuantizesValuesOfAllSizes) {
  const auto of_any_size = [&](Registers& registers) {
    constexpr uint64_t kEdges[] = {0, 1, 2, 3, ~uint64_t{0}, uint64_t{1} << 63, (uint64_t{1} << 63) - 1};
    uint64_t& value = registers.words[saved::rsi];
    value = random_() % 3 == 0 ? kEdges[random_() % std::size(kEdges)] : random_() >> random_() % 64;
    if (random_() % 3 == 0) value = 0 - value;
    registers.words[saved::rdx] = reinterpret_cast<uint64_t>(Agent::kText);
    registers.flags &= ~kAlignmentCheck;
  };
  const MachineCode value = value_of(BuiltIn::arg1);
  compare({firer({aggregation(1, SiteFunction::quantize, value)})}, 2000, of_any_size);
  for (const AgentKey& key : {integer(masked(BuiltIn::arg0, 3)), text(value_of(BuiltIn::arg2))})
    compare({firer({aggregation(1, SiteFunction::quantize, value, {key}), aggregation(2, SiteFunction::sum, value)})}, 2000,
            of_any_size);
}

// A value is read where its register lies, unless the code of the site changes that: also for a predicate before it.
TEST_F(SiteRun, ReadsAnyRegister) {
  const auto value_in = [](uint8_t word, std::vector<Instruction> behind) {
    SiteShape shape = SiteKind::inside;
    shape.args[0] = {.kind = Operand::Kind::saved, .base = word};
    behind.insert(behind.begin(), load(BuiltIn::arg0, 1));
    return make_value_code({behind, {7, 1}, "", {}, kWord}, kWord, {shape, {}, 1}).code;
  };
  const auto set = [](unsigned index, unsigned rd) { return Instruction::indexed(Opcode::setx, index, rd); };
  const auto is_seven = [&](uint8_t word) {
    return value_in(word, {set(0, 2), op(Opcode::cmp, 1, 2, 0), set(1, 3), Instruction::branch(Opcode::be, 6),
                           op(Opcode::mov, 0, 0, 3), op(Opcode::ret, 0, 0, 3)});
  };
  EXPECT_NE(is_seven(saved::rdi).truth.condition, 0);
  constexpr uint8_t kR12 = 3;
  constexpr uint8_t kWords[] = {kR12, saved::rax, saved::rcx, saved::rdx, saved::rsi, saved::rdi, saved::rbp, saved::rsp};
  for (const uint8_t gate : std::span(kWords).first(6))
    for (const uint8_t word : kWords) {
      const auto sometimes = [&](Registers& registers) {
        if (random_() % 2 == 0) registers.words[gate] = 7;
      };
      const MachineCode value = value_in(word, {op(Opcode::ret, 0, 0, 1)});
      const AgentStep sum = aggregation(1, SiteFunction::sum, value), least = aggregation(2, SiteFunction::min, value);
      const AgentStep by_key =
          aggregation(3, SiteFunction::sum, value_in(word, {set(0, 2), op(Opcode::and_, 1, 2, 3), op(Opcode::ret, 0, 0, 3)}),
                      {integer(value_in(gate, {set(0, 4), op(Opcode::and_, 1, 4, 1), op(Opcode::ret, 0, 0, 1)}))});
      compare({firer({step(Kind::predicate, is_seven(gate), 1), sum})}, 20, sometimes, true);
      compare({firer({sum, step(Kind::predicate, is_seven(gate), 2), by_key, sum}), firer({least, by_key})}, 20, sometimes);
    }
}

// arg0 and the constant, by the branch.
MachineCode comparison(uint8_t word, Opcode branch, int64_t constant) {
  const auto set = [](unsigned index, unsigned rd) { return Instruction::indexed(Opcode::setx, index, rd); };
  SiteShape shape = SiteKind::inside;
  shape.args[0] = {.kind = Operand::Kind::saved, .base = word};
  const std::vector<Instruction> text = {load(BuiltIn::arg0, 1),         set(0, 2),
                                         op(Opcode::cmp, 1, 2, 0),       set(1, 3),
                                         Instruction::branch(branch, 6), op(Opcode::mov, 0, 0, 3),
                                         op(Opcode::ret, 0, 0, 3)};
  return make_value_code({text, {static_cast<uint64_t>(constant), 1}, "", {}, kWord}, kWord, {shape, {}, 1}).code;
}

// Without a frame. Behind it, the code of the site counts, or agent_enter makes a record.
TEST_F(SiteRun, ComparesARegisterBeforeAnythingElse) {
  constexpr std::pair<Opcode, bool (*)(int64_t, int64_t)> kBranches[] = {
      {Opcode::be, [](int64_t a, int64_t b) { return a == b; }},
      {Opcode::bne, [](int64_t a, int64_t b) { return a != b; }},
      {Opcode::bl, [](int64_t a, int64_t b) { return a < b; }},
      {Opcode::bgeu, [](int64_t a, int64_t b) { return static_cast<uint64_t>(a) >= static_cast<uint64_t>(b); }},
  };
  for (const auto& [branch, holds] : kBranches)
    for (const uint8_t word : {saved::rax, saved::rdi, saved::r9, saved::rbx})
      for (const int64_t constant : {int64_t{7}, int64_t{-1000}, int64_t{INT32_MIN}, int64_t{1} << 31}) {
        const MachineCode gate = comparison(word, branch, constant);
        EXPECT_EQ(gate.truth.is_all, constant == static_cast<int32_t>(constant));
        AgentFirer counts = firer({step(Kind::predicate, gate, 1), aggregation(1, SiteFunction::count, {})});
        AgentFirer records = firer({step(Kind::predicate, gate, 1), step(Kind::record)});
        records.larger_program = records.program;
        for (const AgentFirer& made : {counts, records}) {
          Agent agent(inside::kAlone);
          agent.keeps_flags = false;
          agent.place({made});
          uint64_t expected = 0;
          for (int i = 0; i < 20; i++) {
            Registers registers = some_registers(random_);
            if (i % 3 != 0) registers.words[word] = static_cast<uint64_t>(constant + i % 5 - 1);
            const auto words = registers.words;
            expected += holds(static_cast<int64_t>(words[word]), constant);
            load_and_call(reinterpret_cast<void*>(agent.stub()), registers.words.data());
            EXPECT_EQ(registers.words, words);
          }
          EXPECT_EQ(agent.count_of(1) + agent.lane().head / 24, expected);
        }
      }
}

// A function that was left by a jump returns once, at the `ret` that has its return address at hand.
TEST_F(SiteRun, FiresForAFunctionThatWasLeft) {
  constexpr uint64_t kOne = 0x1000, kOther = 0x2000;
  const auto tail = [](inside::Tail what, uint64_t function, std::vector<AgentStep> steps = {}) {
    AgentFirer made = firer(std::move(steps));
    made.tail = what, made.function = function;
    return made;
  };
  const auto count = [](uint32_t number) { return aggregation(number, SiteFunction::count, {}); };
  for (const uint16_t armed : {inside::kAlone, inside::kShared}) {
    Agent agent(armed);
    const auto place = [&](std::vector<AgentFirer> firers) { return agent.place(std::move(firers)), agent.stub(); };
    const uint64_t one_leaves = place({tail(inside::Tail::leaves, kOne)}),
                   other_leaves = place({tail(inside::Tail::leaves, kOther)});
    const uint64_t returns =
        place({tail(inside::Tail::returns, kOne, {count(0)}), tail(inside::Tail::returns, kOther, {count(1)})});
    const auto fire = [&](std::vector<uint64_t> stubs) {
      for (const uint64_t stub : stubs) Agent::fire(stub, some_registers(random_));
    };
    fire({returns, one_leaves, one_leaves});
    EXPECT_EQ(agent.tails().count, 1);
    fire({returns, returns});
    EXPECT_EQ(agent.count_of(0), 1);
    EXPECT_EQ(agent.count_of(1), 0);
    fire({one_leaves, one_leaves, other_leaves, returns, returns});
    EXPECT_EQ(agent.count_of(0), 2);
    EXPECT_EQ(agent.count_of(1), 1);
    fire({other_leaves});
    agent.tails().calls[0].return_address++;  // another call has the place
    fire({returns});
    EXPECT_EQ(agent.count_of(1), 1);
    agent.tails().count = ~uint64_t{0};  // the process may write anything
    fire({one_leaves, returns});
    EXPECT_LE(agent.tails().count, inside::kMostTailCalls);
    EXPECT_EQ(agent.count_of(0), 3);
  }
}

// Threads that come one after another: more than there are lanes, which dvm does not free meanwhile.
TEST_F(SiteRun, TakesLanesOverFromThreadsThatAreGone) {
  for (const uint16_t armed : {inside::kAlone, inside::kShared}) {
    Agent agent(armed);
    agent.page().muted = 0;
    AgentFirer counts = firer({step(Kind::evaluate, adds_to(dif::Scope::thread)),
                               aggregation(0, SiteFunction::max, code_of({load(BuiltIn::arg1, 1), op(Opcode::ret, 0, 0, 1)}))});
    counts.has_variables = 1;
    agent.place({counts});
    const auto fire = [&] {
      std::mt19937_64 random(3);
      Registers registers = some_registers(random);
      registers.words[saved::rsi] = 1;
      agent.fire(registers);
    };
    for (int i = 0; i < 50; i++) std::thread([&] { fire(), fire(); }).join();
    EXPECT_EQ(agent.header().homeless, 0);
    EXPECT_EQ(agent.firings(), 100);
    const std::vector<std::byte> variables = agent.variables();
    EXPECT_EQ(std::count(variables.begin(), variables.end(), std::byte{2}), kLanes);  // each thread has begun with 0
    agent.lanes()[0].retiring = 1;
    for (uint32_t i = 0; i < kLanes; i++) agent.lanes()[i].retiring = 1;
    std::thread(fire).join();
    EXPECT_EQ(agent.header().homeless, 1);  // dvm is at it
  }
}

// The one that was noted of the deepest call makes room, and counts as lost.
TEST_F(SiteRun, NotesNoMoreFunctionsThanHaveRoom) {
  for (const uint16_t armed : {inside::kAlone, inside::kShared}) {
    Agent agent(armed);
    AgentFirer leaves = firer({});
    leaves.tail = inside::Tail::leaves, leaves.function = 1;
    agent.place({leaves});
    agent.fire(some_registers(random_));
    inside::TailCalls& tails = agent.tails();
    tails.count = inside::kMostTailCalls;
    for (uint64_t i = 0; i < inside::kMostTailCalls; i++) tails.calls[i] = {2, 1000 - i, 3};
    agent.fire(some_registers(random_));
    EXPECT_EQ(agent.lane().full, 1);
    EXPECT_EQ(tails.count, inside::kMostTailCalls);
    EXPECT_EQ(tails.calls[inside::kMostTailCalls - 1].function, 1);
    EXPECT_EQ(tails.calls[0].stack_pointer, 1000);
  }
}

// Their states are large, and their code is no function of its own.
TEST_F(SiteRun, AggregatesByFunctionsOfAShape) {
  const auto shaped = [](SiteFunction function, std::array<int64_t, 4> parameters, uint32_t words, std::vector<AgentKey> keys) {
    AgentStep made = aggregation(3, function, masked(BuiltIn::arg1, 1023), std::move(keys));
    made.aggregation.clause.words = words;
    made.aggregation.clause.shape.words = words;
    std::copy(parameters.begin(), parameters.end(), made.aggregation.clause.shape.parameters);
    return made;
  };
  for (const bool has_key : {false, true}) {
    const auto keys = has_key ? std::vector<AgentKey>{integer(masked(BuiltIn::arg0, 7))} : std::vector<AgentKey>{};
    compare({firer({shaped(SiteFunction::lquantize, {100, 900, 50, 0}, 18, keys)})});
    compare({firer({shaped(SiteFunction::llquantize, {10, 0, 3, 10}, 57, keys)})});
    compare({firer({shaped(SiteFunction::stddev, {}, 4, keys)})});
  }
}

// By code of the stub alone, once the entry is there.
TEST_F(SiteRun, FindsWarmKeysByItself) {
  const std::vector<AgentKey> all(5, integer(value_of(BuiltIn::arg1)));
  for (size_t count = 0; count <= all.size(); count++)
    for (const SiteFunction function : {SiteFunction::count, SiteFunction::sum}) {
      Agent agent(inside::kAlone);
      agent.place(
          {firer({aggregation(3, function, value_of(BuiltIn::arg0), {all.begin(), all.begin() + static_cast<int>(count)})})});
      Registers registers = some_registers(random_);
      for (int i = 0; i < 2; i++) agent.fire(registers);
      agent.forbid_inside_code();
      for (int i = 0; i < 5; i++) agent.fire(registers);
      const bool is_plain = count == 0 && function == SiteFunction::count;
      EXPECT_EQ(is_plain ? agent.count_of(3) * 2 : agent.lane().turns, 14);
    }
}

// Two clauses whose entries want the same bucket.
TEST_F(SiteRun, TellsClausesOfOneBucketApart) {
  for (const bool has_key : {false, true}) {
    const std::vector<AgentKey> keys(has_key, integer(value_of(BuiltIn::pid)));
    const auto pid = static_cast<uint64_t>(1);  // as the code of a value here has it
    const auto bucket = [&](uint32_t clause) { return inside::first_bucket(clause, &pid, has_key); };
    uint32_t other = 1;
    while (bucket(other) != bucket(0)) other++;
    compare({firer({aggregation(0, SiteFunction::count, {}, keys),
                    aggregation(other, SiteFunction::sum, value_of(BuiltIn::arg0), keys)})},
            100);
  }
}

TEST_F(SiteRun, MakesKeysOfSeveralWords) {
  compare({firer(
      {aggregation(0, SiteFunction::sum, value_of(BuiltIn::arg2),
                   {integer(masked(BuiltIn::arg0, 3)), integer(value_of(BuiltIn::tid)), integer(masked(BuiltIn::arg5, 1))})})});
}

TEST_F(SiteRun, LeavesWhatHasNoRoomToTheRing) {
  compare({firer({aggregation(0, SiteFunction::quantize, value_of(BuiltIn::arg1), {integer(value_of(BuiltIn::arg1))})})}, 1000);
  compare({firer({aggregation(0, SiteFunction::count, {}, {integer(value_of(BuiltIn::arg1))}),
                  aggregation(1, SiteFunction::min, value_of(BuiltIn::arg1))})},
          5000);
}

TEST_F(SiteRun, RunsSeveralClausesOfSeveralProbes) {
  const auto gated = [](uint32_t number, uint64_t mask) {
    return std::vector<AgentStep>{step(Kind::predicate, masked(BuiltIn::arg0, mask), 1),
                                  aggregation(number, SiteFunction::count, {})};
  };
  std::vector<AgentStep> two = gated(0, 1), three = gated(1, 4);
  two.insert(two.end(), three.begin(), three.end());
  compare({firer(gated(0, 1))});
  compare({firer(two), firer(gated(2, 16))});
  two.push_back(aggregation(5, SiteFunction::max, value_of(BuiltIn::arg3)));
  compare({firer(two), firer(gated(2, 16)), firer({aggregation(6, SiteFunction::avg, value_of(BuiltIn::arg4))})});
}

TEST_F(SiteRun, KeepsVariables) {
  for (const dif::Scope scope : {dif::Scope::thread, dif::Scope::clause}) {
    AgentFirer made = firer({step(Kind::evaluate, adds_to(scope)), aggregation(1, SiteFunction::sum, adds_to(scope)),
                             step(Kind::predicate, masked(BuiltIn::arg0, 1), 1), step(Kind::evaluate, adds_to(scope)),
                             aggregation(2, SiteFunction::max, adds_to(scope))});
    made.locals = 1, made.has_variables = 1;
    compare({made, made});
  }
}

// Frames on the stack: some lead up, others nowhere.
TEST_F(SiteRun, FollowsFramePointers) {
  uint64_t chain[40] = {};
  for (uint64_t& word : chain) word = random_() % 3 != 0 ? reinterpret_cast<uint64_t>(chain + random_() % 40) : random_();
  const auto somewhere = [&](Registers& registers) {
    registers.words[saved::rbp] = reinterpret_cast<uint64_t>(chain) + random_() % (sizeof chain + 16);
    if (random_() % 8 == 0) registers.words[saved::rbp] = random_();
  };
  for (const uint32_t most : {1U, 2U, 3U, 100U})
    for (const int32_t return_at : {-1, 0}) {
      compare({firer({aggregation(1, SiteFunction::count, {}, {stack(most, return_at)})})}, 500, somewhere);
      compare({firer({aggregation(1, SiteFunction::count, {}, {integer(masked(BuiltIn::arg0, 1)), stack(most, return_at)}),
                      aggregation(2, SiteFunction::max, value_of(BuiltIn::arg1), {stack(most, return_at)})})},
              500, somewhere);
    }
}

TEST_F(SiteRun, FindsStacksByItself) {
  uint64_t chain[] = {0, 0x1111, 0, 0x2222, 0, 0x3333};
  chain[0] = reinterpret_cast<uint64_t>(chain + 2), chain[2] = reinterpret_cast<uint64_t>(chain + 4);
  for (const uint32_t most : {1U, 2U, 3U, 100U})
    for (const bool has_integer : {false, true}) {
      Agent agent(inside::kAlone);
      std::vector<AgentKey> keys(has_integer, integer(value_of(BuiltIn::arg0)));
      keys.push_back(stack(most, 0));
      agent.place({firer({aggregation(1, SiteFunction::count, {}, keys)})});
      Registers registers = some_registers(random_);
      registers.words[saved::rbp] = reinterpret_cast<uint64_t>(chain);
      for (int i = 0; i < 7; i++) {
        if (i == 2) agent.forbid_inside_code();
        agent.fire(registers);
      }
      EXPECT_EQ(agent.firings(), 7);
    }
}

// By the words of the key of the only entry: the process, program counters, 0.
TEST_F(SiteRun, FindsTheFramesOfAChain) {
  uint64_t chain[] = {0, 0, 0x1111, 0, 0, 0, 0x2222, 0, 0x3333};
  chain[1] = reinterpret_cast<uint64_t>(chain + 5), chain[5] = reinterpret_cast<uint64_t>(chain + 7);
  const auto frames_of = [&](uint64_t pointer, uint32_t most) {
    Agent agent(inside::kAlone);
    agent.place({firer({aggregation(1, SiteFunction::count, {}, {stack(most, -1)})})});
    Registers registers;
    registers.words[saved::rbp] = pointer;
    for (int i = 0; i < 2; i++) agent.fire(registers);
    const std::vector<std::byte> arena = agent.arena();
    const std::byte* at = arena.data();
    while (reinterpret_cast<const inside::Arena*>(at)->used == 0) at += inside::kArenaBytes;
    const auto* entry = reinterpret_cast<const inside::ArenaEntry*>(at + sizeof(inside::Arena));
    const auto* words = reinterpret_cast<const uint64_t*>(entry + 1);
    EXPECT_EQ(words[entry->key_words], 2);
    return std::vector<uint64_t>(words + 2, words + entry->key_words);
  };
  const auto at = [&](size_t word) { return reinterpret_cast<uint64_t>(chain + word); };
  EXPECT_EQ(frames_of(at(1), 10), (std::vector<uint64_t>{0x1111, 0x2222, 0x3333, 0}));
  EXPECT_EQ(frames_of(at(1), 3), (std::vector<uint64_t>{0x1111, 0x2222, 0}));
  EXPECT_EQ(frames_of(at(1) + 1, 10), (std::vector<uint64_t>{0}));
  chain[5] = at(5);  // leads to itself
  EXPECT_EQ(frames_of(at(1), 10), (std::vector<uint64_t>{0x1111, 0x2222, 0}));
  chain[5] = at(1);
  EXPECT_EQ(frames_of(at(1), 10), (std::vector<uint64_t>{0x1111, 0x2222, 0}));
  chain[5] = 0x7fffffff0000;  // behind the end of the stack
  EXPECT_EQ(frames_of(at(1), 10), (std::vector<uint64_t>{0x1111, 0x2222, 0}));
}

// Those that the probed code overwrites may change, and no others.
TEST_F(SiteRun, KeepsFlagsWhereTheyMayBeRead) {
  constexpr uint64_t kOverwritten = 0x1 | 0x4 | 0x10 | 0x40 | 0x80 | 0x800;  // CF PF AF ZF SF OF
  Agent agent(inside::kAlone);
  agent.keeps_flags = false;
  agent.place({firer({step(Kind::predicate, masked(BuiltIn::arg0, 1), 1), aggregation(1, SiteFunction::count, {})})});
  bool are_changed = false;
  for (int i = 0; i < 100; i++) {
    const Registers given = some_registers(random_);
    Registers registers = given;
    load_and_call(reinterpret_cast<void*>(agent.stub()), registers.words.data());
    are_changed |= registers.flags != given.flags;
    registers.flags ^= (registers.flags ^ given.flags) & kOverwritten;
    EXPECT_EQ(registers, given);
  }
  EXPECT_TRUE(are_changed);
}

// Whoever has it, also if that firing never ends. dvm may send the thread to its other arena.
TEST_F(SiteRun, CountsWithoutTheLane) {
  for (const bool has_predicate : {false, true}) {
    Agent agent(inside::kAlone);
    std::vector<AgentStep> steps = {aggregation(1, SiteFunction::count, {})};
    if (has_predicate) steps.insert(steps.begin(), step(Kind::predicate, masked(BuiltIn::arg0, 1), 1));
    agent.place({firer(steps)});
    Registers registers = some_registers(random_);
    registers.words[saved::rdi] = 1;
    agent.fire(registers);
    agent.forbid_inside_code();
    EXPECT_EQ(agent.lane().turns, 2);
    agent.lane().turns = 5;
    agent.fire(registers);
    agent.lane().arena ^= 1;
    for (int i = 0; i < 3; i++) agent.fire(registers);
    EXPECT_EQ(agent.lane().counts[1][0], 2);
    EXPECT_EQ(agent.lane().counts[1][1], 3);
    EXPECT_EQ(agent.lane().turns, 5);
    EXPECT_EQ(agent.lane().nested, 0);
  }
}

TEST_F(SiteRun, IsNestedWhileTheLaneIsTaken) {
  Agent agent(inside::kAlone);
  agent.place({firer({aggregation(1, SiteFunction::sum, value_of(BuiltIn::pid))})});
  agent.fire({});
  agent.fire({});
  agent.lane().turns++;
  const auto before = agent.arena();
  agent.fire({});
  EXPECT_TRUE(agent.arena() == before);
  EXPECT_EQ(agent.lane().nested, 1);
  EXPECT_EQ(agent.lane().turns, 5);
  agent.lane().turns++;
  agent.page().armed = inside::kDisarmed;
  agent.fire({});
  EXPECT_TRUE(agent.arena() == before);
}

// A firing that has taken the lane was interrupted by a handler that was left by siglongjmp().
TEST_F(SiteRun, TakesTheLaneFromAFiringThatHasEnded) {
  constexpr uint64_t kFar = 64 * 1024, kNear = 1024;
  Agent agent(inside::kAlone);
  agent.place({firer({aggregation(1, SiteFunction::sum, value_of(BuiltIn::pid))})});
  agent.fire({});
  alignas(8) volatile uint64_t saved[inside::kSavedWords]{};
  const auto here = reinterpret_cast<uint64_t>(saved);
  uint64_t counted = 1, lost = 0;
  const auto fire = [&](uint64_t distance, uint64_t guard, bool has_ended) {
    SCOPED_TRACE(distance);
    saved[inside::kGuardWord] = guard;
    inside::Lane& lane = agent.lane();
    lane.turns |= 1;
    lane.frame = here + distance;
    agent.fire({});
    counted += has_ended ? 1 : 0;
    lost++;
    EXPECT_EQ(agent.state_of_entry(), counted);
    EXPECT_EQ(agent.lane().nested, lost);
    EXPECT_EQ(agent.lane().turns % 2, has_ended ? 0 : 1);
    EXPECT_EQ(agent.lane().frame == 0, has_ended || distance == 0 - here);
  };
  fire(0, inside::kGuard, false);
  fire(0, 1, true);
  fire(0 - here, 1, false);  // not known
  fire(4, 1, false);         // no frame
  fire(0 - kFar, 1, false);  // it may not be read
  uint8_t here_too = 0;
  fire(reinterpret_cast<uint64_t>(&here_too) / 8 * 8 - kNear - here, 1, true);  // where the firing has its own frame
}

}  // namespace
}  // namespace dvm::runtime
