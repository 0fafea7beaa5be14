#pragma once
// Attaches uprobes. The kernel takes all probes of a link, or none if it refuses a single one. Then the set is halved until the
// refused ones are found; all others are attached. A failed attempt inserts thousands of breakpoints and removes them again, so
// probes on instructions that the kernel will probably refuse are attached apart from the others.

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "dvm/common/result.h"
#include "runtime/instrument/instrument.h"
#include "runtime/instrument/uprobe/kernel.h"

namespace dvm::runtime {

// Uprobes of one file in one process, all with the same program. Offsets, cookies, counters and probes are parallel; a counter is
// the offset of a semaphore that the kernel counts up in the process as long as the probe is on, or 0.
struct UprobeSet {
  std::string path;
  int32_t pid = 0;
  bool is_return = false;
  bool is_aside = false;  // beside the probes' own uprobes: a refusal of one refuses no probe
  int program = -1;
  std::vector<uint64_t> offsets, cookies, counters;
  std::vector<const Probe*> probes;

  void add(uint64_t offset, uint64_t cookie, uint64_t counter, const Probe* probe) {
    offsets.push_back(offset);
    cookies.push_back(cookie);
    counters.push_back(counter);
    probes.push_back(probe);
  }
  void leave_out(const std::set<const Probe*>& left_out);
};

// Uprobes that the kernel keeps as long as the descriptor is open.
struct UprobeLink {
  FileDescriptor descriptor;
  size_t uprobes = 1;
  int32_t pid = 0;         // as of the set
  bool is_return = false;  // of uretprobes, or beside them
};

// Adds links for the sets, in their order. A probe of which the kernel refuses one place has none, and is refused once. The
// probes of a process that has ended meanwhile are refused. An error is one that every set would meet: missing rights, an old
// kernel.
Status attach_uprobes(std::span<UprobeSet* const> sets, std::vector<UprobeLink>& links, std::vector<Refused>& refused);

// Refuses all of these if this process may not use BPF.
void refuse_without_rights(std::span<const EnabledProbe> probes, std::vector<Refused>& refused);

// Takes the probes of all links off, from this one on.
void detach(std::vector<UprobeLink>& links, size_t first = 0);

// Removes the links of uretprobes in these processes.
std::vector<UprobeLink> take_returns(std::vector<UprobeLink>& links, const std::set<int32_t>& processes);

// Closes the links of processes that have ended: each takes a descriptor.
void detach_ended(std::vector<UprobeLink>& links);

}  // namespace dvm::runtime
