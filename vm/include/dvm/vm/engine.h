#pragma once
// Engines execute DIF. An engine turns a VerifiedDifo into a PreparedDifo once for each clause. Running it is a call through one
// pointer. A PreparedDifo is immutable, so any number of threads may run it at once, each with its own MachineState and OpCosts.
// run() is probe context: it does not allocate, lock or throw.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "dvm/vm/body.h"
#include "dvm/vm/cost.h"
#include "dvm/vm/state.h"
#include "dvm/vm/verify.h"

namespace dvm::vm {

class PreparedDifo {
 public:
  using Run = uint64_t (*)(const PreparedDifo&, MachineState&, OpCost*) noexcept;

  virtual ~PreparedDifo() = default;
  // The value of the DIFO. After a fault (state.fault().id != none) the value is undefined. costs: an array of cost_count()
  // counters of this context.
  uint64_t run(MachineState& state, OpCost* costs = nullptr) const noexcept { return run_(*this, state, costs); }
  // 0 under a policy that counts nothing.
  virtual size_t cost_count() const = 0;
  // Adds the counts in `costs` to `into` and `instructions`, and sets `costs` to 0. Consumer context.
  virtual void take_counts(std::span<OpCost> costs, Counts& into, InstructionCounts& instructions) const = 0;
  // The addresses of the DIFO and of its string table do not change.
  virtual const dif::Difo& difo() const = 0;
  std::string_view strings() const { return difo().strings; }

 protected:
  explicit PreparedDifo(Run entry) : run_(entry) {}

 private:
  Run run_;
};

// A prepared DIFO, or the reason why the engine could not prepare it.
struct Prepared {
  Prepared(std::unique_ptr<PreparedDifo> made, std::string why = {}) : difo(std::move(made)), problem(std::move(why)) {}

  std::unique_ptr<PreparedDifo> difo;
  std::string problem;
};

// The interpreter.
std::unique_ptr<PreparedDifo> prepare_interp(VerifiedDifo difo, CostPolicy policy);
inline std::string no_problem() { return {}; }

// For engines without bodies: the ECB loop then runs the actions one by one.
inline constexpr MadeBody (*no_body)(const BodyRequest&) = nullptr;

// Machine code. Under CostPolicy::time, the interpreter is used instead.
Prepared prepare_llvm(VerifiedDifo difo, CostPolicy policy);
// Turns on or off the naming of new code in /tmp/perf-PID.map, for perf.
void write_perf_map(bool is_wanted);
// Loads LLVM, which takes about 20 ms. Returns the error; empty: it is loaded.
std::string llvm_problem();

struct Engine {
  std::string_view name;
  Prepared (*prepare)(VerifiedDifo, CostPolicy);
  MadeBody (*prepare_body)(const BodyRequest&);  // null: the engine makes no bodies
  std::string (*problem)();                      // why the engine is not available here; empty: it is
};
inline constexpr Engine kEngines[] = {
#define DVM_ENGINE(name, prepare, prepare_body, problem, text)                                                                   \
  Engine{#name, [](VerifiedDifo difo, CostPolicy policy) -> Prepared { return prepare(std::move(difo), policy); }, prepare_body, \
         problem},
#include "vm/engine/engines.def"
};
// The interpreter, which runs any DIFO.
inline constexpr const Engine& kUsualEngine = kEngines[0];

}  // namespace dvm::vm
