#pragma once
// The files that a process has mapped for execution, from /proc/PID/maps.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "dvm/common/result.h"

namespace dvm::runtime {

struct MappedObject {
  std::string name;       // DTrace's module: the base name; of a program, that of the link by which it was started
  std::string path;       // in the process, without " (deleted)"
  std::string open_path;  // under /proc: opens this file from another mount namespace, or if deleted
  bool is_program = false;
  uint64_t address = 0;  // where its code is mapped; 0: nowhere
  uint64_t offset = 0;   // offset in the file of the code at `address`
};

// Addresses from begin to before end.
struct AddressRange {
  uint64_t begin = 0, end = 0;
};

// All code that a process can execute, by address.
struct MappedCode {
  std::vector<MappedObject> objects;  // each once
  std::vector<AddressRange> ranges;   // with and without a file, except the kernel's page for uprobes
};

// Fails if the process does not exist or may not be examined.
Result<MappedCode> mapped_code(int32_t pid);
// The objects alone.
Result<std::vector<MappedObject>> mapped_objects(int32_t pid);

// True if one of the ranges, which are sorted, contains the address.
bool has_address(const std::vector<AddressRange>& ranges, uint64_t address);

// The object whose code may contain an address. objects: sorted by address. Null: none begins before the address.
const MappedObject* object_at(const std::vector<MappedObject>& objects, uint64_t address);

// Returns the objects of a process: mapped_objects(), or the file of a program that does not run.
using ObjectsOf = std::function<Result<std::vector<MappedObject>>(int32_t pid)>;

// A file that no process has mapped, as a program. Its address is 0.
MappedObject unmapped_program(const std::string& path);

// One line of a maps file.
struct MapsLine {
  std::string range;  // "55d0-55e0", the name under map_files
  bool executable = false;
  bool is_constant = false;  // readable, and not writable
  bool is_shared = false;    // writes reach the file
  uint64_t offset = 0;
  uint64_t device = 0;  // as by makedev()
  uint64_t inode = 0;
  std::string path;  // unescaped; empty: no file

  // False: the range is malformed.
  bool addresses(AddressRange& out) const;
};
// False: the line is not of the form that the kernel writes.
bool parse_maps_line(std::string_view line, MapsLine& out);

}  // namespace dvm::runtime
