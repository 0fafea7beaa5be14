#pragma once
// Notices that a process has mapped other files, by looking at its mappings now and then. This needs no privilege, but sees a
// change some milliseconds late. A process that is still about to map files is left alone until it has done so.

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <vector>

namespace dvm::runtime {

class MappingWatch {
 public:
  // From its present mappings on.
  void add(pid_t pid);
  // Its mappings have changed, although they may look as before.
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
