// Open files of a process: of one that waits, which is the test itself, and as they were captured.
#include "runtime/process/open_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <string>

namespace dvm::runtime {
namespace {

constexpr uint64_t kPerFile = 8;

uint64_t index_of(int descriptor, uint64_t which) {
  return static_cast<uint64_t>(static_cast<int64_t>(kPerFile) * descriptor) + which;
}

class OpenFilesTest : public testing::Test {
 protected:
  OpenFilesTest() { firing_.pid = getpid(), firing_.reads_in_time = true; }

  std::string text(int descriptor, uint64_t which) {
    files_.serve(firing_, has_process_);
    return std::string(files_.text(index_of(descriptor, which)));
  }
  int64_t number(int descriptor, uint64_t which) {
    files_.serve(firing_, has_process_);
    return files_.number(index_of(descriptor, which));
  }

  vm::Firing firing_;
  bool has_process_ = true;
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
  EXPECT_EQ(text(file, 3), "/proc/" + std::to_string(getpid()));
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

TEST_F(OpenFilesTest, WhatIsNotOpenHasNoText) {
  for (uint64_t which : {0, 1, 2, 3}) EXPECT_EQ(text(-1, which), "");
  EXPECT_EQ(number(-1, 0), 0);
  EXPECT_EQ(number(-1, 1), 0);
  EXPECT_EQ(text(1 << 20, 0), "");
  EXPECT_EQ(text(1 << 20, 3), "");
  EXPECT_EQ(number(1 << 20, 1), 0);
  EXPECT_EQ(number(0, 7), 0);
  EXPECT_EQ(files_.unknown(), 0u);
}

TEST_F(OpenFilesTest, WhatARunningProcessHasNowIsNotTheAnswer) {
  firing_.reads_in_time = false;
  EXPECT_EQ(text(0, 0), "<unknown>");
  EXPECT_EQ(text(0, 3), "<unknown>");
  EXPECT_EQ(number(0, 0), -1);
  EXPECT_EQ(files_.unknown(), 3u);
}

class CapturedFileTest : public OpenFilesTest {
 protected:
  CapturedFileTest() {
    firing_.reads_in_time = false;
    has_process_ = false;
    std::strcpy(file_.type.data(), "ext4");
    file_.end = CapturedFile::whole, file_.hashed = 1, file_.below_mount = CapturedFile::kSameMount;
  }
  void capture(int descriptor, const std::string& names) {
    names.copy(file_.names.data(), file_.names.size());
    file_.names_size = names.size();
    memory_ = {static_cast<uint64_t>(descriptor), std::as_bytes(std::span(&file_, 1)), false, true};
    firing_.memory = {&memory_, 1};
  }

  CapturedFile file_{};
  vm::CapturedMemory memory_;
};

const std::string kPasswd("passwd\0etc\0mnt\0", 15);

TEST_F(CapturedFileTest, NamesMakeAPath) {
  file_.position = 7, file_.flags = O_RDWR, file_.closes_on_exec = 1 << 5;
  capture(5, kPasswd);
  EXPECT_EQ(text(5, 0), "/mnt/etc/passwd");
  EXPECT_EQ(text(5, 1), "ext4");
  EXPECT_EQ(text(5, 2), "/");
  EXPECT_EQ(text(5, 3), "/mnt/etc");
  EXPECT_EQ(number(5, 0), 7);
  EXPECT_EQ(number(5, 1), O_RDWR | O_CLOEXEC);
  EXPECT_EQ(text(6, 0), "<unknown>");
}

TEST_F(CapturedFileTest, TheMountPointLiesBelow) {
  file_.below_mount = sizeof "passwd\0etc";
  capture(5, kPasswd);
  EXPECT_EQ(text(5, 2), "/mnt");
}

TEST_F(CapturedFileTest, AnUnlinkedFileSaysSo) {
  file_.hashed = 0;
  capture(5, kPasswd);
  EXPECT_EQ(text(5, 0), "/mnt/etc/passwd (deleted)");
}

TEST_F(CapturedFileTest, TheRootHasNoName) {
  capture(5, "");
  EXPECT_EQ(text(5, 0), "/");
  EXPECT_EQ(text(5, 3), "/");
}

TEST_F(CapturedFileTest, AWorkingDirectoryIsNoDescriptor) {
  capture(0, std::string("lib\0usr\0", 8));
  EXPECT_EQ(files_.working_directory(), "");
  memory_.address = vm::CapturedMemory::kWorkingDirectory;
  files_.serve(firing_, has_process_);
  EXPECT_EQ(files_.working_directory(), "/usr/lib");
  file_.end = CapturedFile::cut;
  EXPECT_EQ(files_.working_directory(), "");
}

TEST_F(CapturedFileTest, AClosedDescriptorHasNone) {
  file_.end = CapturedFile::not_open;
  capture(5, "");
  EXPECT_EQ(text(5, 0), "");
  EXPECT_EQ(number(5, 1), 0);
  EXPECT_EQ(files_.unknown(), 0u);
}

TEST_F(CapturedFileTest, WhatChangedMeanwhileIsNotKnown) {
  file_.end = CapturedFile::changed;
  capture(5, kPasswd);
  EXPECT_EQ(text(5, 0), "<unknown>");
  EXPECT_EQ(text(5, 1), "<unknown>");
  EXPECT_EQ(number(5, 0), -1);
}

TEST_F(CapturedFileTest, PipesAndSocketsHaveNumbers) {
  file_.end = CapturedFile::cut, file_.inode = 42;
  std::strcpy(file_.type.data(), "pipefs");
  capture(5, std::string(1, '\0'));
  EXPECT_EQ(text(5, 0), "pipe:[42]");
  std::strcpy(file_.type.data(), "anon_inodefs");
  capture(5, std::string("[eventfd]\0", 10));
  EXPECT_EQ(text(5, 0), "anon_inode:[eventfd]");
  EXPECT_EQ(text(5, 2), "<unknown>");
}

TEST_F(CapturedFileTest, AFileInMemoryHasANameAndNoDirectory) {
  file_.end = CapturedFile::cut;
  std::strcpy(file_.type.data(), "tmpfs");
  capture(5, std::string("memfd:mine\0", 11));
  EXPECT_EQ(text(5, 0), "/memfd:mine (deleted)");
  capture(5, std::string("memfd:mine\0folder\0", 18));
  EXPECT_EQ(text(5, 0), "<unknown>");
}

// The file of this program, as if its names had not all been captured.
TEST_F(CapturedFileTest, ACutPathIsReadIfTheDescriptorIsTheSameFileStill) {
  const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  struct stat now;
  ASSERT_EQ(fstat(file, &now), 0);
  file_.end = CapturedFile::cut, file_.inode = now.st_ino;
  capture(file, std::string("open_files_test\0", 16));
  EXPECT_EQ(text(file, 0), "<unknown>");
  has_process_ = true;
  EXPECT_TRUE(text(file, 0).ends_with("/open_files_test"));
  capture(file, std::string("another_name\0", 13));
  EXPECT_EQ(text(file, 0), "<unknown>");
  capture(file, std::string("open_files_test\0", 16));
  file_.inode++;
  EXPECT_EQ(text(file, 0), "<unknown>");
  close(file);
}

TEST_F(CapturedFileTest, SizesOfARecordingAreNotTrusted) {
  capture(5, kPasswd);
  file_.names_size = UINT64_MAX;
  EXPECT_LE(text(5, 0).size(), sizeof file_ + 64);
  memory_.bytes = memory_.bytes.first(offsetof(CapturedFile, names) + 4);
  EXPECT_EQ(text(5, 0), "/pass");
  memory_.bytes = memory_.bytes.first(3);
  EXPECT_EQ(text(5, 0), "<unknown>");
}

}  // namespace
}  // namespace dvm::runtime
