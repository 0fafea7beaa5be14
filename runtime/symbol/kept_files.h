#pragma once
// Keeps the files open that a process has mapped from another root or mount namespace, such as that of a container. Once it has
// ended, they cannot be opened any more, and dvm may see other files by the same names.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/regular_file.h"
#include "runtime/symbol/file_key.h"
#include "runtime/symbol/maps.h"

namespace dvm::runtime {

class KeptFiles {
 public:
  // While the process exists. The objects are then opened by descriptors of dvm.
  void keep(int32_t pid, std::vector<MappedObject>& objects);

 private:
  static constexpr size_t kMost = 256;

  std::map<FileKey, RegularFile> files_;
};

// Distinguishes files that have the same name in different processes.
std::string key_of(const MappedObject& object);

}  // namespace dvm::runtime
