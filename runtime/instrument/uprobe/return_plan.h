#pragma once
// Decides how a return is probed: by a uretprobe, or on each instruction that leaves the function (runtime/code/exits.h says
// why). A uretprobe is far cheaper than a single-stepped `ret`, so it is used wherever it is proven to do no harm.
//
//   nothing runs below the function, or no exception can      uretprobe
//   pass it (runtime/symbol/exceptions.h)
//   otherwise, or if                                          the exits, if all are known
//     - it is written in Go, whose stacks are moved
//     - its return address lies elsewhere than a call leaves
//       it (_start, the dynamic linker's resolver), or is
//       kept for later (setjmp, vfork, switches of stacks)
//     - it calls itself, or jumps to its entry: the kernel
//       follows 64 levels
//     - the program switches stacks, as coroutines do: the
//       kernel follows one (runtime/symbol/stack_switches.h)
//     - dvm has started the program, which may execute another
//       one with the same library, as env(1) does
//     - a clause asks for the exit (arg0) and there are several
//     - a clause shows the stack: a walk ends at a replaced
//       return address
//     - a clause reads registers, which are the caller's then
//     - no probe can lie on its first instruction
//     - probes are placed in all processes that map the file
//   a clause asks for the value (arg1), and the function      uretprobe, whatever the exit; the probe is left out if
//   leaves by a jump, where the value is not known yet        it could do harm or a clause shows the stack
//   exits not known                                           a uretprobe, if it can do no harm; or the probe is left out
//
// Option `return` changes that: `uretprobe` takes exceptions and recursion for unlikely, `exits` allows no uretprobe at all.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/code/exits.h"
#include "runtime/code/module_code.h"
#include "runtime/instrument/instrument.h"
#include "runtime/instrument/uprobe/return_hazards.h"
#include "runtime/symbol/call_frames.h"
#include "runtime/symbol/elf.h"
#include "runtime/symbol/exceptions.h"

namespace dvm::runtime {

struct ReturnPlan {
  enum class By : uint8_t { uretprobe, exits, nothing };
  By by = By::uretprobe;
  std::vector<uint32_t> exits;             // offsets in the function
  std::optional<uint32_t> only_exit{};     // of a uretprobe: what arg0 is
  std::optional<ReturnHazards> hazards{};  // of a uretprobe: what it was decided by
  std::string_view why_not{};              // of nothing
};

// What clauses ask for at a return.
struct ReturnWants {
  bool offset = false;   // arg0
  bool value = false;    // arg1
  bool callers = false;  // they walk the stack, and a uretprobe would end the walk
  bool place = false;    // uregs[] or ustack(1): a uretprobe fires in the caller
};

class ReturnPlanner {
 public:
  // in_all_processes: probes are placed in all processes that map the file, not only in that of the site.
  explicit ReturnPlanner(bool in_all_processes = false) : in_all_processes_(in_all_processes) {}

  // file: the site's, or null if it cannot be read.
  ReturnPlan plan(const UprobeSite& site, const ModuleCode* file, ReturnWants wants = {}, ReturnBy by = ReturnBy::safe);
  // The instructions that leave the function of the site.
  Exits exits_of(const UprobeSite& site, const ModuleCode& file);

 private:
  Beyond beyond(const UprobeSite& site, const ModuleCode& file, int64_t target);
  const ReturnHazards& hazards_of(const UprobeSite& site);
  bool comes_back(const UprobeSite& site, const ModuleCode& file);
  uint64_t size_of(const UprobeSite& site, const ModuleCode& file, uint64_t offset);
  std::string_view harm_of_uretprobe(const UprobeSite& site, const ModuleCode& file, bool is_leaf, ReturnBy by);
  bool is_called_as_usual(const UprobeSite& site);
  bool has_usual_return_address(const UprobeSite& site, const ModuleCode& file);

  bool in_all_processes_;
  ElfCache cache_;
  HazardReader reader_;
  std::map<int32_t, ReturnHazards> hazards_;  // what may pass functions of the process
  CallFramesCache frames_;
};

}  // namespace dvm::runtime
