// The ECB loop and the actions: what a firing leaves in records and keys.

#include "runtime/probe/fire.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/runtime/session.h"

namespace dvm::runtime::test {
namespace {

using dif::Action;

dif::EcbDesc with_predicate(dif::Difo predicate, const std::string& printed) {
  dif::EcbDesc desc = clause("BEGIN", {print(printed)});
  desc.predicate = dif::PredDesc{std::move(predicate)};
  return desc;
}

TEST(Fire, PredicatesAreTestedInAllTheirBits) {
  Session session;
  session.run({with_predicate(constant(int64_t{1} << 32, kLong), "high "), with_predicate(constant(INT64_MIN, kLong), "sign "),
               with_predicate(constant(-1, kLong), "all "), with_predicate(constant(0, kLong), "none "),
               with_predicate(constant(1, kLong), "low"), clause("BEGIN", {exit_with(0)})});
  EXPECT_EQ(session.out(), "high sign all low\n");
}

// An instrument may use one firing for all.
TEST(Fire, NamesAreThoseOfTheProbe) {
  vm::Firing firing;
  const Probe first{1, "pid1", "a.out", "f", "entry", {}}, second{2, "pid2", "libc", "g", "return", {}};
  for (const Probe* probe : {&first, &second, &second, &first}) {
    set_names(*probe, firing);
    EXPECT_EQ(firing.probe_id, probe->id);
    EXPECT_EQ(firing.provider, probe->provider);
    EXPECT_EQ(firing.module, probe->module);
    EXPECT_EQ(firing.function, probe->function);
    EXPECT_EQ(firing.name, probe->name);
  }
}

// EPIDs count from 1.
TEST(Fire, OneClauseGoesOnWithVariablesFromElsewhere) {
  dif::Difo variable = built_in(static_cast<dif::BuiltIn>(dif::kFirstUserVariable));
  variable.text[0] = dif::Instruction::indexed(dif::Opcode::ldts, dif::kFirstUserVariable, 1);
  variable.variables = {{"x", dif::kFirstUserVariable, dif::Scope::thread, dif::VariableKind::scalar, true, false, kLong}};
  vm::VariableValue values[] = {{dif::Scope::thread, dif::kFirstUserVariable, 7}};
  const auto printed = [&](uint32_t epid) {
    Session session;
    const uint32_t probe = session.add_probe("f", "entry");
    session.instrument().clause = ClauseFiring{epid, values};
    session.fire(probe);
    dif::Program program;
    program.clauses = {clause("entry", {print("first ")}), clause("entry", {print("x=%d", {variable})}),
                       clause("BEGIN", {print("begin ")})};
    program.variables = variable.variables;
    EXPECT_EQ(session.start(program), "");
    while (session.handle().work()) continue;
    EXPECT_TRUE(session.handle().stop());
    EXPECT_EQ(session.err(), "");
    return session.out();
  };
  EXPECT_EQ(printed(1), "begin first \n");
  EXPECT_EQ(printed(2), "begin x=7\n");
  EXPECT_EQ(printed(3), "begin \n") << "of another probe";
}

// Neither one without keys nor one with them, whatever faults: a key, the value or the increment.
TEST(Fire, AFaultOfAnAggregationLeavesNoRow) {
  Session session;
  session.run({clause("BEGIN", {aggregate(Action::agg_sum, 1, {divide_by_zero()}, 0)}),
               clause("BEGIN", {aggregate(Action::agg_sum, 2, {constant(7), divide_by_zero()}, 1)}),
               clause("BEGIN", {aggregate(Action::agg_sum, 2, {divide_by_zero(), constant(7)}, 1)}),
               clause("BEGIN", {aggregate(Action::agg_quantize, 3, {constant(7), divide_by_zero()}, 0)}),
               clause("BEGIN", {aggregate(Action::agg_sum, 2, {constant(8), constant(1)}, 1), exit_with(0)})},
              {declare(1, Action::agg_sum), declare(2, Action::agg_sum, {kInt}), declare(3, Action::agg_quantize)});
  EXPECT_EQ(session.out(), "\n        8                1\n");
}

// Speculated alone, not recorded as well.
TEST(Fire, WhatIsSpeculatedWaitsToBeCommitted) {
  dif::Difo open = constant(0);
  open.text = {dif::Instruction::indexed(dif::Opcode::call, static_cast<unsigned>(dif::Subroutine::speculation), 1),
               dif::Instruction::registers(dif::Opcode::ret, 0, 0, 1)};
  Session session;
  session.run({clause("BEGIN", {action(Action::expression, {open})}),
               clause("BEGIN", {action(Action::speculate, {constant(1)}), print("speculated ")}),
               clause("BEGIN", {print("first ")}), clause("BEGIN", {action(Action::commit, {constant(1)})}),
               clause("BEGIN", {exit_with(0)})});
  EXPECT_EQ(session.out(), "first speculated \n");
}

// A clause may have written to the process before its fault; what was captured then is no longer true.
TEST(Fire, ErrorReadsTheProcessAnew) {
  static char now[] = "now";
  static const char captured[] = "old";
  const auto at = reinterpret_cast<uint64_t>(now);
  const vm::CapturedMemory memory[] = {{at, std::as_bytes(std::span(captured)), false}};
  Session session;
  session.fire(session.add_probe("f", "entry"));
  session.instrument().firings.back().pid = getpid();
  session.instrument().firings.back().memory = memory;
  session.run({clause("entry", {print("%s ", {copyinstr(at)})}), clause("entry", {action(Action::trace, {divide_by_zero()})}),
               clause("ERROR", {print("%s", {copyinstr(at)}), exit_with(0)})});
  EXPECT_EQ(session.out(), "old now\n");
}

// Leaves bytes that are not 0 where the next record begins: no speculation takes the clause's, so it is lost.
dif::EcbDesc left_behind(const std::string& probe) {
  return clause(probe, {print("%d%d%d", {constant(-1, kLong), constant(-1, kLong), constant(-1, kLong)}),
                        action(Action::speculate, {constant(1)})});
}

TEST(Fire, SpeculationsThatThereCannotBeAreFaults) {
  for (const Action kind : {Action::speculate, Action::commit, Action::discard}) {
    Session session;
    session.run(
        {clause("BEGIN", {action(kind, {constant(7)})}), clause("ERROR", {print("fault")}), clause("BEGIN", {exit_with(0)})});
    EXPECT_EQ(session.out(), "fault\n");
  }
}

TEST(Records, StringsEndWhateverWasThereBefore) {
  Session session;
  session.set("strsize", "8");
  session.run({left_behind("BEGIN"), clause("BEGIN", {print("%s|", {text("12345678")}), exit_with(0)})});
  EXPECT_EQ(session.out(), "12345678|\n");
}

dif::ActDesc made(Action kind, int64_t address, uint32_t frames = 0) {
  dif::ActDesc desc = action(kind, {constant(address, kLong)});
  desc.args[0].made_by = kind;
  desc.args[0].frames = frames;
  return desc;
}

TEST(Records, AddressesAreWhole) {
  Session session;
  session.fire(session.add_probe("f", "entry"));
  session.instrument().firings.back().pid = INT32_MAX;
  session.run({clause("entry", {made(Action::uaddr, 0x123456789abc), exit_with(0)})});
  EXPECT_NE(session.out().find("0x123456789abc"), std::string::npos) << session.out();
}

// Neither fewer frames than there are nor what lies behind them.
TEST(Records, StacksHaveTheFramesThatThereAre) {
  static const uint64_t frames[] = {0x1111, 0x2222, 0x3333, 0x4444};
  Session session;
  const uint32_t probe = session.add_probe("f", "entry");
  for (const size_t count : {2, 4}) {
    session.fire(probe);
    session.instrument().firings.back().pid = INT32_MAX;
    session.instrument().firings.back().stack = std::span(frames).first(count);
  }
  session.run({clause("entry", {made(Action::ustack, 0, 3), print("|")})});
  std::string squeezed = session.out();
  std::erase_if(squeezed, [](char c) { return c == ' ' || c == '\n'; });
  EXPECT_EQ(squeezed, "0x11110x2222|0x11110x22220x3333|");
}

TEST(Records, BytesArePricedBySize) {
  ValuePlan value;
  value.type = kString;
  value.size = 9;
  EXPECT_EQ(sized_bytes(value, reinterpret_cast<const std::byte*>("abc\0xxxxx")), 4u);
  EXPECT_EQ(sized_bytes(value, reinterpret_cast<const std::byte*>("abcdefghi")), 9u);
  value.type = kLong;
  EXPECT_EQ(sized_bytes(value, reinterpret_cast<const std::byte*>("12345678")), 0u);
}

TEST(Records, IntegersAreWidenedByTheirType) {
  const auto widened = [](uint32_t size, bool is_signed, uint64_t value) {
    return widen({dif::TypeKind::integer, is_signed, false, size, ""}, value);
  };
  for (const uint32_t size : {1u, 2u, 4u}) {
    const uint64_t highest = uint64_t{1} << (8 * size - 1), beyond = uint64_t{1} << (8 * size);
    EXPECT_EQ(widened(size, false, beyond | highest), highest) << size;
    EXPECT_EQ(widened(size, true, beyond | highest), 0 - highest) << size;
    EXPECT_EQ(widened(size, true, beyond | 1), 1u) << size;
  }
  EXPECT_EQ(widened(8, false, UINT64_MAX), UINT64_MAX);
  EXPECT_EQ(widened(8, true, UINT64_MAX), UINT64_MAX);
  EXPECT_EQ(widened(0, true, UINT64_MAX), UINT64_MAX);
}

dif::ActDesc tracemem(uint64_t address, int64_t wanted) {
  dif::ActDesc desc = action(Action::tracemem, {constant(static_cast<int64_t>(address), kLong), constant(wanted)});
  desc.args[0].difo.result = {dif::TypeKind::bytes, false, false, 8, ""};
  return desc;
}

TEST(Keys, StacksEndWithTheFirstZeroBehindThePid) {
  ValuePlan value;
  value.size = 3 * sizeof(uint64_t);
  uint64_t full[] = {0, 1, 2, UINT64_MAX, 0}, half[] = {0, 1, 0, UINT64_MAX, 0};
  EXPECT_EQ(end_stack(value, reinterpret_cast<std::byte*>(full)), 32u);
  EXPECT_EQ(end_stack(value, reinterpret_cast<std::byte*>(half)), 24u);
}

TEST(Keys, ZerosFillTheLastWord) {
  uint64_t key[] = {UINT64_MAX, UINT64_MAX};
  EXPECT_EQ(pad_key(reinterpret_cast<std::byte*>(key), 5), 8u);
  EXPECT_EQ(key[0], UINT64_MAX >> 24);
  EXPECT_EQ(key[1], UINT64_MAX);
}

TEST(Records, TracememTakesWhatIsWantedAndZerosForTheRest) {
  static const char memory[] = "abcdefgh";
  const auto at = reinterpret_cast<uint64_t>(memory);
  const auto dump = [&](int64_t wanted) {
    Session session;
    session.set("rawbytes");
    session.fire(session.add_probe("f", "entry"));
    session.instrument().firings.back().pid = getpid();
    session.run({clause("entry", {tracemem(at, wanted)})});
    return session.out();
  };
  EXPECT_EQ(dump(0), dump(8));
  EXPECT_EQ(dump(9), dump(8));
  EXPECT_EQ(dump((int64_t{1} << 32) + 3), dump(3));  // an int
  EXPECT_NE(dump(3), dump(8));
}

// The memory behind it may be unreadable.
TEST(Records, TracememReadsNoMoreThanIsWanted) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* const memory = mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  ASSERT_EQ(mprotect(static_cast<char*>(memory) + page, page, PROT_NONE), 0);
  const uint64_t at = reinterpret_cast<uint64_t>(memory) + page - 3;
  for (const auto& [wanted, is_read] : {std::pair{int64_t{3}, true}, {(int64_t{1} << 32) + 3, true}, {int64_t{4}, false}}) {
    Session session;
    session.fire(session.add_probe("f", "entry"));
    session.instrument().firings.back().pid = getpid();
    session.run({clause("entry", {tracemem(at, wanted)}), clause("ERROR", {print("fault")})});
    EXPECT_EQ(session.out() != "fault\n", is_read) << session.out() << session.err();
  }
  munmap(memory, 2 * page);
}

// What is behind the type of their arguments is not theirs.
TEST(Destructive, ArgumentsHaveTheirType) {
  const pid_t child = fork();
  if (child == 0)
    for (;;) pause();
  Session session;
  session.set("destructive");
  session.fire(session.add_probe("f", "entry"));
  session.instrument().firings.back().pid = child;
  session.run({clause("entry", {action(Action::raise, {constant((int64_t{1} << 32) + SIGKILL)}),
                                action(Action::chill, {constant((int64_t{1} << 32) + 1)}), print("done")})});
  int status = 0;
  if (session.out() != "done\n") kill(child, SIGKILL);
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(session.out(), "done\n") << session.err();
}

TEST(Destructive, ChillTakesHalfOfEachSecondAtMost) {
  Chill chill;
  EXPECT_FALSE(chill.spin(500'000'001));
  EXPECT_TRUE(chill.spin(1'000'000));
  EXPECT_FALSE(chill.spin(499'500'000));
  EXPECT_TRUE(chill.spin(1'000'000));
}

TEST(Destructive, ChillBeginsAnewWithTheNextSecond) {
  Chill chill;
  EXPECT_TRUE(chill.spin(300'000'000));
  EXPECT_FALSE(chill.spin(300'000'000));
  usleep(800'000);
  EXPECT_TRUE(chill.spin(300'000'000));
}

}  // namespace
}  // namespace dvm::runtime::test
