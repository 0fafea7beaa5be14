#pragma once
// How a return is probed: by a uretprobe, or on each instruction that leaves the function (runtime/code/exits.h says why).
//
//   nothing runs below the function                            uretprobe: cheaper, and nobody can see it
//   all its ways out are known, and                            on each of them
//     - it calls itself, or the process can throw exceptions,
//       or is written in Go, or
//     - a clause asks which one it was (arg0) and there are several
//     - its return address lies elsewhere than a call leaves it
//       (_start, the dynamic linker's resolver), or is kept for
//       later (setjmp, vfork)
//   otherwise                                                  uretprobe; but none in a program written in Go, nor where an
//                                                              exception may be thrown through the function or its return
//                                                              address is no usual one, which would end the program

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/code/exits.h"
#include "runtime/code/module_code.h"
#include "runtime/instrument/instrument.h"
#include "runtime/symbol/call_frames.h"
#include "runtime/symbol/elf.h"

namespace dvm::runtime {

struct ReturnPlan {
  enum class By : uint8_t { uretprobe, exits, nothing };
  By by = By::uretprobe;
  std::vector<uint32_t> exits;          // offsets in the function
  std::optional<uint32_t> only_exit{};  // of a uretprobe: what arg0 is
  std::string_view why_not{};           // of nothing
};

class ReturnPlanner {
 public:
  // file: the site's, or null if it cannot be read.
  ReturnPlan plan(const UprobeSite& site, const ModuleCode* file, bool wants_offset);

 private:
  bool stays_in(const UprobeSite& site, const ModuleCode& file, const ElfFunction& part);
  Beyond beyond(const UprobeSite& site, const ModuleCode& file, int64_t target);
  bool can_throw(int32_t pid);
  bool comes_back(const UprobeSite& site, const ModuleCode& file);
  bool is_called_as_usual(const UprobeSite& site);
  bool has_usual_return_address(const UprobeSite& site, const ModuleCode& file);

  ElfCache cache_;
  std::map<int32_t, bool> throws_;
  std::map<std::string, std::unique_ptr<CallFrames>> frames_;  // by path; null: it has no such information
};

}  // namespace dvm::runtime
