// A program that is run to its end: its words, its files, and how it ended.

#include "common/run_program.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <vector>

namespace dvm {
namespace {

Result<int> run_shell(const std::string& text, std::span<const HandedFile> files = {}) {
  return run_program("sh", std::vector<std::string>{"sh", "-c", text}, files);
}

TEST(RunProgram, ItsExitStatusIsTheResult) {
  const auto status = run_shell("exit 7");
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(*status, 7);
}

TEST(RunProgram, ItHasTheFilesThatItIsHanded) {
  const int file = memfd_create("printed", MFD_CLOEXEC);
  const auto status = run_program("/bin/echo", std::vector<std::string>{"echo", "two words"}, std::vector<HandedFile>{{file, 1}});
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(*status, 0);
  char text[64] = {};
  EXPECT_EQ(pread(file, text, sizeof text - 1, 0), 10);
  EXPECT_STREQ(text, "two words\n");
  close(file);
}

TEST(RunProgram, WhatCannotBeRunIsNamed) {
  const auto none = run_program("/no/such/program", std::vector<std::string>{"program"}, {});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "failed to run /no/such/program: No such file or directory");
}

TEST(RunProgram, ASignalIsNoExitStatus) {
  const auto killed = run_shell("kill -9 $$");
  ASSERT_FALSE(killed);
  EXPECT_EQ(killed.error().message, "sh was ended by signal 9");
}

}  // namespace
}  // namespace dvm
