// Covered by tests/unit/code/computed_jumps_test.cpp.

#include "runtime/code/register_values.h"

#include <algorithm>

namespace dvm::runtime {
namespace {

constexpr ZydisRegister kStackPointerRegister = ZYDIS_REGISTER_RSP;

bool is_any_register(const ZydisDecodedOperand& operand) { return operand.type == ZYDIS_OPERAND_TYPE_REGISTER; }
bool is_memory(const ZydisDecodedOperand& operand) { return operand.type == ZYDIS_OPERAND_TYPE_MEMORY; }
bool is_immediate(const ZydisDecodedOperand& operand) { return operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE; }

bool computes(ZydisMnemonic mnemonic) {
  switch (mnemonic) {
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_LEA:
    case ZYDIS_MNEMONIC_NEG:
    case ZYDIS_MNEMONIC_XOR:
    case ZYDIS_MNEMONIC_OR:
    case ZYDIS_MNEMONIC_IMUL:
    case ZYDIS_MNEMONIC_SHL:
    case ZYDIS_MNEMONIC_INC:
    case ZYDIS_MNEMONIC_DEC:
      return true;
    default:
      return false;
  }
}

bool exchanges_registers(const Operated& one) {
  return one.instruction.mnemonic == ZYDIS_MNEMONIC_XCHG && is_any_register(one.operands[0]) && is_any_register(one.operands[1]);
}

// mov (%rdx,%rax), %eax: what compilers make of a table without optimisation, with cltq or movslq behind it.
bool loads_narrow(const Operated& one) {
  const ZydisDecodedOperand &to = one.operands[0], &from = one.operands[1];
  return one.instruction.mnemonic == ZYDIS_MNEMONIC_MOV && is_any_register(to) && to.size == 32 && is_memory(from) &&
         from.mem.index != ZYDIS_REGISTER_NONE;
}

bool extends(const Operated& one) {
  const auto mnemonic = one.instruction.mnemonic;
  return mnemonic == ZYDIS_MNEMONIC_CDQE || (mnemonic == ZYDIS_MNEMONIC_MOVSXD && is_any_register(one.operands[1]));
}

bool reads_memory(const Operated& one) {
  return one.instruction.mnemonic != ZYDIS_MNEMONIC_LEA && std::any_of(one.all().begin(), one.all().end(), is_memory);
}

}  // namespace

void RegisterValues::run(const Operated& one, uint64_t behind) {
  behind_ = behind;
  if (one.instruction.meta.category == ZYDIS_CATEGORY_CALL) return run_call(one);
  if (exchanges_registers(one)) return exchange(whole(one.operands[0].reg.value), whole(one.operands[1].reg.value));
  const AddressValue made = made_by(one), narrow = loads_narrow(one) ? loaded(one.operands[1]) : AddressValue{};
  spend(made.size() + narrow.size());
  run_on_memory(one);
  for (const ZydisDecodedOperand& operand : one.all())
    if (is_any_register(operand) && is_write(operand))
      set(whole(operand.reg.value), &operand == &one.operands[0] ? made : AddressValue{});
  if (narrow.size() != 0) narrow_[whole(one.operands[0].reg.value)] = narrow;
}

void RegisterValues::exchange(ZydisRegister one, ZydisRegister other) {
  std::swap(values_[one], values_[other]);
  narrow_.erase(one), narrow_.erase(other);
}

AddressValue RegisterValues::target(const Operated& jump) const {
  const ZydisDecodedOperand& to = jump.operands[0];
  if (jump.instruction.meta.category == ZYDIS_CATEGORY_RET) return at(Place{kStackPointerRegister, -depth_});
  return is_any_register(to) ? at(whole(to.reg.value)) : stored(to);
}

// A call of the next instruction only pushes its address.
void RegisterValues::run_call(const Operated& call) {
  const auto& distance = call.instruction.raw.imm[0];
  if (!distance.is_relative || distance.value.s != 0) {
    values_.clear();
    memory_.clear();
    narrow_.clear();
    return;
  }
  depth_ += 8;
  memory_[{kStackPointerRegister, -depth_}] = {.bases = {behind_}};
}

// What the first operand holds then.
AddressValue RegisterValues::made_by(const Operated& one) const {
  const auto mnemonic = one.instruction.mnemonic;
  const ZydisDecodedOperand& from = one.operands[1];
  if (mnemonic == ZYDIS_MNEMONIC_POP) return popped(one);
  if (mnemonic == ZYDIS_MNEMONIC_LEA && is_memory(from) && from.mem.base == ZYDIS_REGISTER_RIP)
    return {.bases = {behind_ + static_cast<uint64_t>(from.mem.disp.value)}};
  const bool copies = mnemonic == ZYDIS_MNEMONIC_MOV;
  if (source_.is_fixed && copies && is_immediate(from)) return {.bases = {from.imm.value.u}};
  if (mnemonic == ZYDIS_MNEMONIC_MOVSXD && is_memory(from)) return loaded(from);
  if (extends(one)) return extended(one);
  if (copies && is_memory(from)) return stored(from);
  if (reads_memory(one) && !computes(mnemonic)) return {};
  const bool chooses = one.instruction.meta.category == ZYDIS_CATEGORY_CMOV;
  return copies || chooses || computes(mnemonic) ? sum(one) : AddressValue{};
}

AddressValue RegisterValues::popped(const Operated& pop) const {
  AddressValue value = at(Place{kStackPointerRegister, -depth_});
  const std::pair<uint64_t, uint64_t> here{behind_ - pop.instruction.length, 0};
  for (auto one = std::ranges::lower_bound(source_.popped, here);
       one != source_.popped.end() && one->first == here.first && !value.is_anywhere; one++)
    value.add_base(one->second);
  return value;
}

// Of what the instruction reads.
AddressValue RegisterValues::sum(const Operated& one) const {
  const bool is_sum = computes(one.instruction.mnemonic);  // else mov, or cmov
  AddressValue made{.is_computed = is_sum};
  for (const ZydisDecodedOperand& operand : one.all()) {
    if (is_memory(operand)) {
      made.add(at(whole(operand.mem.base))), made.add(at(whole(operand.mem.index)));
      if (one.instruction.mnemonic != ZYDIS_MNEMONIC_LEA) made.add(stored(operand));
    } else if (is_any_register(operand) && (operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0) {
      const AddressValue known = at(whole(operand.reg.value));
      made.add(known);
      made.is_computed |= is_sum || known.is_computed;
    }
  }
  return made;
}

// An entry of a table.
AddressValue RegisterValues::loaded(const ZydisDecodedOperand& operand) const {
  AddressValue made;
  for (const ZydisRegister reg : {operand.mem.base, operand.mem.index}) {
    const AddressValue known = at(whole(reg));
    for (const uint64_t base : known.bases) made.add_table(base, operand.mem.disp.value);
    made.is_anywhere |= known.is_anywhere;
  }
  return made;
}

// An entry that was loaded before. Other values with a sign are no addresses.
AddressValue RegisterValues::extended(const Operated& one) const {
  const auto known = narrow_.find(whole(one.operands[1].reg.value));
  return known == narrow_.end() ? AddressValue{} : known->second;
}

AddressValue RegisterValues::at(ZydisRegister reg) const {
  const auto known = values_.find(reg);
  return known == values_.end() ? AddressValue{} : known->second;
}
AddressValue RegisterValues::at(const Place& place) const {
  const auto known = memory_.find(place);
  return known == memory_.end() ? AddressValue{} : known->second;
}

AddressValue RegisterValues::stored(const ZydisDecodedOperand& operand) const {
  const auto place = place_of(operand);
  if (!place) return {};
  AddressValue value = at(*place);
  const auto pointer = place->first == ZYDIS_REGISTER_RIP ? source_.pointer(static_cast<uint64_t>(place->second)) : std::nullopt;
  if (pointer) value.add_base(*pointer);
  return value;
}

std::optional<RegisterValues::Place> RegisterValues::place_of(const ZydisDecodedOperand& operand) const {
  const auto& memory = operand.mem;
  const bool is_thread_local = memory.segment == ZYDIS_REGISTER_FS || memory.segment == ZYDIS_REGISTER_GS;
  if (!is_memory(operand) || memory.index != ZYDIS_REGISTER_NONE || is_thread_local) return std::nullopt;
  if (memory.base == kStackPointerRegister) return Place{kStackPointerRegister, memory.disp.value - depth_};
  if (memory.base == ZYDIS_REGISTER_RIP) return Place{memory.base, static_cast<int64_t>(behind_) + memory.disp.value};
  return Place{whole(memory.base), memory.disp.value};
}

void RegisterValues::run_on_memory(const Operated& one) {
  const ZydisMnemonic mnemonic = one.instruction.mnemonic;
  const bool is_push = mnemonic == ZYDIS_MNEMONIC_PUSH;
  const auto grown = mnemonic == ZYDIS_MNEMONIC_POP ? -8 : growth(one);
  const ZydisDecodedOperand& from = one.operands[is_push ? 0 : 1];
  if (!grown) return forget_by(kStackPointerRegister);
  depth_ += *grown;
  const auto place = is_push ? std::optional(Place{kStackPointerRegister, -depth_}) : place_of(one.operands[0]);
  if (!place || (!is_push && !is_write(one.operands[0]))) return;
  AddressValue made = is_any_register(from) ? at(whole(from.reg.value)) : AddressValue{};
  if (source_.is_fixed && is_immediate(from) && !computes(mnemonic)) made.add_base(from.imm.value.u);
  if (computes(mnemonic)) {
    made.add(at(*place));
    made.is_computed = true;
  }
  spend(made.size());
  memory_[*place] = made;
}

void RegisterValues::set(ZydisRegister reg, const AddressValue& value) {
  values_[reg] = value;
  narrow_.erase(reg);
  if (reg != kStackPointerRegister) forget_by(reg);
}

void RegisterValues::forget_by(ZydisRegister base) {
  constexpr size_t kFree = 16;  // usual code has fewer
  spend(memory_.size() / kFree);
  std::erase_if(memory_, [base](const auto& one) { return one.first.first == base; });
}

}  // namespace dvm::runtime
