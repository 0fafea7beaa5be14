// Firings of a stub in this process: those that its own code takes leave what agent_enter leaves of the same firings, and keep
// all registers, the flags and the 128 bytes below the stack pointer.

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>

#include "dvm/dif/variable.h"
#include "load_and_call.h"
#include "runtime/agent/inside/aggregate.h"
#include "runtime/agent/inside_code.h"
#include "runtime/agent/stub.h"
#include "runtime/instrument/agent/clause_code.h"

namespace dvm::runtime {
namespace {

using dif::BuiltIn, dif::Instruction, dif::Opcode;
using inside::SiteFunction;
using Kind = inside::ClauseStep::Kind;

constexpr uint32_t kLanes = 4, kRing = 64 * 1024, kThreadOffset = 0x2d0;  // of glibc
constexpr uint64_t kAlignmentCheck = 0x40000;
const dif::DataType kWord{dif::TypeKind::integer, true, false, 8, "int64_t"};

Instruction load(BuiltIn variable, unsigned rd) {
  return Instruction::indexed(Opcode::ldgs, static_cast<unsigned>(variable), rd);
}
Instruction op(Opcode opcode, unsigned r1, unsigned r2, unsigned rd) { return Instruction::registers(opcode, r1, r2, rd); }

MachineCode code_of(const std::vector<Instruction>& text, uint64_t constant = 0) {
  dif::Difo difo{text, {constant}, "", {}, kWord};
  for (const dif::Scope scope : {dif::Scope::thread, dif::Scope::clause})
    difo.variables.push_back(
        {"x", static_cast<uint16_t>(dif::kFirstUserVariable), scope, dif::VariableKind::scalar, true, true, kWord});
  return make_value_code(difo, kWord, {SiteKind::entry, {}, 1}).code;
}
MachineCode value_of(BuiltIn variable) { return code_of({load(variable, 1), op(Opcode::ret, 0, 0, 1)}); }
MachineCode masked(BuiltIn variable, uint64_t mask) {
  return code_of(
      {load(variable, 1), Instruction::indexed(Opcode::setx, 0, 2), op(Opcode::and_, 1, 2, 3), op(Opcode::ret, 0, 0, 3)}, mask);
}
// Adds arg1 to the variable, and returns it.
MachineCode adds_to(dif::Scope scope) {
  const bool is_local = scope == dif::Scope::clause;
  const unsigned id = dif::kFirstUserVariable;
  return code_of({Instruction::indexed(is_local ? Opcode::ldls : Opcode::ldts, id, 1), load(BuiltIn::arg1, 2),
                  op(Opcode::add, 1, 2, 3), Instruction::indexed(is_local ? Opcode::stls : Opcode::stts, id, 3),
                  op(Opcode::ret, 0, 0, 3)});
}

AgentStep step(Kind kind, MachineCode code = {}, uint32_t skip = 0) { return {{kind, skip, 0}, std::move(code)}; }
AgentStep aggregation(uint32_t number, SiteFunction function, MachineCode value, std::vector<AgentKey> keys = {}) {
  AgentStep made = step(Kind::aggregate);
  inside::SiteClause& clause = made.aggregation.clause;
  clause.clause = number;
  clause.function = static_cast<uint32_t>(function);
  clause.words = function == SiteFunction::quantize ? 127 : function == SiteFunction::avg ? 2 : 1;
  clause.key_count = static_cast<uint32_t>(keys.size());
  made.aggregation.value = std::move(value);
  made.aggregation.keys = std::move(keys);
  return made;
}
AgentKey integer(MachineCode code) { return {{0, inside::KeyKind::integer, 0}, std::move(code)}; }
AgentKey stack(uint32_t most, int32_t return_at) { return {{0, inside::KeyKind::stack, most, return_at}, {}}; }
AgentKey text(MachineCode address) { return {{0, inside::KeyKind::string, 20}, std::move(address)}; }
AgentFirer firer(std::vector<AgentStep> steps) {
  AgentFirer made;
  made.cookie = 1;
  const inside::Program program{0, 8, 0, 0};
  made.program.resize(sizeof program);
  std::memcpy(made.program.data(), &program, sizeof program);
  made.steps = std::move(steps);
  return made;
}

// Code, lanes and an armed page as dvm maps them.
class Agent {
 public:
  explicit Agent(uint64_t armed) {
    page_.armed = armed, page_.pid = static_cast<uint64_t>(getpid()), page_.variables = inside::VariablesIn::thread;
    page_.muted = 1;
    context_.armed = reinterpret_cast<uint64_t>(&page_);
    context_.data = reinterpret_cast<uint64_t>(data_);
    context_.variables = context_.data + inside::variables_at(kLanes, kRing);
    context_.pid = getpid(), context_.thread_offset = kThreadOffset, context_.lanes = kLanes, context_.ring_bytes = kRing;
    code_at_ = add(std::as_bytes(inside_code()));
    lasting_ = {stack_of_thread(), 1};
    range_ = {reinterpret_cast<uint64_t>(kText), reinterpret_cast<uint64_t>(kText) + sizeof kText};
    std::byte lasting[sizeof lasting_ + sizeof range_];
    std::memcpy(lasting, &lasting_, sizeof lasting_);
    std::memcpy(lasting + sizeof lasting_, &range_, sizeof range_);
    context_.lasting = add(lasting);
  }
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;
  ~Agent() {
    munmap(memory_, kBytes);
    munmap(data_, kDataBytes);
  }

  void place(std::vector<AgentFirer> firers) {
    std::vector<std::byte> site = bytes_of(inside::Site{context_, kAddress, kAddress, static_cast<uint32_t>(firers.size())});
    for (AgentFirer& one : firers) {
      std::vector<std::byte> steps;
      for (AgentStep& step : one.steps) place(step), append(steps, bytes_of(step.step));
      append(site, bytes_of(inside::Firer{one.cookie, add(one.program), 0, 0, steps.empty() ? 0 : add(steps),
                                          static_cast<uint32_t>(one.steps.size()), one.locals, one.has_variables}));
    }
    const uint64_t site_at = add(site), context_at = add(bytes_of(context_));
    inside::CodeEntries entries;
    std::memcpy(&entries, inside_code().data(), sizeof entries);
    const SitePlace where{kAddress, context_, context_at, code_at_, entries};
    const std::vector<unsigned char> window = {0x90, 0x90, 0x90, 0x90, 0xc3};
    add({});
    Stub stub = make_stub({window, kAddress, 0, here(), site_at, code_at_ + entries.enter, firers, where});
    EXPECT_EQ(stub.refusal, "");
    stub_ = add(std::as_bytes(std::span(stub.bytes)));
  }
  void fire(const Registers& given) {
    Registers registers = given;
    load_and_call(reinterpret_cast<void*>(stub_), registers.words.data());
    EXPECT_EQ(registers, given);
  }

  inside::Lane& lane() {
    auto* lanes = reinterpret_cast<inside::Lane*>(data_ + sizeof(inside::DataHeader));
    return *std::find_if(lanes, lanes + kLanes, [](const inside::Lane& one) { return one.owner != 0; });
  }
  std::vector<std::byte> arena() const {
    const std::byte* begin = data_ + inside::arenas_at(kLanes, kRing);
    return {begin, begin + kLanes * 2 * uint64_t{inside::kArenaBytes}};
  }
  std::vector<std::byte> variables() const { return {data_ + inside::variables_at(kLanes, kRing), data_ + kDataBytes}; }
  // The ring of its lane, without times and CPUs.
  std::vector<uint64_t> ring() {
    const auto number = static_cast<size_t>(&lane() - reinterpret_cast<inside::Lane*>(data_ + sizeof(inside::DataHeader)));
    std::vector<uint64_t> words(kRing / sizeof(uint64_t));
    std::memcpy(words.data(), data_ + sizeof(inside::DataHeader) + kLanes * sizeof(inside::Lane) + number * kRing, kRing);
    for (size_t i = 0; i + 2 < words.size() && words[i] != 0; i += 2 + (words[i] + 7) / sizeof(uint64_t)) {
      EXPECT_NE(words[i + 1], 0);
      words[i + 1] = 0, words[i + 2] &= (uint64_t{1} << 48) - 1;
    }
    return words;
  }
  inside::ArmedPage& page() { return page_; }
  const inside::Context& context() const { return context_; }

  static constexpr char kText[] = "a text of some length\0another one\0 short";

 private:
  static constexpr size_t kBytes = 1 << 18;
  static constexpr uint64_t kAddress = 0x555555;
  static constexpr size_t kDataBytes = inside::variables_at(kLanes, kRing) + kLanes * sizeof(inside::ThreadVariables);

  static inside::MemoryRange stack_of_thread() {
    pthread_attr_t attributes;
    void* begin = nullptr;
    size_t bytes = 0;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &begin, &bytes);
    pthread_attr_destroy(&attributes);
    return {reinterpret_cast<uint64_t>(begin), reinterpret_cast<uint64_t>(begin) + bytes};
  }
  template <class T>
  static std::vector<std::byte> bytes_of(const T& object) {
    const auto bytes = std::as_bytes(std::span(&object, 1));
    return {bytes.begin(), bytes.end()};
  }
  static void append(std::vector<std::byte>& to, const std::vector<std::byte>& more) {
    to.insert(to.end(), more.begin(), more.end());
  }
  uint64_t here() const { return reinterpret_cast<uint64_t>(memory_) + used_; }
  uint64_t add(std::span<const std::byte> bytes) {
    used_ = (used_ + 15) & ~size_t{15};
    const uint64_t at = here();
    if (!bytes.empty()) std::memcpy(memory_ + used_, bytes.data(), bytes.size());
    used_ += bytes.size();
    return at;
  }
  uint64_t add_code(const MachineCode& code) { return code.empty() ? 0 : add(std::as_bytes(std::span(code.bytes))); }
  void place(AgentStep& step) {
    if (step.step.kind != Kind::aggregate) return void(step.step.address = add_code(step.code));
    inside::SiteClause clause = step.aggregation.clause;
    clause.value = add_code(step.aggregation.value);
    for (size_t i = 0; i < step.aggregation.keys.size(); i++) {
      clause.keys[i] = step.aggregation.keys[i].key;
      clause.keys[i].code = add_code(step.aggregation.keys[i].code);
    }
    step.step.address = add(bytes_of(clause));
  }

  std::byte* memory_ =
      static_cast<std::byte*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  std::byte* data_ =
      static_cast<std::byte*>(mmap(nullptr, kDataBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  size_t used_ = 0;
  uint64_t code_at_ = 0, stub_ = 0;
  inside::ArmedPage page_;
  inside::Context context_;
  inside::LastingMemory lasting_;
  inside::MemoryRange range_;
};
constexpr char Agent::kText[];

class SiteRun : public testing::Test {
 protected:
  void SetUp() override {
    uint64_t thread = 0;
    asm("mov %%fs:0, %0" : "=r"(thread));
    const auto number = static_cast<uint32_t>(syscall(SYS_gettid));
    if (*reinterpret_cast<const uint32_t*>(thread + kThreadOffset) != number) GTEST_SKIP() << "another C library than glibc";
  }

  // The same firings by the code of the site, and by agent_enter alone: the lane must be locked there.
  void compare(
      const std::vector<AgentFirer>& firers, int count = 2000, const std::function<void(Registers&)>& change = [](Registers&) {},
      bool may_record = false) {
    Agent here(inside::kAlone), there(inside::kShared);
    here.place(firers), there.place(firers);
    for (int i = 0; i < count; i++) {
      Registers registers = some_registers(random_);
      registers.words[saved::rdi] %= 50;
      change(registers);
      here.fire(registers);
      there.fire(registers);
      if (random_() % 500 == 0)
        for (Agent* one : {&here, &there}) one->lane().tail = one->lane().head;
      if (random_() % 100 == 0)
        for (Agent* one : {&here, &there}) one->lane().arena ^= 1;
    }
    EXPECT_GT(site_code_bytes(firers, here.context()), 0);
    EXPECT_EQ(here.lane().turns % 2, 0);  // where a key cannot be read, the lane is taken twice
    EXPECT_GE(here.lane().turns, there.lane().turns);
    EXPECT_EQ(here.lane().head, there.lane().head);
    EXPECT_EQ(here.lane().nested, 0);
    EXPECT_TRUE(here.arena() == there.arena());
    EXPECT_TRUE(here.variables() == there.variables());
    EXPECT_EQ(here.lane().full, there.lane().full);
    EXPECT_EQ(here.ring(), there.ring());
    lost_ += here.lane().full;
    if (may_record) return;
    const std::vector<std::byte> arena = here.arena();
    EXPECT_TRUE(std::any_of(arena.begin(), arena.end(), [](std::byte one) { return one != std::byte{0}; }));
  }

  std::mt19937_64 random_{11};
  uint64_t lost_ = 0;  // of the records, since the ring was full
};

TEST_F(SiteRun, AggregatesByEachFunction) {
  for (uint32_t function = 0; function < inside::kUpdateFunctions; function++) {
    const auto its = static_cast<SiteFunction>(function);
    compare({firer({aggregation(3, its, value_of(BuiltIn::arg1))})});
    compare({firer({aggregation(3, its, value_of(BuiltIn::arg1), {integer(masked(BuiltIn::arg0, 7))})})});
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

TEST_F(SiteRun, CopiesStrings) {
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

// A record of registers, parts of them, constants and the numbers of process and thread.
AgentFirer recording(std::vector<AgentStep> steps, uint32_t length) {
  using inside::Step;
  const Step all[] = {{.kind = Step::Kind::thread, .at = 8},
                      {.kind = Step::Kind::saved, .base = saved::rdi, .at = 16},
                      {.kind = Step::Kind::saved, .base = saved::rcx, .size = 2, .shift = 8, .is_signed = 1, .at = 24},
                      {.kind = Step::Kind::saved, .base = saved::r8, .size = 4, .at = 32},
                      {.kind = Step::Kind::constant, .at = 40, .value = -5},
                      {.kind = Step::Kind::constant, .at = 48, .value = 0x123456789abcdef}};
  const inside::Program program{static_cast<uint32_t>(std::size(all)), length, 0, 0};
  AgentFirer made = firer(std::move(steps));
  made.program.resize(sizeof program + sizeof all);
  std::memcpy(made.program.data(), &program, sizeof program);
  std::memcpy(made.program.data() + sizeof program, all, sizeof all);
  return made;
}

TEST_F(SiteRun, MakesRecords) {
  const auto nothing = [](Registers&) {};
  compare({recording({}, 56)}, 20000, nothing, true);
  EXPECT_GT(lost_, 0);
  compare({recording({step(Kind::predicate, masked(BuiltIn::arg0, 1), 1), step(Kind::record),
                      step(Kind::predicate, masked(BuiltIn::arg1, 6), 1), step(Kind::record)},
                     61),
           recording({step(Kind::predicate, value_of(BuiltIn::tid), 1), step(Kind::record)}, 64)},
          5000, nothing, true);
  compare({firer({aggregation(1, SiteFunction::sum, value_of(BuiltIn::arg0))}), recording({}, 56)}, 5000, nothing, true);
}

TEST_F(SiteRun, TellsTheTimeOnce) {
  const auto times = aggregation(1, SiteFunction::max, value_of(BuiltIn::timestamp));
  const auto same = aggregation(2, SiteFunction::min, value_of(BuiltIn::timestamp));
  Agent agent(inside::kAlone);
  agent.place({firer({step(Kind::time), times, step(Kind::time), same})});
  agent.fire({});
  const uint64_t first = agent.lane().time;
  agent.fire({});
  EXPECT_GE(agent.lane().time, first);
  EXPECT_EQ(agent.lane().turns, 4);
}

TEST_F(SiteRun, IsNestedWhileTheLaneIsTaken) {
  Agent agent(inside::kAlone);
  agent.place({firer({aggregation(1, SiteFunction::count, {})})});
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

// The page of a forked process is empty. One that a signal handler has forked goes on in the midst of a firing.
TEST_F(SiteRun, LeavesTheLaneToTheParent) {
  Agent agent(inside::kAlone);
  agent.place({recording({}, 56)});
  agent.fire({});
  agent.fire({});
  const uint64_t head = agent.lane().head;
  agent.page().pid = 0;
  agent.fire({});
  EXPECT_EQ(agent.lane().turns, 5);
  EXPECT_EQ(agent.lane().head, head);
}

}  // namespace
}  // namespace dvm::runtime
