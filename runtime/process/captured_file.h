#pragma once
// The kernel's data about an open file when a probe fired. A capture program fills it in (file_emitter.cpp). open_files.h derives
// the members of fileinfo_t from it.
//
// The names lead from the file up to the root: "passwd\0etc\0" is /etc/passwd. Those before names[below_mount] lie in the file's
// own file system.

#include <array>
#include <cstddef>
#include <cstdint>

namespace dvm::runtime {

struct CapturedFile {
  enum End : uint64_t {
    // There is no such descriptor. Nothing else is known.
    not_open,
    // The names reach the root.
    whole,
    // The names do not reach the root: there are too many, one is too long, or the file lies in no directory.
    cut,
    // The descriptor was closed, or the file was moved, during the capture.
    changed,
  };
  static constexpr size_t kNames = 1024, kLongestName = 256, kLongestType = 32;
  static constexpr uint64_t kSameMount = UINT64_MAX;  // as below_mount: all names lie in the file's own file system

  uint64_t end;
  uint64_t place, file, entry, mount, mount_root;  // kernel addresses that the capture program uses; 0 at the end
  uint64_t position, flags, inode;
  uint64_t closes_on_exec;  // a bit for each of 64 descriptors, this one among them
  uint64_t hashed;          // 0: the name is gone, the file was unlinked
  uint64_t below_mount;
  uint64_t names_size;
  std::array<char, kLongestType> type;
  std::array<char, kNames + kLongestName> names;
};
static_assert(sizeof(CapturedFile) % 8 == 0);

// The most bytes of a captured command line; a longer one is cut.
inline constexpr uint32_t kMostCommandLine = 512;
// The most ancestors of a process that are captured.
inline constexpr uint32_t kMostAncestors = 16;

}  // namespace dvm::runtime
