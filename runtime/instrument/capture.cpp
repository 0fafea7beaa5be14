// Abstract interpretation of DIF with the values of known_value.h. Code runs forward only, so one pass in order of the
// instructions sees every state. The DIF need not be verified: a value that is not understood is unknown. Tested by
// tests/unit/instrument/capture_test.cpp.
#include "runtime/instrument/capture.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "dvm/dif/register.h"
#include "dvm/dif/variable.h"
#include "runtime/instrument/known_value.h"

namespace dvm::runtime {
namespace {

using dif::BuiltIn;
using dif::Instruction;
using dif::Opcode;
using dif::Subroutine;
using known::Locals;
using known::State;
using known::Value;

constexpr uint16_t kAllArguments = 0x3ff;

// Bytes that a load takes.
uint32_t load_bytes(Opcode op) {
  switch (op) {
    case Opcode::ldsb:
    case Opcode::ldub:
    case Opcode::rldsb:
    case Opcode::rldub:
    case Opcode::uldsb:
    case Opcode::uldub:
      return 1;
    case Opcode::ldsh:
    case Opcode::lduh:
    case Opcode::rldsh:
    case Opcode::rlduh:
    case Opcode::uldsh:
    case Opcode::ulduh:
      return 2;
    case Opcode::ldsw:
    case Opcode::lduw:
    case Opcode::rldsw:
    case Opcode::rlduw:
    case Opcode::uldsw:
    case Opcode::ulduw:
      return 4;
    default:
      return 8;
  }
}

// The types of a subroutine's arguments, in order.
std::vector<std::string_view> argument_types(unsigned subroutine) {
  std::vector<std::string_view> types;
  if (subroutine >= dif::kSubroutineCount) return types;
  for (std::string_view rest = dif::kSubroutines[subroutine].arguments; !rest.empty();) {
    types.push_back(rest.substr(0, rest.find(' ')));
    rest.remove_prefix(std::min(rest.size(), types.back().size() + 1));
  }
  return types;
}

class Reader {
 public:
  Reader(const dif::Difo& difo, uint32_t strsize) : difo_(difo), strsize_(strsize) {}

  // locals: what is known of clause-local variables before, and after.
  CaptureNeeds read(Locals& locals) {
    current_.emplace();
    current_->locals = locals;
    for (pc_ = 0; pc_ < difo_.text.size(); pc_++) {
      arrive();
      if (current_) step(difo_.text[pc_]);
    }
    locals = ended_ ? *ended_ : Locals{};
    return needs_;
  }

 private:
  // Joins the states of the branches that lead here.
  void arrive() {
    const auto waiting = waiting_.find(pc_);
    if (waiting == waiting_.end()) return;
    if (current_)
      join(*current_, waiting->second);
    else
      current_ = std::move(waiting->second);
    waiting_.erase(waiting);
  }

  void step(Instruction in) {
    if (!dif::is_opcode(in.number())) return;
    switch (dif::info(in.opcode()).format) {
      case dif::Format::log:
        return logical(in);
      case dif::Format::r1rd:
        return set(in.rd(), in.opcode() == Opcode::mov ? get(in.r1()) : Value{});
      case dif::Format::branch:
        return branch(in);
      case dif::Format::cmp:
        return compare(in);
      case dif::Format::load:
        return load(in);
      case dif::Format::ret:
        read(get(in.rd()), difo_.result);
        return end();
      case dif::Format::setx:
        return set(in.rd(), integer(in.index()));
      case dif::Format::sets:
        return set(in.rd(), {});
      case dif::Format::lda:
        return load_array(in);
      case dif::Format::ldv:
        return load_variable(in);
      case dif::Format::stv:
        return store_variable(in);
      case dif::Format::call:
        return call(in);
      case dif::Format::pushts:
        return push(in);
      case dif::Format::none:
        return tuple_stack(in.opcode());
      default:
        return;
    }
  }

  void logical(Instruction in) {
    const Value a = get(in.r1()), b = get(in.r2());
    switch (in.opcode()) {
      case Opcode::copys:
        return read_bytes(a, b);
      case Opcode::add:
        return set(in.rd(), plus(a, b));
      case Opcode::sub:
        return set(in.rd(), minus(a, b));
      default:
        return set(in.rd(), of_constants(in.opcode(), a, b));
    }
  }

  void compare(Instruction in) {
    if (in.opcode() != Opcode::scmp) return;
    read_string(get(in.r1()));
    read_string(get(in.r2()));
  }

  void branch(Instruction in) {
    if (in.label() > pc_) {
      const auto [waiting, is_new] = waiting_.try_emplace(in.label(), *current_);
      if (!is_new) join(waiting->second, *current_);
    }
    if (in.opcode() == Opcode::ba) current_.reset();
  }

  void end() {
    if (ended_)
      join_locals(*ended_, current_->locals);
    else
      ended_ = current_->locals;
    current_.reset();
  }

  void load(Instruction in) {
    const Value from = Value::of_variable(get(in.r1()));
    const uint32_t bytes = load_bytes(in.opcode());
    if (from.is_word()) need(from, bytes);
    // 8 bytes of the process, or of a copy of its memory, are a word.
    const bool is_word = from.is_address() && bytes == 8 && from.word.depth < kMostPointers;
    set(in.rd(), is_word ? Value::of(from.word.load(static_cast<int64_t>(from.number))) : Value{});
  }

  void load_array(Instruction in) {
    Value value;
    if (in.opcode() == Opcode::ldga && in.r1() == static_cast<unsigned>(BuiltIn::args)) {
      const Value index = get(in.r2());
      const bool known = index.is_constant() && index.number < 10;
      needs_.args |= known ? static_cast<uint16_t>(1u << index.number) : kAllArguments;
      if (known) value = Value::of(static_cast<uint8_t>(index.number));
    }
    if (in.opcode() == Opcode::ldga && static_cast<BuiltIn>(in.r1()) == BuiltIn::uregs) read_register(get(in.r2()));
    needs_.thread |= in.opcode() == Opcode::ldta || static_cast<BuiltIn>(in.r1()) == BuiltIn::process_ids;
    set(in.rd(), value);
  }

  void read_register(const Value& number) {
    constexpr uint32_t kAll = (1u << dif::kSavedRegisters) - 1;
    const auto saved = dif::saved_register(number.number);
    if (!number.is_constant())
      needs_.registers = kAll;
    else if (saved)
      needs_.registers |= 1u << *saved;
  }

  void load_variable(Instruction in) {
    Value value;
    switch (in.opcode()) {
      case Opcode::ldgs:
        value = load_built_in(in.index());
        break;
      case Opcode::ldls:
        value = local(in.index());
        break;
      case Opcode::ldts:
        needs_.thread = true;
        break;
      case Opcode::ldtaa:
        needs_.thread = true;
        current_->tuple.clear();
        break;
      case Opcode::ldgaa:
        current_->tuple.clear();
        break;
      default:
        break;
    }
    set(in.rd(), value);
  }

  Value load_built_in(unsigned id) {
    if (id >= static_cast<unsigned>(BuiltIn::arg0) && id <= static_cast<unsigned>(BuiltIn::arg9)) {
      const unsigned n = id - static_cast<unsigned>(BuiltIn::arg0);
      needs_.args |= static_cast<uint16_t>(1u << n);
      return Value::of(static_cast<uint8_t>(n));
    }
    switch (static_cast<BuiltIn>(id)) {
      case BuiltIn::timestamp:
      case BuiltIn::walltimestamp:
        needs_.time = true;
        break;
      case BuiltIn::vtimestamp:
        needs_.vtime = true;
        needs_.thread = true;
        break;
      case BuiltIn::cpu:
      case BuiltIn::chip:
      case BuiltIn::lgrp:
        needs_.cpu = true;
        break;
      case BuiltIn::ucaller:
        needs_.frames = std::max<uint16_t>(needs_.frames, 2);
        break;
      case BuiltIn::ustackdepth:
        needs_.frames = kMostFrames;
        break;
      case BuiltIn::execname:
        needs_.comm = true;
        break;
      case BuiltIn::errno_:
        needs_.error = true;
        break;
      case BuiltIn::goid:
        needs_.args |= kGoroutineBit;
        break;
      case BuiltIn::pid:
      case BuiltIn::tid:
      case BuiltIn::ppid:
      case BuiltIn::cwd:
      case BuiltIn::root:
      case BuiltIn::uid:
      case BuiltIn::gid:
        needs_.thread = true;
        break;
      case BuiltIn::execargs:
        needs_.comm = true;
        needs_.thread = true;
        break;
      default:
        break;
    }
    return {};
  }

  void store_variable(Instruction in) {
    if (const dif::Variable* variable = stored(in)) read(get(in.rd()), variable->type);
    switch (in.opcode()) {
      case Opcode::stls:
        return set_local(in.index(), get(in.rd()));
      case Opcode::stts:
        needs_.thread = true;
        return;
      case Opcode::sttaa:
        needs_.thread = true;
        [[fallthrough]];
      case Opcode::stgaa:
        current_->tuple.clear();
        return;
      default:
        return;
    }
  }

  // The row of the variable that is stored to.
  const dif::Variable* stored(Instruction in) const {
    const Opcode op = in.opcode();
    const bool thread = op == Opcode::stts || op == Opcode::sttaa;
    const dif::Scope scope = thread ? dif::Scope::thread : op == Opcode::stls ? dif::Scope::clause : dif::Scope::global;
    for (const dif::Variable& variable : difo_.variables)
      if (variable.scope == scope && variable.id == in.index()) return &variable;
    return nullptr;
  }

  void call(Instruction in) {
    const std::vector<Value> arguments = std::move(current_->tuple);
    current_->tuple.clear();
    read_strings(in.index(), arguments);
    Value result;
    switch (static_cast<Subroutine>(in.index())) {
      case Subroutine::copyin:
      case Subroutine::copyinto:
        result = copy_bytes(arguments, in.index() == static_cast<unsigned>(Subroutine::copyin));
        break;
      case Subroutine::copyinstr:
        if (!arguments.empty()) copy_string(arguments[0], arguments.size() > 1 ? &arguments[1] : nullptr);
        break;
      case Subroutine::bcopy:
        if (arguments.size() > 2) read_bytes(arguments[0], arguments[2]);
        break;
      case Subroutine::inet_ntoa:
      case Subroutine::inet_ntoa6:
        if (!arguments.empty())
          read_bytes(arguments[0], Value::constant(in.index() == static_cast<unsigned>(Subroutine::inet_ntoa) ? 4 : 16));
        break;
      case Subroutine::progenyof:
        needs_.thread = true;
        break;
      default:
        break;
    }
    set(in.rd(), result);
  }

  // copyin(address, size), copyinto(address, size, to)
  Value copy_bytes(const std::vector<Value>& arguments, bool has_result) {
    const Value from = arguments.size() < 2 ? Value{} : Value::of_variable(arguments[0]);
    if (!from.is_word()) return {};
    need(from, arguments[1], kMostBytes, false);
    return has_result ? Value{Value::Kind::copy, from.word, from.number} : Value{};
  }

  // copyinstr(address[, size]). A size counts the NUL; the string has no more than strsize characters. Of a longer one than
  // kMostBytes that many are captured, which are all if the NUL is among them.
  void copy_string(const Value& address, const Value* limit = nullptr) {
    const Value from = Value::of_variable(address);
    if (!from.is_word()) return;
    const uint32_t most = std::clamp(strsize_, 1u, kMostBytes - 1) + 1;
    if (limit == nullptr) return need(from, Value::constant(most), most, true);
    Value size = *limit;
    if (size.is_constant()) size.number = std::clamp<uint64_t>(size.number, 2, most);
    need(from, size, most, true);
  }

  void tuple_stack(Opcode op) {
    if (op == Opcode::flushts) current_->tuple.clear();
    if (op == Opcode::popts && !current_->tuple.empty()) current_->tuple.pop_back();
  }

  void push(Instruction in) {
    const Value value = get(in.rd());
    if (in.opcode() == Opcode::pushtr && in.r1() == static_cast<unsigned>(dif::PushType::string)) read_string(value);
    if (in.opcode() == Opcode::pushtr && in.r1() == static_cast<unsigned>(dif::PushType::bytes)) read_bytes(value, get(in.r2()));
    if (current_->tuple.size() < dif::kTupleDepth) current_->tuple.push_back(value);
  }

  // What the machine reads at an address that it is given as a string, as so many bytes, or as a value of a type.
  void read_string(const Value& address) { copy_string(address); }
  void read_bytes(const Value& address, const Value& size) {
    const Value from = Value::of_variable(address);
    if (from.is_word() && size.is_constant()) need(from, size, kMostFixed, false);
  }
  void read(const Value& address, const dif::DataType& type) {
    if (type.kind == dif::TypeKind::string) read_string(address);
    if (type.kind == dif::TypeKind::bytes) read_bytes(address, Value::constant(type.size));
  }
  void read_strings(unsigned subroutine, const std::vector<Value>& arguments) {
    const std::vector<std::string_view> types = argument_types(subroutine);
    for (size_t i = 0; i < std::min(types.size(), arguments.size()); i++)
      if (types[i] == "string") read_string(arguments[i]);
  }

  void need(const Value& address, uint32_t size) { need(address, Value::constant(size), size, false); }

  // most: bytes of a copy whose size is a word.
  void need(const Value& address, const Value& size, uint32_t most, bool is_string) {
    MemoryNeed need{address.word, is_string, static_cast<int64_t>(address.number), most, {}};
    if (size.is_constant() && size.number <= kMostFixed) {
      need.size = static_cast<uint32_t>(size.number);
    } else if (size.kind == Value::Kind::limited) {
      need.size = static_cast<uint32_t>(std::min<uint64_t>(size.number, is_string ? most : kMostBytes));
      need.sized_by = size.word;
    } else if (size.is_word() && size.number == 0) {
      need.sized_by = size.word;
    } else {
      return;
    }
    needs_.add(need);
  }

  Value get(unsigned r) const { return r < dif::kRegisters ? current_->registers[r] : Value{}; }
  void set(unsigned r, Value value) {
    if (r != 0 && r < dif::kRegisters) current_->registers[r] = value;
  }
  Value integer(unsigned index) const { return index < difo_.integers.size() ? Value::constant(difo_.integers[index]) : Value{}; }

  Value local(unsigned id) const {
    const auto found = current_->locals.find(id);
    return found == current_->locals.end() ? Value{} : found->second;
  }
  // A variable of 8 bytes keeps a value as it is; a structure is copied, so its address is that of another copy.
  void set_local(unsigned id, Value value) {
    const auto variable = std::find_if(difo_.variables.begin(), difo_.variables.end(),
                                       [&](const dif::Variable& row) { return row.scope == dif::Scope::clause && row.id == id; });
    const bool is_known = variable != difo_.variables.end();
    const bool is_copy = is_known && variable->type.kind == dif::TypeKind::bytes && value.is_address();
    if (is_copy) value.kind = Value::Kind::copy;
    if (is_copy || (is_known && !variable->type.by_ref() && variable->type.size == 8))
      current_->locals[id] = value;
    else
      current_->locals.erase(id);
  }

  const dif::Difo& difo_;
  uint32_t strsize_;
  CaptureNeeds needs_;
  size_t pc_ = 0;
  std::optional<State> current_;     // none: no way leads here
  std::map<size_t, State> waiting_;  // by the label that was branched to
  std::optional<Locals> ended_;
};

// What is recorded of the firing itself: stacks, and symbols in a process.
CaptureNeeds made_needs(const dif::RecDesc& desc) {
  CaptureNeeds needs;
  needs.thread = desc.made_by != dif::Action::expression;
  if (desc.made_by == dif::Action::ustack) needs.frames = static_cast<uint16_t>(std::min<uint32_t>(desc.frames, kMostFrames));
  return needs;
}

// All that is kept of a firing is kept, or dropped, for its CPU.
bool keeps_something(const dif::ActDesc& action) { return action.kind != dif::Action::expression; }

}  // namespace

CaptureNeeds needs_of(const dif::Difo& difo, uint32_t strsize) {
  Locals locals;
  return Reader(difo, strsize).read(locals);
}

CaptureNeeds needs_of(const dif::EcbDesc& clause, uint32_t strsize) {
  Locals locals;
  CaptureNeeds needs;
  if (clause.predicate) needs |= Reader(clause.predicate->difo, strsize).read(locals);
  for (const dif::ActDesc& action : clause.actions) {
    for (const dif::RecDesc& argument : action.args) {
      needs |= made_needs(argument);
      if (!dif::is_stack(argument.made_by)) needs |= Reader(argument.difo, strsize).read(locals);
    }
    needs.cpu |= keeps_something(action);
  }
  needs.cpu |= clause.actions.empty();
  return needs;
}

}  // namespace dvm::runtime
