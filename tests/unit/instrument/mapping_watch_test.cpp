// Mappings of this process, which do not change meanwhile.

#include "runtime/instrument/agent/mapping_watch.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

namespace dvm::runtime {
namespace {

constexpr uint64_t kMillisecond = 1'000'000;
using Pids = std::vector<pid_t>;

TEST(MappingWatch, TellsOfChangesOnceThatHaveSettled) {
  MappingWatch watch;
  watch.add(getpid());
  EXPECT_EQ(watch.take_settled(1), Pids());  // nothing has changed
  watch.note(getpid(), kMillisecond);
  EXPECT_EQ(watch.take_settled(2 * kMillisecond), Pids());  // too early
  EXPECT_EQ(watch.take_settled(7 * kMillisecond), Pids{getpid()});
  EXPECT_EQ(watch.take_settled(1000 * kMillisecond), Pids());
}

TEST(MappingWatch, TellsNothingOfAProcessThatHasEnded) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  MappingWatch watch;
  watch.note(child, 0);
  EXPECT_EQ(watch.take_settled(10 * kMillisecond), Pids());
  EXPECT_EQ(watch.take_settled(20 * kMillisecond), Pids());
}

}  // namespace
}  // namespace dvm::runtime
