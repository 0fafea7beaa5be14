// The account: counts are exact, ticks are of a sample.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/unit/runtime/session.h"
#include "tests/unit/vm/assembled.h"

namespace dvm::runtime::test {
namespace {

using dif::Action;

const vm::Tally* find(const std::vector<std::pair<std::string, vm::Tally>>& tallies, const std::string& name) {
  for (const auto& [key, tally] : tallies)
    if (key == name) return &tally;
  return nullptr;
}

const vm::Tally& opcode(const EcbAccount& ecb, dif::Opcode op) { return ecb.counts.opcodes[static_cast<size_t>(op)]; }

// 1000 firings of f:entry, of which every tenth passes the predicate.
Account run(vm::CostPolicy policy) {
  Session session(policy);
  uint32_t id = session.add_probe("f", "entry");
  for (uint64_t i = 0; i < 1000; i++) session.fire(id, {i % 10 == 0});
  dif::EcbDesc desc = clause("entry", {aggregate(Action::agg_count, 1, {}, 0), print("%d %d", {constant(1), constant(1234)})});
  desc.predicate = dif::PredDesc{built_in(dif::BuiltIn::arg0)};
  session.run({desc, clause("entry", {action(Action::trace, {divide_by_zero()})})}, {declare(1, Action::agg_count)});
  session.handle().account();
  return session.handle().account();  // a second time gives the same
}

TEST(Account, CountsAreExact) {
  Account account = run(vm::CostPolicy::blocks);
  EXPECT_EQ(account.events, 1000u);
  ASSERT_EQ(account.ecbs.size(), 2u);
  const EcbAccount& ecb = account.ecbs[0];
  EXPECT_EQ(ecb.firings, 1000u);
  EXPECT_EQ(ecb.predicate_hits, 100u);
  EXPECT_EQ(ecb.faults, 0u);
  EXPECT_EQ(opcode(ecb, dif::Opcode::ldgs).count, 1000u);
  EXPECT_EQ(opcode(ecb, dif::Opcode::setx).count, 200u);
  EXPECT_EQ(opcode(ecb, dif::Opcode::ret).count, 1200u);
  ASSERT_NE(find(ecb.actions, "count"), nullptr);
  EXPECT_EQ(find(ecb.actions, "count")->count, 100u);
  EXPECT_EQ(find(ecb.actions, "printf")->count, 100u);
  EXPECT_EQ(account.ecbs[1].faults, 1000u);
}

// Runs it on firings with arg0 from 0 to 99, and returns the one ECB's row.
EcbAccount counted(dif::EcbDesc desc, std::vector<dif::AggregationDesc> aggregations) {
  Session session(vm::CostPolicy::blocks);
  const uint32_t id = session.add_probe("f", "entry");
  for (uint64_t i = 0; i < 100; i++) session.fire(id, {i});
  session.run({std::move(desc)}, std::move(aggregations));
  session.handle().account();
  Account account = session.handle().account();  // a second time gives the same
  EXPECT_EQ(account.ecbs.size(), 1u);
  return account.ecbs.empty() ? EcbAccount{} : account.ecbs[0];
}

// 0 if arg0 > limit, else 1.
dif::Difo at_most(int limit) {
  dif::Difo difo = dif::test::assembled(fmt::format(
      "ldgs arg0, %r1\nsetx {}, %r2\ncmp %r1, %r2\nbg large\nsetx 1, %r1\nret %r1\nlarge: setx 0, %r1\nret %r1\n", limit));
  difo.result = kInt;
  return difo;
}

TEST(Account, BranchesAreCountedForEachDifoOfAClause) {
  const auto ways = [](const vm::InstructionCounts& counts) { return counts.size() == 8 ? counts[3] : vm::InstructionCount{}; };
  const dif::ActDesc sum = aggregate(Action::agg_sum, 1, {at_most(49)}, 0);
  dif::EcbDesc desc = clause("entry", {sum, print("%d %d %d", {constant(1), at_most(9), at_most(98)})});
  EcbAccount ecb = counted(desc, {declare(1, Action::agg_sum)});
  ASSERT_EQ(ecb.instructions.size(), 4u);
  EXPECT_EQ(ways(ecb.instructions[0]), (vm::InstructionCount{100, 50}));
  EXPECT_EQ(ecb.instructions[1], (vm::InstructionCounts{{100, 0}, {100, 0}}));
  EXPECT_EQ(ways(ecb.instructions[2]), (vm::InstructionCount{100, 90}));
  EXPECT_EQ(ways(ecb.instructions[3]), (vm::InstructionCount{100, 1}));
  desc.predicate = dif::PredDesc{at_most(19)};  // holds in 20 firings, and comes first
  ecb = counted(desc, {declare(1, Action::agg_sum)});
  ASSERT_EQ(ecb.instructions.size(), 5u);
  EXPECT_EQ(ways(ecb.instructions[0]), (vm::InstructionCount{100, 80}));
  EXPECT_EQ(ways(ecb.instructions[1]), (vm::InstructionCount{20, 0}));
  EXPECT_EQ(ways(ecb.instructions[3]), (vm::InstructionCount{20, 10}));
}

TEST(Account, TicksAreOfASample) {
  Account account = run(vm::CostPolicy::blocks);
  const vm::Tally& count = *find(account.ecbs[0].actions, "count");
  EXPECT_GT(count.timed, 0u);
  EXPECT_LT(count.timed, count.count);
  const vm::Tally& trace = *find(account.ecbs[1].actions, "trace");
  EXPECT_EQ(trace.timed, 16u + 16u);  // firings 16 to 31, then 32, 96, ..., 992
  EXPECT_GT(trace.ticks, 0u);
  EXPECT_EQ(opcode(account.ecbs[1], dif::Opcode::setx).timed, 16u + 15u);  // firings 0 to 15, then 64, 128, ..., 960
  EXPECT_EQ(opcode(account.ecbs[1], dif::Opcode::setx).count, 1000u);
  EXPECT_GT(account.ticks_per_second, 1e6);
}

TEST(Account, StagesAreThere) {
  Account account = run(vm::CostPolicy::blocks);
  for (const char* name : {"deliver", "prepare", "predicate", "actions", "snapshot_records", "snapshot_aggregations", "print"}) {
    ASSERT_NE(find(account.stages, name), nullptr) << name;
    EXPECT_GT(find(account.stages, name)->count, 0u) << name;
    EXPECT_GT(find(account.stages, name)->timed, 0u) << name;
  }
  EXPECT_EQ(find(account.stages, "deliver")->count, 1000u);
  EXPECT_EQ(find(account.stages, "predicate")->count, 1000u);
}

TEST(Account, WhatTheConsumerDoesIsCountedWithItsKeysAndDigits) {
  Account account = run(vm::CostPolicy::blocks);
  ASSERT_NE(find(account.consumer, "value"), nullptr);
  EXPECT_EQ(find(account.consumer, "action")->count, 100u);
  EXPECT_EQ(find(account.consumer, "value")->count, 200u);
  EXPECT_EQ(find(account.consumer, "value")->units, 100u + 400u);  // 1 and 1234
  EXPECT_EQ(find(account.consumer, "printa")->count, 1u);          // at the end
  EXPECT_EQ(find(account.consumer, "printa")->units, 1u);
  EXPECT_EQ(find(account.consumer, "trunc"), nullptr);
}

TEST(Account, PolicyTimeTimesAll) {
  Account account = run(vm::CostPolicy::time);
  const vm::Tally& trace = *find(account.ecbs[1].actions, "trace");
  EXPECT_EQ(trace.timed, 1000u);
}

TEST(Account, WithoutAccountingNothingIsCounted) {
  Account account = run(vm::CostPolicy::none);
  EXPECT_EQ(account.events, 1000u);
  EXPECT_TRUE(account.ecbs.empty());
}

}  // namespace
}  // namespace dvm::runtime::test
