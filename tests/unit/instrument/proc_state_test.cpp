// A process is asked for only if it existed at the firing: its id may have been another's.
#include "runtime/process/proc_state.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kBeforeAll = 1, kSystem = uint64_t{16} << 32;

TEST(ProcState, ProcessesOfTheFiringOnly) {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  ASSERT_GT(child, 0);
  const uint64_t now = read_clock(CLOCK_MONOTONIC), parent = 16 * static_cast<uint64_t>(child), name = parent;
  ProcTexts texts;
  EXPECT_EQ(proc_number(parent, now), getpid());
  EXPECT_EQ(proc_number(parent, 0), getpid());
  EXPECT_EQ(texts.find(name, now), "proc_state_test");
  EXPECT_EQ(proc_number(parent, kBeforeAll), vm::Host::kNoNumber);
  EXPECT_EQ(texts.find(name, kBeforeAll).data(), nullptr);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(proc_number(parent, now), vm::Host::kNoNumber);
  EXPECT_EQ(texts.find(name, now).data(), nullptr);
}

TEST(ProcState, TheSystemIsAskedAtAnyTime) {
  EXPECT_GT(proc_number(kSystem + 4, kBeforeAll), 0);
  EXPECT_TRUE(is_of_process(16));
  EXPECT_FALSE(is_of_process(kSystem + 4));
}

}  // namespace
}  // namespace dvm::runtime
