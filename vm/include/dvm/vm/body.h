#pragma once
// The body of a clause as one function. runtime/probe describes the work of a clause as a list of steps. An engine that makes
// machine code turns them into one function, with the clause's DIF inlined:
//
//   predicate ── zero or a fault ──> kNotHeld
//   reserve   ── no room ──────────> kNoRoom
//   evaluate, store, find, update ... of each action ── a fault ──> the number of the action
//   the number of actions
//
// A step that is more than arithmetic calls a helper of the runtime through a table. So the code can be mapped anywhere.
//
// A DIFO is plain if it reads only members of the firing and cannot fault. A plain predicate becomes a gate: a separate function,
// which runs before anything is prepared for the clause. A body of plain DIFOs needs no prepared machine state.
//
// A DIFO is light if, in addition, it only loads and stores global integers and loads thread-local ones. It rarely calls C++. A
// light body prepares the machine state itself, before such a call.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dvm/dif/action.h"
#include "dvm/dif/difo.h"
#include "dvm/vm/state.h"

namespace dvm::vm {

struct OpCost;

// Results of a body that are not the number of an action.
inline constexpr uint32_t kNotHeld = UINT32_MAX;     // the predicate was false or faulted
inline constexpr uint32_t kNoRoom = UINT32_MAX - 1;  // the buffer has no room for the record

// The state of a keyless aggregation. It is valid while the aggregation buffer has the same generation.
struct KeylessState {
  uint64_t* state = nullptr;
  uint32_t generation = 0;
};

// The part of the level (runtime/probe/context.h) that a body reads and passes to its helpers.
struct BodyFrame {
  const Firing* firing = nullptr;  // the current one
  MachineState::Impl* machine = nullptr;
  std::byte* key = nullptr;              // room for the largest key
  KeylessState* keyless = nullptr;       // by number of the aggregation
  const uint32_t* generation = nullptr;  // of the aggregation buffer
  std::byte* action_tallies = nullptr;   // of the current ECB; null without accounting
  OpCost* costs = nullptr;               // likewise
};

// Functions of the runtime. `object` is Step::object.
struct BodyHelpers {
  std::byte* (*reserve)(BodyFrame&) noexcept;                                                      // null: no room
  uint64_t (*keep)(BodyFrame&, const void* object, uint64_t value, std::byte* record) noexcept;    // 0: a fault
  uint64_t (*append_key)(BodyFrame&, const void* object, uint64_t value, std::byte* to) noexcept;  // bytes; 0: a fault
  uint64_t* (*find)(BodyFrame&, const void* object, uint64_t bytes) noexcept;                      // null: no room
  void (*update)(const void* object, uint64_t* state, uint64_t value, uint64_t increment) noexcept;
  void (*prepare)(BodyFrame&) noexcept;  // prepares the machine state, if that is not done yet
  // Looks up the state of a keyless aggregation and updates it. Counts a drop if there is no room.
  void (*update_keyless)(BodyFrame&, const void* object, uint64_t value, uint64_t increment) noexcept;
  void (*drop)(BodyFrame&) noexcept;                                             // counts an aggregation drop
  uint64_t (*call)(BodyFrame&, const void* object, std::byte* record) noexcept;  // 0: ends the clause
};

// The steps pass on a value, a record, a key and the state of an aggregation.
enum class StepKind : uint8_t {
  // Evaluates DIFO `number`. Zero or a fault ends the body with kNotHeld.
  predicate,
  // Calls the helper for the address of the record. Null ends the body with kNoRoom.
  reserve,
  // Begins action `number`. The following steps belong to it. Its tally has the count at `offset`.
  action,
  // Evaluates DIFO `number`, which gives the value.
  evaluate,
  // Writes the low `size` bytes of the value at `offset` of the record.
  store,
  // Calls the helper to write the value to the record.
  keep,
  // Appends the value to the key, widened by its size and sign.
  key_integer,
  // Calls the helper to append the value to the key.
  append_key,
  // Makes the value argument `number` of the update, widened by its size and sign.
  argument,
  // Takes entry `number` of the keyless states. If it is out of date, the helper does the update.
  find_keyless,
  // Calls the helper for the state of the key.
  find,
  // Updates the state by the aggregating function. If the state is null, counts a drop.
  update,
  // Calls the helper to run the action.
  call,
};

struct Step {
  StepKind kind;
  uint32_t number = 0;
  uint32_t offset = 0;
  uint32_t size = 8;  // bytes of an integer
  bool is_signed = false;
  dif::Action function = dif::Action::expression;  // of update
  const void* object = nullptr;
};

// A DIFO of the body, verified. Its address must not change.
struct BodyDifo {
  const dif::Difo* difo = nullptr;
  uint32_t costs = 0;  // index of its first OpCost among those of the ECB
};

struct BodyRequest {
  std::vector<Step> steps;
  std::vector<BodyDifo> difos;      // by number
  uint32_t actions = 0;             // number of actions
  const dif::Difo* gate = nullptr;  // the predicate, if it is plain: no step evaluates it
  const BodyHelpers* helpers = nullptr;
  bool counts = false;    // CostPolicy::blocks
  bool is_plain = false;  // no step reads the machine state
  bool is_light = false;  // only evaluations read the machine state, and rarely
  std::string name;       // for perf
};

// True if the DIFO, which must be verified, is plain or light.
bool is_plain(const dif::Difo& difo);
bool is_light(const dif::Difo& difo);

class PreparedBody {
 public:
  using Run = uint32_t (*)(const PreparedBody&, BodyFrame&) noexcept;
  // If the predicate holds, calls next() and returns its result; otherwise returns 0.
  using Next = uint64_t (*)(BodyFrame&, const void* probe, Firing&) noexcept;
  using Gate = uint64_t (*)(BodyFrame&, const void* probe, Firing&, Next) noexcept;

  virtual ~PreparedBody() = default;
  // The number of the action that faulted or ended the clause, the number of actions, kNotHeld or kNoRoom.
  uint32_t run(BodyFrame& frame) const noexcept { return run_(*this, frame); }
  // Null: there is no gate.
  Gate gate() const noexcept { return gate_; }

 protected:
  PreparedBody(Run entry, Gate entry_of_gate) : run_(entry), gate_(entry_of_gate) {}

 private:
  Run run_;
  Gate gate_;
};

// A body, or why the engine could not make it.
struct MadeBody {
  std::unique_ptr<PreparedBody> body;
  std::string problem;
};

MadeBody prepare_llvm_body(const BodyRequest& request);

}  // namespace dvm::vm
