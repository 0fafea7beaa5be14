#pragma once
// Predicts how an agent would run the clauses of probes, by their DIF and the shape of their sites, without examining a process.

#include <cstddef>
#include <span>
#include <vector>

#include "runtime/catalog/probe.h"
#include "runtime/instrument/capture_needs.h"
#include "runtime/instrument/in_dvm.h"
#include "runtime/instrument/site_clause.h"
#include "runtime/instrument/uprobe/site_shape.h"

namespace dvm::runtime {

struct ForeseenProbe {
  const Probe* probe = nullptr;  // its site is that of a process
  std::span<const SiteClause> clauses;
  InDvm in_dvm = InDvm::nothing;  // why not all can run where it fires
  bool has_thread_variables = false;
  CaptureNeeds needs;
  bool by_frame_pointers = false;       // stacks are found by these
  std::span<const uint16_t> globals{};  // that threads may read
};

struct Foreseen {
  bool is_at_site = false;      // clauses run in the thread; false: dvm runs all clauses from one record
  std::vector<size_t> records;  // with is_at_site: clauses that dvm runs, each from its own record

  InDvm in_dvm = InDvm::nothing;  // why dvm runs a clause; nothing: it runs none

  bool is_gated = false;   // the firing ends at once if all predicates are false
  bool is_common = false;  // the code that all sites share (agent_enter) does the work
  bool takes_lane = true;  // false: a single count or assignment at the site, which takes no lane
};

// The shape of the site of a probe in a process; of a return, that of an instruction that leaves the function.
SiteShape shape_at(const Probe& probe);

// probes: all probes of a process; the results are in the same order. follows: its children are traced too. sharing: the reason
// for clauses that run in dvm because they share something.
std::vector<Foreseen> foresee(std::span<const ForeseenProbe> probes, bool follows, InDvm sharing = InDvm::shared);

}  // namespace dvm::runtime
