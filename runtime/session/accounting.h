#pragma once
// The account of a session, by clause and stage.

#include <cstdint>
#include <span>
#include <vector>

#include "dvm/runtime/handle.h"
#include "runtime/backend/backend.h"
#include "runtime/backend/rate.h"
#include "runtime/cost/step_counts.h"
#include "runtime/enabling/enabling.h"
#include "runtime/probe/stages.h"
#include "runtime/probe/tallies.h"

namespace dvm::runtime {

class Accounting {
 public:
  Accounting(const Enabling& enabling, const BackendList& backends) : enabling_(enabling), backends_(backends) {}

  // Call when tracing starts.
  void start();
  StepCounts& consumed() { return consumed_; }
  // The stages of the consumer. Backends have those of firings.
  Stages& stages() { return stages_; }
  // Time, firings and stages.
  Account summary() const;
  // Adds the steps of the consumer.
  void add_steps(Account& account) const;
  // Adds each ECB that has fired, with the counters of all contexts.
  void add_clauses(Account& account);

 private:
  // The counts of an ECB's DIFOs.
  struct DifCounts {
    vm::Counts rows;
    std::vector<vm::InstructionCounts> instructions;  // as in EcbAccount
  };
  static void take_counts(const ValueCode& value, size_t number, std::span<vm::OpCost> costs, DifCounts& into);
  static void take_counts(const EcbCode& code, std::span<vm::OpCost> costs, DifCounts& into);
  EcbTallies take_tallies(const Ecb& ecb, std::span<const ContextAccount> contexts);
  EcbAccount account_of(const Ecb& ecb, const EcbTallies& tallies) const;

  const Enabling& enabling_;
  const BackendList& backends_;
  Stages stages_;
  StepCounts consumed_;
  uint64_t first_tick_ = 0;
  MonotonicTime first_time_ = 0;
  std::vector<DifCounts> counts_;  // by EPID - 1, taken so far
};

}  // namespace dvm::runtime
