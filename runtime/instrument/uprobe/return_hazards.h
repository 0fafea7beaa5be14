#pragma once
// What may pass the functions of a process, by the files that it has mapped. A uretprobe would not survive it (return_plan.h).

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "runtime/symbol/exceptions.h"
#include "runtime/symbol/file_key.h"
#include "runtime/symbol/maps.h"

namespace dvm::runtime {

struct ReturnHazards {
  bool exceptions = true, switches = true, handlers = true;  // switches of stacks, and signal handlers on stacks above
  // Not empty: the program calls exec(3), and dvm has started it, so it may be a wrapper such as env(1). Probes in all files but
  // this one remain in the program that it executes.
  std::string wrapper{};

  // True if something may pass now that could not pass earlier.
  bool exceeds(const ReturnHazards& earlier) const {
    return (exceptions && !earlier.exceptions) || (switches && !earlier.switches) || (handlers && !earlier.handlers);
  }
};

class HazardReader {
 public:
  // Nothing: it is not known what the process has mapped.
  std::optional<ReturnHazards> of(int32_t pid);

 private:
  const LinkedFile& read(const MappedObject& object);

  std::map<std::pair<FileKey, bool>, LinkedFile> files_;  // and whether it is the program
};

}  // namespace dvm::runtime
