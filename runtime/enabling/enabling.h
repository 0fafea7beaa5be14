#pragma once
// Enabling: a Program and the probes that its descriptions match become live ECBs. Consumer context.
//
//   EcbDesc ── verify, lay out the record ──> EcbPlan ── prepare on an engine ──> EcbCode          once for each clause
//   EcbPlan, EcbCode x matching probes ──> Ecb                                                     once for each probe
//
// EPIDs count from 1 in program order; so do the clauses' numbers, from 0, across all programs of the session. ECBs and the
// consumer point into the plans, which stay where they are.

#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "dvm/common/result.h"
#include "dvm/dif/option.h"
#include "dvm/dif/program.h"
#include "dvm/vm/cost.h"
#include "runtime/probe/ecb.h"

namespace dvm::runtime {

class Enabling {
 public:
  using Matches = std::function<std::vector<const Probe*>(const dif::ProbeDesc&)>;

  // Plans all clauses and makes their ECBs, or none of them and an error that names clause and instruction.
  Status add(const dif::Program& program, const Matches& matches, const dif::Options& options, vm::CostPolicy policy);

  // Runs the clause by other code from now on, whose counters are those of its code so far. Between two firings.
  const EcbCode& replace_code(size_t clause, EcbCode code);
  // The code that runs the clause.
  const EcbCode& code_of(size_t clause) const { return *current_[clause]; }

  // Makes ECBs of the clauses that are there already on further probes: those that `matches` now gives.
  void extend(const Matches& matches);
  // The plans of all clauses, in program order.
  std::vector<const dif::ProbeDesc*> descriptions() const;

  const ProbeEcbs* find(uint32_t probe_id) const;
  // Probes in the order in which they were enabled.
  const std::deque<ProbeEcbs>& probes() const { return probes_; }
  // By clause, in program order.
  const std::deque<EcbPlan>& plans() const { return plans_; }
  // All that were ever prepared, in no order.
  const std::deque<EcbCode>& codes() const { return codes_; }
  const std::deque<Ecb>& ecbs() const { return ecbs_; }
  // By EPID; null for an EPID that is not used.
  const Ecb* ecb(Epid epid) const { return epid >= 1 && epid <= ecbs_.size() ? &ecbs_[epid - 1] : nullptr; }
  const EnabledAggregation* aggregation(uint32_t id) const;
  const std::deque<EnabledAggregation>& aggregations() const { return aggregations_; }
  const std::vector<dif::Variable>& variables() const { return variables_; }

  // Name of the first destructive action, or else subroutine; empty if there is none.
  std::string_view destructive_action() const;
  // True if an ECB chills a thread other than dvm's own, which it cannot do.
  bool chills_others() const;
  uint32_t largest_record() const;
  // The needs of all clauses on dvm's own probe of this name, together.
  size_t record_bytes(std::string_view own_probe) const;
  size_t largest_key() const;    // bytes
  size_t largest_entry() const;  // of an aggregation: bytes of its key and its value

 private:
  struct Draft;
  void commit(Draft&& draft, vm::CostPolicy policy, const vm::Engine& engine);
  void enable(size_t clause, const Matches& matches);
  void add_ecb(const Ecb& ecb);

  std::deque<EcbPlan> plans_;            // addresses stay, here and below
  std::deque<EcbCode> codes_;            // also those that were replaced: variables may hold addresses of their strings
  std::vector<const EcbCode*> current_;  // by clause
  std::deque<Ecb> ecbs_;
  std::deque<ProbeEcbs> probes_;
  std::unordered_map<uint32_t, ProbeEcbs*> by_probe_;
  std::deque<EnabledAggregation> aggregations_;
  std::unordered_map<uint32_t, const EnabledAggregation*> by_aggregation_;
  std::vector<dif::Variable> variables_;
};

}  // namespace dvm::runtime
