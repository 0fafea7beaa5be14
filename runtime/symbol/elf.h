#pragma once
// Functions and variables of ELF files, for the pid provider and symbols.
//
//   /proc/PID/maps -> MappedObject (module name, path that dvm can open) -> ElfObject (functions with their file offsets)
//
// An ELF file is untrusted: a malformed file is an error, or functions are left out; it never causes a crash. Consumer context.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/recent.h"
#include "dvm/common/result.h"
#include "runtime/symbol/file_key.h"

namespace dvm::runtime {

struct ElfFunction {
  std::string_view name;  // in its ElfObject
  uint64_t address = 0;   // in the file
  uint64_t size = 0;
  uint64_t alone = 0;   // bytes before the next function
  uint64_t offset = 0;  // in the file
  bool is_global = false;
  bool is_indirect = false;  // STT_GNU_IFUNC: the address is that of the resolver
};

struct ElfData {
  std::string_view name;  // in its ElfObject
  uint64_t address = 0;   // in the file
  uint64_t size = 0;
  bool is_global = false;
  bool is_thread_local = false;  // the address is invalid, because each thread has its own copy
};

class ElfObject {
 public:
  // Reads a file. Symbols also come from its separate debug file, if one is installed, or from .gnu_debugdata.
  static Result<std::shared_ptr<const ElfObject>> read(const std::string& path);

  // Defined functions in executable segments, sorted by address. At one address, global names come first, then those with fewer
  // leading underscores, then the shortest. A function whose symbol has no size extends to the next one, at most to the end of
  // its section.
  const std::vector<ElfFunction>& functions() const { return functions_; }
  // False: only the functions that the file exports have names, because it is stripped.
  bool names_all() const { return names_all_; }
  // The function that contains an address of the file, under its best name; of several, the one that begins last. Null: none
  // does.
  const ElfFunction* function_at(uint64_t address) const;
  // The same for variables. A variable whose symbol has no size has one byte.
  const ElfData* data_at(uint64_t address) const;
  // Defined variables by name. For one name, global variables come first.
  const std::vector<ElfData>& data() const { return data_; }
  // True if an address of the file is in memory (code or data) in processes that have mapped the file.
  bool is_loaded(uint64_t address) const;
  // The difference between addresses in the process and in the file, if the process has mapped the code at `offset` of the file
  // to `mapped_at`.
  std::optional<uint64_t> bias(uint64_t mapped_at, uint64_t offset) const;
  // Offset in the file of the code at an address.
  std::optional<uint64_t> offset_of(uint64_t address) const;
  // The address of the code at an offset of the file. Nothing: there is no code.
  std::optional<uint64_t> address_of(uint64_t offset) const;

 private:
  friend class ElfLoader;
  struct Segment {
    uint64_t address = 0, offset = 0, size = 0;
  };
  std::vector<ElfFunction> functions_;
  bool names_all_ = false;
  std::vector<uint64_t> reach_;  // of each function: the farthest end of it and all before
  std::vector<ElfData> data_;
  std::vector<uint32_t> data_by_address_;       // indices of data_, none of them thread-local
  std::vector<uint64_t> data_reach_;            // as reach_, in that order
  std::vector<Segment> segments_;               // with code
  std::vector<Segment> loaded_;                 // all, as large as in memory
  std::vector<std::unique_ptr<char[]>> names_;  // what the names point into
};

// Reads each file once, and again if it has changed. Files that nobody holds are forgotten once there are many.
class ElfCache {
 public:
  Result<std::shared_ptr<const ElfObject>> read(const std::string& path);

 private:
  static constexpr size_t kMost = 256;
  Recent<FileKey, ElfObject> objects_{kMost};
};

}  // namespace dvm::runtime
