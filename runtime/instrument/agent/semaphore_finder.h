#pragma once
// Finds the semaphores of markers in processes.

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "runtime/agent/address_space.h"
#include "runtime/catalog/probe.h"
#include "runtime/symbol/elf.h"

namespace dvm::runtime {

class SemaphoreFinder {
 public:
  // Sets the address in the process, 0 if the marker has none. elf: of the site, whose code at `offset` is mapped to `mapped_at`.
  // Returns why dvm cannot raise it there; empty: it can.
  std::string_view find(const UprobeSite& site, const ElfObject* elf, uint64_t mapped_at, uint64_t offset, uint64_t& address);
  // The processes may map other files now.
  void forget() { mappings_.clear(); }

 private:
  std::map<pid_t, std::vector<MemoryMapping>> mappings_;
};

}  // namespace dvm::runtime
