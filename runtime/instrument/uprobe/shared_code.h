#pragma once
// Code that a process has mapped as shared. The kernel places uprobes in private mappings only, and says nothing.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/symbol/maps.h"

namespace dvm::runtime {

inline constexpr std::string_view kNoUprobe =
    "its code is mapped as shared, where the kernel places no uprobes; -x backend=breakpoint does";

class SharedCode {
 public:
  explicit SharedCode(int32_t pid);
  // True if the process has mapped that offset of the file for execution, and only as shared.
  bool has(const std::string& open_path, uint64_t offset) const;

 private:
  std::vector<MapsLine> code_;  // of files; empty if nothing is shared
};

}  // namespace dvm::runtime
