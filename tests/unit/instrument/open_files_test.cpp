// Open files of a process, as /proc shows them: those of the test itself.
#include "runtime/process/open_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

namespace dvm::runtime {
namespace {

constexpr uint64_t kPerFile = 8;

class OpenFilesTest : public testing::Test {
 protected:
  std::string text(int descriptor, uint64_t which) {
    return std::string(files_.text(getpid(), kPerFile * static_cast<uint64_t>(descriptor) + which));
  }
  static int64_t number(int descriptor, uint64_t which) {
    return OpenFiles::number(getpid(), kPerFile * static_cast<uint64_t>(descriptor) + which);
  }

  OpenFiles files_;
};

TEST_F(OpenFilesTest, AFileHasPathPositionFlagsAndMount) {
  const int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  ASSERT_GE(file, 0);
  char bytes[5];
  ASSERT_EQ(read(file, bytes, sizeof bytes), 5);
  EXPECT_EQ(text(file, 0), "/proc/" + std::to_string(getpid()) + "/status");
  EXPECT_EQ(text(file, 1), "proc");
  EXPECT_EQ(text(file, 2), "/proc");
  EXPECT_EQ(number(file, 0), 5);
  EXPECT_EQ(number(file, 1) & O_ACCMODE, O_RDONLY);
  EXPECT_NE(number(file, 1) & O_CLOEXEC, 0);
  close(file);
}

TEST_F(OpenFilesTest, APipeHasNoMount) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_EQ(text(ends[1], 0).rfind("pipe:[", 0), 0u);
  EXPECT_EQ(text(ends[1], 1), "pipefs");
  EXPECT_EQ(text(ends[1], 2), "<unknown>");
  EXPECT_EQ(number(ends[1], 1) & O_ACCMODE, O_WRONLY);
  close(ends[0]), close(ends[1]);
}

TEST_F(OpenFilesTest, WhatIsNotOpenIsNotKnown) {
  EXPECT_EQ(text(-1, 0), "");
  EXPECT_EQ(number(-1, 0), -1);
  EXPECT_EQ(text(1 << 20, 0), "");
  EXPECT_EQ(number(1 << 20, 1), -1);
  EXPECT_EQ(number(0, 7), -1);
}

}  // namespace
}  // namespace dvm::runtime
