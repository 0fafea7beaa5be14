#pragma once
// Processes that are followed: those that are traced, and all that they fork. A child is known to the programs of probes before
// it runs, so nothing of it is missed; dvm hears of it from the ring, before anything that fires in it.
//
//   map   process -> FollowedProcess: the traced process that it comes from
//   fork  in the parent, before the child runs: the child comes from where the parent does; told
//   exec  told: what was mapped is so no more
//   exit  of the last thread: out of the map
//
// Probes are then in every process that has mapped their file; the program ends early in those that are not in the map. Where dvm
// is in a pid namespace, it knows other numbers than the kernel does: a traced process has a key made of its number there, all
// others have the kernel's.

#include <cstdint>
#include <memory>
#include <vector>

#include "common/result.h"
#include "runtime/instrument/uprobe/kernel.h"

namespace dvm::runtime {

// As the map has it.
struct FollowedProcess {
  uint64_t root = 0;       // the number of the traced process, as dvm knows it
  uint64_t is_adding = 0;  // its dynamic linker maps files just now
};

class Followed {
 public:
  // Attaches at once; the ring hears of changes.
  static Result<std::unique_ptr<Followed>> make(ProgramMaps maps);
  // Follows one process from now on.
  Status add(int32_t pid);
  // Whether processes that were forked are left, once those that were added have gone.
  bool has_descendants();
  int map() const { return map_.get(); }
  // Nothing is told any more.
  void detach() { links_.clear(); }

 private:
  Status attach(const char* tracepoint, const std::vector<bpf_insn>& code);

  FileDescriptor map_;
  std::vector<FileDescriptor> programs_, links_;
  std::vector<uint64_t> roots_;  // their keys
};

}  // namespace dvm::runtime
