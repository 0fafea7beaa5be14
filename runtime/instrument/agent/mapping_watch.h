#pragma once
// Notices that a process has mapped other files, by reading its mappings periodically. This needs no privilege, but detects a
// change some milliseconds late. A process that is still mapping files is not reported until it has finished.

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <vector>

namespace dvm::runtime {

class MappingWatch {
 public:
  // Watches a process, starting from its current mappings.
  void add(pid_t pid);
  // Reports that the mappings have changed, even if they look the same.
  void note(pid_t pid, uint64_t now);
  // Processes whose mappings have changed, and then not for some milliseconds. now: in ns of CLOCK_MONOTONIC.
  std::vector<pid_t> take_settled(uint64_t now);

 private:
  struct Watched {
    uint64_t signature = 0, next = 0;  // when to look
    bool is_changing = false;
  };
  std::map<pid_t, Watched> processes_;
};

}  // namespace dvm::runtime
