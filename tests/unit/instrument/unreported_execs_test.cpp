// Programs that end before dvm has looked at them are counted, however many a process executes.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "runtime/instrument/uprobe/exec_bell.h"

namespace dvm::runtime {
namespace {

// As the kernel rings when the process, a descendant of process 1, executes a program.
void ring(UnreportedExecs& execs, pid_t pid) {
  const uint64_t words[] = {1, static_cast<uint64_t>(pid)};
  execs.note(std::as_bytes(std::span(words)));
}

pid_t ended_process() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  return child;
}

TEST(UnreportedExecs, ThoseThatEndedUnseenAreCounted) {
  UnreportedExecs execs;
  std::vector<LoadedIn> loads;
  std::vector<std::string> notes;
  const pid_t first = ended_process(), second = ended_process();
  ring(execs, first);
  execs.take(loads, notes);
  ring(execs, second);
  execs.take(loads, notes);
  EXPECT_TRUE(loads.empty());
  EXPECT_TRUE(notes.empty());
  execs.take_notes(notes);
  execs.take_notes(notes);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_TRUE(notes[0].starts_with("2 programs, the first of them in process " + std::to_string(first)));
}

TEST(UnreportedExecs, OfSeveralInOneProcessOnlyTheLastStillRuns) {
  UnreportedExecs execs;
  std::vector<LoadedIn> loads{{1, getpid()}};  // its linker has reported it
  std::vector<std::string> notes;
  for (int i = 0; i < 2; i++) ring(execs, getpid());
  execs.take(loads, notes);
  EXPECT_EQ(loads.size(), 1U);
  execs.take_notes(notes);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_TRUE(notes[0].starts_with("process " + std::to_string(getpid()) + " has executed a program and ended"));
}

}  // namespace
}  // namespace dvm::runtime
