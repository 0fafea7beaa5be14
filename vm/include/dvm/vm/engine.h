#pragma once
// What executes DIF. An engine turns a VerifiedDifo into a PreparedDifo once for each clause; running it is a call through one
// pointer. A PreparedDifo never changes, so any number of threads may run it at once, each with a MachineState and OpCosts of its
// own. Running is probe context: it does not allocate, lock or throw.

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
  // The value of the DIFO. After a fault (state.fault().id != none) the value means nothing. costs: the first of cost_count() in
  // which the runs of one context are counted.
  uint64_t run(MachineState& state, OpCost* costs = nullptr) const noexcept { return run_(*this, state, costs); }
  // 0 under a policy that counts nothing.
  virtual size_t cost_count() const = 0;
  // Adds what was counted in `costs`, and sets them to 0. Consumer context.
  virtual void take_counts(std::span<OpCost> costs, Counts& into, InstructionCounts& instructions) const = 0;
  // It and its string table stay where they are.
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

inline constexpr MadeBody (*no_body)(const BodyRequest&) = nullptr;  // the ECB loop runs the actions one by one

// Machine code. CostPolicy::time is the interpreter's.
Prepared prepare_llvm(VerifiedDifo difo, CostPolicy policy);
// Whether code that is made from now on is named in /tmp/perf-PID.map, for perf.
void write_perf_map(bool is_wanted);
// Loads LLVM, which takes some 20 ms.
std::string llvm_problem();

struct Engine {
  std::string_view name;
  Prepared (*prepare)(VerifiedDifo, CostPolicy);
  MadeBody (*prepare_body)(const BodyRequest&);  // null: it has none
  std::string (*problem)();                      // why the engine cannot be had here; empty: it can
};
inline constexpr Engine kEngines[] = {
#define DVM_ENGINE(name, prepare, prepare_body, problem, text)                                                                   \
  Engine{#name, [](VerifiedDifo difo, CostPolicy policy) -> Prepared { return prepare(std::move(difo), policy); }, prepare_body, \
         problem},
#include "vm/engine/engines.def"
};
// Runs any DIFO.
inline constexpr const Engine& kUsualEngine = kEngines[0];

}  // namespace dvm::vm
