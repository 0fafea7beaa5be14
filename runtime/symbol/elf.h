#pragma once
// Functions of ELF files and the files that a process has mapped: what the pid provider makes probes of.
//
//   /proc/PID/maps -> MappedObject (module name, path that dvm can open) -> ElfObject (functions with their file offsets)
//
// An ELF file is untrusted: whatever is wrong with it is an error or a function left out, never a crash. Consumer context.

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace dvm::runtime {

struct ElfFunction {
  std::string_view name;  // in its ElfObject
  uint64_t address = 0;   // as the file has it
  uint64_t size = 0;
  uint64_t offset = 0;  // in the file
  bool is_global = false;
  bool is_indirect = false;  // STT_GNU_IFUNC: the address is of the function that chooses
};

class ElfObject {
 public:
  // From a file that dvm can open; symbols also from its separate debug file, if one is installed.
  static Result<std::shared_ptr<const ElfObject>> read(const std::string& path);

  // Defined functions with a size that lie in an executable segment, by address; names of one address by how well they name it:
  // the global, then the shortest first.
  const std::vector<ElfFunction>& functions() const { return functions_; }

 private:
  friend class ElfLoader;
  std::vector<ElfFunction> functions_;
  std::vector<std::unique_ptr<char[]>> names_;  // what the names point into
};

// Reads each file once, as long as it does not change.
class ElfCache {
 public:
  Result<std::shared_ptr<const ElfObject>> read(const std::string& path);

 private:
  struct Key {
    uint64_t device = 0, inode = 0, size = 0;
    int64_t modified = 0;  // ns
    auto operator<=>(const Key&) const = default;
  };
  std::map<Key, std::shared_ptr<const ElfObject>> objects_;
};

}  // namespace dvm::runtime
