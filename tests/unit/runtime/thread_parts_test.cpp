// The part of the traced threads, by counts of an account and prices that are summed by hand.

#include "runtime/cost/runs/thread_parts.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "runtime/catalog/probe.h"

namespace dvm::runtime {
namespace {

vm::Profile priced() {
  vm::Profile profile;
  profile.clock_hz = 1e9;
  profile.set("agent/stub/entry"_row, {4, 0, 0});
  profile.set("agent/lane/find"_row, {1, 0, 0});
  profile.set("agent/lane/take"_row, {2, 0, 0});
  profile.set("agent/lane/record"_row, {9, 0, 0});
  profile.set("agent/site/expression"_row, {1, 2, 0});
  profile.set("aggregation/count"_row.in(kInAgent), {7, 0, 0});
  profile.set("capture/thread"_row.in(kInAgent), {2, 0, 0});
  profile.set("capture/argument"_row.in(kInAgent), {50, 0, 0});
  return profile;
}

EcbAccount counted(uint32_t epid, uint64_t firings, uint64_t hits) {
  EcbAccount ecb;
  ecb.epid = epid, ecb.firings = firings, ecb.predicate_hits = hits;
  return ecb;
}

class ThreadParts : public testing::Test {
 protected:
  ThreadPart part() { return price_thread(firings_, agent_, dvm_); }
  static std::string text_of(const std::vector<ThreadStage>& stages) {
    std::string text;
    for (const ThreadStage& one : stages) text += fmt::format("{}: {} * {}; ", one.name, one.count, one.each.clocks);
    return text;
  }

  const vm::Profile profile_ = priced();
  Prices agent_{profile_, {}, kInAgent}, dvm_{profile_};
  const Probe probe_{.provider = "pid1", .module = "a", .function = "f", .name = "entry", .site = UprobeSite{}};
  const EcbAccount first_ = counted(1, 10, 10), second_ = counted(2, 12, 3);
  AgentFirings firings_{&probe_, {}, {}, {&first_, &second_}};
};

TEST_F(ThreadParts, ARecordIsThatOfAllClauses) {
  firings_.needs.args = 5;
  EXPECT_EQ(text_of(part().paid), "stub: 12 * 4; lane: 12 * 3; record: 12 * 9; captures: 12 * 102; ");
  EXPECT_TRUE(part().otherwise.empty());
  EXPECT_TRUE(agent_.missing().empty());
}

TEST_F(ThreadParts, ClausesInTheThreadAreCountedByTheirPredicates) {
  firings_.way.is_at_site = true;
  firings_.way.clauses = {{{}, {{"aggregation/count"_row}}}, {{{"agent/site/expression"_row, 3}}, {{"aggregation/count"_row}}}};
  EXPECT_EQ(text_of(part().otherwise),
            "stub and lane: 12 * 7; epid 1 actions: 10 * 7; epid 2 predicate: 12 * 7; epid 2 actions: 3 * 7; ");
}

TEST_F(ThreadParts, NamesWhatHasNoPrice) {
  firings_.way.stub = "agent/stub/return"_row;
  EXPECT_EQ(part().paid.at(0).each.clocks, 0);
  EXPECT_TRUE(agent_.missing().contains("agent/stub/return"));
}

}  // namespace
}  // namespace dvm::runtime
