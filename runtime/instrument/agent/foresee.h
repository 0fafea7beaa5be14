#pragma once
// How an agent would run the clauses of probes, by their DIF and the shape of their sites. Nothing is looked at in a process.

#include <cstddef>
#include <span>
#include <vector>

#include "runtime/catalog/probe.h"
#include "runtime/instrument/capture_needs.h"
#include "runtime/instrument/in_dvm.h"
#include "runtime/instrument/site_clause.h"

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
  bool is_at_site = false;        // the thread runs them; otherwise dvm does, from one record for all
  std::vector<size_t> records;    // clauses at the site that dvm runs, each from a record of its own
  InDvm in_dvm = InDvm::nothing;  // why dvm runs any; nothing: it runs none
  bool is_gated = false;          // nothing else happens if all predicates are false
  bool is_common = false;         // the code of all sites does it (agent_enter), not that of the site
  bool takes_lane = true;         // false: a single count or assignment at the site, which only finds the lane
};

// Of all probes of a process, in their order. follows: its children are traced, too. sharing: why probes that share something run
// in dvm together.
std::vector<Foreseen> foresee(std::span<const ForeseenProbe> probes, bool follows, InDvm sharing = InDvm::shared);

}  // namespace dvm::runtime
