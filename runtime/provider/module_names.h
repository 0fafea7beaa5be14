#pragma once
// Module names of the files that a process maps. A file keeps its first name: a program may be executed by another link to it,
// and each probe fires once. A second file with the name of another one, as of a program that executes one with its own name, is
// known by its path.

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "runtime/symbol/maps.h"

namespace dvm::runtime {

class ModuleNames {
 public:
  // The process is the one that the name of the provider has, for forked children, too.
  std::string name_of(int32_t root, const MappedObject& object);

 private:
  using File = std::tuple<int32_t, dev_t, ino_t>;
  std::map<File, std::string> names_;
  std::map<std::pair<int32_t, std::string>, File> files_;
};

}  // namespace dvm::runtime
