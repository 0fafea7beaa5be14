// How faults, drops and nesting reach the user.

#include <gtest/gtest.h>

#include "runtime/consumer/errors.h"
#include "runtime/consumer/flow.h"
#include "tests/unit/runtime/session.h"

namespace dvm::runtime::test {
namespace {

using dif::Action;

TEST(Faults, TakeBackTheRecordsOfTheirClause) {
  Session session;
  session.run({clause("BEGIN", {print("before"), action(Action::trace, {divide_by_zero()}), print("behind")}),
               clause("BEGIN", {print("next"), exit_with(3)})});
  EXPECT_EQ(session.out(), "next\n");
  EXPECT_EQ(session.err(), "dvm: error in dt_clause_0 for probe ID 1 (dtrace:::BEGIN): divide-by-zero at DIF offset 4\n");
  EXPECT_EQ(session.handle().exit_status(), 3);
}

TEST(Faults, FireErrorWithTheirArguments) {
  using dif::BuiltIn;
  Session session;
  session.run(
      {clause("BEGIN", {}),
       clause("BEGIN", {action(Action::expression, {constant(1)}), print("x"), action(Action::trace, {divide_by_zero()})}),
       clause("ERROR", {print("%d %d %d %d %d", {built_in(BuiltIn::arg1), built_in(BuiltIn::arg2), built_in(BuiltIn::arg3),
                                                 built_in(BuiltIn::arg4), built_in(BuiltIn::arg5)}),
                        exit_with(0)})});
  EXPECT_EQ(session.out(), "2 1 4 4 0\n");
}

TEST(Faults, NameTheAddress) {
  Session session;
  session.run({clause("BEGIN", {action(Action::trace, {copyinstr(0x10)})}), clause("ERROR", {exit_with(0)})});
  EXPECT_EQ(
      session.err().find("dvm: error in dt_clause_0 for probe ID 1 (dtrace:::BEGIN): invalid address (0x10) at DIF offset "), 0u)
      << session.err();
}

TEST(Faults, OfPredicatesSkipTheirClause) {
  dif::EcbDesc faulty = clause("BEGIN", {print("not this")});
  faulty.predicate = dif::PredDesc{divide_by_zero()};
  Session session;
  session.run({faulty, clause("BEGIN", {print("this"), exit_with(0)})});
  EXPECT_EQ(session.out(), "this\n");
  EXPECT_NE(session.err().find("divide-by-zero"), std::string::npos);
}

TEST(Faults, InErrorItselfAreCounted) {
  Session session;
  session.run({clause("BEGIN", {action(Action::trace, {divide_by_zero()})}), clause("BEGIN", {exit_with(0)}),
               clause("ERROR", {action(Action::trace, {divide_by_zero()})})});
  EXPECT_EQ(session.err().find("dtrace:::ERROR"), std::string::npos) << session.err();
  EXPECT_NE(session.err().find("dvm: 1 error in ERROR probe enabling\n"), std::string::npos) << session.err();
}

TEST(Faults, InsideAKeyLeaveTheAggregationAlone) {
  Session session;
  session.run(
      {clause("BEGIN", {aggregate(Action::agg_count, 1, {divide_by_zero()}, 1), exit_with(1)}), clause("BEGIN", {exit_with(0)})},
      {declare(1, Action::agg_count, {kInt})});
  EXPECT_EQ(session.out(), "\n");
  EXPECT_EQ(session.handle().exit_status(), 0);
}

TEST(Drops, OfRecordsAreCountedAndSaid) {
  Session session;
  session.set("bufsize", "48");
  std::vector<dif::EcbDesc> clauses;
  for (int i = 0; i < 5; i++) clauses.push_back(clause("entry", {print("%d ", {constant(i, kLong)})}));
  session.fire(session.add_probe("f", "entry"), {}, 7);
  session.run(clauses);
  EXPECT_EQ(session.out(), "0 1 \n");
  EXPECT_EQ(session.err(), "dvm: 3 drops on CPU 7\n");
}

TEST(Drops, OfAggregationsAreCountedAndSaid) {
  Session session;
  session.set("aggsize", "128").set("droptags");
  std::vector<dif::ActDesc> actions;
  for (int i = 0; i < 10; i++) actions.push_back(aggregate(Action::agg_count, 1, {constant(i, kLong)}, 1));
  session.fire(session.add_probe("f", "entry"), {}, 5);
  session.run({clause("entry", actions)}, {declare(1, Action::agg_count, {kLong})});
  EXPECT_EQ(session.err(), "dvm: [DTRACEDROP_AGGREGATION] 7 aggregation drops on CPU 5\n");
}

TEST(Drops, AreSummedUpByKind) {
  Drops drops;
  EXPECT_EQ(drops_summary(drops), "");
  drops.add(Drop::principal, 2, 1);
  drops.add(Drop::principal, 3, 4);
  drops.add(Drop::busy, 1);
  EXPECT_EQ(drops_summary(drops), "in all 5 drops, 1 failed speculation (available buffer(s) still busy)");
}

TEST(Drops, OfInstrumentsAreSaidToo) {
  Session session;
  session.fire(session.add_probe("f", "entry"));
  session.instrument().lost = 1;
  session.run({clause("entry", {})});
  EXPECT_EQ(session.err(), "dvm: 1 drop on CPU 0\n");
}

TEST(Drops, NoneWhereTheConsumerCanComeInBetween) {
  Session session;
  session.set("bufsize", "64");
  uint32_t id = session.add_probe("f", "entry");
  for (uint64_t i = 0; i < 100; i++) session.fire(id, {i});
  session.run({clause("entry", {print("%d,", {built_in(dif::BuiltIn::arg0)})})});
  std::string expected;
  for (int i = 0; i < 100; i++) expected += std::to_string(i) + ",";
  EXPECT_EQ(session.out(), expected + "\n");
  EXPECT_EQ(session.err(), "");
}

TEST(Actions, SystemRunsAfterWhatWasPrintedBefore) {
  std::string path = ::testing::TempDir() + "dvm_system_test";
  std::remove(path.c_str());
  Session session;
  session.set("destructive");
  session.run(
      {clause("BEGIN", {print("before "), command("echo %d > %s", {constant(42), text(path)}), print("behind"), exit_with(0)})});
  EXPECT_EQ(session.out(), "before behind\n");
  std::FILE* file = std::fopen(path.c_str(), "r");
  ASSERT_NE(file, nullptr);
  char line[8] = "";
  EXPECT_NE(std::fgets(line, sizeof(line), file), nullptr);
  std::fclose(file);
  std::remove(path.c_str());
  EXPECT_STREQ(line, "42\n");
}

TEST(Actions, SetoptChangesWhatMayChange) {
  auto setopt = [](const std::string& name, const std::string& value) {
    return action(Action::setopt, {text(name), text(value)});
  };
  Session session;
  session.run({clause("BEGIN", {setopt("bufsize", "1k"), setopt("nonsense", "1"), setopt("quiet", "off"),
                                action(Action::trace, {constant(1)}), exit_with(0)})});
  EXPECT_EQ(session.out(), "          1\n\n") << "columns from there on";
  EXPECT_EQ(session.err(),
            "dvm: error in dt_clause_0 for probe ID 1 (dtrace:::BEGIN): couldn't set option \"bufsize\" to \"1k\": Operation "
            "illegal when tracing is active\n"
            "dvm: error in dt_clause_0 for probe ID 1 (dtrace:::BEGIN): couldn't set option \"nonsense\" to \"1\": Invalid "
            "option name\n");
}

TEST(FlowColumn, NestedCallsAreIndented) {
  Session session;
  session.loud().set("flowindent");
  uint32_t outer_in = session.add_probe("outer", "entry"), outer_out = session.add_probe("outer", "return");
  uint32_t inner_in = session.add_probe("inner", "entry"), inner_out = session.add_probe("inner", "return");
  uint32_t middle = session.add_probe("inner", "4");
  for (uint32_t id : {outer_in, inner_in, middle, inner_out, outer_out}) session.fire(id);
  dif::EcbDesc all = clause("entry", {});
  all.probes = {{"pid1", "", "", ""}};
  session.run({all});
  auto line = [](const std::string& text) { return "  0 " + text + std::string(42 - text.size(), ' ') + "\n"; };
  EXPECT_EQ(session.out(), "CPU FUNCTION" + std::string(33, ' ') + "\n" + line(" -> outer") + line("   -> inner") +
                               line("    | inner:4") + line("   <- inner") + line(" <- outer") + "\n");
}

// Application-provided probes take part by the end of their names; system calls have arrows of their own.
TEST(FlowColumn, NamesEndInEntryOrReturn) {
  FlowColumn flow;
  std::deque<Probe> probes;
  std::deque<Ecb> ecbs;
  const auto column = [&](const char* provider, const char* name) {
    ecbs.emplace_back().probe = &probes.emplace_back(Probe{1, provider, "", "f", name, {}});
    return flow.column(ecbs.back(), nullptr);
  };
  EXPECT_EQ(column("app1", "method-entry"), " -> f");
  EXPECT_EQ(column("app1", "gentry"), "  | f:gentry");
  EXPECT_EQ(column("syscall", "entry"), "   => f");
  EXPECT_EQ(column("profile", "tick-1s"), "    | f:tick-1s");
  EXPECT_EQ(column("syscall", "return"), "   <= f");
  EXPECT_EQ(column("app1", "method-return"), " <- f");
  EXPECT_EQ(column("app1", "method-return"), " <- f");
  EXPECT_EQ(column("app1", "nonreturn"), "| f:nonreturn");
}

TEST(FlowColumn, SeveralClausesOnOneProbeIndentOnce) {
  Session session;
  session.loud().set("flowindent");
  uint32_t in = session.add_probe("f", "entry"), out = session.add_probe("f", "return");
  session.fire(in);
  session.fire(out);
  session.run({clause("entry", {}), clause("entry", {}), clause("return", {}), clause("return", {})});
  auto line = [](const std::string& text) { return "  0 " + text + std::string(42 - text.size(), ' ') + "\n"; };
  EXPECT_EQ(session.out(), "CPU FUNCTION" + std::string(33, ' ') + "\n" + line(" -> f") + line("  | f:entry") +
                               line("  | f:return") + line(" <- f") + "\n");
}

}  // namespace
}  // namespace dvm::runtime::test
