#pragma once
// Functions and variables of ELF files and the files that a process has mapped: what the pid provider makes probes of.
//
//   /proc/PID/maps -> MappedObject (module name, path that dvm can open) -> ElfObject (functions with their file offsets)
//
// An ELF file is untrusted: whatever is wrong with it is an error or a function left out, never a crash. Consumer context.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dvm/common/result.h"
#include "runtime/symbol/file_key.h"

namespace dvm::runtime {

struct ElfFunction {
  std::string_view name;  // in its ElfObject
  uint64_t address = 0;   // as the file has it
  uint64_t size = 0;
  uint64_t alone = 0;   // bytes before another function begins
  uint64_t offset = 0;  // in the file
  bool is_global = false;
  bool is_indirect = false;  // STT_GNU_IFUNC: the address is of the function that chooses
};

struct ElfData {
  std::string_view name;  // in its ElfObject
  uint64_t address = 0;   // as the file has it
  uint64_t size = 0;
  bool is_global = false;
  bool is_thread_local = false;  // the address is none: each thread has its own
};

class ElfObject {
 public:
  // From a file that dvm can open; symbols also from its separate debug file, if one is installed, or from .gnu_debugdata.
  static Result<std::shared_ptr<const ElfObject>> read(const std::string& path);

  // Defined functions that lie in an executable segment, by address. At one address, global names come
  // first, then those with fewer underscores at the beginning, then the shortest. One whose symbol has no size
  // reaches to the next, at most to the end of its section.
  const std::vector<ElfFunction>& functions() const { return functions_; }
  // The best name of the function that an address of the file lies in, of several the one that begins last; null: in none.
  const ElfFunction* function_at(uint64_t address) const;
  // The same of variables; one whose symbol has no size is its first byte.
  const ElfData* data_at(uint64_t address) const;
  // Defined variables by name; of one name the global first.
  const std::vector<ElfData>& data() const { return data_; }
  // True if a process that has mapped the file has an address of the file in memory, code or data.
  bool is_loaded(uint64_t address) const;
  // Difference between an address of the file and the address in a process that has mapped the file's code from `offset` on
  // there.
  std::optional<uint64_t> bias(uint64_t mapped_at, uint64_t offset) const;
  // Offset in the file of the code at an address.
  std::optional<uint64_t> offset_of(uint64_t address) const;
  // The address in the file of what lies at an offset of it, if that is code.
  std::optional<uint64_t> address_of(uint64_t offset) const;

 private:
  friend class ElfLoader;
  struct Segment {
    uint64_t address = 0, offset = 0, size = 0;
  };
  std::vector<ElfFunction> functions_;
  std::vector<uint64_t> reach_;  // of each function: the farthest end of it and all before
  std::vector<ElfData> data_;
  std::vector<uint32_t> data_by_address_;       // indices of data_, none of them thread-local
  std::vector<uint64_t> data_reach_;            // as reach_, in that order
  std::vector<Segment> segments_;               // with code
  std::vector<Segment> loaded_;                 // all, as large as in memory
  std::vector<std::unique_ptr<char[]>> names_;  // what the names point into
};

// Reads each file once, as long as it does not change.
class ElfCache {
 public:
  Result<std::shared_ptr<const ElfObject>> read(const std::string& path);

 private:
  std::map<FileKey, std::shared_ptr<const ElfObject>> objects_;
};

}  // namespace dvm::runtime
