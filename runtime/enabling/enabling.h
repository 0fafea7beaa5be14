#pragma once
// Enabling turns a Program and the probes that its descriptions match into live ECBs. Consumer context.
//
//   EcbDesc ── verify, lay out the record ──> EcbPlan ── prepare on an engine ──> EcbCode          once for each clause
//   EcbPlan, EcbCode x matching probes ──> Ecb                                                     once for each probe
//
// EPIDs count from 1 in program order, and clauses from 0, across all programs of the session. ECBs and the consumer point to
// plans, whose addresses do not change.

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

  // Replaces the code of a clause. The counters continue. Between two firings.
  const EcbCode& replace_code(size_t clause, EcbCode code);
  // The code that runs the clause.
  const EcbCode& code_of(size_t clause) const { return *current_[clause]; }

  // Makes ECBs of the existing clauses on further probes, those that `matches` returns now.
  void extend(const Matches& matches);
  // The probe descriptions of all clauses, in program order.
  std::vector<const dif::ProbeDesc*> descriptions() const;

  const ProbeEcbs* find(uint32_t probe_id) const;
  // Probes in the order in which they were enabled.
  const std::deque<ProbeEcbs>& probes() const { return probes_; }
  // By clause, in program order.
  const std::deque<EcbPlan>& plans() const { return plans_; }
  // All code that was ever prepared, in no particular order.
  const std::deque<EcbCode>& codes() const { return codes_; }
  const std::deque<Ecb>& ecbs() const { return ecbs_; }
  // By EPID; null for an EPID that is not used.
  const Ecb* ecb(Epid epid) const { return epid >= 1 && epid <= ecbs_.size() ? &ecbs_[epid - 1] : nullptr; }
  const EnabledAggregation* aggregation(uint32_t id) const;
  const std::deque<EnabledAggregation>& aggregations() const { return aggregations_; }
  const std::vector<dif::Variable>& variables() const { return variables_; }

  // The name of the first destructive action or, if there is none, subroutine; empty: there is none.
  std::string_view destructive_action() const;
  // True if a clause calls chill() on a probe that does not fire in dvm's own thread, which is impossible.
  bool chills_others() const;
  uint32_t largest_record() const;
  // The sum of the record sizes of all clauses on dvm's own probe of this name.
  size_t record_bytes(std::string_view own_probe) const;
  size_t largest_key() const;    // bytes
  size_t largest_entry() const;  // of an aggregation: bytes of its key and its value

 private:
  struct Draft;
  void commit(Draft&& draft, vm::CostPolicy policy, const vm::Engine& engine);
  void enable(size_t clause, const Matches& matches);
  void add_ecb(const Ecb& ecb);

  std::deque<EcbPlan> plans_;            // deques, because addresses must not change
  std::deque<EcbCode> codes_;            // includes replaced code: variables may hold addresses of its strings
  std::vector<const EcbCode*> current_;  // by clause
  std::deque<Ecb> ecbs_;
  std::deque<ProbeEcbs> probes_;
  std::unordered_map<uint32_t, ProbeEcbs*> by_probe_;
  std::deque<EnabledAggregation> aggregations_;
  std::unordered_map<uint32_t, const EnabledAggregation*> by_aggregation_;
  std::vector<dif::Variable> variables_;
};

}  // namespace dvm::runtime
