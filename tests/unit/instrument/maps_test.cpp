// Lines of /proc/PID/maps, and the files of this process.

#include "runtime/symbol/maps.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

namespace dvm::runtime {
namespace {

TEST(MapsLine, IsTakenApart) {
  MapsLine line;
  ASSERT_TRUE(parse_maps_line("7f00-7fff r-xp 00028000 fd:01 1234                       /usr/lib/libc.so.6", line));
  EXPECT_EQ(line.range, "7f00-7fff");
  EXPECT_TRUE(line.executable);
  EXPECT_EQ(line.device, makedev(0xfd, 1));
  EXPECT_EQ(line.inode, 1234U);
  EXPECT_EQ(line.path, "/usr/lib/libc.so.6");
  EXPECT_FALSE(line.is_shared);
}

TEST(MapsLine, TellsWhetherItIsShared) {
  MapsLine line;
  ASSERT_TRUE(parse_maps_line("7f00-7fff rwxs 00028000 fd:01 1234                       /usr/lib/libc.so.6", line));
  EXPECT_TRUE(line.is_shared);
}

TEST(MapsLine, PathsMayHoldBlanksAndNewlines) {
  MapsLine line;
  ASSERT_TRUE(parse_maps_line("1-2 rw-p 0 00:00 5 /a b\\012c (deleted)", line));
  EXPECT_FALSE(line.executable);
  EXPECT_EQ(line.path, "/a b\nc (deleted)");
}

TEST(MapsLine, AnonymousMemoryHasNoPath) {
  MapsLine line;
  ASSERT_TRUE(parse_maps_line("1-2 rw-p 00000000 00:00 0 ", line));
  EXPECT_EQ(line.path, "");
}

TEST(MapsLine, JunkIsRefused) {
  MapsLine line;
  for (const char* text : {"", "x", "1-2", "1-2 r-x", "1-2 r-xp 0 0000 5 /a", "1-2 r-xp 0 00:00 x /a", "12 r-xp 0 00:00 5 /a",
                           "1-2 r-xp 0 g:00 5 /a"}) {
    EXPECT_FALSE(parse_maps_line(text, line)) << text;
  }
}

TEST(MappedObjects, AreTheFilesOfAProcessEachOnce) {
  auto objects = mapped_objects(getpid());
  ASSERT_TRUE(objects);
  size_t programs = 0, libcs = 0;
  for (const MappedObject& object : *objects) {
    programs += object.is_program;
    libcs += object.name == "libc.so.6";
    EXPECT_TRUE(std::filesystem::equivalent(object.open_path, object.path)) << object.open_path;
    if (object.is_program) {
      EXPECT_EQ(object.name, "maps_test");
    }
  }
  EXPECT_EQ(programs, 1U);
  EXPECT_EQ(libcs, 1U);
}

TEST(MappedObjects, HaveTheNamesOfTheirFiles) {
  const std::string folder = testing::TempDir() + "maps-" + std::to_string(getpid());
  std::filesystem::create_directory(folder);
  const std::vector<std::string> paths = {folder + "/a\\012b", folder + "/a\nb"};
  for (const std::string& path : paths) {
    std::filesystem::copy_file("/proc/self/exe", path);
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    ASSERT_NE(mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0), MAP_FAILED);
    close(file);
  }
  const auto objects = mapped_objects(getpid());
  ASSERT_TRUE(objects);
  for (const std::string& path : paths)
    EXPECT_TRUE(std::any_of(objects->begin(), objects->end(), [&](const MappedObject& one) { return one.path == path; })) << path;
  std::filesystem::remove_all(folder);
}

bool may_open_mappings() {
  std::error_code error;
  for (const auto& one : std::filesystem::directory_iterator("/proc/self/map_files", error))
    return std::filesystem::exists(one.path(), error);
  return false;
}

// Its name leads to another file a moment later.
TEST(MappedObjects, OfAnotherRootDirectoryAreOpenedThroughTheirMappings) {
  if (!may_open_mappings()) GTEST_SKIP() << "needs the right to open mappings";
  const std::string folder = testing::TempDir() + "maps-root-" + std::to_string(getpid()), path = folder + "/library";
  std::filesystem::create_directories(folder + "/root");
  std::filesystem::copy_file("/proc/self/exe", path);
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat mapped {
  }, opened{};
  ASSERT_EQ(fstat(file, &mapped), 0);
  int ready[2] = {};
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const void* const there = mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
    const bool is_inside = there != MAP_FAILED && chroot((folder + "/root").c_str()) == 0;
    [[maybe_unused]] const ssize_t told = write(ready[1], is_inside ? "y" : "n", 1);
    for (;;) pause();
  }
  char is_inside = 0;
  EXPECT_EQ(read(ready[0], &is_inside, 1), 1);
  if (const auto objects = mapped_objects(child); objects && is_inside == 'y') {
    std::filesystem::remove(path);
    std::filesystem::copy_file("/proc/self/exe", path);
    const auto one = std::find_if(objects->begin(), objects->end(), [](const auto& object) { return object.name == "library"; });
    EXPECT_TRUE(one != objects->end() && stat(one->open_path.c_str(), &opened) == 0);
    EXPECT_EQ(opened.st_ino, mapped.st_ino) << "another file";
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  for (const int fd : {file, ready[0], ready[1]}) close(fd);
  std::filesystem::remove_all(folder);
  if (is_inside != 'y') GTEST_SKIP() << "needs root, for another root directory";
}

TEST(MappedObjects, NoSuchProcessIsAnError) {
  auto objects = mapped_objects(1 << 30);
  ASSERT_FALSE(objects);
  EXPECT_EQ(objects.error().message, "No such process");
}

}  // namespace
}  // namespace dvm::runtime
