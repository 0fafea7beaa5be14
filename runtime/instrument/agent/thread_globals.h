#pragma once
// Global variables that threads read and change (inside::Globals).

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <utility>

#include "common/file_bytes.h"
#include "dvm/dif/variable.h"
#include "runtime/instrument/abilities.h"
#include "runtime/instrument/agent/lost_probes.h"

namespace dvm::runtime {

class ThreadGlobals {
 public:
  // dvm's word of a variable, in all these processes.
  void set(uint16_t id, uint64_t value, const AgentTargets& processes) {
    const size_t number = id - dif::kFirstUserVariable;
    if (number >= inside::kMostGlobals) return;
    all_.values[number] = value;
    for (const auto& [pid, process] : processes)
      if (const int file = process->agent.data_file(); file >= 0)
        write_value(file, place(*process) + offsetof(inside::Globals, values) + number * sizeof value, value);
  }
  // What threads have added to these variables. False: nothing since the last call that returned true.
  bool take(std::span<GlobalChange> changes, const AgentTargets& processes) {
    read(processes);
    for (GlobalChange& one : changes)
      if (const size_t number = one.id - dif::kFirstUserVariable; number < inside::kMostGlobals) one.added = all_.changes[number];
    return std::exchange(are_new_, false);
  }
  // Notes what threads have added, also those of processes that are forgotten next.
  void read(const AgentTargets& processes) {
    for (const auto& [pid, process] : processes)
      if (process->agent.data_file() >= 0) read(*process);
  }
  // For a process that is attached to next. It continues from all that was added before.
  const inside::Globals& begin(AgentTarget& process, const AgentTargets& processes) {
    read(processes);
    if (process.agent.data_file() < 0) std::copy(std::begin(all_.changes), std::end(all_.changes), process.changes.begin());
    return all_;
  }

 private:
  static uint64_t place(const AgentTarget& process) {
    return inside::globals_at(process.agent.context().lanes, process.agent.context().ring_bytes);
  }
  void read(AgentTarget& process) {
    GlobalWords words{};
    if (!read_value(process.agent.data_file(), place(process) + offsetof(inside::Globals, changes), words)) return;
    for (size_t i = 0; i < words.size(); i++) all_.changes[i] += words[i] - process.changes[i];
    are_new_ |= words != process.changes;
    process.changes = words;
  }

  inside::Globals all_;
  bool are_new_ = false;  // dvm has not taken all of its changes
};

}  // namespace dvm::runtime
