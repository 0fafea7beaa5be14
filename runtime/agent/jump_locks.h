#pragma once
// Record locks on the places of files in whose code an agent has jumps. A uprobe that follows forks lies in all processes, also
// in those that its dvm does not see because that is in a container: it asks for such locks. A dvm that is killed leaves none.
// Tested by tests/unit/instrument/jump_locks_test.cpp and tests/runtime/scenarios/test_containers.py.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "common/file_descriptor.h"
#include "runtime/agent/agent_site.h"

namespace dvm::runtime {

class JumpLocks {
 public:
  // For a file with more jumps, a lock covers several jumps and what lies between: the kernel looks at all locks of a file for
  // each new one.
  static constexpr size_t kMostOfFile = 64;

  // Call before the jumps are placed. A file that cannot be opened or locked is left out.
  void add(pid_t pid, std::span<const AgentSite> sites);
  // Of sites that are not placed.
  void remove_refused(std::span<const AgentSite> sites);
  void remove(std::span<const uint64_t> jumps);
  void clear();

 private:
  struct File {
    FileDescriptor file;
    std::map<uint64_t, uint64_t> jumps{};  // first byte, and the end
  };
  struct Place {
    File* file;
    uint64_t offset;
  };
  static void lock(const File& file);

  std::map<std::string, File> files_;      // by the paths that open them
  std::multimap<uint64_t, Place> places_;  // by the addresses of the jumps
};

// Whether any agent has locked a byte.
class LockedFiles {
 public:
  bool has_jump(const std::string& open_path, uint64_t offset);

 private:
  std::map<std::string, FileDescriptor> files_;
};

}  // namespace dvm::runtime
