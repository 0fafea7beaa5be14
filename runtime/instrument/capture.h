#pragma once
// What must be captured at the moment of firing, worked out from the DIF of the clauses on a probe: which arguments they read and
// which memory of the traced process they will ask copyin() and copyinstr() for. The instrument captures exactly that, so a record
// is as small as the clauses allow. What could not be foreseen (an address that was itself loaded) is a late read.

#include <cstdint>
#include <vector>

#include "dvm/dif/program.h"

namespace dvm::runtime {

// Memory at an address that is argument `arg` of the probe plus an offset.
struct MemoryNeed {
  uint8_t arg = 0;
  bool is_string = false;
  int64_t offset = 0;
  uint32_t size = 0;  // bytes; for a string the most with its NUL
  friend bool operator==(const MemoryNeed&, const MemoryNeed&) = default;
};

struct CaptureNeeds {
  uint16_t args = 0;  // bit n: argN is read
  bool time = false;  // timestamp, walltimestamp
  bool vtime = false;
  bool thread = false;  // pid or tid, or thread-local variables
  bool cpu = false;     // the cpu variable, or a record in the principal buffer (its CPU column)
  bool comm = false;    // execname
  std::vector<MemoryNeed> memory;

  CaptureNeeds& operator|=(const CaptureNeeds& other);
  friend bool operator==(const CaptureNeeds&, const CaptureNeeds&) = default;
};

// What one DIFO reads. strsize: the most characters of a string, without its NUL.
CaptureNeeds needs_of(const dif::Difo& difo, uint32_t strsize);
// What a clause needs, its predicate and all its actions together.
CaptureNeeds needs_of(const dif::EcbDesc& clause, uint32_t strsize);

}  // namespace dvm::runtime
