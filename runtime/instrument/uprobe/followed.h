#pragma once
// Follows traced processes and all their descendants. The programs of probes know a child before it runs, so none of its
// firings is missed. dvm learns of it from the ring, before any of its firings.
//
// - map   process -> FollowedProcess: the traced process that it descends from
// - fork  in the parent, before the child runs: enters the child with the parent's origin; reported to dvm
// - exec  reported to dvm: earlier mappings are gone
// - exit  of the last thread: removes the process from the map
//
// Probes are then in every process that has mapped their file, and the program ends early in processes that are not in the map.
// If dvm is in a pid namespace, its process numbers differ from the kernel's. A traced process has a key made of its number
// there; all others have the kernel's number. dvm is told of each by its number there.

#include <cstdint>
#include <memory>
#include <vector>

#include "dvm/common/result.h"
#include "runtime/instrument/uprobe/kernel.h"

namespace dvm::runtime {

// An entry of the map.
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
  // True if forked processes remain after those that were added have gone.
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
