// Tested by tests/unit/instrument/module_names_test.cpp.

#include "runtime/provider/module_names.h"

#include <sys/stat.h>

#include <utility>

namespace dvm::runtime {

std::string ModuleNames::name_of(int32_t root, const MappedObject& object) {
  struct stat status {};
  if (stat(object.open_path.c_str(), &status) != 0) return object.name;
  const File file{root, status.st_dev, status.st_ino};
  if (const auto known = names_.find(file); known != names_.end()) return known->second;
  const auto [holder, is_first] = files_.try_emplace({root, object.name}, file);
  return names_[file] = is_first ? object.name : object.path;
}

}  // namespace dvm::runtime
