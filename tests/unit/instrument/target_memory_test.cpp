// Late reads of another process and of one that is gone.

#include "runtime/process/target_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "runtime/process/cpu_topology.h"

namespace dvm::runtime {
namespace {

class Reads : public testing::Test {
 protected:
  // Three pages of which the last is not readable; a string ends right before it.
  void SetUp() override {
    pages_ = static_cast<char*>(mmap(nullptr, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(pages_, MAP_FAILED);
    std::memset(pages_, 'x', 2 * 4096);
    pages_[2 * 4096 - 1] = '\0';
    std::strcpy(pages_ + 4090, "across the pages");
    mprotect(pages_ + 2 * 4096, 4096, PROT_NONE);
    child_ = fork();
    if (child_ == 0) {
      pause();
      _exit(0);
    }
  }
  void TearDown() override {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    munmap(pages_, 3 * 4096);
  }
  uint64_t at(size_t offset) const { return reinterpret_cast<uint64_t>(pages_) + offset; }

  char* pages_ = nullptr;
  pid_t child_ = 0;
  TargetMemory memory_;
};

TEST_F(Reads, Bytes) {
  std::byte bytes[6];
  ASSERT_TRUE(memory_.read(child_, at(4090), bytes));
  EXPECT_EQ(std::memcmp(bytes, "across", 6), 0);
  EXPECT_FALSE(memory_.read(child_, at(2 * 4096 - 3), bytes));
  EXPECT_FALSE(memory_.read(child_, 0, bytes));
  EXPECT_FALSE(memory_.read(child_, UINT64_MAX - 2, bytes));
  EXPECT_TRUE(memory_.read(child_, 0, {}));
  EXPECT_FALSE(memory_.read(0, at(0), bytes));
}

TEST_F(Reads, StringsUpToTheirEnd) {
  char text[64];
  ASSERT_EQ(memory_.read_string(child_, at(4090), text), 16);
  EXPECT_STREQ(text, "across the pages");
  EXPECT_EQ(memory_.read_string(child_, at(2 * 4096 - 1), text), 0);
  EXPECT_EQ(memory_.read_string(child_, at(2 * 4096 - 5), text), 4);
  EXPECT_EQ(memory_.read_string(child_, at(0), std::span(text, 8)), 8);
  EXPECT_EQ(memory_.read_string(child_, at(2 * 4096), text), -1);
  EXPECT_EQ(memory_.read_string(child_, UINT64_MAX, text), -1);
}

TEST_F(Reads, WhatIsWrittenIsReadBack) {
  const char text[] = "written";
  ASSERT_TRUE(memory_.write(child_, at(4093), std::as_bytes(std::span(text))));
  char read[64];
  EXPECT_EQ(memory_.read_string(child_, at(4093), read), 7);
  EXPECT_STREQ(read, text);
  EXPECT_NE(std::memcmp(pages_ + 4093, text, sizeof text), 0);  // the child has pages of its own
}

TEST_F(Reads, WhatMayNotBeWrittenIsNot) {
  static const char constant[] = "constant";
  const auto bytes = std::as_bytes(std::span("other"));
  EXPECT_FALSE(memory_.write(child_, at(2 * 4096), bytes));      // not mapped
  EXPECT_FALSE(memory_.write(child_, at(2 * 4096 - 2), bytes));  // in half
  EXPECT_FALSE(memory_.write(child_, reinterpret_cast<uint64_t>(constant), bytes));
  EXPECT_FALSE(memory_.write(child_, 0xffffffff81000000, bytes));
  EXPECT_FALSE(memory_.write(getpid(), at(0), bytes));
  EXPECT_FALSE(memory_.write(-1, at(0), bytes));
  EXPECT_EQ(pages_[0], 'x');
  EXPECT_STREQ(constant, "constant");
}

TEST_F(Reads, IdsOfTheProcess) {
  ProcessIds ids = memory_.ids(child_);
  EXPECT_EQ(ids.ppid, getpid());
  EXPECT_EQ(ids.uid, getuid());
  EXPECT_EQ(ids.gid, getgid());
  EXPECT_EQ(ids.euid, geteuid());
  EXPECT_EQ(ids.egid, getegid());
  EXPECT_EQ(ids.pgid, getpgid(0));
  EXPECT_EQ(ids.sid, getsid(0));
  EXPECT_EQ(ids.threads, 1);
}

TEST_F(Reads, TheCommandLineIsRememberedWhenTheProcessIsGone) {
  const std::string line(memory_.text(child_, ProcessText::command_line));
  EXPECT_THAT(line, testing::HasSubstr("_test"));
  EXPECT_EQ(line.find('\0'), std::string::npos);
  kill(child_, SIGKILL);
  waitpid(child_, nullptr, 0);
  usleep(150'000);
  EXPECT_EQ(memory_.text(child_, ProcessText::command_line), line);
  EXPECT_EQ(memory_.text(-1, ProcessText::command_line), "");
}

TEST_F(Reads, PathsOfTheProcess) {
  EXPECT_EQ(memory_.text(child_, ProcessText::working_directory), std::filesystem::current_path().string());
  EXPECT_EQ(memory_.text(child_, ProcessText::root_directory), "/");
  EXPECT_EQ(memory_.text(-1, ProcessText::root_directory), "");
}

TEST(CpuTopology, WhatTheKernelDoesNotSayIsUnknown) {
  CpuTopology cpus;
  EXPECT_GE(cpus.node_of(0), 0);
  EXPECT_EQ(cpus.chip_of(-1), -1);
  EXPECT_EQ(cpus.node_of(-1), -1);
  EXPECT_EQ(cpus.chip_of(1 << 20), -1);
  EXPECT_EQ(cpus.chip_of(1023), -1);  // more than this machine has
}

TEST_F(Reads, AProcessThatIsGoneIsUnknownButItsIdsAreRemembered) {
  ProcessIds before = memory_.ids(child_);
  kill(child_, SIGKILL);
  waitpid(child_, nullptr, 0);
  usleep(150'000);
  EXPECT_EQ(memory_.ids(child_).ppid, before.ppid);
  std::byte bytes[4];
  EXPECT_FALSE(memory_.read(child_, at(0), bytes));
  TargetMemory other;
  EXPECT_EQ(other.ids(child_).ppid, -1);
  EXPECT_EQ(other.ids(-5).uid, -1);
}

TEST_F(Reads, ARecordingAnswersForItsProcessesAndNothingIsReadOfLiveOnes) {
  RecordedProcess one, other;
  one.pid = child_, one.ids.ppid = 7, one.command_line = "a b";
  other.pid = 3, other.ids.gid = 3;
  memory_.use_recorded({one, other});
  EXPECT_EQ(memory_.ids(child_).ppid, 7);
  EXPECT_EQ(memory_.text(child_, ProcessText::command_line), "a b");
  EXPECT_EQ(memory_.text(getpid(), ProcessText::command_line), "");
  EXPECT_EQ(memory_.ids(3).gid, 3);
  EXPECT_EQ(memory_.ids(getpid()).uid, -1);
  std::byte bytes[4];
  EXPECT_FALSE(memory_.read(child_, at(0), bytes));
  char text[4];
  EXPECT_EQ(memory_.read_string(child_, at(0), text), -1);
}

}  // namespace
}  // namespace dvm::runtime
