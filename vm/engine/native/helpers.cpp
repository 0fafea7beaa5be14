// Covered by the conformance tests of engine llvm.

#include "vm/engine/native/helpers.h"

#include <array>
#include <cstddef>
#include <type_traits>

#include "dvm/vm/cost.h"
#include "vm/engine/interp/ops.h"

namespace dvm::vm::native {

namespace {

using Body = interp::NextStep (*)(const interp::DecodedOp&, uint64_t*, interp::ConditionCodes&, State&) noexcept;

template <dif::Opcode kOpcode, Body kBody>
uint64_t run_opcode(State& state, uint64_t r1, uint64_t r2, uint64_t rd, uint32_t operand) noexcept {
  interp::DecodedOp op;
  const bool pushes = info(kOpcode).format == dif::Format::pushts || info(kOpcode).format == dif::Format::pushv;
  op.r1 = pushes ? static_cast<uint8_t>(operand) : 1;
  op.r2 = 2, op.rd = 3, op.id = operand;
  uint64_t r[] = {0, r1, r2, rd};
  interp::ConditionCodes flags;
  kBody(op, r, flags, state);
  return kOpcode == dif::Opcode::scmp ? flags.left : r[3];
}

template <class Function>
const void* address(Function* function) {
  return reinterpret_cast<const void*>(function);
}

std::array<const void*, kHelpers> make_helpers() {
  std::array<const void*, kHelpers> all{};
#define DVM_OPCODE(number, name, ...) all[number] = address(OpcodeHelper{run_opcode<dif::Opcode::name, interp::op_##name>});
#include "vm/dif/opcodes.def"
  for (unsigned i = 0; i < dif::kSubroutineCount; i++)
    if (const Subr subr = subr_of(i)) all[kFirstSubroutine + i] = address(subr);
  for (unsigned i = 0; i < dif::kBuiltIns.size(); i++)
    if (const Getter getter = getter_of(static_cast<unsigned>(dif::kBuiltIns[i].id))) all[kFirstGetter + i] = address(getter);
  return all;
}

template <class Integer>
IntegerAt member_of(const Firing& firing, const Integer& member) {
  static_assert(std::is_integral_v<Integer>);
  const auto offset = reinterpret_cast<uintptr_t>(&member) - reinterpret_cast<uintptr_t>(&firing);
  return {static_cast<uint32_t>(offset), sizeof(Integer), std::is_signed_v<Integer>};
}

std::vector<IntegerAt> firing_fields() {
  std::vector<IntegerAt> all(dif::kBuiltIns.size());
  const Firing firing;
#define DVM_FIELD(name, member) \
  all[built_in_position(static_cast<unsigned>(dif::BuiltIn::name))] = member_of(firing, firing.member);
#include "vm/variable/fields.def"
  return all;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"  // GCC and clang lay out every class of ours
static_assert(sizeof(MachineState) == 2 * sizeof(void*));
static_assert(offsetof(DynamicNode, id) == offsetof(DynamicNode, tid) + 4 &&
              offsetof(DynamicNode, thread) == offsetof(DynamicNode, tid) + 6);
MachineLayout make_layout() {
  MachineLayout at;
  at.impl = {0};  // the first of the two pointers of MachineState
  at.fault = offsetof(State, fault) + offsetof(FaultState, id);
  at.fault_pc = offsetof(State, fault) + offsetof(FaultState, pc);
  at.difo = {offsetof(State, difo)};
  at.firing = {offsetof(State, firing)};
  at.units = offsetof(State, units);
  at.variables = {offsetof(State, variables)};
  at.depth = offsetof(State, tuple) + offsetof(Tuple, depth);
  at.entries = offsetof(State, tuple) + offsetof(Tuple, entries);
  at.entry_size = sizeof(TupleEntry);
  at.entry_value = offsetof(TupleEntry, value);
  at.entry_of_size = offsetof(TupleEntry, size);
  at.entry_type = offsetof(TupleEntry, type);
  at.entry_bytes = {offsetof(TupleEntry, bytes)};
  at.locals = offsetof(State, locals) + offsetof(Slots, table);
  at.globals = offsetof(VariableState::Impl, globals) + offsetof(Slots, table);
  at.threads = offsetof(VariableState::Impl, threads) + offsetof(Slots, table);
  at.slots_first = {offsetof(SlotTable, first)};
  at.slots_count = offsetof(SlotTable, count);
  at.slot_size = sizeof(VariableSlot);
  at.slot_value = offsetof(VariableSlot, value);
  at.slot_storage = {offsetof(VariableSlot, storage)};
  at.slot_known = offsetof(VariableSlot, known);
  at.slot_mask = offsetof(VariableSlot, mask);
  at.slot_sign = offsetof(VariableSlot, sign);
  at.slot_recent = {offsetof(VariableSlot, recent)};
  at.node_key = offsetof(DynamicNode, tid);
  at.node_value = offsetof(DynamicNode, value);
  at.fields = firing_fields();
  at.cost_size = sizeof(OpCost);
  at.cost_executed = offsetof(OpCost, executed);
  at.cost_units = offsetof(OpCost, units);
  at.cost_faults = offsetof(OpCost, faults);
  return at;
}
#pragma GCC diagnostic pop

}  // namespace

const void* const* helpers() {
  static const std::array<const void*, kHelpers> kAll = make_helpers();
  return kAll.data();
}

const MachineLayout& layout() {
  static const MachineLayout kLayout = make_layout();
  return kLayout;
}

}  // namespace dvm::vm::native
