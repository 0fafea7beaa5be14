#pragma once
// Global variables that threads read (inside::Globals), as dvm has set them last.

#include <cstddef>
#include <cstdint>

#include "common/file_bytes.h"
#include "dvm/dif/variable.h"
#include "runtime/instrument/agent/lost_probes.h"

namespace dvm::runtime {

class ThreadGlobals {
 public:
  // In all these processes, at once.
  void set(uint16_t id, uint64_t value, const AgentTargets& processes) {
    const size_t number = id - dif::kFirstUserVariable;
    if (number >= inside::kMostGlobals) return;
    all_.values[number] = value;
    for (const auto& [pid, process] : processes) {
      const inside::Context& context = process->agent.context();
      const uint64_t at = inside::globals_at(context.lanes, context.ring_bytes) + number * sizeof value;
      if (process->agent.data_file() >= 0) write_value(process->agent.data_file(), at, value);
    }
  }
  // Of a process that is attached to next.
  const inside::Globals& all() const { return all_; }

 private:
  inside::Globals all_;
};

}  // namespace dvm::runtime
