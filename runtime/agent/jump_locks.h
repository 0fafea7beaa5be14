#pragma once
// Record locks on the bytes of files in whose code an agent has jumps. A uprobe that follows forks is in all processes, also in
// those that its dvm cannot see because it runs in a container. So dvm asks for such locks first. A killed dvm leaves no locks.
// Tested by tests/unit/instrument/jump_locks_test.cpp and tests/runtime/scenarios/test_containers.py.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
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

  // Call before the jumps are placed. A file that cannot be opened or locked is left out. Returns the addresses of jumps that
  // are new. At other addresses there is a jump already; the new site will be refused, but that jump stays.
  std::set<uint64_t> add(pid_t pid, std::span<const AgentSite> sites);
  // Removes the jumps of sites that are not placed. added: the result of the last add().
  void remove_refused(std::span<const AgentSite> sites, const std::set<uint64_t>& added);
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

enum class LockedBy : uint8_t { nobody, agent, another };

// Tells who has locked a byte of a file, so that it cannot be locked for writing. Another program's lock may hide one of an
// agent.
class LockedFiles {
 public:
  LockedBy holder(const std::string& open_path, uint64_t offset);

 private:
  std::map<std::string, FileDescriptor> files_;
};

}  // namespace dvm::runtime
