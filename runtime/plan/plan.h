#pragma once
// A plan: one clause, verified and laid out once, independent of the probes on which it is enabled. It is immutable, refers to
// neither probes nor address spaces, and can be written to bytes and read back (plan_file.h).
//
//   EcbDesc ── verify every DIFO ── lay out the record ──> EcbPlan ── prepare for an engine ──> EcbCode ── on a probe ──> Ecb
//                                                          this folder   runtime/probe/code.h       runtime/probe/ecb.h
//
// A record in the principal buffer, a multiple of 8 bytes:
//
//   | epid: 4 | size: 4 | order: 8 | values of all actions, each at its natural alignment ... | pad |
//
// Integers have the size of their type; a string has strsize + 1 bytes, NUL and padding included, or fewer if its type has a
// size; bytes have their size. EPID 0 marks an ErrorRecord. An ECB leaves a record if it has no action at all (the default
// action, which shows that it fired) or an action that the consumer must see; otherwise record_size is 0.
//
// A key in the aggregation buffer, in multiples of 8 bytes: integers widened to 64 bits by their type; strings with their NUL,
// padded with zeros; bytes padded with zeros. Stack actions store the pid and the program counters: in a record padded with zeros
// to the declared number of frames, in a key ended by one zero. Symbol actions store the pid and the address.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "dvm/common/result.h"
#include "dvm/dif/option.h"
#include "dvm/dif/program.h"
#include "dvm/vm/verify.h"
#include "runtime/buffer/record.h"

namespace dvm::runtime {

// The type of a value, and its place in the record.
struct ValuePlan {
  dif::DataType type;
  dif::Action made_by = dif::Action::expression;  // a stack or symbol, made from the DIFO's value
  uint32_t offset = 0;                            // in the record; not for keys and aggregated values
  bool is_kept = false;                           // a stack that a variable keeps, at the address that the DIFO computes

  bool may_be_null = false;  // a string variable, whose NULL is recorded as ""
  uint32_t size = 0;         // bytes in the record
};

struct ActionPlan {
  dif::Action kind = dif::Action::expression;
  std::vector<ValuePlan> values;
  unsigned key_count = 0;
  uint32_t aggregation = 0;  // id; 0: it does not aggregate
  const dif::ActDesc* desc = nullptr;
};

struct EcbPlan {
  EcbPlan() = default;
  EcbPlan(EcbPlan&&) = default;  // pointers to elements stay valid, because moved vectors keep their memory
  EcbPlan& operator=(EcbPlan&&) = default;

  unsigned clause = 0;  // its number in program order, for messages
  dif::EcbDesc desc;
  std::vector<dif::AggregationDesc> aggregations;  // those that it names
  uint64_t strsize = 0;
  std::optional<ValuePlan> predicate;
  std::vector<ActionPlan> actions;
  std::vector<vm::VerifiedDifo> difos;  // of the predicate, then of the values of the actions, in order
  uint32_t record_size = 0;
  size_t key_bytes = 0;  // of its largest key
  bool speculates = false;
  bool needs_machine = false;  // it runs DIF, or can fault without DIF
};

// Null: there is no such aggregation.
using FindAggregation = std::function<const dif::AggregationDesc*(uint32_t id)>;

// Sets the depth of stacks that have none from the options, and limits all depths to maxframes.
void set_frames(dif::EcbDesc& clause, const dif::Options& options);

// desc: with the depths of its stacks set. The error names the instruction that the verifier rejects, or another problem.
Result<EcbPlan> make_plan(unsigned clause, dif::EcbDesc desc, const FindAggregation& find, const dif::Options& options);

}  // namespace dvm::runtime
