#pragma once
// Uretprobes that are safe as long as no file is mapped by which an exception or a switch of stacks might pass them. The process
// may open such a library, or execute another program with libraries that the earlier one had, too.

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <thread>
#include <vector>

#include "runtime/instrument/abilities.h"
#include "runtime/instrument/instrument.h"
#include "runtime/instrument/uprobe/attach.h"
#include "runtime/instrument/uprobe/site_plan.h"

namespace dvm::runtime {

// Those of the probes that could not be placed again.
std::vector<LostProbe> lost_of(std::span<const EnabledProbe> probes, std::span<const Refused> refused, const Status& placed);

class ReturnReview {
 public:
  // A uretprobe that is about to be placed.
  void add(const PlannedSite& place);
  // Those that were not placed. To try it again while a process waits would take until it waits no more.
  void forget(std::span<const Refused> refused);
  bool has_any() const { return !processes_.empty(); }

  struct Unsafe {
    std::vector<EnabledProbe> probes;
    std::set<const UprobeSite*> sites;
    std::set<int32_t> processes;  // which wait for dvm
  };
  // All uretprobes of the processes among these that have mapped such a file. They are forgotten.
  Unsafe take_unsafe(std::span<const LoadedIn> loads);
  // Takes the links of these off. The kernel makes that wait until no program of dvm's runs on any uprobe, and a process waits
  // for dvm in such a program (load_watch.h). So this returns as soon as the breakpoints are gone, at most after 1.5
  // seconds.
  void take_off(std::vector<UprobeLink> links, const Unsafe& unsafe);
  // Call when no process waits.
  void finish();

 private:
  struct Reviewed {
    ReturnHazards hazards;  // when the first was placed
    std::map<const Probe*, EnabledProbe> probes;
    std::set<const UprobeSite*> sites;
  };
  std::map<int32_t, Reviewed> processes_;
  HazardReader reader_;
  std::vector<std::thread> closing_;
};

}  // namespace dvm::runtime
