// Prices of a counted run: each row once, with its bytes, and nothing twice.

#include "runtime/cost/runs/ledger.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "dvm/dif/variable.h"
#include "runtime/cost/table_uses.h"

namespace dvm::runtime {
namespace {

double clocks_of(const Ledger& ledger, const std::string& part) {
  const auto found = std::find_if(ledger.parts.begin(), ledger.parts.end(), [&](const auto& one) { return one.name == part; });
  return found == ledger.parts.end() ? -1 : found->cost.clocks;
}

size_t number(dif::Opcode opcode) { return static_cast<size_t>(opcode); }

Account one_ecb(EcbAccount ecb) {
  Account account;
  account.events = ecb.firings;
  account.ecbs.push_back(std::move(ecb));
  return account;
}

TEST(Ledger, AnInstructionThatReadsAVariableIsPricedAsTheVariable) {
  vm::Profile profile;
  profile.set("opcode/ldgs"_row, {100, 0, 0});
  profile.set(row_of(dif::kBuiltIns[0]), {7, 0, 0});
  EcbAccount ecb;
  ecb.firings = 10;
  ecb.counts.opcodes[number(dif::Opcode::ldgs)].count = 30;
  ecb.counts.elsewhere[number(dif::Opcode::ldgs)] = 10;
  ecb.counts.variables[0].count = 10;
  const Ledger ledger = price_account(one_ecb(ecb), {}, profile);
  EXPECT_EQ(clocks_of(ledger, "DIF"), 20 * 100 + 10 * 7);
}

TEST(Ledger, ARunIsPricedByTheEnginesThatItHadInTheirShares) {
  vm::Profile profile;
  profile.set("opcode/add"_row, {100, 0, 0});
  profile.set("opcode/sub"_row, {10, 0, 0});
  profile.set("opcode/add"_row.in({EngineId::llvm}), {8, 0, 0});
  EcbAccount ecb;
  ecb.firings = 10, ecb.engine = "llvm", ecb.interpreted = 4;
  ecb.counts.opcodes[number(dif::Opcode::add)].count = 20;
  ecb.counts.opcodes[number(dif::Opcode::sub)].count = 10;
  const Ledger ledger = price_account(one_ecb(ecb), {}, profile);
  EXPECT_DOUBLE_EQ(clocks_of(ledger, "DIF"), 0.4 * 20 * 100 + 0.6 * 20 * 8 + 10 * 10);
  EXPECT_DOUBLE_EQ(ledger.native_share, 0.6);
  ecb.engine = "interp", ecb.interpreted = 0;
  EXPECT_DOUBLE_EQ(clocks_of(price_account(one_ecb(ecb), {}, profile), "DIF"), 20 * 100 + 10 * 10);
}

TEST(Ledger, StartedActionsAndTheFirstKeyOfAFiringArePrepared) {
  vm::Profile profile;
  profile.set("prepare/ecb"_row, {100, 0, 0});
  profile.set("prepare/actions"_row, {7, 0, 0});
  profile.set("key/once"_row, {1, 0, 0});
  const auto ecb = [](uint32_t probe, uint64_t hits, bool has_keys) {
    EcbAccount made;
    made.probe_id = probe, made.firings = 10, made.predicate_hits = hits;
    if (has_keys) made.keyed = hits;
    return made;
  };
  Account account;
  account.ecbs = {ecb(1, 4, true), ecb(1, 6, true), ecb(1, 10, false), ecb(2, 10, true)};
  EXPECT_EQ(clocks_of(price_account(account, {}, profile), "preparation"), 40 * 100 + 20 * 7 + 6 + 10);
}

TEST(Ledger, FaultsLeaveRecordsAndFireError) {
  vm::Profile profile;
  profile.set("record/error"_row, {50, 0, 0});
  profile.set("prepare/machine"_row, {10, 0, 0});
  profile.set("aggregation/count"_row, {7, 0, 0});
  const Probe function{.provider = "pid1", .name = "entry"}, error{.provider = "dtrace", .name = "ERROR"};
  EcbAccount faulting, first, second;
  faulting.probe = &function, faulting.firings = 100, faulting.faults = 30;
  first.probe = second.probe = &error, first.firings = second.firings = 30;
  first.actions = {{"count", {30, 0, 0, 0}}};
  Account account;
  account.events = 100;
  account.ecbs = {faulting, first, second};
  const Ledger ledger = price_account(account, {}, profile);
  EXPECT_EQ(clocks_of(ledger, "errors"), 30 * 50 + 30 * 10);
  EXPECT_EQ(clocks_of(ledger, "preparation"), 100 * 10);
  EXPECT_EQ(clocks_of(ledger, "actions"), 30 * 7);
  account.ecbs = {first};
  account.ecbs[0].probe = &function;
  EXPECT_EQ(clocks_of(price_account(account, {}, profile), "errors"), -1);  // none
}

TEST(Ledger, MachineCodeIsEnteredForAPriceBehindTheFirstOfAFiring) {
  vm::Profile profile;
  profile.set("prepare/body"_row.in({EngineId::llvm}), {3, 0, 0});
  const auto ecb = [](uint32_t probe, uint64_t hits, uint64_t interpreted) {
    EcbAccount made;
    made.probe_id = probe, made.firings = 10, made.predicate_hits = hits, made.engine = "llvm", made.interpreted = interpreted;
    return made;
  };
  const auto preparation = [&](uint64_t interpreted) {
    Account account;
    account.ecbs = {ecb(1, 4, interpreted), ecb(1, 6, interpreted), ecb(1, 10, interpreted), ecb(2, 10, interpreted)};
    return clocks_of(price_account(account, {}, profile), "preparation");
  };
  EXPECT_EQ(preparation(0), 10 * 3);
  EXPECT_EQ(preparation(5), 5 * 3);
  EXPECT_EQ(preparation(10), 0);
}

TEST(Ledger, AStoreOfAStringIsPricedByItsBytes) {
  vm::Profile profile;
  profile.set("opcode/stgs"_row, {5, 0, 0});
  profile.set("opcode/stgs_ref"_row, {50, 2, 0});
  EcbAccount ecb;
  ecb.counts.opcodes[number(dif::Opcode::stgs)] = {6, 0, 0, 30};
  ecb.counts.variants[number(dif::Opcode::stgs)] = {3, 0, 0, 30};
  ecb.counts.elsewhere[number(dif::Opcode::stgs)] = 3;
  const Ledger ledger = price_account(one_ecb(ecb), {}, profile);
  EXPECT_EQ(clocks_of(ledger, "DIF"), 3 * 5 + 3 * 50 + 2 * 30);
}

TEST(Ledger, StringsAreFoundAndKeysLookedUpForAPrice) {
  vm::Profile profile;
  profile.set("string/name"_row, {3, 0, 0});
  profile.set("tuple/integer"_row, {20, 0, 0});
  profile.set("tuple/string"_row, {100, 1, 0});
  EcbAccount ecb;
  ecb.counts.strings[static_cast<size_t>(vm::StringPlace::literal)] = 8;  // costs nothing besides
  ecb.counts.strings[static_cast<size_t>(vm::StringPlace::name)] = 5;
  ecb.counts.key_values = 2;
  ecb.counts.key_references = {4, 0, 0, 60};
  EXPECT_EQ(clocks_of(price_account(one_ecb(ecb), {}, profile), "DIF"), 5 * 3 + 2 * 20 + 4 * 100 + 60);
}

TEST(Ledger, WhatActionsKeepAndRecordIsPricedByItsBytes) {
  vm::Profile profile;
  profile.set("action/printf"_row, {10, 0, 0});
  profile.set("aggregation/count"_row, {20, 0, 0});
  profile.set("record/string"_row, {3, 1, 0});
  profile.set("key/any"_row, {4, 0, 0});
  profile.set("consumer/record"_row, {1000, 1, 0});
  profile.set("consumer/action"_row, {70, 0, 0});
  profile.set("consumer/value"_row, {30, 5, 0});
  profile.set("consumer/printa"_row, {100, 11, 0});
  profile.set("consumer/copy"_row, {0, 2, 0});
  profile.set("consumer/heading"_row, {9, 0, 0});
  EcbAccount ecb;
  ecb.actions = {{"printf", {2, 0, 0, 0}}, {"count", {5, 0, 0, 0}}};
  ecb.recorded = {.strings = 2, .bytes = 40}, ecb.keyed = 5;
  ecb.records = 2;
  Account account = one_ecb(ecb);
  account.consumer = {{"action", {2, 0, 0, 0}}, {"value", {2, 0, 0, 12}}, {"printa", {1, 0, 0, 7}}};
  const Ledger ledger = price_account(account, {}, profile);
  EXPECT_EQ(clocks_of(ledger, "actions"), 2 * 10 + 5 * 20);
  EXPECT_EQ(clocks_of(ledger, "values kept"), 2 * 3 + 40 + 5 * 4);
  EXPECT_EQ(clocks_of(ledger, "consumer"), 2 * (1000 + 70 + 30) + 40 + 2 * (2 * 16 + 40) + 12 * 5 + 100 + 7 * 11);
  const Ledger headed = price_account(account, {.is_quiet = false}, profile);
  EXPECT_EQ(clocks_of(headed, "consumer") - clocks_of(ledger, "consumer"), 2 * 9);
}

TEST(Ledger, SeveralKeysAreWaitedFor) {
  vm::Profile profile;
  profile.set("key/few"_row, {3, 0, 0});
  profile.set("key/some"_row, {10, 0, 0});
  profile.set("key/many"_row, {40, 0, 0});
  EcbAccount ecb;
  ecb.keyed = 1000;
  for (const auto& [keys, expected] : {std::pair(1.0, 0.0), {kFewKeys, 3.0 * 1000}, {kMostKeys, 40.0 * 1000}}) {
    Account account = one_ecb(ecb);
    account.consumer = {{"aggregation_build", {3, 0, 0, static_cast<uint64_t>(3 * keys)}}};
    EXPECT_DOUBLE_EQ(clocks_of(price_account(account, {}, profile), "values kept"), expected);
  }
}

TEST(Ledger, SeveralLiveVariablesWithKeysAreWaitedFor) {
  vm::Profile profile;
  profile.set("tuple/few"_row, {3, 0, 0});
  profile.set("tuple/some"_row, {10, 0, 0});
  profile.set("tuple/many"_row, {40, 0, 0});
  EcbAccount ecb;
  ecb.counts.opcodes[number(dif::Opcode::stgaa)] = {600, 0, 0, 0};
  ecb.counts.opcodes[number(dif::Opcode::sttaa)] = {400, 0, 0, 0};
  ecb.counts.opcodes[number(dif::Opcode::ldgaa)] = {5000, 0, 0, 0};
  ecb.counts.opcodes[number(dif::Opcode::stts)] = {5000, 0, 0, 0};
  for (const auto& [live, expected] : {std::pair(1.0, 0.0), {kFewKeys, 3.0 * 1000}, {kMostTuples, 40.0 * 1000}}) {
    Account account = one_ecb(ecb);
    account.live_dynamic = static_cast<uint64_t>(live);
    EXPECT_DOUBLE_EQ(clocks_of(price_account(account, {}, profile), "DIF"), expected);
  }
}

TEST(Ledger, EventsArePricedByTheirBytesAndFiringsByTheirNumber) {
  vm::Profile profile;
  profile.set("source/replay/trigger"_row, {10, 0.5, 1});
  profile.set("source/replay/handler"_row, {20, 0, 0});
  profile.set("capture/recorded"_row, {7, 0, 0});
  profile.set("prepare/dif"_row, {6, 0, 0});
  profile.set("prepare/locals"_row, {3, 2, 0});
  Account account;
  account.events = 100;
  account.locals = 5;
  account.stages = {{"prepare", {40, 0, 0, 0}}};
  const Ledger ledger = price_account(account, {300, 6000, 50}, profile);
  EXPECT_EQ(clocks_of(ledger, "source"), 300 * 10 + 6000 * 0.5 + 50 * 7 + 100 * 20);
  EXPECT_EQ(clocks_of(ledger, "preparation"), 40 * (6 + 3 + 5 * 2));
  EXPECT_EQ(ledger.total().clocks, 300 * 10 + 6000 * 0.5 + 50 * 7 + 100 * 20 + 40 * (6 + 3 + 5 * 2));
  EXPECT_EQ(ledger.total().spread, 300);
}

TEST(Ledger, CountingIsPricedByWhatIsCounted) {
  vm::Profile profile;
  profile.set("account/ecb"_row, {10, 0, 0});
  profile.set("account/evaluation"_row, {1000, 0, 0});
  EcbAccount ecb;
  ecb.firings = 7;
  ecb.counts.opcodes[number(dif::Opcode::ret)].count = 3;
  EXPECT_EQ(clocks_of(price_account(one_ecb(ecb), {}, profile), "counting"), 7 * 10 + 3 * 1000);
  Account consumed;
  consumed.consumer = {{"action", {2, 0, 0, 0}}, {"value", {4, 0, 0, 20}}};
  profile.set("account/step"_row, {10'000, 0, 0});
  EXPECT_EQ(clocks_of(price_account(consumed, {}, profile), "counting"), (2 + 4) * 10'000);
}

TEST(Ledger, WhatHasNoPriceIsNamed) {
  EcbAccount ecb;
  ecb.actions = {{"printf", {2, 0, 0, 0}}};
  EXPECT_EQ(price_account(one_ecb(ecb), {}, {}).missing, (std::set<std::string>{"action/printf"}));
}

}  // namespace
}  // namespace dvm::runtime
