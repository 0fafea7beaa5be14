// Where an agent would run the clauses of scripts, and by which rows they are priced.

#include "runtime/cost/runs/agent_ways.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "dvm/compiler/compile.h"

namespace dvm::runtime {
namespace {

AgentWays ways_of(const std::string& script, std::initializer_list<std::pair<const char*, const char*>> settings = {},
                  const PredictOptions& how = {}) {
  const compiler::Source source{"-n", script, true};
  const compiler::CompileResult compiled = compiler::compile({&source, 1}, {});
  EXPECT_EQ(compiled.programs.size(), 1U) << script;
  if (compiled.programs.empty()) return {};
  const dif::Program* programs[] = {&compiled.programs.front().program};
  dif::Options options;
  for (const auto& [name, value] : settings) EXPECT_TRUE(options.set(name, value));
  auto ways = find_agent_ways(programs, options, {}, how);
  EXPECT_TRUE(ways) << ways.error().message;
  return ways ? *std::move(ways) : AgentWays();
}

AgentWay way_of(const std::string& clauses, std::initializer_list<std::pair<const char*, const char*>> settings = {},
                const PredictOptions& how = {}) {
  const AgentWays ways = ways_of("pid1:a:f:entry " + clauses, settings, how);
  EXPECT_EQ(ways.size(), 1U) << clauses;
  return ways.empty() ? AgentWay{} : ways.begin()->second;
}

std::string text_of(const std::vector<RowUse>& uses) {
  std::string text;
  for (const RowUse& use : uses)
    text += fmt::format("{}{}{}", text.empty() ? "" : " ", use.row.name(), use.things > 0 ? fmt::format(":{}", use.things) : "");
  return text;
}

TEST(AgentWays, AClauseThatAggregatesRunsInTheThread) {
  const AgentWay way = way_of("{ @ = count(); }");
  EXPECT_TRUE(way.is_at_site);
  EXPECT_FALSE(way.is_gated);
  EXPECT_FALSE(way.is_common);
  EXPECT_EQ(way.reason, "");
  EXPECT_EQ(way.stub.name(), "agent/stub/entry");
  EXPECT_EQ(text_of(way.clauses.at(0).actions), "aggregation/count");
}

TEST(AgentWays, ValuesAndKeysAreExpressions) {
  const AgentWay way = way_of("/arg0 == 1/ { @[arg1] = quantize(arg2); }");
  EXPECT_TRUE(way.is_gated);
  EXPECT_EQ(text_of(way.clauses.at(0).predicate).rfind("agent/site/expression:", 0), 0U);
  EXPECT_EQ(text_of(way.clauses.at(0).actions),
            "aggregation/quantize agent/site/expression:2 key/integer agent/site/expression:2 key/any");
}

TEST(AgentWays, ConstantStringsCostNothing) {
  EXPECT_EQ(text_of(way_of("{ @[probefunc, \"x\"] = count(); }").clauses.at(0).actions), "aggregation/count");
  EXPECT_EQ(text_of(way_of("{ @[execname] = count(); }").clauses.at(0).actions), "aggregation/count agent/site/name key/any");
  const AgentWay way = way_of("{ @[copyinstr(arg0)] = count(); }");
  EXPECT_EQ(text_of(way.clauses.at(0).actions), "aggregation/count key/string:16 key/any");
  EXPECT_EQ(way.clauses.at(0).strings, 1U);
}

TEST(AgentWays, ChangesOfGlobalVariablesHaveAPrice) {
  EXPECT_THAT(text_of(way_of("{ n++; @ = sum(n); }").clauses.at(0).actions),
              testing::HasSubstr("agent/site/global aggregation/sum"));
  EXPECT_THAT(text_of(way_of("{ n++; m++; }").clauses.at(0).actions),
              testing::AllOf(testing::HasSubstr("agent/site/global "), testing::EndsWith("agent/site/further_global")));
  EXPECT_THAT(text_of(way_of("{ n = arg0; }").clauses.at(0).actions), testing::EndsWith("agent/site/global"));
  EXPECT_THAT(text_of(way_of("{ self->n++; }").clauses.at(0).actions), testing::Not(testing::HasSubstr("global")));
}

TEST(AgentWays, LongStringsHaveAnExtraCost) {
  PredictOptions how;
  how.sizes.expected = 25;
  EXPECT_EQ(text_of(way_of("{ @[copyinstr(arg0)] = count(); }", {}, how).clauses.at(0).actions),
            "aggregation/count key/string:25 agent/site/long_string:25 key/any");
}

TEST(AgentWays, ACallMakesKeysBehindAString) {
  const auto actions = [](const char* clause) { return text_of(way_of(clause).clauses.at(0).actions); };
  EXPECT_EQ(actions("{ @[copyinstr(arg0), arg1] = count(); }"),
            "aggregation/count key/string:16 key/integer agent/site/expression:2 agent/site/long_string:16 key/any");
  EXPECT_EQ(actions("{ @[arg1, copyinstr(arg0)] = count(); }"),
            "aggregation/count key/integer agent/site/expression:2 key/string:16 key/any");
}

TEST(AgentWays, TheTimeIsReadOnceAndABucketWaitsForIt) {
  const auto count_of = [](const std::string& clause, std::string_view row) {
    const auto uses = way_of(clause).clauses.at(0).actions;
    return std::ranges::count(uses, row, [](const RowUse& use) { return use.row.name(); });
  };
  const char* latency = "{ @ = quantize(timestamp - arg0); self->h = timestamp; self->t = 0; }";
  EXPECT_EQ(count_of(latency, "agent/site/time"), 1);
  EXPECT_EQ(count_of(latency, "agent/site/bucket"), 1);
  EXPECT_EQ(count_of("{ this->d = timestamp - arg0; @ = lquantize(this->d, 0, 100); }", "agent/site/bucket"), 1);
  EXPECT_EQ(count_of("{ @ = sum(timestamp); @b = quantize(arg0); }", "agent/site/bucket"), 0);
  EXPECT_EQ(count_of("{ @ = avg(timestamp - arg0); @b = max(arg0); }", "aggregation/avg"), 0);
  EXPECT_EQ(count_of("{ @ = avg(timestamp - arg0); @b = max(arg0); }", "aggregation/max"), 1);
  EXPECT_EQ(count_of("{ @[tid, arg1] = sum(timestamp); }", "key/integer"), 0);
  EXPECT_EQ(count_of("{ @[tid, arg1] = sum(timestamp); }", "key/any"), 0);
  EXPECT_EQ(count_of("{ @[arg1] = count(); @b = sum(timestamp); }", "key/integer"), 1);
  EXPECT_EQ(count_of("{ @[timestamp / 1000, arg1] = count(); }", "key/integer"), 1);
}

TEST(AgentWays, StacksByFramePointersAreKeys) {
  EXPECT_EQ(text_of(way_of("{ @[ustack()] = count(); }", {{"ustackunwind", "0"}}).clauses.at(0).actions),
            "aggregation/count action/ustack:10 key/any");
  EXPECT_FALSE(way_of("{ @[ustack()] = count(); }", {{"ustackunwind", "4096"}}).is_at_site);
  EXPECT_THAT(text_of(way_of("{ @[ustack(3), arg0] = count(); }", {{"ustackunwind", "0"}}).clauses.at(0).actions),
              testing::HasSubstr("action/ustack:3 agent/site/called_stack:3 key/integer"));
  PredictOptions how;
  how.returns = 4;
  EXPECT_EQ(text_of(way_of("{ @[ustack()] = count(); }", {{"ustackunwind", "0"}}, how).clauses.at(0).actions),
            "aggregation/count action/ustack:6 agent/site/entered_frame:4 key/any");
}

// A key of count() is 32 bytes; one of quantize() 1,040. The thread has 60,408 for them.
TEST(AgentWays, KeysWithoutRoomAreRecords) {
  const auto share = [](const char* clause, double keys, double rate = 0) {
    PredictOptions how;
    how.keys = keys;
    if (rate > 0) how.rates["pid1:a:f:entry"] = rate;
    return way_of(clause, {}, how).clauses.at(0).updates.share;
  };
  EXPECT_EQ(share("{ @[arg0] = count(); }", 1024), 0);
  EXPECT_DOUBLE_EQ(share("{ @[arg0] = count(); }", 4096), 0.75);
  EXPECT_DOUBLE_EQ(share("{ @[arg0] = count(); @b[arg1] = sum(arg0); }", 4096), 0.875);
  EXPECT_NEAR(share("{ @[arg0] = quantize(arg1); }", 100), 0.42, 0.01);
  EXPECT_EQ(share("{ @ = quantize(arg1); }", 1e6), 0);
  EXPECT_EQ(share("{ @[probefunc] = count(); }", 1e6), 0);
  EXPECT_EQ(share("{ @[arg0] = count(); }", 4096, 1000), 0);
  EXPECT_GT(share("{ @[arg0] = count(); }", 4096, 10'000), 0.6);
  EXPECT_NEAR(share("{ @[arg0] = count(); }", 4096, 1e6), 0.75, 0.01);
}

TEST(AgentWays, AStringIsAssignedToAVariable) {
  const AgentWay way = way_of("{ self->s = copyinstr(arg0); }");
  EXPECT_EQ(text_of(way.clauses.at(0).actions), "agent/site/assigned_string key/string:16 agent/site/variables");
  EXPECT_EQ(way.clauses.at(0).strings, 1U);
  EXPECT_EQ(text_of(way_of("{ self->s = execname; }").clauses.at(0).actions),
            "agent/site/assigned_string agent/site/name agent/site/variables");
  const AgentWay key = way_of("{ self->s = \"x\"; @[self->s] = count(); }");
  EXPECT_THAT(text_of(key.clauses.at(0).actions), testing::HasSubstr("key/string:16 agent/site/long_string:16 key/any"));
  EXPECT_EQ(key.clauses.at(0).strings, 0U);
}

TEST(AgentWays, AStringThatCannotBeReadIsARecord) {
  EXPECT_GT(way_of("{ @[copyinstr(arg0)] = count(); }").clauses.at(0).fault_bytes, 0);
  EXPECT_EQ(way_of("{ @[arg0] = count(); }").clauses.at(0).fault_bytes, 0);
  PredictOptions how;
  how.heap = 0.25;
  EXPECT_EQ(way_of("{ @[copyinstr(arg0), copyinstr(arg1)] = count(); }", {}, how).clauses.at(0).copied, 0.5);
}

TEST(AgentWays, RecordsCopyTheStackUnlessFramePointersLead) {
  const AgentWay bare = way_of("{ n[0]++; }"), led = way_of("{ n[0]++; ustack(9); }", {{"ustackunwind", "0"}});
  EXPECT_EQ(led.stack_bytes, 0U);
  EXPECT_EQ(led.record_bytes - bare.record_bytes, 16 + 9 * 8);
  EXPECT_EQ(way_of("{ n[0]++; ustack(9); }", {{"ustackunwind", "1024"}}).stack_bytes, 1024U);
  EXPECT_EQ(way_of("{ n[0]++; ustack(9); }").stack_bytes, 4096U);
  EXPECT_EQ(way_of("{ n[0]++; ustack(2); }").stack_bytes, 0U);
}

TEST(AgentWays, WhatDvmMustRunLeavesARecord) {
  const AgentWay way = way_of("{ n[0]++; }");
  EXPECT_FALSE(way.is_at_site);
  EXPECT_THAT(way.reason, testing::StartsWith("a clause of the probe divides by 0, calls a subroutine"));
  EXPECT_FALSE(way_of("/arg0 == 1/ { n[0]++; }").is_at_site);
  EXPECT_TRUE(way_of("/arg0 == 1/ { n[0]++; }").is_gated);
  EXPECT_FALSE(way_of("{ n[0]++; }").is_common);
  for (const char* clause : {"{ s = copyinstr(arg0); }", "{ s = execname; }", "{ @[ustack()] = count(); n = 1; }"})
    EXPECT_TRUE(way_of(clause).is_common) << clause;
}

TEST(AgentWays, ASingleCountOrAssignmentTakesNoLane) {
  for (const char* clause : {"{ @ = count(); }", "/arg0 == 1/ { @ = count(); }", "{ self->x = 1; }", "{ self->x = timestamp; }"})
    EXPECT_FALSE(way_of(clause).takes_lane) << clause;
  for (const char* clause :
       {"{ @a = count(); @b = count(); }", "{ @[arg0] = count(); }", "{ @ = sum(arg0); }", "{ self->x++; }", "{ n++; }"})
    EXPECT_TRUE(way_of(clause).takes_lane) << clause;
  EXPECT_TRUE(way_of("{ @ = count(); }", {{"followfork", ""}}).takes_lane);
}

TEST(AgentWays, ClausesThatNeverRunDoNotMatter) {
  const std::string other = " { trace(1); } pid1:a:f:entry { @ = count(); }";
  EXPECT_EQ(way_of("/1 == 2/" + other).reason, "");
  EXPECT_NE(way_of("/arg0 == 2/" + other).reason, "");
}

bool is_at_site(const std::string& others, const std::string& clause) {
  const std::string declared = "int limit; int phase; int n; char total; int64_t first; int64_t last; uint64_t most; ";
  return ways_of(declared + others + " pid1:a:f:entry " + clause).at("pid1:a:f:entry").is_at_site;
}

TEST(AgentWays, GlobalsThatOnlyDvmWritesAreReadInTheThread) {
  const std::string clause = "/arg0 > limit/ { @[phase] = sum(arg0); }";
  EXPECT_TRUE(is_at_site("", clause));
  EXPECT_TRUE(is_at_site("BEGIN { limit = 5; } END { phase = 2; }", clause));
  for (const char* other :
       {"ERROR { phase++; }", "syscall:::entry { phase++; }", "pid1:a:g:entry { phase += strlen(probefunc); }",
        "pid1:a:g:entry { phase++; } tick-1s { phase = 0; }"})
    EXPECT_FALSE(is_at_site(other, clause)) << other;
  for (const char* other : {"pid1:a:g:entry { phase++; }", "pid1:a:g:entry { phase *= 2; } END { trace(phase); }"})
    EXPECT_TRUE(is_at_site(other, clause)) << other;
  EXPECT_FALSE(is_at_site("BEGIN { s = \"x\"; }", "{ @[s] = count(); }"));
  EXPECT_FALSE(is_at_site("BEGIN { a[1] = 2; }", "{ @[a[1]] = count(); }"));
}

TEST(AgentWays, GlobalsThatFiringsUseOnceAreChangedInTheThread) {
  for (const char* clause : {"{ n++; }", "{ n++; total += arg0; }", "{ last = timestamp; }", "{ n++; last = arg0; }",
                             "/n++ < 5/ { @ = count(); }", "{ most = arg0 > most ? arg0 : most; }", "{ @[n++] = count(); }"})
    EXPECT_TRUE(is_at_site("END { trace(n); trace(total); trace(last); }", clause)) << clause;
  EXPECT_FALSE(is_at_site("", "{ last = arg0; first = arg1; }"));
}

TEST(AgentWays, GlobalsThatAFiringUsesAtOneTimeAreChangedInTheThread) {
  for (const char* clause : {"/n < 5/ { n++; }", "/!last/ { last = timestamp; }", "{ @[n] = sum(n); n = 1; }",
                             "/n < 5 && arg0 > 3/ { n++; @[n] = count(); }",
                             "/timestamp - last > 1000/ { last = timestamp; @ = count(); }", "/n++ < 5/ { @[n] = count(); }",
                             "/n < 5/ { n++; trace(n); }", "/n < 5/ { trace(n); n++; self->x = n; }", "{ trace(n++); }"})
    EXPECT_TRUE(is_at_site("END { trace(n); }", clause)) << clause;
  for (const char* clause :
       {"/n < 5/ { n++; n++; }", "/n < 5/ { @[n++] = count(); }", "/n < 5/ { first = 1; n++; }",
        "/n < 5/ { @[n % arg0] = count(); n++; }", "/n < 5/ { trace(n / arg0); n++; }",
        "/n < 5/ { this->x = arg0; n = n + this->x; }", "/n < 5/ { speculate(1); n++; }", "/this->x = n/ { n++; }"})
    EXPECT_FALSE(is_at_site("END { trace(n); }", clause)) << clause;
  EXPECT_FALSE(is_at_site("tick-1s { n = 0; }", "/n < 5/ { n++; }"));
}

TEST(AgentWays, TheFirstClauseThatUsesAGlobalMayChangeIt) {
  const std::string counts = "/n < 5/ { n++; }", sees = "{ @[n] = count(); }", next = " pid1:a:f:entry ";
  EXPECT_TRUE(is_at_site("", counts + next + sees + next + "/n >= 5/ { exit(0); }"));
  EXPECT_FALSE(is_at_site("", sees + next + counts));
  EXPECT_FALSE(is_at_site("", counts + next + counts));
  const std::string by_time = "/timestamp > last/ { last = timestamp; }", time = "{ @ = max(timestamp); }";
  EXPECT_TRUE(is_at_site("", by_time + next + time));
  EXPECT_FALSE(is_at_site("", time + next + by_time));
}

// dvm runs the predicate of a clause again, from its record.
TEST(AgentWays, ARecordIsNotOfAChangeThatDvmMayDecideOtherwise) {
  const std::string tick = "tick-1s { phase++; }";
  EXPECT_TRUE(is_at_site(tick, "/phase && n < 5/ { n++; @ = count(); }"));
  for (const char* clause :
       {"/phase && n < 5/ { n++; trace(n); }", "{ n += phase; trace(n); }", "/phase && n++ < 5/ { trace(n); }"})
    EXPECT_FALSE(is_at_site(tick, clause)) << clause;
  EXPECT_TRUE(is_at_site("", "/cpu != last/ { last = cpu; }"));
  EXPECT_TRUE(is_at_site("", "/n < 5/ { n++; trace(cpu); }"));
  EXPECT_FALSE(is_at_site("", "/cpu != last/ { last = cpu; trace(last); }"));
  EXPECT_FALSE(is_at_site("", "{ last = cpu; trace(last); }"));
}

// The records come later than what the timer finds.
TEST(AgentWays, NoTimerUsesAGlobalThatRecordsHave) {
  EXPECT_TRUE(is_at_site("tick-1s { exit(0); } END { trace(first); }", "{ n++; trace(n); }"));
  EXPECT_FALSE(is_at_site("tick-1s { exit(0); } END { trace(n); }", "{ n++; trace(n); }"));
  EXPECT_TRUE(is_at_site("END { trace(n); }", "{ n++; trace(n); }"));
  EXPECT_TRUE(is_at_site("tick-1s { trace(n); }", "/n < 5/ { n++; }"));
  EXPECT_FALSE(is_at_site("tick-1s { trace(n); n = 0; }", "{ n++; trace(n); }"));
  EXPECT_FALSE(is_at_site("tick-1s /n > 4/ { exit(0); }", "/n < 5/ { n++; trace(n); }"));
  // A record is left if the key cannot be read.
  EXPECT_TRUE(is_at_site("END { trace(n); }", "/n < 5/ { n++; @[copyinstr(arg0)] = count(); }"));
  EXPECT_FALSE(is_at_site("tick-1s /n > 4/ { exit(0); }", "/n < 5/ { n++; @[copyinstr(arg0)] = count(); }"));
}

TEST(AgentWays, NothingThatReadsMemoryIsBeforeAChange) {
  EXPECT_TRUE(is_at_site("", "/n < 5/ { trace(probefunc); trace(\"a\"); n++; }"));
  EXPECT_TRUE(is_at_site("", "/n < 5/ { n++; trace(stringof(arg0)); tracemem(arg0, 16); }"));
  for (const char* clause : {"/n < 5/ { tracemem(arg0, 16); n++; }", "/n < 5/ { trace(stringof(arg0)); n++; }",
                             "/n < 5/ { @[stringof(arg0)] = count(); n++; }"})
    EXPECT_FALSE(is_at_site("", clause)) << clause;
}

TEST(AgentWays, AClauseThatEndsTheRunMayChangeIntegers) {
  const std::string counts = "/n < 5/ { n++; }", next = " pid1:a:f:entry ";
  EXPECT_TRUE(is_at_site("END { trace(n); }", counts + next + "/n >= 5/ { exit(0); }"));
  EXPECT_TRUE(is_at_site("END { trace(n); }", "/n >= 5/ { n++; exit(0); }"));
  EXPECT_FALSE(is_at_site("", "/arg0/ { self->s = copyinstr(arg0); exit(0); }"));
  EXPECT_FALSE(is_at_site("", "/arg0/ { a[arg0] = 1; exit(0); }"));
}

// A firing uses only one variable as if at one time. dvm keeps the sum, which only a record needs.
TEST(AgentWays, AVariableThatClausesUseMostIsTheOneOfItsFiring) {
  const AgentWays ways =
      ways_of("int n; int m; pid1:a:f:entry { n++; trace(arg0); } pid1:a:g:entry { n++; } pid1:a:f:entry /m < 5/ { m++; }");
  EXPECT_TRUE(ways.at("pid1:a:f:entry").is_at_site);
  EXPECT_FALSE(ways.at("pid1:a:g:entry").is_at_site);
}

TEST(AgentWays, TimersUseOneGlobalOfThreads) {
  const std::string clause = "{ n++; total += arg0; }";
  EXPECT_TRUE(is_at_site("tick-1s { trace(n); n = 0; } tick-2s { trace(total); } END { total = n; }", clause));
  EXPECT_FALSE(is_at_site("tick-1s { trace(n); trace(total); }", clause));
  EXPECT_FALSE(is_at_site("tick-1s { trace(n); } tick-1s { total = 0; }", clause));
  EXPECT_FALSE(is_at_site("profile-1s { trace(n); }", clause));
  EXPECT_FALSE(is_at_site("tick-1s { n = 0; }", "{ @[n++] = count(); }"));
}

TEST(AgentWays, ARecordHasRoomForWhatIsCaptured) {
  EXPECT_EQ(way_of("{ @ = count(); }").record_bytes, 0);
  const double plain = way_of("{ n[0]++; }").record_bytes, more = way_of("{ n[0] = arg0 + arg1; }").record_bytes;
  EXPECT_GT(plain, 16);
  EXPECT_EQ(more, plain + 16);
  EXPECT_GE(way_of("{ @[ustack()] = count(); n = 1; }").record_bytes, 4096);
}

TEST(AgentWays, ChildrenNeedTheCodeOfAllSites) { EXPECT_TRUE(way_of("{ @ = count(); }", {{"followfork", ""}}).is_common); }

TEST(AgentWays, ClausesThatShareVariablesRunOnOneSide) {
  AgentWays ways = ways_of("pid1:a:f:entry { self->t = timestamp; } pid1:a:f:return /self->t/ { @ = sum(timestamp - self->t); }");
  ASSERT_EQ(ways.size(), 2U);
  for (const auto& [text, way] : ways) EXPECT_TRUE(way.is_at_site) << text;
  EXPECT_EQ(ways.at("pid1:a:f:return").stub.name(), "agent/stub/return");
  const auto& entry = ways.at("pid1:a:f:entry").clauses.at(0).actions;
  EXPECT_EQ(std::count_if(entry.begin(), entry.end(), [](const RowUse& use) { return use.row == "agent/site/time"_row; }), 1);
  EXPECT_EQ(entry.back().row.name(), "agent/site/variables");
  ways = ways_of("pid1:a:f:entry { self->t = timestamp; } pid1:a:f:return /self->t++/ { trace(timestamp - self->t); }");
  for (const auto& [text, way] : ways) EXPECT_FALSE(way.is_at_site) << text;
}

TEST(AgentWays, AClauseThatDvmRunsHasARecordOfItsOwn) {
  const AgentWay way = ways_of("pid1:a:f:entry { @ = count(); } pid1:a:f:entry /arg0 == 1/ { trace(arg1); }").begin()->second;
  EXPECT_TRUE(way.is_at_site);
  EXPECT_EQ(way.record_bytes, 0);
  EXPECT_NE(way.reason, "");
  ASSERT_EQ(way.clauses.size(), 2U);
  EXPECT_FALSE(way.clauses[0].record);
  EXPECT_EQ(text_of(way.clauses[0].actions), "aggregation/count");
  ASSERT_TRUE(way.clauses[1].record);
  EXPECT_EQ(text_of(way.clauses[1].actions), "");
  EXPECT_EQ(way.clauses[1].record->needs.args, 3U);  // with that of the predicate
  EXPECT_GT(way.clauses[1].record->bytes, 16);
  EXPECT_NE(text_of(way.clauses[1].predicate), "");
}

TEST(AgentWays, TheThreadChangesTheVariablesOfARecord) {
  const AgentWays ways =
      ways_of("pid1:a:f:entry { self->t = timestamp; } pid1:a:f:return /self->t/ { trace(timestamp - self->t); self->t = 0; }");
  for (const auto& [text, way] : ways) EXPECT_TRUE(way.is_at_site) << text;
  const SiteUses& uses = ways.at("pid1:a:f:return").clauses.at(0);
  ASSERT_TRUE(uses.record);
  EXPECT_EQ(text_of(uses.actions).rfind("agent/site/expression:", 0), 0U);
}

TEST(AgentWays, RecordsHaveStringsOfTheThread) {
  const std::string keeps = "pid1:a:f:entry { self->s = copyinstr(arg0); self->p = arg0; }",
                    at_return = " pid1:a:f:return /self->p/ ";
  for (const char* clause :
       {"{ trace(self->s); }", "{ printf(\"%s %d\", self->s, arg1); self->s = 0; }",
        "{ trace(copyinstr(self->p)); self->p = 0; }", "{ this->q = self->p; trace(copyinstr(this->q)); self->p = 0; }",
        "{ self->s = copyinstr(self->p); trace(self->s); }", "{ this->t = copyinstr(self->p); trace(this->t); self->p = 0; }",
        "{ trace(arg1 / self->p); self->p = 0; }", "{ trace(strlen(self->s)); }", "{ self->p = 0; trace(copyinstr(arg1)); }"}) {
    const AgentWays ways = ways_of(keeps + at_return + clause);
    EXPECT_TRUE(ways.at("pid1:a:f:entry").is_at_site) << clause;
    EXPECT_TRUE(ways.at("pid1:a:f:return").is_at_site) << clause;
    EXPECT_TRUE(ways.at("pid1:a:f:return").clauses.at(0).record) << clause;
  }
  // A change before a fault, and what only dvm knows.
  for (const char* clause :
       {"{ self->p = 0; trace(copyinstr(arg1)); self->s = 0; }", "{ trace(strlen(self->s)); self->s = 0; }",
        "{ self->s = strjoin(self->s, \"a\"); }", "{ trace(stringof(arg1 + *(int *)self->p)); self->p = 0; }"}) {
    const AgentWays ways = ways_of(keeps + at_return + clause);
    EXPECT_FALSE(ways.at("pid1:a:f:return").is_at_site) << clause;
  }
}

TEST(AgentWays, OnlyProbesInProcessesHaveOne) {
  EXPECT_TRUE(ways_of("BEGIN { n = 0; } tick-1s { n++; } syscall::read:entry { @ = count(); }").empty());
  const AgentWays ways = ways_of("server1:a:f:marker { @ = count(); }");
  ASSERT_EQ(ways.size(), 1U);
  EXPECT_EQ(ways.begin()->second.stub.name(), "agent/stub/usdt");
}

}  // namespace
}  // namespace dvm::runtime
