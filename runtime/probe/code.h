#pragma once
// Code: a plan prepared for one engine and cost policy, once for all probes of the clause. It is immutable: counters and state of
// firings belong to their context (context.h).

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dvm/vm/body.h"
#include "dvm/vm/engine.h"
#include "runtime/plan/plan.h"
#include "runtime/probe/aggregate.h"

namespace dvm::runtime {

struct FireLevel;
struct ActionCode;

// A prepared DIFO, and the place of its value.
struct ValueCode : ValuePlan {
  const vm::PreparedDifo* difo = nullptr;
  const vm::PreparedDifo* timed = nullptr;  // the same under CostPolicy::time, for sampled firings; null without accounting
  uint32_t costs = 0, timed_costs = 0;      // index of the first OpCost of each among those of the ECB
  uint32_t action = 0;                      // its number in the clause
};

// Runs the action: writes its values at their offsets of the record. False: a fault.
using RecordAction = bool (*)(FireLevel&, const ActionCode&, std::byte* record) noexcept;

struct ActionCode {
  dif::Action kind = dif::Action::expression;
  uint32_t number = 0;  // in its clause
  RecordAction run = nullptr;
  RecordAction run_timed = nullptr;
  std::vector<ValueCode> values;
  unsigned key_count = 0;
  const EnabledAggregation* aggregation = nullptr;  // of an aggregating function
};

struct EcbCode {
  std::string_view engine;  // the engine that runs it
  std::string problem;      // why the requested engine does not; empty: it does
  std::optional<ValueCode> predicate;
  std::vector<ActionCode> actions;
  uint32_t action_count = 0;
  std::unique_ptr<vm::PreparedBody> body;  // predicate and actions as one function; null: they run one by one
  vm::PreparedBody::Gate gate = nullptr;   // of the body
  bool is_plain = false;                   // the body runs without a prepared machine state, and cannot fault
  bool is_light = false;                   // the body prepares the machine state itself
  uint32_t record_size = 0;
  bool speculates = false;
  uint32_t cost_count = 0;                                      // OpCosts of an ECB
  std::vector<std::unique_ptr<vm::PreparedDifo>> difos, timed;  // by number, as in the plan
};

}  // namespace dvm::runtime
