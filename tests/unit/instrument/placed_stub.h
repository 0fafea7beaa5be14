#pragma once
// A stub in this process, with code, lanes and an armed page as dvm maps them, and clauses for it.

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "dvm/dif/variable.h"
#include "load_and_call.h"
#include "runtime/agent/inside/aggregate.h"
#include "runtime/agent/inside/steady_read.h"
#include "runtime/agent/inside_code.h"
#include "runtime/agent/stub.h"
#include "runtime/instrument/agent/clause_code.h"

namespace dvm::runtime {

using dif::BuiltIn, dif::Instruction, dif::Opcode;
using inside::SiteFunction;
using Kind = inside::ClauseStep::Kind;

inline constexpr uint32_t kLanes = 4, kRing = 64 * 1024, kThreadOffset = 0x2d0;  // of glibc
inline constexpr uint64_t kAlignmentCheck = 0x40000;
inline const dif::DataType kWord{dif::TypeKind::integer, true, false, 8, "int64_t"};

inline Instruction load(BuiltIn variable, unsigned rd) {
  return Instruction::indexed(Opcode::ldgs, static_cast<unsigned>(variable), rd);
}
inline Instruction op(Opcode opcode, unsigned r1, unsigned r2, unsigned rd) { return Instruction::registers(opcode, r1, r2, rd); }

inline MachineCode code_of(const std::vector<Instruction>& text, uint64_t constant = 0) {
  dif::Difo difo{text, {constant}, "", {}, kWord};
  for (const dif::Scope scope : {dif::Scope::thread, dif::Scope::clause})
    difo.variables.push_back(
        {"x", static_cast<uint16_t>(dif::kFirstUserVariable), scope, dif::VariableKind::scalar, true, true, kWord});
  return make_value_code(difo, kWord, {SiteKind::entry, {}, 1}).code;
}
inline MachineCode value_of(BuiltIn variable) { return code_of({load(variable, 1), op(Opcode::ret, 0, 0, 1)}); }
inline MachineCode masked(BuiltIn variable, uint64_t mask) {
  return code_of(
      {load(variable, 1), Instruction::indexed(Opcode::setx, 0, 2), op(Opcode::and_, 1, 2, 3), op(Opcode::ret, 0, 0, 3)}, mask);
}
inline MachineCode assigns(BuiltIn value) {
  return code_of({load(value, 1), Instruction::indexed(Opcode::stts, dif::kFirstUserVariable, 1), op(Opcode::ret, 0, 0, 1)});
}
// Adds arg1 to the variable, and returns it.
inline MachineCode adds_to(dif::Scope scope) {
  const bool is_local = scope == dif::Scope::clause;
  const unsigned id = dif::kFirstUserVariable;
  return code_of({Instruction::indexed(is_local ? Opcode::ldls : Opcode::ldts, id, 1), load(BuiltIn::arg1, 2),
                  op(Opcode::add, 1, 2, 3), Instruction::indexed(is_local ? Opcode::stls : Opcode::stts, id, 3),
                  op(Opcode::ret, 0, 0, 3)});
}

inline AgentStep step(Kind kind, MachineCode code = {}, uint32_t skip = 0) { return {{kind, skip, 0}, std::move(code)}; }
inline AgentStep aggregation(uint32_t number, SiteFunction function, MachineCode value, std::vector<AgentKey> keys = {}) {
  AgentStep made = step(Kind::aggregate);
  inside::ThreadAggregation& clause = made.aggregation.clause;
  clause.clause = number;
  clause.function = static_cast<uint32_t>(function);
  clause.words = function == SiteFunction::quantize ? 127 : function == SiteFunction::avg ? 2 : 1;
  clause.key_count = static_cast<uint32_t>(keys.size());
  made.aggregation.value = std::move(value);
  made.aggregation.keys = std::move(keys);
  return made;
}
inline AgentKey integer(MachineCode code) { return {{0, inside::KeyKind::integer, 0}, std::move(code)}; }
inline AgentKey stack(uint32_t most, int32_t return_at) { return {{0, inside::KeyKind::stack, most, return_at}, {}}; }
inline AgentKey text(MachineCode address) { return {{0, inside::KeyKind::string, 20}, std::move(address)}; }
inline AgentFirer firer(std::vector<AgentStep> steps) {
  AgentFirer made;
  made.cookie = 1;
  const inside::RecordProgram program{0, 8, 0, 0};
  made.program.resize(sizeof program);
  std::memcpy(made.program.data(), &program, sizeof program);
  made.steps = std::move(steps);
  return made;
}

// Code, lanes and an armed page as dvm maps them.
class Agent {
 public:
  explicit Agent(uint16_t armed, uint32_t ring_bytes = kRing) : ring_bytes_(ring_bytes) {
    page_.armed = armed, page_.pid = static_cast<uint64_t>(getpid()), page_.variables = inside::VariablesIn::thread;
    page_.muted = 1;
    context_.armed = reinterpret_cast<uint64_t>(&page_);
    context_.data = reinterpret_cast<uint64_t>(data_);
    context_.variables = context_.data + inside::variables_at(kLanes);
    context_.tails = context_.data + inside::tails_at(kLanes, ring_bytes_);
    context_.lane = context_.data + sizeof(inside::DataHeader);
    context_.pid = getpid(), context_.own_pid = page_.pid, context_.thread_offset = kThreadOffset, context_.lanes = kLanes,
    context_.ring_bytes = ring_bytes_;
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
    munmap(armed_page_, kPage + inside::data_bytes(kLanes, ring_bytes_));
  }

  void place(std::vector<AgentFirer> firers) {
    std::vector<std::byte> site = bytes_of(
        inside::Site{context_, kAddress, kAddress, static_cast<uint32_t>(firers.size()), inside::Watch::nothing, firers.size()});
    for (AgentFirer& one : firers) {
      std::vector<std::byte> steps;
      for (AgentStep& step : one.steps) place(step), append(steps, bytes_of(step.step));
      append(site, bytes_of(inside::Firer{{one.cookie, add(one.program), 0, 0},
                                          steps.empty() ? 0 : add(steps),
                                          static_cast<uint32_t>(one.steps.size()),
                                          one.locals,
                                          one.has_variables,
                                          one.function,
                                          one.tail}));
    }
    const uint64_t site_at = add(site), context_at = add(bytes_of(context_));
    const SitePlace where{kAddress,       context_,    context_at,     code_at_,
                          code_entries(), keeps_flags, lasting_.stack, std::span(&range_, 1)};
    const std::vector<unsigned char> window = {0x90, 0x90, 0x90, 0x90, 0xc3};
    add({});
    Stub stub = make_stub({window, kAddress, 0, here(), site_at, code_at_ + code_entries().enter, false, firers, where});
    EXPECT_EQ(stub.refusal, "");
    stub_ = add(std::as_bytes(std::span(stub.bytes)));
    stub_bytes_ = stub.bytes.size();
    frames_ = std::move(stub.frames);
  }
  void fire(const Registers& given) { fire(stub_, given); }
  [[gnu::noinline]] static void fire(uint64_t stub, const Registers& given) {
    Registers registers = given;
    fill_stack();
    load_and_call(reinterpret_cast<void*>(stub), registers.words.data());
    EXPECT_EQ(registers, given);
  }

  inside::Lane& lane() {
    auto* lanes = reinterpret_cast<inside::Lane*>(data_ + sizeof(inside::DataHeader));
    return *std::find_if(lanes, lanes + kLanes, [](const inside::Lane& one) { return one.owner != 0; });
  }
  inside::DataHeader& header() { return *reinterpret_cast<inside::DataHeader*>(data_); }
  inside::Lane* lanes() { return reinterpret_cast<inside::Lane*>(data_ + sizeof(inside::DataHeader)); }
  uint64_t firings() {
    uint64_t turns = 0;
    for (uint32_t i = 0; i < kLanes; i++) turns += lanes()[i].turns;
    return turns / 2;
  }
  size_t lane_number() {
    return static_cast<size_t>(&lane() - reinterpret_cast<inside::Lane*>(data_ + sizeof(inside::DataHeader)));
  }
  const inside::Arena& first_arena() {
    const std::byte* at = data_ + inside::arenas_at(kLanes, ring_bytes_) + 2 * lane_number() * uint64_t{inside::kArenaBytes};
    return *reinterpret_cast<const inside::Arena*>(at);
  }
  inside::TailCalls& tails() {
    return reinterpret_cast<inside::TailCalls*>(data_ + inside::tails_at(kLanes, ring_bytes_))[lane_number()];
  }
  // What a clause has counted without keys.
  uint64_t count_of(uint32_t clause) { return lane().counts[clause][0] + lane().counts[clause][1]; }
  // The first word of the state of the only entry, which has no key.
  uint64_t state_of_entry() {
    return reinterpret_cast<const uint64_t*>(reinterpret_cast<const inside::ArenaEntry*>(&first_arena() + 1) + 1)[0];
  }
  // The only key, a string.
  std::string text() {
    const auto* entry = reinterpret_cast<const inside::ArenaEntry*>(&first_arena() + 1);
    return reinterpret_cast<const char*>(entry + 1);
  }
  std::vector<std::byte> arena() const {
    const std::byte* begin = data_ + inside::arenas_at(kLanes, ring_bytes_);
    return {begin, begin + kLanes * 2 * uint64_t{inside::kArenaBytes}};
  }
  std::vector<std::byte> variables() const { return {data_ + inside::variables_at(kLanes), data_ + inside::rings_at(kLanes)}; }
  // The ring of its lane, without times and CPUs.
  std::vector<uint64_t> ring() {
    const size_t number = lane_number();
    std::vector<uint64_t> words(ring_bytes_ / sizeof(uint64_t));
    std::memcpy(words.data(), data_ + inside::rings_at(kLanes) + number * ring_bytes_, ring_bytes_);
    for (size_t i = 0; i + 2 < words.size() && words[i] != 0; i += 2 + (words[i] + 7) / sizeof(uint64_t)) {
      EXPECT_NE(words[i + 1], 0);
      words[i + 1] = 0;
      const bool is_of_clause = words[i + 2] >> 32 == inside::kClauseMark;
      const size_t heads = is_of_clause ? (words[i] + 7) / sizeof(uint64_t) : 1;  // the CPU lies behind values
      for (size_t k = i + 2; k < std::min(i + 2 + heads, words.size()); k++) words[k] &= (uint64_t{1} << 48) - 1;
    }
    return words;
  }
  inside::ArmedPage& page() { return page_; }
  // Steady memory, for stubs that are placed later.
  void make_steady(inside::MemoryRange range) {
    const inside::CodeEntries entries = code_entries();
    const uint64_t descriptor[] = {0, code_at_ + entries.steady_begin, entries.steady_end - entries.steady_begin,
                                   code_at_ + entries.steady_abort};
    used_ = (used_ + 31) & ~size_t{31};
    context_.restart = add(std::as_bytes(std::span(descriptor)));
    context_.rseq = static_cast<uint64_t>(__rseq_offset), context_.rseq_bytes = 32;
    page_.muted = 0;  // the kernel is asked for the rseq area
    inside::SteadyMemory& steady = inside::steady_memory(context_);
    steady.tables[0].count = 1, steady.tables[0].ranges[0] = range;
    steady.state = inside::kSteadyStep | 1;
  }
  // That of the first thread, for stubs that are placed later.
  void end_stack_at(uint64_t end) {
    lasting_.stack.end = end;
    std::memcpy(reinterpret_cast<void*>(context_.lasting), &lasting_, sizeof lasting_);
  }
  bool keeps_flags = true;  // of stubs that are placed later
  uint64_t stub() const { return stub_; }
  uint64_t stub_bytes() const { return stub_bytes_; }
  const std::vector<FrameRow>& frames() const { return frames_; }
  uint64_t code_at() const { return code_at_; }
  bool has(uint64_t address) const { return address - reinterpret_cast<uint64_t>(memory_) < used_; }
  // A call of it crashes from now on.
  void forbid_inside_code() { std::memset(reinterpret_cast<void*>(code_at_), 0xcc, inside_code().size()); }
  // The same of what the code of a site calls if it does not find a key itself.
  void forbid_lookup() {
    const inside::CodeEntries entries = code_entries();
    for (const uint64_t entry : {entries.enter, entries.aggregate, entries.key, entries.find})
      std::memset(reinterpret_cast<void*>(code_at_ + entry), 0xcc, 1);
  }
  const inside::Context& context() const { return context_; }

  alignas(8) static constexpr char kText[160] =
      "a text of some length\0another one\0 short\0sixteen letters!\0fifteen letters\0eighteen letters!!\0\0of seven";

  static constexpr uint64_t kAddress = 0x555555, kWindow = 5;

 private:
  static constexpr size_t kBytes = 1 << 18, kPage = 4096;

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
  // Nothing that a stub has not written is 0 there by chance.
  [[gnu::noinline]] static void fill_stack() {
    uint64_t words[256];
    std::memset(words, 0xff, sizeof words);
    asm volatile("" : : "r"(words) : "memory");
  }
  static inside::CodeEntries code_entries() {
    inside::CodeEntries entries;
    std::memcpy(&entries, inside_code().data(), sizeof entries);
    return entries;
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
    if (is_any_record(step)) {
      step.record.record.programs.program = add(step.record.program);
      return void(step.step.address = add(bytes_of(step.record.record)));
    }
    if (step.step.kind != Kind::aggregate) return void(step.step.address = add_code(step.code));
    inside::ThreadAggregation clause = step.aggregation.clause;
    clause.value = add_code(step.aggregation.value);
    for (size_t i = 0; i < step.aggregation.keys.size(); i++) {
      clause.keys[i] = step.aggregation.keys[i].key;
      clause.keys[i].code = add_code(step.aggregation.keys[i].code);
    }
    step.step.address = add(bytes_of(clause));
  }

  std::byte* memory_ =
      static_cast<std::byte*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  const uint32_t ring_bytes_;
  std::byte* armed_page_ = static_cast<std::byte*>(
      mmap(nullptr, kPage + inside::data_bytes(kLanes, ring_bytes_), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  inside::ArmedPage& page_ = *new (armed_page_) inside::ArmedPage;
  std::byte* data_ = armed_page_ + kPage;
  size_t used_ = 0;
  uint64_t code_at_ = 0, stub_ = 0, stub_bytes_ = 0;
  std::vector<FrameRow> frames_;
  inside::Context context_;
  inside::LastingMemory lasting_;
  inside::MemoryRange range_;
};

// Skips tests that find a thread by its number in the thread control block, if the C library keeps it elsewhere.
class PlacedStubTest : public testing::Test {
 protected:
  void SetUp() override {
    uint64_t thread = 0;
    asm("mov %%fs:0, %0" : "=r"(thread));
    const auto number = static_cast<uint32_t>(syscall(SYS_gettid));
    if (*reinterpret_cast<const uint32_t*>(thread + kThreadOffset) != number) GTEST_SKIP() << "another C library than glibc";
  }
};

}  // namespace dvm::runtime
