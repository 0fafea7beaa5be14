// Tested by tests/unit/instrument/clause_code_test.cpp, which runs the code beside the interpreter.

#include "runtime/instrument/agent/value_code.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <utility>
#include <vector>

#include "dvm/dif/register_use.h"
#include "dvm/dif/variable.h"
#include "dvm/dif/variable_of.h"
#include "runtime/agent/target_check.h"
#include "runtime/instrument/agent/division_code.h"
#include "runtime/instrument/agent/global_code.h"
#include "runtime/instrument/agent/text_key.h"
#include "runtime/instrument/agent/value_writer.h"
#include "runtime/process/thread_status.h"

namespace dvm::runtime {
namespace {

using dif::Instruction, dif::Opcode;

constexpr unsigned kRax = ValueWriter::kRax, kRcx = ValueWriter::kRcx, kRbx = 3, kRsi = 6, kRdi = 7;
constexpr unsigned kLoad = ValueWriter::kLoad, kStore = ValueWriter::kStore;
constexpr std::array<unsigned, 6> kRegisters = {kRax, 2, 8, 9, 10, 11};  // of DIF's; %r0 has none
// Their words of struct pt_regs, with that of %rcx in place of %r0.
constexpr std::array<unsigned, 6> kWords = {saved::rcx, saved::rdx, saved::r8, saved::r9, saved::r10, saved::r11};

struct Condition {
  Opcode branch;
  unsigned char code;  // of the jump
  bool is_known_after_tst;
};
constexpr Condition kConditions[] = {
    {Opcode::be, 0x84, true},   {Opcode::bne, 0x85, true},   {Opcode::bg, 0x8f, false}, {Opcode::bgu, 0x87, false},
    {Opcode::bge, 0x8d, false}, {Opcode::bgeu, 0x83, false}, {Opcode::bl, 0x8c, false}, {Opcode::blu, 0x82, false},
    {Opcode::ble, 0x8e, false}, {Opcode::bleu, 0x86, false},
};

// By registers. That by a constant has the number code >> 3.
constexpr std::pair<Opcode, unsigned> kOperations[] = {
    {Opcode::add, 0x01}, {Opcode::or_, 0x09}, {Opcode::and_, 0x21}, {Opcode::sub, 0x29}, {Opcode::xor_, 0x31}};
constexpr unsigned kCompare = 0x39;
constexpr unsigned kFromMemory = 2;  // the number of the same operation by a register and what lies in memory, from that
// Of integers.
constexpr bool is_comparison(Instruction in) {
  return dif::has_format(in, dif::Format::cmp) && dif::info(in.opcode()).width == dif::Width::none;
}
constexpr unsigned operation_of(Instruction in) {  // 0: none
  if (is_comparison(in)) return kCompare;
  for (const auto& [own, code] : kOperations)
    if (own == in.opcode()) return code;
  return 0;
}

class ValueCoder {
 public:
  ValueCoder(const dif::Difo& difo, const dif::DataType& type, const ClausePlace& place)
      : difo_(difo),
        type_(type),
        place_(place),
        starts_(difo.text.size()),
        live_(difo.text.size()),
        branches_(difo.text.size()) {}

  ValueMachineCode make() {
    for (const Instruction in : difo_.text)
      if (dif::is_branch(in) && in.label() < branches_.size()) branches_[in.label()]++;
    find_live();
    if (!globals_.begin()) return {{}, InDvm::global};
    for (size_t pc = 0; pc < difo_.text.size(); pc++) {
      if (is_target(pc)) flags_ = Flags::none, known_.fill({});
      starts_[pc] = code_.bytes.size();
      if (const size_t more = add_truth(pc) ? 2 : add_with_operand(pc) ? 1 : 0; more != 0) {
        std::fill_n(starts_.begin() + static_cast<ptrdiff_t>(pc), more + 1, starts_[pc]);
        pc += more;
        continue;
      }
      pc_ = pc;
      if (!add(difo_.text[pc], pc + 1 == difo_.text.size())) return {{}, reason_};
    }
    starts_.push_back(code_.bytes.size());
    code_.add({0xc3});
    for (const auto& [at, label] : jumps_) {
      const auto distance = static_cast<int32_t>(starts_[label] - (at + sizeof(int32_t)));
      std::memcpy(code_.bytes.data() + at, &distance, sizeof distance);
    }
    made_.bytes = std::move(code_.bytes);
    return {std::move(made_)};
  }

 private:
  enum class Flags : uint8_t { none, compared, tested };

  // Which registers are read behind each instruction. Branches only go forward.
  void find_live() {
    const size_t size = difo_.text.size();
    std::vector<uint8_t> before(size + 1);
    for (size_t pc = size; pc-- > 0;) {
      const Instruction in = difo_.text[pc];
      if (dif::goes_on(in)) live_[pc] = before[pc + 1];
      if (dif::is_branch(in) && in.label() > pc && in.label() < size) live_[pc] |= before[in.label()];
      const dif::RegisterUse use = dif::registers_of(in);
      before[pc] = static_cast<uint8_t>((live_[pc] & ~use.writes) | use.reads);
    }
  }

  // An operation whose second operand nothing else needs, a constant or a variable of the thread or the clause: what loads that,
  // and the operation behind it.
  bool add_with_operand(size_t pc) {
    if (pc + 1 >= difo_.text.size() || is_target(pc + 1)) return false;
    const Instruction set = difo_.text[pc], in = difo_.text[pc + 1];
    const unsigned code = operation_of(in);
    const bool is_needed = ((live_[pc + 1] & ~dif::registers_of(in).writes) >> set.rd() & 1U) != 0;
    if (code == 0 || in.r2() != set.rd() || in.r1() == set.rd() || !is_register(in.r1()) || is_needed) return false;
    const auto value = constant_of(set);
    const auto low = static_cast<int32_t>(value.value_or(0));
    if (value && static_cast<uint64_t>(int64_t{low}) != *value) return false;
    pc_ = pc + 1;
    const auto place = !value && loads_own(set) ? own_place(set) : std::nullopt;
    if ((!value && !place) || (!is_comparison(in) && !writes(in.rd()))) return false;
    unsigned at = source(in.r1(), kRax);
    if (!is_comparison(in)) code_.move(std::exchange(at, target(in.rd())), target(in.rd()));
    if (value) {
      code_.operate({0x81}, code >> 3, at);
      code_.raw(low);
    } else {
      code_.access(code + kFromMemory, at, place->base, place->offset);
      note_place(*place, made_.variable_loads);
    }
    flags_ = is_comparison(in) ? Flags::compared : Flags::none;
    return true;
  }
  static bool loads_own(Instruction in) {
    const dif::OpcodeInfo& row = dif::info(in.opcode());
    const bool is_load = row.format == dif::Format::ldv && row.tuple == dif::TupleUse::none;
    return is_load && row.scope && row.scope != dif::Scope::global && in.rd() != 0;
  }

  // 1 if a condition holds, else 0: setx 1; a branch over the next one; mov %r0.
  bool add_truth(size_t pc) {
    if (pc + 3 > difo_.text.size() || is_target(pc + 1) || is_target(pc + 2)) return false;
    const Instruction yes = difo_.text[pc], branch = difo_.text[pc + 1], no = difo_.text[pc + 2];
    if (constant_of(yes) != 1 || constant_of(no) != 0 || yes.rd() != no.rd()) return false;
    if (!dif::is_branch(branch) || branch.label() != pc + 3) return false;
    const Condition* condition = condition_of(branch);
    if (condition == nullptr || yes.rd() == 0 || !is_register(yes.rd())) return false;
    pc_ = pc + 2;
    if (pc + 3 < difo_.text.size()) branches_[pc + 3]--;
    writes(yes.rd());
    const unsigned to = target(yes.rd());
    if (is_result(yes.rd()) && jumps_.empty() && pc + 4 == difo_.text.size()) note_truth(condition->code);
    code_.add({0x40U | to >> 3, 0x0f, condition->code + 0x10U, 0xc0U | (to & 7)});                // setcc
    code_.add({0x40U | (to >> 3) << 2 | to >> 3, 0x0f, 0xb6, 0xc0U | (to & 7) << 3 | (to & 7)});  // movzbl
    return true;
  }
  void note_truth(unsigned char condition) {
    made_.truth = {static_cast<uint32_t>(code_.bytes.size()), condition};
    if (difo_.text.size() != 7) return;
    const Instruction load = difo_.text[0], set = difo_.text[1], in = difo_.text[2];
    const unsigned number = load.index() - static_cast<unsigned>(dif::BuiltIn::arg0);
    const auto value = constant_of(set);
    if (load.opcode() != Opcode::ldgs || number >= kArguments || (number == 0 && place_.exit) || !value) return;
    const Operand& operand = place_.shape.args[number];
    const bool is_whole = operand.kind == Operand::Kind::saved && operand.size == sizeof(uint64_t) && operand.shift == 0;
    const auto low = static_cast<int32_t>(*value);
    const bool compares = is_comparison(in) && in.r1() == load.rd() && in.r2() == set.rd() && set.rd() != load.rd();
    if (!is_whole || !compares || static_cast<uint64_t>(int64_t{low}) != *value) return;
    made_.truth.is_all = true, made_.truth.word = operand.base, made_.truth.constant = low;
  }
  // What it puts into a register, if that is known.
  std::optional<uint64_t> constant_of(Instruction in) const {
    if (in.opcode() == Opcode::mov && in.r1() == 0) return 0;
    if (in.opcode() != Opcode::setx || in.index() >= difo_.integers.size()) return std::nullopt;
    return difo_.integers[in.index()];
  }

  // Its code does: these are moves.
  static bool keeps_flags(Opcode opcode) { return opcode == Opcode::setx || opcode == Opcode::mov || opcode == Opcode::nop; }

  // False: it has no code here.
  bool add(Instruction in, bool is_last) {
    if (dif::is_branch(in)) return add_branch(in);
    if (dif::is_return(in)) return finish(in.rd(), is_last);
    if (is_comparison(in)) return compare(in);
    if (!keeps_flags(in.opcode())) flags_ = Flags::none;
    if (dif::info(in.opcode()).scope) return add_access(in);
    if (const unsigned code = operation_of(in); code != 0) return operate(in, {code});
    switch (in.opcode()) {
      case Opcode::mul:
        return operate(in, {0x0f, 0xaf}, true);
      case Opcode::sdiv:
      case Opcode::udiv:
      case Opcode::srem:
      case Opcode::urem:
        return divide(in);
      case Opcode::sll:
        return shift(in, 4);
      case Opcode::srl:
        return shift(in, 5);
      case Opcode::sra:
        return shift(in, 7);
      case Opcode::not_:
        return move(in) && (code_.operate({0xf7}, 2, target(in.rd())), true);
      case Opcode::mov:
        return move(in);
      case Opcode::setx:
        return set(in);
      case Opcode::tst:
        return test(in);
      case Opcode::nop:
        return true;
      default:
        return false;
    }
  }

  // To a variable.
  bool add_access(Instruction in) {
    const dif::OpcodeInfo& row = dif::info(in.opcode());
    const bool is_load = row.format == dif::Format::ldv;
    if (row.tuple != dif::TupleUse::none || row.format == dif::Format::lda) return false;
    if (!is_load) return row.scope == dif::Scope::global ? change_global(in) : store(in);
    if (!writes(in.rd())) return false;
    const unsigned to = target(in.rd());
    return row.scope == dif::Scope::global ? load_variable(in, to) : load_own(in, to);
  }

  bool refuse(InDvm reason) {
    reason_ = reason;
    return false;
  }

  void change(unsigned number) { made_.changes |= 1U << kWords[number]; }
  static bool is_register(unsigned number) { return number < kRegisters.size(); }
  bool writes(unsigned number) {
    if (number == 0 || !is_register(number)) return false;
    is_in_rax_ = is_result(number);
    if (!is_in_rax_) change(number);
    known_[number].reset();
    return true;
  }
  bool is_target(size_t pc) const { return branches_[pc] != 0; }
  // The next instruction returns it, and is reached from here only.
  bool is_result(unsigned number) const {
    const size_t next = pc_ + 1;
    return next < difo_.text.size() && !is_target(next) && dif::is_return(difo_.text[next]) && difo_.text[next].rd() == number;
  }
  // Where an instruction puts its value.
  unsigned target(unsigned number) const { return is_result(number) ? kRax : kRegisters[number]; }
  // Where its value lies; that of %r0 is put into the other one.
  unsigned source(unsigned number, unsigned zero) {
    if (number != 0) return kRegisters[number];
    code_.load_constant(zero, 0);
    if (zero == kRcx) change(0);
    return zero;
  }
  bool reads_both(Instruction in) { return is_register(in.r1()) && is_register(in.r2()); }

  bool move(Instruction in) {
    if (in.r1() == 0) return set(in);
    if (!is_register(in.r1()) || !writes(in.rd())) return false;
    code_.move(source(in.r1(), kRax), target(in.rd()));
    return true;
  }
  bool set(Instruction in) {
    const auto value = constant_of(in);
    if (!value || !writes(in.rd())) return false;
    code_.load_constant(target(in.rd()), *value);
    known_[in.rd()] = value;
    return true;
  }
  // With the first operand in the target, if that is not the second one as well.
  bool operate(Instruction in, std::initializer_list<unsigned> opcode, bool reads_rm = false) {
    if (!reads_both(in) || !writes(in.rd())) return false;
    const unsigned second = source(in.r2(), kRcx), to = target(in.rd()), at = to == second ? kRax : to;
    code_.move(source(in.r1(), kRax), at);
    code_.operate(opcode, reads_rm ? at : second, reads_rm ? second : at);
    code_.move(at, to);
    return true;
  }
  bool divide(Instruction in) {
    if (!reads_both(in) || in.r2() == 0) return false;
    const auto divisor = known_[in.r2()];
    if (divisor == 0 || !writes(in.rd())) return false;
    change(0);
    if (!divisor) {
      code_.move(source(in.r1(), kRax), kRax);
      code_.move(kRegisters[in.r2()], kRcx);
      add_division_by_value(code_, in.opcode(), kRsi, offsetof(inside::Workspace, failed));
      made_.has_workspace = made_.may_fail = true;
    } else {
      code_.move(source(in.r1(), kRcx), kRcx);
      add_division(code_, in.opcode(), *divisor);
    }
    code_.move(kRax, target(in.rd()));
    return true;
  }
  bool shift(Instruction in, unsigned way) {
    if (!reads_both(in) || !writes(in.rd())) return false;
    change(0);
    code_.move(source(in.r2(), kRcx), kRcx);
    code_.move(source(in.r1(), kRax), target(in.rd()));
    code_.operate({0xd3}, way, target(in.rd()));
    return true;
  }
  bool compare(Instruction in) {
    flags_ = Flags::compared;
    if (!reads_both(in)) return false;
    const unsigned second = source(in.r2(), kRcx);
    code_.operate({kCompare}, second, source(in.r1(), kRax));
    return true;
  }
  bool test(Instruction in) {
    flags_ = Flags::tested;
    if (!is_register(in.r1())) return false;
    const unsigned value = source(in.r1(), kRax);
    code_.operate({0x85}, value, value);
    return true;
  }

  // The processor's flags are those of DIF behind a comparison, and moves and branches that follow it. Null: they are not known.
  const Condition* condition_of(Instruction branch) const {
    const auto* found = std::find_if(std::begin(kConditions), std::end(kConditions),
                                     [&](const Condition& one) { return one.branch == branch.opcode(); });
    if (found == std::end(kConditions)) return nullptr;
    const bool is_known = flags_ == Flags::compared || (flags_ == Flags::tested && found->is_known_after_tst);
    return is_known ? found : nullptr;
  }
  bool add_branch(Instruction in) {
    if (in.label() >= starts_.size()) return false;
    if (in.opcode() == Opcode::ba) {
      code_.add({0xe9});
    } else {
      const Condition* condition = condition_of(in);
      if (condition == nullptr) return false;
      code_.add({0x0f, condition->code});
    }
    add_distance(in.label());
    return true;
  }
  void add_distance(size_t label) {
    jumps_.emplace_back(code_.bytes.size(), label);
    code_.raw(int32_t{0});
  }

  bool load_variable(Instruction in, unsigned to) {
    using dif::BuiltIn;
    const unsigned id = in.index();
    const auto first = static_cast<unsigned>(BuiltIn::arg0);
    if (id >= first && id < first + kArguments) return load_argument(id - first, to);
    if (id == static_cast<unsigned>(BuiltIn::pid) && place_.follows)
      access_workspace(kLoad, to, offsetof(inside::Workspace, pid));
    else if (id == static_cast<unsigned>(BuiltIn::pid))
      code_.load_constant(to, static_cast<uint64_t>(int64_t{place_.pid}));
    else if (id == static_cast<unsigned>(BuiltIn::tid) && has_own_ids(place_.pid))
      return refuse(InDvm::other_id);
    else if (id == static_cast<unsigned>(BuiltIn::tid))
      access_workspace(kLoad, to, offsetof(inside::Workspace, tid));
    else if (id == static_cast<unsigned>(BuiltIn::timestamp))
      load_time(to);
    else if (id == static_cast<unsigned>(BuiltIn::cpu) && reads_cpu_number())
      code_.load_cpu(to);
    else if (id < dif::kFirstUserVariable)
      return refuse(InDvm::built_in);
    else
      return load_global(in, to);
    return true;
  }
  bool load_global(Instruction in, unsigned to) { return globals_.load(in, to) || refuse(InDvm::global); }
  bool change_global(Instruction in) {
    const unsigned value = is_register(in.rd()) ? source(in.rd(), kRax) : kRax;
    return (is_register(in.rd()) && globals_.change(in, value)) || refuse(InDvm::global);
  }

  void load_time(unsigned to) {
    const bool is_first = code_.bytes.empty();
    code_.access(kLoad, to, kRsi, offsetof(inside::Workspace, time));
    made_.time_reads++;
    if (is_first && to == ValueWriter::kRdx) made_.time_bytes = static_cast<uint32_t>(code_.bytes.size());
  }
  void access_workspace(unsigned opcode, unsigned reg, size_t offset) {
    made_.has_workspace = true;
    code_.access(opcode, reg, kRsi, offset);
  }
  static bool is_integer(const dif::Variable& variable) {
    return variable.kind == dif::VariableKind::scalar && variable.type.kind == dif::TypeKind::integer;
  }
  // Only whether it has a string: NULL is stored, or the value is compared with NULL, and nothing else needs it.
  bool uses_no_text(const dif::Variable& variable, Instruction in) const {
    if (!is_thread_text(variable)) return false;
    if (dif::has_format(in, dif::Format::stv)) return in.rd() == 0;
    if (pc_ + 1 >= difo_.text.size() || is_target(pc_ + 1)) return false;
    const Instruction next = difo_.text[pc_ + 1];
    return next.opcode() == Opcode::tst && next.r1() == in.rd() && (live_[pc_ + 1] >> in.rd() & 1U) == 0;
  }
  // A scalar variable of the thread or of the clause lies so far behind a register. Nothing: there is no code for it.
  struct Place {
    unsigned base = 0;
    size_t offset = 0;
  };
  std::optional<Place> own_place(Instruction in) {
    const unsigned number = in.index() - dif::kFirstUserVariable;
    const bool is_local = dif::info(in.opcode()).scope == dif::Scope::clause;
    if (in.index() < dif::kFirstUserVariable || number >= (is_local ? inside::kMostLocals : inside::kMostVariables)) return {};
    const dif::Variable* variable = dif::variable_of(difo_, in);
    if (variable == nullptr || (!is_integer(*variable) && !uses_no_text(*variable, in))) return {};
    const size_t offset = number * sizeof(uint64_t);
    if (!is_local) return Place{kRbx, offset};
    made_.has_workspace = true;
    return Place{kRsi, offsetof(inside::Workspace, locals) + offset};
  }
  // The displacement of the last instruction is `behind` bytes before its end.
  void note_place(const Place& place, uint32_t& count, size_t behind = 0) {
    if (place.base != kRbx) return;
    count++;
    made_.variables.push_back(static_cast<uint32_t>(code_.bytes.size() - behind - sizeof(uint32_t)));
  }
  bool load_own(Instruction in, unsigned to) {
    const auto place = own_place(in);
    if (!place) return refuse(InDvm::variable);
    code_.access(kLoad, to, place->base, place->offset);
    note_place(*place, made_.variable_loads);
    return true;
  }
  // Stores the value, converted to the type of the variable as in C.
  bool store(Instruction in) {
    const dif::Variable* variable = dif::variable_of(difo_, in);
    if (variable == nullptr || !is_register(in.rd())) return false;
    const auto place = own_place(in);
    if (!place) return refuse(InDvm::variable);
    if (in.rd() == 0) {
      code_.clear(place->base, place->offset);
      note_place(*place, made_.variable_stores, sizeof(uint32_t));
      return true;
    }
    const bool is_whole = variable->type.size == sizeof(uint64_t);
    if (!is_whole) code_.widen(variable->type.size, variable->type.is_signed, kRegisters[in.rd()], kRax);
    code_.access(kStore, is_whole ? kRegisters[in.rd()] : kRax, place->base, place->offset);
    note_place(*place, made_.variable_stores);
    return true;
  }

  bool load_argument(unsigned number, unsigned to) {
    if (number == 0 && place_.exit) return code_.load_constant(to, *place_.exit), true;
    const Operand& operand = place_.shape.args[number];
    if (operand.kind == Operand::Kind::constant) return code_.load_constant(to, static_cast<uint64_t>(operand.value)), true;
    if (operand.kind != Operand::Kind::saved || operand.base >= inside::kSavedWords) return refuse(InDvm::argument);
    made_.loads.push_back(static_cast<uint32_t>(code_.bytes.size()));
    code_.access(kLoad, to, kRdi, sizeof(uint64_t) * operand.base);
    made_.reads |= 1U << operand.base;
    if (operand.shift != 0) code_.operate({0xc1}, 5, to), code_.add({operand.shift});
    code_.widen(operand.size, operand.is_signed, to, to);
    return true;
  }

  // At the end of the code, which the last instruction reaches by itself.
  bool finish(unsigned number, bool is_last) {
    if (!is_register(number)) return false;
    if (is_last && jumps_.empty()) made_.effect_bytes = static_cast<uint32_t>(code_.bytes.size());
    code_.widen(type_.size, type_.is_signed, std::exchange(is_in_rax_, false) ? kRax : source(number, kRax), kRax);
    if (is_last) return true;
    code_.add({0xe9});
    add_distance(difo_.text.size());
    return true;
  }

  const dif::Difo& difo_;
  const dif::DataType& type_;
  const ClausePlace& place_;
  ValueWriter code_;
  MachineCode made_{{}, 0, 1U << saved::rax, false};
  GlobalCode globals_{difo_, place_, code_, made_};
  Flags flags_ = Flags::none;
  InDvm reason_ = InDvm::code;
  std::array<std::optional<uint64_t>, kRegisters.size()> known_{};  // constants in registers
  std::vector<size_t> starts_;                                      // of each instruction
  std::vector<uint8_t> live_;                                       // behind each
  std::vector<uint32_t> branches_;                                  // that lead to each
  bool is_in_rax_ = false;                                          // the value that the next instruction returns
  size_t pc_ = 0;                                                   // of the instruction that is translated
  std::vector<std::pair<size_t, unsigned>> jumps_;
};

}  // namespace

ValueMachineCode make_value_code(const dif::Difo& difo, const dif::DataType& type, const ClausePlace& place) {
  return ValueCoder(difo, type, place).make();
}

}  // namespace dvm::runtime
