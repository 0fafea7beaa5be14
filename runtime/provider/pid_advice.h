#pragma once
// Advises on a description of the pid provider that matches nothing. Searches symbols and debug information, so it is slow.

#include <memory>
#include <string>
#include <vector>

#include "dvm/dif/program.h"
#include "runtime/symbol/elf.h"
#include "runtime/symbol/maps.h"

namespace dvm::runtime {

// A mapped file and its functions, or why they cannot be had.
struct PidModule {
  MappedObject object;
  std::shared_ptr<const ElfObject> elf;
  std::string problem;
};

// The process has no file that the module field means. `all`: the files that it has.
std::vector<std::string> module_advice(const dif::ProbeDesc& description, int32_t pid, const std::vector<PidModule>& all);
// The files that the module field means have no function that the function field means.
std::vector<std::string> function_advice(const dif::ProbeDesc& description, int32_t pid, const std::vector<PidModule>& meant,
                                         const std::vector<PidModule>& all);

}  // namespace dvm::runtime
