#pragma once
// Notices that a process executes a program in a thread other than its first. The thread takes over the id of the process. The
// kernel ties uprobes of one process to its first thread, which is gone then, so they never fire again.

#include <sys/types.h>

#include <cstdint>
#include <memory>

#include "dvm/common/result.h"
#include "runtime/instrument/uprobe/kernel.h"
#include "runtime/instrument/uprobe/ring.h"

namespace dvm::runtime {

class ExecWatch {
 public:
  static Result<std::unique_ptr<ExecWatch>> make(pid_t pid);
  // True once it has happened.
  bool has_lost_uprobes() const;

 private:
  SharedMap count_;
  FileDescriptor link_;
};

}  // namespace dvm::runtime
