// Tested by tests/unit/instrument/clause_globals_test.cpp.

#include "runtime/instrument/agent/global_code.h"

#include <algorithm>
#include <utility>

#include "dvm/dif/variable.h"
#include "dvm/dif/variable_of.h"
#include "runtime/agent/target_check.h"

namespace dvm::runtime {
namespace {

using dif::Instruction;

unsigned global_number(unsigned id) { return id - unsigned{dif::kFirstUserVariable}; }
bool is_store(Instruction in) { return dif::has_format(in, dif::Format::stv); }
// Of code that lies `bytes` further on, and of that before it.
void add_offsets(std::vector<uint32_t>& offsets, const std::vector<uint32_t>& before, size_t bytes) {
  for (uint32_t& offset : offsets) offset += static_cast<uint32_t>(bytes);
  offsets.insert(offsets.end(), before.begin(), before.end());
}
bool is_global(Instruction in) { return dif::info(in.opcode()).scope == dif::Scope::global; }

}  // namespace

// Null: threads do not change it, or it has no room.
const dif::Variable* GlobalCode::kept(Instruction in) const {
  const dif::Variable* variable = dif::variable_of(difo_, in);
  if (variable == nullptr || !place_.keeps(*variable) || !has_room(*variable)) return nullptr;
  const bool is_integer = variable->kind == dif::VariableKind::scalar && variable->type.kind == dif::TypeKind::integer;
  return is_integer ? variable : nullptr;
}

bool GlobalCode::is_read_before(const Instruction& change) const {
  return std::any_of(difo_.text.data(), &change, [&](Instruction in) {
    return dif::has_format(in, dif::Format::ldv) && is_global(in) && in.index() == change.index();
  });
}

// No other variable may be changed before, which would change again.
bool GlobalCode::begin() {
  const auto first = std::find_if(difo_.text.begin(), difo_.text.end(), is_store);
  const auto change = std::find_if(first, difo_.text.end(), [](Instruction in) { return is_store(in) && is_global(in); });
  if (change == difo_.text.end()) return true;
  if (std::any_of(change + 1, difo_.text.end(), [](Instruction in) { return is_store(in) && is_global(in); })) return false;
  if (kept(*change) == nullptr) return true;
  if (place_.seen == change->index()) return first == change;
  if (!is_read_before(*change)) return true;
  changed_ = change->index();
  begin_ = code_.bytes.size();
  access(kLoad, kRax, GlobalWord::of_threads, global_number(*changed_));
  access_workspace(kStore, kRax, offsetof(inside::Workspace, changes));
  access(kLoad, kRax, GlobalWord::of_dvm, global_number(*changed_));
  access_workspace(kStore, kRax, offsetof(inside::Workspace, aside));
  return first == change;
}

bool GlobalCode::load(Instruction in, unsigned to) {
  if (const dif::Variable* variable = kept(in)) return load(*variable, to), true;
  const auto& known = place_.globals;
  const unsigned number = global_number(in.index());
  if (number >= inside::kMostGlobals || std::find(known.begin(), known.end(), in.index()) == known.end()) return false;
  access(kLoad, to, GlobalWord::of_dvm, number);
  return true;
}

// The code is then no gate, since dvm may have changed the variable when it looks.
void GlobalCode::load(const dif::Variable& variable, unsigned to) {
  made_.has_workspace = true;
  if (place_.seen == variable.id)
    return access_workspace(kLoad, to,
                            place_.is_earlier ? offsetof(inside::Workspace, earlier) : offsetof(inside::Workspace, seen));
  if (changed_ == variable.id) {
    access_workspace(kLoad, to, offsetof(inside::Workspace, changes));
    access_workspace(kAddTo, to, offsetof(inside::Workspace, aside));
  } else {
    access(kLoad, to, GlobalWord::of_threads, global_number(variable.id));
    access(kAddTo, to, GlobalWord::of_dvm, global_number(variable.id));
  }
  code_.widen(variable.type.size, variable.type.is_signed, to, to);
}

bool GlobalCode::change(Instruction in, unsigned value) {
  const dif::Variable* variable = kept(in);
  if (variable == nullptr) return false;
  made_.has_workspace = true;
  made_.global_stores++;
  code_.widen(variable->type.size, variable->type.is_signed, value, kRax);
  if (place_.seen == variable->id) return change_seen(global_number(variable->id)), true;
  if (std::exchange(changed_, std::nullopt)) {  // what follows reads the new value
    access_workspace(kSubtractFrom, kRax, offsetof(inside::Workspace, aside));
    exchange(global_number(variable->id));
  } else {
    access(kSubtractFrom, kRax, GlobalWord::of_dvm, global_number(variable->id));
    access(kStore, kRax, GlobalWord::of_threads, global_number(variable->id));
  }
  return true;
}

// The time is read behind this, each time, so that a firing that finds what another one has left is not earlier.
void GlobalCode::see(const dif::Variable& variable, SeeTimes times) {
  const unsigned number = global_number(variable.id);
  access(kLoad, kRax, GlobalWord::of_dvm, number);
  access_workspace(kStore, kRax, offsetof(inside::Workspace, aside));
  access(kLoad, kRax, GlobalWord::of_threads, number);
  access_workspace(kStore, kRax, offsetof(inside::Workspace, changes));
  access_workspace(kAddTo, kRax, offsetof(inside::Workspace, aside));
  code_.widen(variable.type.size, variable.type.is_signed, kRax, kRax);
  access_workspace(kStore, kRax, offsetof(inside::Workspace, earlier));
  access_workspace(kStore, kRax, offsetof(inside::Workspace, seen));
  code_.load_constant(kRax, 0);
  access_workspace(kStore, kRax, offsetof(inside::Workspace, again));
  if (times.is_read) access_workspace(kStore, kRax, offsetof(inside::Workspace, time));
  if (times.is_read || times.is_recorded) code_.add({0x0f, 0xae, 0xe8});  // lfence
  if (!times.is_recorded) return;
  made_.changes |= 1U << saved::rdx;
  code_.add({0x0f, 0x31, 0x48, 0xc1, 0xe2, 0x20, 0x48, 0x09, 0xd0});  // rdtsc; shl $32, %rdx; or %rdx, %rax
  access_workspace(kStore, kRax, offsetof(inside::Workspace, seen_at));
}

// To %rax.
void GlobalCode::change_seen(unsigned number) {
  access_workspace(kStore, kRax, offsetof(inside::Workspace, seen));
  access_workspace(kSubtractFrom, kRax, offsetof(inside::Workspace, aside));
  add_exchange(number);
  code_.add({0x0f, 0x95, 0xc0, 0x0f, 0xb6, 0xc0});  // setne %al; movzbl %al, %eax
  access_workspace(kStore, kRax, offsetof(inside::Workspace, again));
}

// Stores %rax, unless the word is another one than at the beginning.
void GlobalCode::exchange(unsigned number) {
  add_exchange(number);
  code_.add({0x0f, 0x85});  // jne
  code_.raw(static_cast<int32_t>(begin_ - (code_.bytes.size() + sizeof(int32_t))));
}

void GlobalCode::add_exchange(unsigned number) {
  made_.changes |= 1U << saved::rdx;
  access_workspace(kStore, kRdx, offsetof(inside::Workspace, aside));
  code_.move(kRax, kRdx);
  access_workspace(kLoad, kRax, offsetof(inside::Workspace, changes));
  point_to(GlobalWord::of_threads, number);
  code_.add({0xf0, 0x48, 0x0f, 0xb1, 0x11});  // lock cmpxchg %rdx, (%rcx)
  access_workspace(kLoad, kRdx, offsetof(inside::Workspace, aside));
}

void GlobalCode::point_to(GlobalWord word, unsigned number) {
  made_.changes |= 1U << saved::rcx;
  made_.globals.push_back(static_cast<uint32_t>(code_.load_word(kRcx, static_cast<size_t>(word) + number * sizeof(uint64_t))));
}

void GlobalCode::access(unsigned opcode, unsigned reg, GlobalWord word, unsigned number) {
  point_to(word, number);
  code_.access(opcode, reg, kRcx, 0);
}

void GlobalCode::access_workspace(unsigned opcode, unsigned reg, size_t offset) {
  made_.has_workspace = true;
  code_.access(opcode, reg, kRsi, offset);
}

bool has_room(const dif::Variable& variable) { return global_number(variable.id) < inside::kMostGlobals; }

MachineCode make_see_code(const dif::Variable& variable, const ClausePlace& place, SeeTimes times) {
  const dif::Difo none;
  ValueWriter code;
  MachineCode made{{}, 0, 1U << saved::rax, false};
  GlobalCode(none, place, code, made).see(variable, times);
  code.add({0xc3});
  made.bytes = std::move(code.bytes);
  return made;
}

MachineCode make_change_code(const MachineCode& condition, const MachineCode& change) {
  MachineCode made = change;
  made.truth = {};
  made.time_bytes = made.effect_bytes = 0;
  ValueWriter code, end;
  if (condition.empty())
    end.access(0x0b, 0, 6, offsetof(inside::Workspace, again));  // or again(%rsi), %rax
  else
    end.load_constant(0, 1);
  if (!condition.empty()) {
    code.bytes = {condition.bytes.begin(), condition.bytes.end() - 1};
    code.operate({0x85}, 0, 0);  // test %rax, %rax
    code.add({0x0f, 0x84});      // je, behind the change and what sets %eax
    code.raw(static_cast<int32_t>(change.bytes.size() - 1 + end.bytes.size()));
    made.reads |= condition.reads, made.changes |= condition.changes, made.variable_loads += condition.variable_loads;
    made.time_reads += condition.time_reads;
    add_offsets(made.globals, condition.globals, code.bytes.size());
    add_offsets(made.variables, condition.variables, code.bytes.size());
    add_offsets(made.loads, condition.loads, code.bytes.size());
  }
  code.bytes.insert(code.bytes.end(), change.bytes.begin(), change.bytes.end() - 1);
  code.bytes.insert(code.bytes.end(), end.bytes.begin(), end.bytes.end());
  code.add({0xc3});
  made.bytes = std::move(code.bytes);
  return made;
}

}  // namespace dvm::runtime
