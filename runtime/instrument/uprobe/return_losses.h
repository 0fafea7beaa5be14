#pragma once
// Counts the returns that the kernel does not report. For each thread it keeps at most 64 replaced return addresses, of all
// uretprobes together. Deeper calls return unseen. A program on the entry of each function with a uretprobe reads their number,
// task_struct.utask->depth, and so knows that the return of this call will be missed.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/instrument/uprobe/attach.h"
#include "runtime/instrument/uprobe/kernel.h"
#include "runtime/instrument/uprobe/ring.h"
#include "runtime/instrument/uprobe/site_plan.h"

namespace dvm::runtime {

class ReturnLosses {
 public:
  // Fails if the kernel's types do not describe task_struct.utask->depth.
  static Result<std::unique_ptr<ReturnLosses>> make();

  // The program for entries, in the processes that the maps select.
  Result<int> program(const ProgramMaps& maps);
  uint64_t count() const;

 private:
  int16_t task_ = 0, depth_ = 0;  // where utask lies in a task_struct, and depth in that
  SharedMap counter_;
  std::map<int32_t, FileDescriptor> programs_;  // by the process whose descendants are meant, 0: of one process
};

// The uprobes at the entries of functions with uretprobes, for that program.
class ReturnLossSets {
 public:
  // The note says, once, why such returns cannot be counted.
  Status add(const PlannedSite& place, const ProgramMaps& maps, std::vector<std::string>& notes);
  std::map<std::string, UprobeSet> take() { return std::exchange(sets_, {}); }  // by file
  uint64_t count() const { return losses_ ? losses_->count() : 0; }

 private:
  std::unique_ptr<ReturnLosses> losses_;
  std::string problem_;  // why there are none
  std::map<std::string, UprobeSet> sets_;
};

}  // namespace dvm::runtime
