// Tested by tests/runtime/scenarios/test_shared_code.py.

#include "runtime/instrument/uprobe/shared_code.h"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>

#include "runtime/process/thread_status.h"

namespace dvm::runtime {

SharedCode::SharedCode(int32_t pid) {
  std::ifstream maps(memory_folder(pid) + "/maps");
  MapsLine parsed;
  for (std::string line; std::getline(maps, line);)
    if (parse_maps_line(line, parsed) && parsed.executable && parsed.inode != 0) code_.push_back(parsed);
  if (std::none_of(code_.begin(), code_.end(), [](const MapsLine& one) { return one.is_shared; })) code_.clear();
}

bool SharedCode::has(const std::string& open_path, uint64_t offset) const {
  struct stat file {};
  if (code_.empty() || stat(open_path.c_str(), &file) != 0) return false;
  bool found = false;
  for (const MapsLine& one : code_) {
    AddressRange range;
    if (one.inode != file.st_ino || one.device != file.st_dev || !one.addresses(range)) continue;
    if (offset < one.offset || offset - one.offset >= range.end - range.begin) continue;
    if (!one.is_shared) return false;
    found = true;
  }
  return found;
}

}  // namespace dvm::runtime
