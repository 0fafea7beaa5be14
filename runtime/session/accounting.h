#pragma once
// What a session cost, by clause and stage: the ledger's side of the ECBs and the consumer.

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
  explicit Accounting(const Enabling& enabling) : enabling_(enabling) {}

  // When tracing starts.
  void start();
  StepCounts& consumed() { return consumed_; }
  // Time, firings and stages.
  Account summary(std::span<Backend* const> backends, const Stages& stages) const;
  // Adds the steps of the consumer.
  void add_steps(Account& account) const;
  // Adds each ECB that has fired. tallies: those of one context, by EPID - 1.
  void add_clauses(Account& account, std::span<EcbTallies> tallies);

 private:
  // Of an ECB's DIFOs.
  struct DifCounts {
    vm::Counts rows;
    std::vector<vm::InstructionCounts> instructions;  // as EcbAccount has them
  };
  static void take_counts(const ValueCode& value, size_t number, std::span<vm::OpCost> costs, DifCounts& into);
  static void take_counts(const EcbCode& code, std::span<vm::OpCost> costs, DifCounts& into);
  EcbAccount account_of(const Ecb& ecb, EcbTallies& tallies);

  const Enabling& enabling_;
  StepCounts consumed_;
  uint64_t first_tick_ = 0;
  Clock first_time_ = 0;
  std::vector<DifCounts> counts_;  // by EPID - 1, taken so far
};

}  // namespace dvm::runtime
