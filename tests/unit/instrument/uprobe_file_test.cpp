// Files and directories that are captured at firings of uprobes.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "runtime/process/captured_file.h"
#include "tests/unit/instrument/uprobe_fixture.h"

namespace dvm::runtime {
namespace {

CapturedFile file_of(const Seen& seen) {
  CapturedFile file{};
  if (!seen.memory.empty()) seen.memory[0].copy(reinterpret_cast<char*>(&file), sizeof file);
  return file;
}

// The descriptor is closed at once, and then that of another file.
TEST_F(Uprobe, AnOpenFileIsCapturedAsItWas) {
  TracedChild child({[] {
    char bytes[3];
    const int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    const bool has_read = read(file, bytes, sizeof bytes) == sizeof bytes;
    traced_plain(has_read ? file : -1);
    close(file);
    traced_plain(file);
    const int other = open("/dev/null", O_WRONLY);
    traced_plain(other);
    close(other);
    traced_plain(-1);
  }});
  const Probe probe = probe_on(child.pid(), &traced_plain, 1);
  CaptureNeeds needs;
  needs.add(MemoryNeed::of_file(0, 0));
  const auto seen = trace(child, {{&probe, needs}});
  ASSERT_EQ(seen.size(), 4u);
  const CapturedFile first = file_of(seen[0]), closed = file_of(seen[1]), second = file_of(seen[2]);
  EXPECT_EQ(seen[0].addresses[0], seen[0].firing.args[0]);
  EXPECT_EQ(first.end, CapturedFile::whole);
  const std::string names = with_nul("status") + with_nul(std::to_string(child.pid())) + with_nul("proc");
  EXPECT_EQ(std::string(first.names.data(), first.names_size), names);
  EXPECT_EQ(first.below_mount, names.size() - sizeof "proc");
  EXPECT_STREQ(first.type.data(), "proc");
  EXPECT_EQ(first.position, 3u);
  EXPECT_EQ(first.flags & O_ACCMODE, unsigned{O_RDONLY});
  EXPECT_NE(first.closes_on_exec >> seen[0].firing.args[0] & 1, 0u);
  EXPECT_NE(first.hashed, 0u);
  EXPECT_EQ(first.file | first.entry | first.mount | first.place, 0u);
  EXPECT_EQ(closed.end, CapturedFile::not_open);
  EXPECT_STREQ(second.names.data(), "null");
  EXPECT_EQ(second.flags & O_ACCMODE, unsigned{O_WRONLY});
  EXPECT_EQ(file_of(seen[3]).end, CapturedFile::not_open);
}

TEST_F(Uprobe, TheRootOfAFileSystemHasItsName) {
  TracedChild child({[] { traced_plain(open("/proc", O_RDONLY | O_CLOEXEC)); }});
  const Probe probe = probe_on(child.pid(), &traced_plain, 1);
  CaptureNeeds needs;
  needs.add(MemoryNeed::of_file(0, 0));
  const auto seen = trace(child, {{&probe, needs}});
  ASSERT_EQ(seen.size(), 1u);
  const CapturedFile root = file_of(seen[0]);
  EXPECT_EQ(std::string(root.names.data(), root.names_size), with_nul("proc"));
  EXPECT_NE(root.hashed, 0u);
}

TEST_F(Uprobe, TheWorkingDirectoryIsCapturedAsItWas) {
  TracedChild child({[] {
    if (chdir("/proc/self") == 0) traced_plain(1);
    if (chdir("/") == 0) traced_plain(2);
  }});
  const Probe probe = probe_on(child.pid(), &traced_plain, 1);
  CaptureNeeds needs;
  needs.add(MemoryNeed::of_working_directory());
  const auto seen = trace(child, {{&probe, needs}});
  ASSERT_EQ(seen.size(), 2u);
  const CapturedFile first = file_of(seen[0]), second = file_of(seen[1]);
  EXPECT_EQ(std::string(first.names.data(), first.names_size), with_nul(std::to_string(child.pid())) + with_nul("proc"));
  EXPECT_EQ(first.end, CapturedFile::whole);
  EXPECT_EQ(first.file | first.entry | first.mount | first.place, 0u);
  EXPECT_EQ(second.names_size, 0u);
  EXPECT_NE(second.hashed, 0u);
}

}  // namespace
}  // namespace dvm::runtime
