// A session from enable() to stop(): what fires when, what is printed, and the exit status.

#include <gtest/gtest.h>

#include <climits>

#include "tests/unit/runtime/session.h"

namespace dvm::runtime::test {
namespace {

TEST(Handle, PrintsWhatBeginTraces) {
  Session session;
  session.run({clause("BEGIN", {print("%d and %s\n", {constant(-3), text("more")}), exit_with(7)})});
  EXPECT_EQ(session.out(), "-3 and more\n\n");
  EXPECT_EQ(session.err(), "");
  EXPECT_EQ(session.handle().exit_status(), 7);
}

TEST(Handle, ExitEndsTheFiringButEndRuns) {
  Session session;
  session.run({clause("BEGIN", {print("a ")}), clause("BEGIN", {exit_with(1), print("rest of the clause ")}),
               clause("BEGIN", {print("never ")}), clause("END", {print("end")})});
  EXPECT_EQ(session.out(), "a rest of the clause end\n");
}

TEST(Handle, EndMayChangeTheExitStatus) {
  Session session;
  session.run({clause("BEGIN", {exit_with(1)}), clause("END", {exit_with(9)})});
  EXPECT_EQ(session.handle().exit_status(), 9);
}

// Prints arg0 of firings on these CPUs, which is their number.
std::string printed_from(Session& session, std::initializer_list<int32_t> cpus) {
  const uint32_t id = session.add_probe("f", "entry");
  uint64_t number = 0;
  for (int32_t cpu : cpus) session.fire(id, {number++}, cpu);
  return session.run({clause("entry", {print("%d,", {built_in(dif::BuiltIn::arg0)})})}).out();
}

TEST(Handle, RecordsOfSeveralCpusComeInTheOrderOfTime) {
  Session session;
  session.set("bufsize", "1k");
  EXPECT_EQ(printed_from(session, {3, 1, 200, 3, 1}), "0,1,2,3,4,\n");
}

TEST(Handle, WithoutTemporalCpuAfterCpu) {
  Session session;
  session.set("temporal", "off").set("bufsize", "1k");
  EXPECT_EQ(printed_from(session, {3, 1, 200, 3, 1}), "0,3,2,1,4,\n");
}

TEST(Handle, ARingKeepsTheNewestOfEachCpu) {
  Session session;
  session.set("bufpolicy", "ring").set("bufsize", "48");
  EXPECT_EQ(printed_from(session, {0, 1, 1, 1, 1, 0, 1}), "0,4,5,6,\n");
}

TEST(Handle, AFilledBufferEndsTracing) {
  Session session;
  session.set("bufpolicy", "fill").set("bufsize", "48");
  EXPECT_EQ(printed_from(session, {0, 1, 1, 0, 1, 0, 1}), "0,1,2,3,\n");
  EXPECT_EQ(session.err(), "");
}

TEST(Handle, CpusOfARecordingMayBeAnything) {
  Session session;
  session.set("bufsize", "1k");
  EXPECT_EQ(printed_from(session, {INT32_MIN, -1, INT32_MAX, 300, 8192}), "0,1,2,3,4,\n");
}

TEST(Handle, ColumnsAndHeading) {
  Session session;
  session.loud();
  uint32_t id = session.add_probe("work", "entry");
  session.fire(id, {42}, 3);
  session.run({clause("entry", {action(dif::Action::trace, {built_in(dif::BuiltIn::arg0)})})});
  EXPECT_EQ(session.out(),
            "CPU     ID                    FUNCTION:NAME\n"
            "  3      4                       work:entry                   42\n\n");
}

TEST(Handle, ClauseWithoutActionsSaysThatItFired) {
  Session session;
  session.loud();
  uint32_t id = session.add_probe("f", "entry");
  session.fire(id);
  session.run({clause("entry", {})});
  EXPECT_EQ(session.out(), "CPU     ID                    FUNCTION:NAME\n  0      4                          f:entry \n\n");
}

TEST(Handle, ClauseThatOnlyAggregatesLeavesNoLine) {
  Session session;
  session.loud();
  session.run({clause("BEGIN", {aggregate(dif::Action::agg_count, 1, {}, 0)}),
               clause("END", {aggregate(dif::Action::agg_count, 1, {}, 0)}),
               clause("BEGIN", {action(dif::Action::expression, {constant(1)}), exit_with(0)})},
              {declare(1, dif::Action::agg_count)});
  std::string out = session.out();  // only the line of exit(); its CPU is whichever dvm ran on
  EXPECT_EQ(out.substr(0, out.find('\n')), "CPU     ID                    FUNCTION:NAME");
  EXPECT_EQ(out.substr(out.find('\n') + 4), "      1                           :BEGIN \n\n                2\n");
}

}  // namespace
}  // namespace dvm::runtime::test
