// Option engine: the engines that run clauses, and the way from one to another.

#include "tests/support/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "runtime/plan/translation_price.h"
#include "tests/unit/runtime/session.h"
#include "tests/unit/vm/assembled.h"

namespace dvm::runtime::test {
namespace {

using testing::HasSubstr;

// printf("%d", arg0 * 2 + 1); @ = sum(arg0)
std::vector<dif::EcbDesc> clauses() {
  dif::Difo twice = dif::test::assembled("ldgs arg0, %r1\nadd %r1, %r1, %r1\nsetx 1, %r2\nadd %r1, %r2, %r1\nret %r1\n");
  twice.result = kLong;
  return {clause("entry", {print("%d ", {twice}), aggregate(dif::Action::agg_sum, 1, {built_in(dif::BuiltIn::arg0)}, 0)})};
}
std::vector<dif::AggregationDesc> sums() { return {declare(1, dif::Action::agg_sum)}; }

class Engines : public testing::TestWithParam<vm::Engine> {};

TEST_P(Engines, RunClauses) {
  DVM_SKIP_WITHOUT(GetParam());
  Session session;
  session.set("engine", GetParam().name);
  const uint32_t id = session.add_probe("f", "entry");
  for (uint64_t i = 0; i < 3; i++) session.fire(id, {i});
  session.run(clauses(), sums());
  EXPECT_THAT(session.out(), HasSubstr("1 3 5 "));
  EXPECT_EQ(session.err(), "");
  EXPECT_EQ(session.handle().placements().at(0).engine, GetParam().name);
}

TEST_P(Engines, CountTheSame) {
  DVM_SKIP_WITHOUT(GetParam());
  Session session(vm::CostPolicy::blocks);
  session.set("engine", GetParam().name);
  const uint32_t id = session.add_probe("f", "entry");
  for (uint64_t i = 0; i < 100; i++) session.fire(id, {i});
  session.run(clauses(), sums());
  const Account account = session.handle().account();
  EXPECT_EQ(account.ecbs.at(0).firings, 100u);
  EXPECT_EQ(account.ecbs.at(0).counts.opcodes[static_cast<size_t>(dif::Opcode::add)].count, 200u);
}

// On every firing, not only on those that are timed.
TEST_P(Engines, CountTheBytesThatAreKept) {
  DVM_SKIP_WITHOUT(GetParam());
  Session session(vm::CostPolicy::blocks);
  session.set("engine", GetParam().name);
  const uint32_t id = session.add_probe("f", "entry");
  for (uint64_t i = 0; i < 100; i++) session.fire(id, {i});
  session.run({clause("entry", {print("%s", {text("hello")}), aggregate(dif::Action::agg_count, 1, {text("key")}, 1)})},
              {declare(1, dif::Action::agg_count, {kString})});
  const EcbAccount account = session.handle().account().ecbs.at(0);
  EXPECT_EQ(account.recorded.strings, 100u);
  EXPECT_EQ(account.recorded.bytes, 600u);
  EXPECT_EQ(account.keys.bytes, 400u);
}

INSTANTIATE_TEST_SUITE_P(All, Engines, testing::ValuesIn(vm::kEngines),
                         [](const auto& row) { return std::string(row.param.name); });

// Fires until the clause runs on that engine, for ten seconds at most.
void fire_until(Session& session, uint32_t probe, std::string_view engine) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (session.handle().placements().at(0).engine != engine && std::chrono::steady_clock::now() < end) {
    for (uint64_t i = 0; i < 10'000; i++) session.fire(probe, {1});
    session.handle().poll();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// The clause runs on engine llvm by now. Fires once more, with that arg0, and stops. Returns the number of firings before.
uint64_t fired_before_the_last(Session& session, uint32_t probe, uint64_t arg0) {
  EXPECT_EQ(session.handle().placements().at(0).engine, "llvm");
  EXPECT_GT(session.handle().placements().at(0).interpreted, 0u);
  const uint64_t before = session.handle().account().events;
  session.fire(probe, {arg0});
  session.handle().poll();
  session.instrument().has_more = false;
  EXPECT_TRUE(session.handle().stop());
  return before;
}

// arg0 after many additions of nothing.
dif::Difo long_way() {
  std::string text = "ldgs arg0, %r1\n";
  for (int i = 0; i < 300; i++) text += "add %r1, %r0, %r1\n";
  dif::Difo difo = dif::test::assembled(text + "ret %r1\n");
  difo.result = kLong;
  return difo;
}

TEST(EngineAuto, TranslatesWhatHasCostEnough) {
  DVM_SKIP_WITHOUT(vm::kEngines[1]);
  Session session;
  session.instrument().has_more = true;
  const uint32_t id = session.add_probe("f", "entry");
  ASSERT_EQ(session.start({clause("entry", {aggregate(dif::Action::agg_sum, 1, {long_way()}, 0)})}, sums()), "");
  EXPECT_EQ(session.handle().placements().at(0).engine, "interp");
  fire_until(session, id, "llvm");
  const uint64_t before = fired_before_the_last(session, id, 1000);
  EXPECT_THAT(session.out(), HasSubstr(std::to_string(before + 1000)));
}

// The CPUs of the only other thread; none: there is no other.
cpu_set_t cpus_of_other_thread() {
  cpu_set_t cpus = {};
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/task"))
    if (const int tid = std::atoi(each.path().filename().c_str()); tid != ::gettid())
      ::sched_getaffinity(tid, sizeof cpus, &cpus);
  return cpus;
}

TEST(EngineAuto, TranslatesOnOtherCpusThanItsOwn) {
  DVM_SKIP_WITHOUT(vm::kEngines[1]);
  cpu_set_t all = {};
  ASSERT_EQ(::sched_getaffinity(0, sizeof all, &all), 0);
  if (CPU_COUNT(&all) < 2) DVM_SKIP("there is one CPU");
  Session session;
  session.instrument().has_more = true;
  const uint32_t id = session.add_probe("f", "entry");
  ASSERT_EQ(session.start({clause("entry", {aggregate(dif::Action::agg_sum, 1, {long_way()}, 0)})}, sums()), "");
  fire_until(session, id, "llvm");
  const cpu_set_t others = cpus_of_other_thread();
  EXPECT_EQ(CPU_COUNT(&others), CPU_COUNT(&all) - 1);
  session.instrument().has_more = false;
  EXPECT_TRUE(session.handle().stop());
}

// Until the end of a test, this thread and those that it starts have one CPU.
class OneCpu {
 public:
  OneCpu() {
    ::sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one = {};
    CPU_SET(static_cast<size_t>(::sched_getcpu()), &one);
    ::sched_setaffinity(0, sizeof one, &one);
  }
  ~OneCpu() { ::sched_setaffinity(0, sizeof before_, &before_); }
  OneCpu(const OneCpu&) = delete;
  OneCpu& operator=(const OneCpu&) = delete;

 private:
  cpu_set_t before_ = {};
};

TEST(EngineAuto, TranslatesOnTheOnlyCpu) {
  DVM_SKIP_WITHOUT(vm::kEngines[1]);
  const OneCpu one_cpu;
  Session session;
  session.instrument().has_more = true;
  const uint32_t id = session.add_probe("f", "entry");
  ASSERT_EQ(session.start({clause("entry", {aggregate(dif::Action::agg_sum, 1, {long_way()}, 0)})}, sums()), "");
  fire_until(session, id, "llvm");
  EXPECT_EQ(session.handle().placements().at(0).engine, "llvm");
  struct sigaction giving_way = {};
  EXPECT_EQ(::sigaction(SIGRTMAX, nullptr, &giving_way), 0);
  EXPECT_NE(giving_way.sa_handler, SIG_DFL);
  session.instrument().has_more = false;
  EXPECT_TRUE(session.handle().stop());
}

// @ = count(), many times
TEST(EngineAuto, TranslatesAClauseWithoutDif) {
  DVM_SKIP_WITHOUT(vm::kEngines[1]);
  Session session;
  session.instrument().has_more = true;
  const uint32_t id = session.add_probe("f", "entry");
  const std::vector counts(50, aggregate(dif::Action::agg_count, 1, {}, 0));
  ASSERT_EQ(session.start({clause("entry", counts)}, {declare(1, dif::Action::agg_count)}), "");
  fire_until(session, id, "llvm");
  const uint64_t before = fired_before_the_last(session, id, 1);
  EXPECT_THAT(session.out(), HasSubstr(std::to_string(50 * (before + 1))));
}

TEST(TranslationPrice, IsAnEstimateAtFirst) {
  const TranslationPrice price;
  EXPECT_EQ(price.of({}), price.load + price.per_part);
  EXPECT_FALSE(price.is_loaded());
}

TEST(TranslationPrice, IsWithoutLoadingLlvmOnceThatIsDone) {
  TranslationPrice price;
  price.add_load(20e6);
  EXPECT_EQ(price.load, 20e6);
  EXPECT_EQ(price.of({}), price.per_part);
}

EcbPlan plan_of(size_t difos) {
  EcbPlan plan;
  for (size_t i = 0; i < difos; i++)
    plan.difos.push_back(std::get<vm::VerifiedDifo>(vm::verify(dif::test::assembled("ret %r0\n"))));
  return plan;
}

// A body without DIFOs is one part.
TEST(TranslationPrice, IsTheMeanOfAllParts) {
  TranslationPrice price;
  price.add_load(20e6);
  price.add(3000, plan_of(2));
  EXPECT_EQ(price.of(plan_of(0)), 1000);
  EXPECT_EQ(price.of(plan_of(4)), 5000);
  price.add(5000, plan_of(0));
  EXPECT_EQ(price.of(plan_of(0)), 2000);
}

TEST(EngineAuto, LeavesCheapClausesToTheInterpreter) {
  Session session;
  const uint32_t id = session.add_probe("f", "entry");
  for (uint64_t i = 0; i < 1000; i++) session.fire(id, {i});
  session.run(clauses(), sums());
  EXPECT_EQ(session.handle().placements().at(0).engine, "interp");
  EXPECT_EQ(session.handle().placements().at(0).interpreted, 0u);
}

}  // namespace
}  // namespace dvm::runtime::test
