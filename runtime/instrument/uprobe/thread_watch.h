#pragma once
// Tells dvm of every thread that begins on this machine, before it runs, because it may have the number of an earlier one.
// Where dvm does not know the numbers of threads other than the running one (capture_inputs.h), it is told of those that end.

#include <memory>
#include <vector>

#include "dvm/common/result.h"
#include "runtime/instrument/uprobe/kernel.h"

namespace dvm::runtime {

class ThreadWatch {
 public:
  // Attaches at once; the ring hears of threads.
  static Result<std::unique_ptr<ThreadWatch>> make(const ProgramMaps& maps);

 private:
  FileDescriptor program_, link_;
};

}  // namespace dvm::runtime
