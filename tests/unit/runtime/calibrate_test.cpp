// Each row of DIF's tables has a case that runs; what they take is looked at only as far as it cannot depend on the machine.

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>

#include <map>
#include <set>

#include "dvm/vm/profile.h"
#include "lab/calibrate/dif_cases.h"
#include "lab/calibrate/dif_meter.h"
#include "lab/calibrate/looping_child.h"
#include "runtime/cost/apart.h"
#include "runtime/cost/core_share.h"
#include "runtime/cost/core_speed.h"
#include "runtime/cost/interrupt_time.h"
#include "runtime/cost/middle.h"
#include "runtime/cost/quiet_time.h"
#include "tests/support/skip.h"

namespace dvm::runtime {
namespace {

TEST(Calibrate, EachRowHasOneCaseOrAReason) {
  std::map<std::string, int> cases;
  for (const DifCase& one : dif_cases()) cases[one.row]++;
  for (const Uncalibrated& one : uncalibrated_rows()) cases[one.row]++;
  cases["opcode/ret"]++;  // in script_cases.cpp
  for (const std::string& row : vm::dif_rows()) EXPECT_EQ(cases[row], 1) << row;
  EXPECT_EQ(cases.size(), vm::dif_rows().size());
}

// No processor that dvm runs on does less than one cycle in ten ticks of its counter, or more than ten.
TEST(Calibrate, TimesAreTakenAsAtOneSpeedOfTheCore) {
  const double speed = core_speed_over(1'000'000);
  EXPECT_GT(speed, 0.1);
  EXPECT_LT(speed, 10);
}

TEST(Calibrate, PiecesAreGivenAtTheSpeedOfTimes) {
  const double speed = core_speed();
  give_times_at(speed / 100);
  EXPECT_GT(QuietPiece().end(1).value, 10);
  give_times_at(speed * 100);
  EXPECT_LT(QuietPiece().end(1).value, 0.1);
  give_times_at(0);
  EXPECT_EQ(QuietPiece().end(1).value, 1);
}

TEST(Calibrate, WhatWasInterruptedIsNoPartOfAQuietTime) {
  QuietTime time;
  EXPECT_EQ(time.each(), 0);
  for (int i = 0; i < 100; i++) {
    time.begin();
    time.end(i == 40 ? 1e9 : 30, 3);
  }
  time.begin();
  time.end(1e9, 0);  // nothing was done
  EXPECT_DOUBLE_EQ(time.each(), 10);
  EXPECT_DOUBLE_EQ(time.usual(), 10);
  EXPECT_GE(time.quiet_share(), 0);
  EXPECT_LE(time.quiet_share(), 1);
}

bool is_quiet(dvm_gauge& gauge, double near, double far) {
  const dvm_reading reading = {{near, far}, 1};
  return dvm_is_quiet(&gauge, &reading) != 0;
}

TEST(Calibrate, ACoreOfOnesOwnIsToldByItsLowestReadings) {
  dvm_gauge gauge{};
  for (int i = 0; i < 7; i++) EXPECT_FALSE(is_quiet(gauge, 140, 240));  // nothing is known of this processor
  EXPECT_TRUE(is_quiet(gauge, 140, 240));
  for (int i = 0; i < 7; i++) EXPECT_FALSE(is_quiet(gauge, 113, 148));
  EXPECT_TRUE(is_quiet(gauge, 113, 148));  // it does better
  EXPECT_FALSE(is_quiet(gauge, 140, 240));
  EXPECT_FALSE(is_quiet(gauge, 113, 240));  // at one of the distances alone
  EXPECT_FALSE(is_quiet(gauge, 140, 148));
  EXPECT_FALSE(is_quiet(gauge, 60, 80));  // something happened to the chain
  EXPECT_TRUE(is_quiet(gauge, 114, 150));
}

TEST(Calibrate, AGaugeThatWasToldTakesNoStrangerForNobody) {
  dvm_gauge gauge = dvm_known_gauge(113, 148);
  for (int i = 0; i < 20; i++) EXPECT_FALSE(is_quiet(gauge, 140, 240));
  EXPECT_TRUE(is_quiet(gauge, 114, 149));
}

TEST(Calibrate, ACoreIsReadInCycles) {
  const dvm_reading reading = dvm_read_core();
  for (const double cycles : reading.cycles) {
    EXPECT_GT(cycles, 20);
    EXPECT_LT(cycles, 100'000);
  }
  EXPECT_GT(reading.speed, 0.01);
  EXPECT_LT(reading.speed, 100);
}

TEST(Calibrate, ACaseExecutesItsRowOnceACopy) {
  const DifCase one{"opcode/nop", "setx 1, %r1\n", "l{i}: nop\n"};
  EXPECT_EQ(case_text(one, one.body, 2, 8), "setx 1, %r1\nl0: nop\nl1: nop\nret %r0\n");
  const DifCase sized{"opcode/sets", "sets \"{s}\", %r1\nsetx {n}, %r2\n", ""};
  EXPECT_EQ(case_text(sized, sized.body, 0, 3), "sets \"aaa\", %r1\nsetx 4, %r2\nret %r0\n");
}

TEST(Calibrate, EachCaseRuns) {
  MeterOptions quick;
  quick.samples = 1;
  quick.sample_ns = 1;
  size_t done = 0;
  const auto rows = measure_dif(dif_cases(), quick, [&done](size_t count) { done = count; });
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ(rows->size(), dif_cases().size());
  EXPECT_EQ(done, rows->size());
}

TEST(Calibrate, ACaseThatFaultsIsNamed) {
  const std::vector<DifCase> cases = {{"opcode/sdiv", "setx 1, %r1\n", "sdiv %r1, %r0, %r2\n"}};
  const auto rows = measure_dif(cases, {}, [](size_t) {});
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().message, "opcode/sdiv: fault at instruction 1");
}

TEST(Calibrate, AChildCallsAsOftenAsItIsTold) {
  auto child = LoopingChild::start();
  ASSERT_TRUE(child) << child.error().message;
  for (const Stub stub : {Stub::emulated, Stub::stepped, Stub::nop, Stub::nop5, Stub::moved}) {
    EXPECT_TRUE(offset_of(stub));
    ASSERT_TRUE((*child)->call({stub, 1000}));
    const auto taken = (*child)->finish();
    ASSERT_TRUE(taken) << taken.error().message;
    EXPECT_GT(taken->value, 0);
  }
  ASSERT_TRUE((*child)->call({Stub::emulated, 1000, 12, kMostLetters}));
  EXPECT_TRUE((*child)->finish());
  ASSERT_TRUE((*child)->call({Stub::loop, 2'000'000}));
  const auto interrupt = (*child)->finish();
  ASSERT_TRUE(interrupt);
  EXPECT_GE(interrupt->value, 0);
  EXPECT_LT(interrupt->value, 200'000);
  EXPECT_FALSE((*child)->is_done());
  kill((*child)->pid(), SIGKILL);
  EXPECT_FALSE((*child)->finish());
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
  const auto child = LoopingChild::start();
  ASSERT_TRUE(child);
  const pid_t pid = (*child)->pid();
  const cpu_set_t of_child = cpus_of(pid);
  {
    const Placed apart = Placed::apart(pid);
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
    const Placed too_many = Placed::apart(pid, all);
    const cpu_set_t own = cpus_of(0);
    EXPECT_TRUE(CPU_EQUAL(&before, &own));
  }
  {
    const Placed together = Placed::together(pid);
    const cpu_set_t own = cpus_of(0), other = cpus_of(pid);
    EXPECT_EQ(CPU_COUNT(&own), 1);
    EXPECT_TRUE(CPU_EQUAL(&own, &other));
  }
  const cpu_set_t at_last = cpus_of(0);
  EXPECT_TRUE(CPU_EQUAL(&before, &at_last));
}

TEST(Calibrate, TheUsualInterruptIsNotMovedByOthers) {
  dvm_gaps gaps = {};
  EXPECT_EQ(dvm_usual_gap(&gaps), 0);
  for (int i = 0; i < 100; i++) dvm_add_gap(&gaps, 45'010 + i % 20);
  EXPECT_NEAR(dvm_usual_gap(&gaps), 45'020, 50);
  for (int i = 0; i < 5; i++) dvm_add_gap(&gaps, 90'000);  // the kernel's own
  for (int i = 0; i < 300; i++) dvm_add_gap(&gaps, 600);   // the host's
  dvm_add_gap(&gaps, 199'999);
  EXPECT_NEAR(dvm_usual_gap(&gaps), 45'020, 50);
}

TEST(Calibrate, TheMiddleIsNotMovedByOneThatIsFarAway) {
  EXPECT_EQ(middle({3, 1, 2, 1000, 2}).median, 2);
  EXPECT_EQ(middle({3, 1, 2, 1000, 2}).distance, 1);
  EXPECT_EQ(middle({}).median, 0);
}

TEST(Calibrate, OfTimesTheSlowerHalfCountsForNothing) {
  EXPECT_EQ(quiet_middle({3, 900, 2, 1000, 4, 800}).median, 3);
  EXPECT_EQ(quiet_middle({7}).median, 7);
  EXPECT_EQ(quiet_middle({}).median, 0);
}

}  // namespace
}  // namespace dvm::runtime
