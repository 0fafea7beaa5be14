#include "common/output_file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace dvm {
namespace {

namespace fs = std::filesystem;

class OutputFileTest : public testing::Test {
 protected:
  OutputFileTest() {
    std::string name = (fs::temp_directory_path() / "dvm_output_XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~OutputFileTest() override { fs::remove_all(folder_); }

  static std::string contents(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  auto files() const { return std::distance(fs::directory_iterator(folder_), {}); }

  fs::path folder_;
};

TEST_F(OutputFileTest, ReplacesAFileAndKeepsItsMode) {
  const fs::path path = folder_ / "file";
  ASSERT_TRUE(write_file(path.string(), "first"));
  fs::permissions(path, fs::perms(0640));
  ASSERT_TRUE(write_file(path.string(), "second"));
  EXPECT_EQ(contents(path), "second");
  EXPECT_EQ(fs::status(path).permissions(), fs::perms(0640));
  EXPECT_EQ(files(), 1);
}

TEST_F(OutputFileTest, ALinkStaysALink) {
  const fs::path path = folder_ / "file", link = folder_ / "link";
  ASSERT_TRUE(write_file(path.string(), "first"));
  fs::create_symlink("file", link);
  ASSERT_TRUE(write_file(link.string(), "second"));
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(contents(path), "second");
}

TEST_F(OutputFileTest, ADeviceStaysADevice) {
  EXPECT_TRUE(write_file("/dev/null", "gone"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  const Status full = write_file("/dev/full", "too much");
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().message, "failed to write '/dev/full': No space left on device");
}

TEST_F(OutputFileTest, WhatCannotBeWrittenIsAnErrorAndLeavesNothing) {
  for (const std::string& path : {(folder_ / "none" / "file").string(), folder_.string(), std::string()})
    EXPECT_FALSE(write_file(path, "text")) << path;
  EXPECT_EQ(files(), 0);
}

}  // namespace
}  // namespace dvm
