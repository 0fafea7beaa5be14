#pragma once
// Counts the returns that the kernel does not tell. It keeps at most 64 return addresses that it has replaced in a thread, of all
// uretprobes together; a call deeper than that returns unseen. It says how many there are (task_struct.utask->depth), so a
// program on the entry of each function that has a uretprobe knows that this call's return will be missed.

#include <cstdint>
#include <map>
#include <memory>

#include "runtime/instrument/uprobe/kernel.h"
#include "runtime/instrument/uprobe/ring.h"

namespace dvm::runtime {

class ReturnLosses {
 public:
  // Fails where the kernel does not say how deep a thread is.
  static Result<std::unique_ptr<ReturnLosses>> make();

  // To be put on entries, for the processes that the maps mean.
  Result<int> program(const ProgramMaps& maps);
  uint64_t count() const;

 private:
  int16_t task_ = 0, depth_ = 0;  // where utask lies in a task_struct, and depth in that
  FileDescriptor map_;
  Mapping counter_;
  std::map<int32_t, FileDescriptor> programs_;  // by the process whose descendants are meant, 0: of one process
};

}  // namespace dvm::runtime
