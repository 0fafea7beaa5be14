#pragma once
// The probes that an agent has placed in a process. They are lost if the process executes another program or unmaps their file,
// even if it maps it again.

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "runtime/instrument/instrument.h"
#include "runtime/symbol/file_key.h"
#include "runtime/symbol/maps.h"

namespace dvm::runtime {

struct PlacedProbe {
  EnabledProbe enabled;
  FileKey file;  // a path such as /proc/PID/exe may lead to another one later
  std::vector<uint64_t> addresses;
  unsigned attempts = 0;  // to place it again
};

// Looks up the key of each file once.
class FileKeys {
 public:
  const FileKey& of(const std::string& path);

 private:
  std::map<std::string, FileKey> keys_;  // by path
};

class PlacedProbes {
 public:
  // Adds a jump of a probe.
  void add(const EnabledProbe& enabled, uint64_t address, FileKeys& files);
  // Addresses of jumps, one for each module.
  const std::map<std::string, uint64_t>& samples() const { return samples_; }
  // Adds the addresses of all probes that have a jump at one of these.
  void add_all_of(std::set<uint64_t>& addresses) const;
  // True if there is a probe in that file.
  bool has_file(const std::string& path) const;
  // Removes and returns the probes with a jump that is not among `jumps`, which are sorted.
  std::vector<PlacedProbe> take_lost(std::span<const uint64_t> jumps);

 private:
  std::map<uint32_t, PlacedProbe> probes_;  // by their ids
  std::map<std::string, uint64_t> samples_;
};

std::vector<EnabledProbe> enabled_of(std::span<const PlacedProbe> placed);
// True if the file of the probe is mapped as one of these objects.
bool is_mapped(const PlacedProbe& placed, std::span<const MappedObject> objects);

}  // namespace dvm::runtime
