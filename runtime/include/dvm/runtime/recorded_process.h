#pragma once
// The data of a process in a recording. A replay uses it in place of the process.

#include <cstdint>
#include <string>

namespace dvm::runtime {

// Ids of a process; -1 if unknown.
struct ProcessIds {
#define DVM_PROCESS_ID(name, type, field, further) type name = -1;
#include "runtime/process/process_ids.def"
};

struct RecordedProcess {
  int32_t pid = 0;
  ProcessIds ids;
  std::string name;
  std::string command_line;  // its words, separated by blanks
};

}  // namespace dvm::runtime
