// Tested by tests/unit/runtime/thread_parts_test.cpp and tests/runtime/scenarios/test_agent_account.py.

#include "runtime/cost/runs/thread_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "runtime/catalog/probe.h"
#include "runtime/cost/agent_cost.h"
#include "runtime/cost/runs/agent_ways.h"
#include "runtime/instrument/agent/foresee.h"
#include "runtime/instrument/instrument.h"

namespace dvm::runtime {
namespace {

// The way of each clause on each probe.
class Clauses {
 public:
  Clauses(Handle& handle, std::span<const dif::Program* const> programs) {
    const MatchedProbes matched = matched_in_processes(handle, programs);
    PredictOptions how;
    how.sources = find_sources(handle, programs);
    if (Result<AgentWays> ways = find_agent_ways(programs, handle.options(), matched, how)) ways_ = *std::move(ways);
    std::map<std::string, size_t> counts;
    for (const dif::EcbDesc* clause : clauses_of(programs))
      for (const dif::ProbeDesc& description : clause->probes) {
        const auto way = ways_.find(text_of(description));
        if (way == ways_.end()) continue;
        const size_t number = counts[way->first]++;
        for (const Probe* probe : matched.at(way->first))
          places_.try_emplace({position_of(clause->position), probe->id}, std::pair(&way->second, number));
      }
  }

  // Adds the clause of an ECB, if it is known. To be called in the order of ECBs.
  void add(const EcbAccount& ecb, AgentFirings& to) const {
    const auto found = places_.find({position_of(ecb.clause), ecb.probe_id});
    if (found == places_.end()) return;
    join(*found->second.first, found->second.second, to);
    to.clauses.push_back(&ecb);
  }

 private:
  // The clauses of a probe run on the same side, but for those with a record of their own.
  static void join(const AgentWay& way, size_t number, AgentFirings& to) {
    if (to.clauses.empty()) to.way = way, to.way.clauses.clear();
    to.way.is_at_site &= way.is_at_site, to.way.is_gated &= way.is_gated, to.way.is_common |= way.is_common;
    to.way.takes_lane |= way.takes_lane;
    to.way.clauses.push_back(number < way.clauses.size() ? way.clauses[number] : SiteUses());
  }

  AgentWays ways_;
  // By the id of the probe: its way, and the number of the clause among those of the description.
  std::map<std::pair<ClausePosition, uint32_t>, std::pair<const AgentWay*, size_t>> places_;
};

CaptureNeeds record_needs(const AgentFirings& firings) {
  CaptureNeeds needs = firings.needs;
  needs.thread = true;
  needs.stack_bytes = firings.way.stack_bytes;
  return possible_needs(needs, shape_at(*firings.probe));
}

uint64_t count_of(const AgentFirings& firings) {
  uint64_t most = 0;  // a clause that came later has fewer
  for (const EcbAccount* clause : firings.clauses) most = std::max(most, clause->firings);
  return most;
}

EcbCost shape_of(const SiteUses& uses, const EcbAccount& clause) {
  EcbCost cost;
  cost.has_predicate = !uses.predicate.empty();
  if (cost.has_predicate && clause.firings != 0)
    cost.probability = static_cast<double>(clause.predicate_hits) / static_cast<double>(clause.firings);
  return cost;
}

std::vector<ThreadStage> at_site(const AgentFirings& firings, Prices& agent, Prices& dvm) {
  std::vector<EcbCost> shapes;
  for (size_t i = 0; i < firings.clauses.size(); i++) shapes.push_back(shape_of(firings.way.clauses[i], *firings.clauses[i]));
  const AgentCost cost = cost_at_site(agent, dvm, firings.way, shapes, {});
  std::vector<ThreadStage> stages{{"stub and lane", count_of(firings), cost.stub}};
  for (size_t i = 0; i < cost.clauses.size(); i++) {
    const EcbAccount& clause = *firings.clauses[i];
    const bool has_predicate = shapes[i].has_predicate;
    if (has_predicate)
      stages.push_back({fmt::format("epid {} predicate", clause.epid), clause.firings, cost.clauses[i].predicate.expected});
    stages.push_back({fmt::format("epid {} actions", clause.epid), has_predicate ? clause.predicate_hits : clause.firings,
                      cost.clauses[i].actions.expected});
  }
  return stages;
}

}  // namespace

std::vector<AgentFirings> find_agent_firings(Handle& handle, std::span<const dif::Program* const> programs,
                                             const Account& account) {
  std::map<uint32_t, AgentFirings> all;
  for (const EnabledProbe& enabled : handle.enabled())
    if (std::holds_alternative<UprobeSite>(enabled.probe->site) && handle.placement(*enabled.probe).by == "agent")
      all[enabled.probe->id] = {enabled.probe, enabled.needs, {}, {}};
  if (all.empty()) return {};
  const Clauses clauses(handle, programs);
  for (const EcbAccount& ecb : account.ecbs)
    if (const auto found = all.find(ecb.probe_id); found != all.end()) clauses.add(ecb, found->second);
  std::vector<AgentFirings> firings;
  for (auto& [id, one] : all)
    if (!one.clauses.empty()) firings.push_back(std::move(one));
  return firings;
}

ThreadPart price_thread(const AgentFirings& firings, Prices& agent, Prices& dvm) {
  const uint64_t count = count_of(firings);
  ThreadPart part{firings.probe, {}, {}};
  part.paid = {{"stub", count, agent.of(firings.way.stub)},
               {"lane", count, agent.of("agent/lane/find"_row) + agent.of("agent/lane/take"_row)},
               {"record", count, agent.of("agent/lane/record"_row)},
               {"captures", count, capture_cost(agent, dvm, record_needs(firings)).thread}};
  if (firings.way.is_at_site) part.otherwise = at_site(firings, agent, dvm);
  return part;
}

}  // namespace dvm::runtime
