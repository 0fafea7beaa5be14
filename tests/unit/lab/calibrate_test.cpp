// Each row of DIF's tables has a case that runs; what they take is looked at only as far as it cannot depend on the machine.

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>

#include <map>
#include <set>

#include "dvm/vm/profile.h"
#include "lab/calibrate/dif_meter.h"
#include "lab/calibrate/looping_child.h"
#include "lab/noise/apart.h"
#include "lab/noise/core_share.h"
#include "lab/noise/interrupt_time.h"
#include "lab/noise/middle.h"
#include "lab/noise/quiet_time.h"
#include "tests/support/skip.h"

namespace dvm::lab {

using namespace runtime;

namespace {

TEST(Calibrate, EachRowHasOneCaseOrAReason) {
  std::map<std::string, int> cases;
  for (const DifCase& one : dif_cases()) cases[one.row.name()]++;
  for (const Row row : rows_without_text()) cases[row.name()]++;
  for (const std::string& row : vm::dif_rows()) EXPECT_EQ(cases[row], 1) << row;
  EXPECT_EQ(cases.size(), vm::dif_rows().size());
}

TEST(Calibrate, ACaseExecutesItsRowOnceACopy) {
  const DifCase one{"opcode/nop"_row, "setx 1, %r1\n", "l{i}: nop\n"};
  EXPECT_EQ(case_text(one, one.body, 2, 8), "setx 1, %r1\nl0: nop\nl1: nop\nret %r0\n");
  const DifCase sized{"opcode/sets"_row, "sets \"{s}\", %r1\nsetx {n}, %r2\n", ""};
  EXPECT_EQ(case_text(sized, sized.body, 0, 3), "sets \"aaa\", %r1\nsetx 4, %r2\nret %r0\n");
}

TEST(Calibrate, EachCaseRuns) {
  size_t done = 0;
  Bench quick{.compile = {}, .dif_samples = 1, .dif_ns = 1, .progress = [&](size_t count, size_t) { done = count; }};
  const auto rows = measure_dif(dif_cases(), quick);
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ(rows->size(), dif_cases().size());
  EXPECT_EQ(done, rows->size());
}

TEST(Calibrate, TheSameWorkHasOnePrice) {
  const std::vector<DifCase> cases = {{.row = "opcode/add"_row, .alike = dif::Format::log},
                                      {.row = "opcode/sub"_row, .alike = dif::Format::log},
                                      {.row = "opcode/sdiv"_row, .alike = dif::Format::log},
                                      {.row = "opcode/nop"_row}};
  DifPrices prices = {{"opcode/add"_row, {4.1}}, {"opcode/sub"_row, {2}}, {"opcode/sdiv"_row, {10}}, {"opcode/nop"_row, {1}}};
  level(cases, prices);
  EXPECT_EQ(prices.at("opcode/add"_row).m, 2);
  EXPECT_EQ(prices.at("opcode/sub"_row).m, 2);
  EXPECT_EQ(prices.at("opcode/sdiv"_row).m, 10);
  EXPECT_EQ(prices.at("opcode/nop"_row).m, 1);
}

TEST(Calibrate, ACaseThatFaultsIsNamed) {
  const std::vector<DifCase> cases = {{"opcode/sdiv"_row, "setx 1, %r1\n", "sdiv %r1, %r0, %r2\n"}};
  Bench bench;
  const auto rows = measure_dif(cases, bench);
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().message, "opcode/sdiv: fault at instruction 1");
}

TEST(Calibrate, AChildCallsAsOftenAsItIsTold) {
  auto child = start_looping_child();
  ASSERT_TRUE(child) << child.error().message;
  for (const CalleeKind callee :
       {CalleeKind::emulated, CalleeKind::stepped, CalleeKind::nop, CalleeKind::nop5, CalleeKind::moved}) {
    EXPECT_TRUE(offset_of(callee));
    ASSERT_TRUE(child->tell({callee, 1000}));
    const auto taken = child->finish();
    ASSERT_TRUE(taken) << taken.error().message;
    EXPECT_GT(taken->value, 0);
  }
  ASSERT_TRUE(child->tell({CalleeKind::emulated, 1000, 12, kMostLetters}));
  EXPECT_TRUE(child->finish());
  ASSERT_TRUE(child->tell({CalleeKind::loop, 2'000'000}));
  const auto interrupt = child->finish();
  ASSERT_TRUE(interrupt);
  EXPECT_GE(interrupt->value, 0);
  EXPECT_LT(interrupt->value, 200'000);
  EXPECT_FALSE(child->is_done());
  kill(child->pid(), SIGKILL);
  EXPECT_FALSE(child->finish());
}

TEST(Calibrate, CallsOfADeepFunctionThatStaysEnterTheOthersOnce) {
  auto child = start_looping_child();
  ASSERT_TRUE(child) << child.error().message;
  CalleeCalls calls{.callee = CalleeKind::framed, .times = 20'000, .depth = 200, .burst = 1000};
  const auto anew = child->ask(calls);
  calls.stays = true;
  const auto once = child->ask(calls);
  ASSERT_TRUE(anew && once);
  EXPECT_LT(once->value * 5, anew->value);
}

TEST(Calibrate, TheTracedProcessAndItsTracerHaveCpusOfTheirOwnForAWhile) {
  const auto cpus_of = [](pid_t pid) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    sched_getaffinity(pid, sizeof cpus, &cpus);
    return cpus;
  };
  const cpu_set_t before = cpus_of(0);
  const auto all = static_cast<unsigned>(CPU_COUNT(&before));
  if (all < 2) DVM_SKIP("there is one CPU");
  const auto child = start_looping_child();
  ASSERT_TRUE(child);
  const pid_t pid = child->pid();
  const cpu_set_t of_child = cpus_of(pid);
  {
    const lab::noise::CpuPlacement apart = lab::noise::CpuPlacement::apart(pid);
    const cpu_set_t own = cpus_of(0), other = cpus_of(pid);
    cpu_set_t both;
    CPU_AND(&both, &own, &other);
    EXPECT_EQ(CPU_COUNT(&both), 0);
    EXPECT_EQ(CPU_COUNT(&other), 1);
    EXPECT_EQ(CPU_COUNT(&own), static_cast<int>(all) - 1);
  }
  const cpu_set_t after = cpus_of(0), of_child_after = cpus_of(pid);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
  EXPECT_TRUE(CPU_EQUAL(&of_child, &of_child_after));
  {
    const lab::noise::CpuPlacement too_many = lab::noise::CpuPlacement::apart(pid, all);
    const cpu_set_t own = cpus_of(0);
    EXPECT_TRUE(CPU_EQUAL(&before, &own));
  }
  {
    const lab::noise::CpuPlacement together = lab::noise::CpuPlacement::together(pid);
    const cpu_set_t own = cpus_of(0), other = cpus_of(pid);
    EXPECT_EQ(CPU_COUNT(&own), 1);
    EXPECT_TRUE(CPU_EQUAL(&own, &other));
  }
  const cpu_set_t at_last = cpus_of(0);
  EXPECT_TRUE(CPU_EQUAL(&before, &at_last));
}

}  // namespace
}  // namespace dvm::lab
