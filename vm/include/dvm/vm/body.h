#pragma once
// The body of a clause as one function. The owner of the ECB loop (runtime/probe) says what a clause does as a list of steps. An
// engine that makes machine code makes one function of them, with the clause's DIF inlined:
//
//   predicate ── zero or a fault ──> kNotHeld
//   reserve   ── no room ──────────> kNoRoom
//   evaluate, store, find, update ... of each action ── a fault ──> the number of the action
//   the number of actions
//
// A step that is not plain arithmetic calls a helper of the runtime, through a table. So the code can be mapped anywhere, by
// anyone.
//
// A DIFO is plain if it reads nothing but members of the firing, and cannot fault. A plain predicate becomes a gate: a function
// of its own, which runs before anything is prepared for the clause. A body of plain DIFOs runs without a prepared machine state.
//
// A DIFO is light if it also loads and stores global integers and loads thread-local ones: it seldom calls C++. A light body
// prepares the machine state itself, before such a call.

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
inline constexpr uint32_t kNoRoom = UINT32_MAX - 1;  // for the record

// The state of a keyless aggregation, while the generation of the buffer is `generation`.
struct KeylessState {
  uint64_t* state = nullptr;
  uint32_t generation = 0;
};

// A body reads this of the level that runs it, and passes it to its helpers.
struct BodyFrame {
  const Firing* firing = nullptr;  // that is processed
  MachineState::Impl* machine = nullptr;
  std::byte* key = nullptr;              // room for the largest key
  KeylessState* keyless = nullptr;       // by number of the aggregation
  const uint32_t* generation = nullptr;  // of the aggregation buffer
  std::byte* action_tallies = nullptr;   // of the ECB that runs, with accounting
  OpCost* costs = nullptr;               // of that ECB, with accounting
};

// Functions of the runtime. `object` is that of the step.
struct BodyHelpers {
  std::byte* (*reserve)(BodyFrame&) noexcept;                                                      // null: no room
  uint64_t (*keep)(BodyFrame&, const void* object, uint64_t value, std::byte* record) noexcept;    // 0: a fault
  uint64_t (*append_key)(BodyFrame&, const void* object, uint64_t value, std::byte* to) noexcept;  // bytes; 0: a fault
  uint64_t* (*find)(BodyFrame&, const void* object, uint64_t bytes) noexcept;                      // null: no room
  void (*update)(const void* object, uint64_t* state, uint64_t value, uint64_t increment) noexcept;
  void (*prepare)(BodyFrame&) noexcept;  // the machine state, unless that is done
  // Of a keyless aggregation, whose state is found anew; counts a drop if there is no room.
  void (*update_keyless)(BodyFrame&, const void* object, uint64_t value, uint64_t increment) noexcept;
  void (*drop)(BodyFrame&) noexcept;                                             // of an aggregation
  uint64_t (*call)(BodyFrame&, const void* object, std::byte* record) noexcept;  // 0: ends the clause
};

enum class StepKind : uint8_t {
  predicate,     // evaluates DIFO `number`; zero or a fault ends the body with kNotHeld
  reserve,       // the record is where the helper says; null ends the body with kNoRoom
  action,        // the following steps belong to action `number`, whose tally has its count at `offset`
  evaluate,      // the value is that of DIFO `number`
  store,         // writes the low `size` bytes of the value at `offset` of the record
  keep,          // the helper writes the value into the record
  key_integer,   // appends the value to the key, widened by its size and sign
  append_key,    // the helper appends the value to the key
  argument,      // argument `number` of the update is the value, widened by its size and sign
  find_keyless,  // the state is entry `number` of the keyless ones; if that is out of date, the helper does the update
  find,          // the state is where the helper says for the key
  update,        // changes the state by the aggregating function; null: counts a drop
  call,          // the helper runs the action
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

// A DIFO of the body, verified. It stays where it is.
struct BodyDifo {
  const dif::Difo* difo = nullptr;
  uint32_t costs = 0;  // where its OpCosts begin among those of the ECB
};

struct BodyRequest {
  std::vector<Step> steps;
  std::vector<BodyDifo> difos;      // by number
  uint32_t actions = 0;             // how many there are
  const dif::Difo* gate = nullptr;  // the predicate, if it is plain: no step evaluates it
  const BodyHelpers* helpers = nullptr;
  bool counts = false;    // CostPolicy::blocks
  bool is_plain = false;  // no step reads the machine state
  bool is_light = false;  // no step but evaluations does, and those seldom
  std::string name;       // for perf
};

// Whether the DIFO is plain, or light. Verified DIF only.
bool is_plain(const dif::Difo& difo);
bool is_light(const dif::Difo& difo);

class PreparedBody {
 public:
  using Run = uint32_t (*)(const PreparedBody&, BodyFrame&) noexcept;
  // Goes on with next() where the predicate holds, and returns what that returns; else 0.
  using Next = uint64_t (*)(BodyFrame&, const void* probe, Firing&) noexcept;
  using Gate = uint64_t (*)(BodyFrame&, const void* probe, Firing&, Next) noexcept;

  virtual ~PreparedBody() = default;
  // The number of the action that faulted or ended the clause, the number of actions, kNotHeld or kNoRoom.
  uint32_t run(BodyFrame& frame) const noexcept { return run_(*this, frame); }
  // Null: there is none.
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
