// Decoding and dispatch. execute() is instantiated once a cost policy; each opcode's body (ops.h) ends in a jump of its own to
// the next instruction's, so that the processor predicts each by its own history. Covered by tests/conformance, timed by
// bench/vm.

#include <algorithm>
#include <utility>
#include <vector>

#include "dvm/vm/engine.h"
#include "dvm/vm/profile.h"
#include "vm/engine/interp/ops.h"
#include "vm/engine/interp/tally.h"

namespace dvm::vm {

namespace interp {

namespace {

using Labels = const void* const*;

class InterpDifo final : public PreparedDifo {
 public:
  InterpDifo(VerifiedDifo difo, Run entry, Labels labels, bool counts)
      : PreparedDifo(entry), difo_(std::move(difo)), ops_(difo_.difo().text.size()), costs_(counts ? ops_.size() : 0) {
    for (size_t pc = 0; pc < ops_.size(); pc++) decode(pc, labels);
  }
  void take_counts(Counts& into, InstructionCounts& instructions) override {
    if (costs_.empty()) return;
    add_instructions(instructions, timed_ ? tally_timed(difo(), costs_, into) : tally_blocks(difo(), costs_, runs_, into));
    std::fill(costs_.begin(), costs_.end(), OpCost{});
    runs_ = 0;
  }

  std::string_view strings() const override { return difo_.difo().strings; }

  const dif::Difo& difo() const { return difo_.difo(); }
  const Op* begin() const { return ops_.data(); }
  void count_run() { runs_++; }
  int64_t tick_cost() const { return tick_cost_; }
  void use_ticks() {
    timed_ = true;
    tick_cost_ = calibrate_ticks();
  }

 private:
  void decode(size_t pc, Labels labels);

  VerifiedDifo difo_;
  std::vector<Op> ops_;
  std::vector<OpCost> costs_;
  uint64_t runs_ = 0;
  bool timed_ = false;
  int64_t tick_cost_ = 0;
};

void InterpDifo::decode(size_t pc, Labels labels) {
  const dif::Instruction in = difo().text[pc];
  Op& op = ops_[pc];
  op.handler = labels[in.number()];
  op.r1 = static_cast<uint8_t>(in.r1());
  op.r2 = static_cast<uint8_t>(in.r2());
  op.rd = static_cast<uint8_t>(in.rd());
  op.id = in.index();
  if (!costs_.empty()) op.cost = &costs_[pc];
  const dif::Format format = info(in.opcode()).format;
  if (format == dif::Format::branch) op.target = &ops_[in.label()];
  if (format == dif::Format::setx) op.value = difo().integers[in.index()];
  if (format == dif::Format::sets) op.value = address_of(difo().strings.data() + in.index());
  if (format == dif::Format::call) op.subr = subr_of(in.index());
  if (const auto id = built_in_of(in)) op.getter = getter_of(*id);
}

// Whether an opcode can count units. The getters of built-in variables count none.
constexpr bool has_units(const dif::OpcodeInfo& row) {
  const dif::CostClass cost = row.cost;
  return cost == dif::CostClass::bytes || cost == dif::CostClass::found || cost == dif::CostClass::stored ||
         (cost == dif::CostClass::called && row.format == dif::Format::call);
}

// Counts one instruction, after its body.
template <class Cost, dif::Opcode kOpcode>
[[gnu::always_inline]] inline void account([[maybe_unused]] const Op& op, [[maybe_unused]] Step step,
                                           [[maybe_unused]] State& state, [[maybe_unused]] uint64_t& last_ticks,
                                           [[maybe_unused]] int64_t tick_cost) {
  if constexpr (Cost::kTimes) {
    const uint64_t now = read_ticks();
    op.cost->executed++;
    op.cost->ticks += static_cast<int64_t>(now - last_ticks) - tick_cost;
    last_ticks = now;
  } else if constexpr (Cost::kCounts && info(kOpcode).format == dif::Format::branch) {
    if (step == Step::jump) op.cost->executed++;
  }
  if constexpr (Cost::kCounts && has_units(info(kOpcode)))
    if (state.units != 0) op.cost->units += std::exchange(state.units, 0);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"  // addresses of labels

// The loop. With `labels` it only tells where the handlers are, by opcode number.
template <class Cost>
[[gnu::noinline]] uint64_t execute(InterpDifo* difo, State* machine, Labels* labels) noexcept {
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
  Flags flags;
  state.difo = &difo->difo();
  state.tuple.depth = 0;
  if constexpr (Cost::kCounts && !Cost::kTimes) difo->count_run();
  if constexpr (Cost::kCounts) state.units = 0;
  const int64_t tick_cost = Cost::kTimes ? difo->tick_cost() : 0;
  uint64_t last_ticks = Cost::kTimes ? read_ticks() : 0;
  const Op* op = difo->begin();
  goto * op->handler;

#define DVM_OPCODE(number, name, ...)                                          \
  run_##name : {                                                               \
    const Step step = op_##name(*op, r, flags, state);                         \
    account<Cost, dif::Opcode::name>(*op, step, state, last_ticks, tick_cost); \
    if (step == Step::stop) goto stop;                                         \
    op = step == Step::jump ? op->target : op + 1;                             \
    goto * op->handler;                                                        \
  }
#include "vm/dif/opcodes.def"

stop:
  if (!state.faulted()) return r[op->rd];
  state.fault.pc = static_cast<uint32_t>(op - difo->begin());
  if constexpr (Cost::kCounts) op->cost->faults++;
  return 0;
}
#pragma GCC diagnostic pop

// A built-in variable and nothing else: there is nothing to dispatch.
template <class Cost>
uint64_t run_getter(PreparedDifo& prepared, MachineState& machine) noexcept {
  auto& difo = static_cast<InterpDifo&>(prepared);
  State& state = machine.impl();
  state.difo = &difo.difo();
  if constexpr (Cost::kCounts) difo.count_run();
  const uint64_t value = difo.begin()->getter(state, 0);
  if constexpr (Cost::kCounts)
    if (state.faulted()) difo.begin()->cost->faults++;
  return value;
}

template <class Cost>
std::unique_ptr<PreparedDifo> prepare(VerifiedDifo verified) {
  Labels labels = nullptr;
  execute<Cost>(nullptr, nullptr, &labels);
  const PreparedDifo::Run entry = [](PreparedDifo& difo, MachineState& state) noexcept {
    return execute<Cost>(static_cast<InterpDifo*>(&difo), &state.impl(), nullptr);
  };
  const bool is_short = !Cost::kTimes && is_getter_alone(verified.difo());
  auto difo = std::make_unique<InterpDifo>(std::move(verified), is_short ? run_getter<Cost> : entry, labels, Cost::kCounts);
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
