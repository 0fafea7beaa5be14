// Decoding and dispatch. execute() is instantiated once per cost policy. The body of each opcode (ops.h) ends in a jump of its
// own, so the processor predicts each jump by its own history. Covered by tests/conformance, timed by bench/vm.

#include <algorithm>
#include <utility>
#include <vector>

#include "common/hot.h"
#include "dvm/vm/engine.h"
#include "dvm/vm/profile.h"
#include "vm/cost/policy.h"
#include "vm/cost/tally.h"
#include "vm/engine/interp/ops.h"

namespace dvm::vm {

namespace interp {

namespace {

using Labels = const void* const*;

class InterpDifo final : public PreparedDifo {
 public:
  InterpDifo(VerifiedDifo difo, Run entry, Labels labels, bool counts)
      : PreparedDifo(entry), difo_(std::move(difo)), ops_(difo_.difo().text.size()), counts_(counts) {
    for (size_t pc = 0; pc < ops_.size(); pc++) decode(pc, labels);
  }
  size_t cost_count() const override { return counts_ ? 1 + ops_.size() : 0; }
  // Of the first OpCost, the executions are the runs.
  void take_counts(std::span<OpCost> costs, Counts& into, InstructionCounts& instructions) const override {
    if (!counts_) return;
    const std::span<const OpCost> ops = costs.subspan(1, ops_.size());
    add_instructions(instructions,
                     timed_ ? tally_timed(difo(), ops, into) : tally_blocks(difo(), ops, costs.front().executed, into));
    std::fill(costs.begin(), costs.end(), OpCost{});
  }
  const dif::Difo& difo() const override { return difo_.difo(); }
  const DecodedOp* begin() const { return ops_.data(); }
  int64_t tick_cost() const { return tick_cost_; }
  void use_ticks() {
    timed_ = true;
    tick_cost_ = calibrate_ticks();
  }

 private:
  void decode(size_t pc, Labels labels);

  VerifiedDifo difo_;
  std::vector<DecodedOp> ops_;
  bool counts_, timed_ = false;
  int64_t tick_cost_ = 0;
};

void InterpDifo::decode(size_t pc, Labels labels) {
  const dif::Instruction in = difo().text[pc];
  DecodedOp& op = ops_[pc];
  op.handler = labels[in.number()];
  op.r1 = static_cast<uint8_t>(in.r1());
  op.r2 = static_cast<uint8_t>(in.r2());
  op.rd = static_cast<uint8_t>(in.rd());
  op.id = in.index();
  const dif::Format format = info(in.opcode()).format;
  if (format == dif::Format::branch) op.target = &ops_[in.label()];
  if (format == dif::Format::setx) op.value = difo().integers[in.index()];
  if (format == dif::Format::sets) op.value = address_of(difo().strings.data() + in.index());
  if (format == dif::Format::call) op.subr = subr_of(in.index());
  if (const auto id = built_in_of(in)) op.getter = getter_of(*id);
}

// From an instruction of an object to its OpCost, in bytes.
[[gnu::always_inline]] inline uintptr_t distance(const DecodedOp* first, const OpCost* costs) {
  return reinterpret_cast<uintptr_t>(costs + 1) - reinterpret_cast<uintptr_t>(first);
}
[[gnu::always_inline]] inline OpCost& cost_of(const DecodedOp* op, uintptr_t distance) {
  return *reinterpret_cast<OpCost*>(reinterpret_cast<uintptr_t>(op) + distance);
}

// Counts one instruction, after its body.
template <class Cost, dif::Opcode kOpcode>
[[gnu::always_inline]] inline void account([[maybe_unused]] const DecodedOp* op, [[maybe_unused]] uintptr_t to_cost,
                                           [[maybe_unused]] NextStep flow, [[maybe_unused]] State& state,
                                           [[maybe_unused]] uint64_t& last_ticks, [[maybe_unused]] int64_t tick_cost) {
  if constexpr (Cost::kTimes) {
    const uint64_t now = read_ticks();
    OpCost& cost = cost_of(op, to_cost);
    cost.executed++;
    cost.ticks += static_cast<int64_t>(now - last_ticks) - tick_cost;
    last_ticks = now;
  } else if constexpr (Cost::kCounts && info(kOpcode).format == dif::Format::branch) {
    if (flow == NextStep::jump) cost_of(op, to_cost).executed++;
  }
  if constexpr (Cost::kCounts && has_units(info(kOpcode)))
    if (state.units != 0) cost_of(op, to_cost).units += std::exchange(state.units, 0);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"  // addresses of labels

// The loop. With `labels` it only tells where the handlers are, by opcode number.
template <class Cost>
[[gnu::noinline]] DVM_HOT uint64_t execute(const InterpDifo* difo, State* machine, [[maybe_unused]] OpCost* costs,
                                           Labels* labels) noexcept {
  static const void* const kLabels[] = {
      nullptr,
#define DVM_OPCODE(number, name, ...) &&run_##name,
#include "vm/dif/opcodes.def"
  };
  if (labels) {
    *labels = kLabels;
    return 0;
  }
  State& state = *machine;
  uint64_t r[dif::kRegisters] = {};
  ConditionCodes flags;
  state.difo = &difo->difo();
  state.tuple.depth = 0;
  if constexpr (Cost::kCounts && !Cost::kTimes) costs->executed++;
  if constexpr (Cost::kCounts) state.units = 0;
  const int64_t tick_cost = Cost::kTimes ? difo->tick_cost() : 0;
  uint64_t last_ticks = Cost::kTimes ? read_ticks() : 0;
  const DecodedOp* op = difo->begin();
  [[maybe_unused]] const uintptr_t to_cost = Cost::kCounts ? distance(op, costs) : 0;
  goto * op->handler;

#define DVM_OPCODE(number, name, ...)                                                  \
  run_##name : {                                                                       \
    const NextStep flow = op_##name(*op, r, flags, state);                             \
    account<Cost, dif::Opcode::name>(op, to_cost, flow, state, last_ticks, tick_cost); \
    if (flow == NextStep::stop) goto stop;                                             \
    op = flow == NextStep::jump ? op->target : op + 1;                                 \
    goto * op->handler;                                                                \
  }
#include "vm/dif/opcodes.def"

stop:
  if (!state.faulted()) return r[op->rd];
  state.fault.pc = static_cast<uint32_t>(op - difo->begin());
  if constexpr (Cost::kCounts) cost_of(op, to_cost).faults++;
  return 0;
}
#pragma GCC diagnostic pop

// One load and nothing else: there is nothing to dispatch.
template <class Cost, dif::Scope kScope>
uint64_t run_load(const PreparedDifo& prepared, MachineState& machine, [[maybe_unused]] OpCost* costs) noexcept {
  const auto& difo = static_cast<const InterpDifo&>(prepared);
  const DecodedOp& op = *difo.begin();
  State& state = machine.impl();
  state.difo = &difo.difo();
  if constexpr (Cost::kCounts) costs->executed++;
  Slots& slots = kScope == dif::Scope::global ? state.variables.globals : state.locals;
  const uint64_t value = op.getter ? op.getter(state, 0) : load_scalar(state, slots, op.id);
  if constexpr (Cost::kCounts)
    if (state.faulted()) costs[1].faults++;
  return value;
}

template <class Cost>
std::unique_ptr<PreparedDifo> prepare(VerifiedDifo verified) {
  Labels labels = nullptr;
  execute<Cost>(nullptr, nullptr, nullptr, &labels);
  const PreparedDifo::Run entry = [](const PreparedDifo& difo, MachineState& state, OpCost* costs) noexcept {
    return execute<Cost>(static_cast<const InterpDifo*>(&difo), &state.impl(), costs, nullptr);
  };
  const bool is_load = !Cost::kTimes && is_load_alone(verified.difo());
  const bool is_global = is_load && info(verified.difo().text.front().opcode()).scope == dif::Scope::global;
  const PreparedDifo::Run load = is_global ? run_load<Cost, dif::Scope::global> : run_load<Cost, dif::Scope::clause>;
  auto difo = std::make_unique<InterpDifo>(std::move(verified), is_load ? load : entry, labels, Cost::kCounts);
  if constexpr (Cost::kTimes) difo->use_ticks();
  return difo;
}

}  // namespace

}  // namespace interp

std::unique_ptr<PreparedDifo> prepare_interp(VerifiedDifo difo, CostPolicy policy) {
  switch (policy) {
    case CostPolicy::none:
      return interp::prepare<NoCost>(std::move(difo));
    case CostPolicy::blocks:
      return interp::prepare<CountBlocks>(std::move(difo));
    case CostPolicy::time:
      return interp::prepare<TimeOps>(std::move(difo));
  }
  return nullptr;
}

}  // namespace dvm::vm
