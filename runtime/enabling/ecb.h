#pragma once
// An ECB (enabling control block): one clause on one probe, ready to run. Enabling (enabling.h) makes it from an EcbDesc; the ECB
// loop (probe/fire.h) runs it; the consumer reads its records by the layout that is kept here.
//
// A record in the principal buffer, a multiple of 8 bytes:
//
//   | epid: 4 | size: 4 | order: 8 | values of all actions, each at its natural alignment ... | pad |
//
// Integers have the size of their type; a string has strsize + 1 bytes, NUL and padding included; bytes have their size. EPID 0
// marks an ErrorRecord. An ECB leaves a record when it has no action at all (the default action: say that it fired) or an action
// that the consumer must see; otherwise record_size is 0.
//
// A key in the aggregation buffer, in multiples of 8 bytes: integers widened to 64 bits by their type; strings with their NUL,
// padded with zeros; bytes padded with zeros. What stack actions make, in a record and as a key: the pid and the program
// counters, in a record padded with zeros to all its frames, in a key ended by one zero; of a symbol the pid and the address.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dvm/dif/program.h"
#include "dvm/vm/engine.h"
#include "runtime/buffer/record.h"
#include "runtime/catalog/probe.h"

namespace dvm::runtime {

struct FireContext;
struct Action;
struct AggregateFunction;

// A fault of a clause, as it travels to the consumer: RecordHeader with EPID 0, then this.
struct ErrorRecord {
  RecordHeader header;
  Epid epid = 0;
  uint32_t action = 0;
  uint32_t offset = 0;  // in bytes of DIF
  dif::Fault fault = dif::Fault::none;
  uint64_t value = 0;
};

// A DIFO, ready to run, and the place of its value.
struct Value {
  std::unique_ptr<vm::PreparedDifo> difo;
  std::unique_ptr<vm::PreparedDifo> timed;  // the same under CostPolicy::time, for sampled firings; null without accounting
  dif::DataType type;
  dif::Action made_by = dif::Action::expression;  // a stack or symbol: made of the firing, with the DIFO's value as the address
  uint32_t offset = 0;                            // in the record; of a key or an aggregated value: unused
  bool may_be_null = false;                       // a string variable that may hold no string: recorded as an empty one
  uint32_t size = 0;                              // bytes in the record
};

// An aggregation as probe context sees it. `cached` is the state of a keyless one while the buffer's generation is `generation`.
struct Aggregation {
  dif::AggregationDesc desc;
  const AggregateFunction* function = nullptr;
  unsigned words = 0;
  uint64_t* cached = nullptr;
  uint32_t generation = 0;
};

// What one action costs, counted only with accounting.
struct ActionTally {
  uint64_t count = 0, timed = 0, ticks = 0;
  uint64_t bytes = 0;  // of strings and structures that it kept, in records or as keys
};

// Runs the action: writes its values at their offsets of the record. False: a fault.
using RecordAction = bool (*)(FireContext&, Action&, std::byte* record) noexcept;

struct Action {
  dif::Action kind = dif::Action::expression;
  RecordAction run = nullptr;
  RecordAction run_timed = nullptr;
  std::vector<Value> values;
  unsigned key_count = 0;
  Aggregation* aggregation = nullptr;  // of an aggregating function
  const dif::ActDesc* desc = nullptr;
  ActionTally tally;
};

struct EcbTallies {
  uint64_t firings = 0;
  uint64_t predicate_hits = 0;
  uint64_t faults = 0;
};

struct Ecb {
  Epid epid = 0;
  const Probe* probe = nullptr;
  unsigned clause = 0;  // its number in program order, as messages name it
  const dif::EcbDesc* desc = nullptr;
  std::optional<Value> predicate;
  std::vector<Action> actions;
  uint32_t record_size = 0;
  bool speculates = false;
  EcbTallies tallies;
};

// The ECBs of one probe, in program order.
struct ProbeEcbs {
  const Probe* probe = nullptr;
  std::vector<Ecb*> ecbs;
  bool needs_machine = false;  // some ECB has DIF to run
  bool outlives_exit = false;  // END and ERROR fire after exit() too
};

}  // namespace dvm::runtime
