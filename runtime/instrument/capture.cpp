// Abstract interpretation of DIF with the values of known_value.h. The DIF need not be verified: a value that is not understood
// is unknown. Tested by tests/unit/instrument/capture_test.cpp.
#include "runtime/instrument/capture.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "dvm/dif/forward_flow.h"
#include "dvm/dif/register.h"
#include "dvm/dif/subroutine.h"
#include "dvm/dif/variable.h"
#include "dvm/dif/variable_of.h"
#include "runtime/instrument/known_value.h"

namespace dvm::runtime {
namespace {

using dif::BuiltIn;
using dif::FiringPart;
using dif::Instruction;
using known::KnownState;
using known::KnownValue;
using known::Locals;

constexpr unsigned kArguments = 10;
constexpr uint16_t kAllArguments = (1 << kArguments) - 1;

class DifoReader {
 public:
  DifoReader(const dif::Difo& difo, uint32_t strsize, LateVariables* late = nullptr)
      : difo_(difo), strsize_(strsize), late_(late) {}

  // locals: the known variables before, and after.
  CaptureNeeds read(Locals& locals) {
    KnownState start;
    start.locals = locals;
    flow_forward(difo_, std::move(start), *this);
    locals = ended_ ? *ended_ : Locals{};
    return needs_;
  }

  void step(KnownState& state, Instruction in, size_t) {
    if (!dif::is_opcode(in.number())) return;
    state_ = &state;
    const dif::OpcodeInfo& row = dif::info(in.opcode());
    needs_.thread |= row.scope == dif::Scope::thread;
    use_operands(row, in);
    dif::use_tuple(state_->tuple, in, [&] { return get(in.rd()); });
  }
  void join(KnownState& into, const KnownState& from, size_t) const { known::join(into, from); }

 private:
  void use_operands(const dif::OpcodeInfo& row, Instruction in) {
    switch (row.format) {
      case dif::Format::log:
        return set(in.rd(), known::of_operation(in.opcode(), get(in.r1()), get(in.r2())));
      case dif::Format::copy:
        return read_bytes(get(in.r1()), get(in.r2()));
      case dif::Format::r1rd:
        return set(in.rd(), is_move(in) ? get(in.r1()) : KnownValue{});
      case dif::Format::cmp:
        if (row.width == dif::Width::text) read_string(get(in.r1())), read_string(get(in.r2()));
        return;
      case dif::Format::load:
        return load(in, bytes_of(row.width));
      case dif::Format::ret:
        read(get(in.rd()), difo_.result);
        return end();
      case dif::Format::setx:
        return set(in.rd(), integer(in.index()));
      case dif::Format::lda:
      case dif::Format::ldv:
        return set(in.rd(), load_variable(row, in));
      case dif::Format::stv:
        return store_variable(row, in);
      case dif::Format::call:
        return call(in);
      case dif::Format::pushts:
        return read_pushed(in);
      case dif::Format::sets:
      case dif::Format::xlate:
        return set(in.rd(), {});
      case dif::Format::none:
      case dif::Format::tst:
      case dif::Format::branch:
      case dif::Format::store:
      case dif::Format::pushv:
        return;
    }
  }

  void end() {
    if (ended_)
      join_locals(*ended_, state_->locals);
    else
      ended_ = state_->locals;
  }

  void load(Instruction in, uint32_t bytes) {
    const KnownValue from = KnownValue::of_variable(get(in.r1()));
    if (from.is_word()) need(from, bytes);
    note_late(from);
    // 8 bytes of the process, or of a copy of its memory, are a word.
    const bool is_word = from.is_address() && bytes == 8 && from.word.depth < kMostPointers;
    set(in.rd(), is_word ? KnownValue::of(from.word.load(static_cast<int64_t>(from.number))) : KnownValue{});
  }

  KnownValue load_variable(const dif::OpcodeInfo& row, Instruction in) {
    if (const auto id = built_in_of(in)) return load_built_in(*id, in);
    const KnownValue known = local(row, in);
    return known == KnownValue{} && is_of_other_firing(row, in) ? KnownValue::of_other_firing(*dif::variable_of(difo_, in))
                                                                : known;
  }

  // An integer that the firing has not stored so far.
  bool is_of_other_firing(const dif::OpcodeInfo& row, Instruction in) const {
    const dif::Variable* variable = dif::variable_of(difo_, in);
    if (variable == nullptr || variable->kind != dif::VariableKind::scalar || variable->type.by_ref()) return false;
    const bool is_integer = variable->type.kind == dif::TypeKind::integer && variable->type.size == sizeof(uint64_t);
    const bool is_shared = variable->scope == dif::Scope::global || variable->scope == dif::Scope::thread;
    const auto key = key_of(row, in);
    return is_integer && is_shared && (!key || !state_->locals.contains(*key));
  }

  void note_late(const KnownValue& address) {
    if (late_ == nullptr || address.kind != KnownValue::Kind::other) return;
    const dif::Variable& variable = *address.variable;
    late_->insert((variable.scope == dif::Scope::thread ? "self->" : "") + variable.name);
  }

  KnownValue load_built_in(unsigned id, Instruction in) {
    const dif::BuiltInInfo* row = dif::find_built_in(id);
    if (!row) return {};
    // argN is args[N] with a constant index.
    const KnownValue index =
        row->kind == dif::BuiltInKind::array ? get(in.r2()) : KnownValue::constant(id - static_cast<unsigned>(BuiltIn::arg0));
    dif::for_each_part(row->reads, [&](FiringPart part) { use(part, index); });
    const bool is_argument = row->reads == FiringPart::argument && index.is_constant() && index.number < kArguments;
    return is_argument ? KnownValue::of(static_cast<uint8_t>(index.number)) : KnownValue{};
  }

  // Has no default, so that a part of the firing that is not captured does not build.
  void use(FiringPart part, const KnownValue& index) {
    switch (part) {
      case FiringPart::nothing:
        return;
      case FiringPart::argument:
        return use_argument(index);
      case FiringPart::goroutine:
        needs_.args |= kGoroutineBit;
        return;
      case FiringPart::time:
        needs_.time = true;
        return;
      case FiringPart::vtime:
        needs_.vtime = true;
        return;
      case FiringPart::thread:
        needs_.thread = true;
        return;
      case FiringPart::cpu:
        needs_.cpu = true;
        return;
      case FiringPart::comm:
        needs_.comm = true;
        return;
      case FiringPart::error:
        needs_.error = true;
        return;
      case FiringPart::owner:
        needs_.owner = true;
        return;
      case FiringPart::parent:
        needs_.parent = true;
        return;
      case FiringPart::file:
        return use_file(index);
      case FiringPart::command:
        needs_.command = true;
        return;
      case FiringPart::directory:
        needs_.directory = true;
        return;
      case FiringPart::number:
        if (index.is_constant() && index.number < 32) needs_.process_numbers |= 1u << index.number;
        return;
      case FiringPart::ancestors:
        needs_.ancestors = true;
        return;
      case FiringPart::caller:
        needs_.frames = std::max<uint16_t>(needs_.frames, 2);
        return;
      case FiringPart::stack:
        needs_.frames = kMostFrames;
        return;
      case FiringPart::registers:
        return use_register(index);
      case FiringPart::kernel_caller:
        needs_.kernel_frames = std::max<uint16_t>(needs_.kernel_frames, 2);
        return;
      case FiringPart::kernel_stack:
        needs_.kernel_frames = kMostFrames;
        return;
    }
  }

  void use_frames(const KnownValue& count) {
    const auto frames = static_cast<uint16_t>(count.is_constant() ? std::min<uint64_t>(count.number, kMostFrames) : kMostFrames);
    needs_.frames = std::max(needs_.frames, frames);
  }

  void use_argument(const KnownValue& index) {
    const bool is_known = index.is_constant() && index.number < kArguments;
    needs_.args |= is_known ? static_cast<uint16_t>(1u << index.number) : kAllArguments;
  }

  void use_file(const KnownValue& index) {
    constexpr uint64_t kPerFile = 8;
    if (index.kind == KnownValue::Kind::file && index.word.is_argument())
      needs_.add(MemoryNeed::of_file(index.word, static_cast<int64_t>(index.number)));
    else if (index.is_constant())
      needs_.add(MemoryNeed::of_file(Word::zero(), static_cast<int64_t>(index.number / kPerFile)));
    else
      needs_.any_file = true;
  }

  void use_register(const KnownValue& number) {
    constexpr uint32_t kAll = (1u << dif::kSavedRegisters) - 1;
    const auto saved = dif::saved_register(number.number);
    if (!number.is_constant())
      needs_.registers = kAll;
    else if (saved)
      needs_.registers |= 1u << *saved;
  }

  void store_variable(const dif::OpcodeInfo& row, Instruction in) {
    const KnownValue value = get(in.rd());
    if (const dif::Variable* variable = stored_variable(difo_, in)) read(value, variable->type);
    if (key_of(row, in)) set_local(*key_of(row, in), in, value);
  }

  void call(Instruction in) {
    if (in.index() >= dif::kSubroutineCount) return set(in.rd(), {});
    const dif::SubroutineInfo& row = dif::kSubroutines[in.index()];
    const std::vector<KnownValue>& arguments = state_->tuple;
    for (size_t i = 0; i < std::min(row.arguments.size(), arguments.size()); i++)
      if (row.arguments[i].type == dif::ArgumentType::string) read_string(arguments[i]);
    dif::for_each_part(row.firing, [&](FiringPart part) {
      part == FiringPart::stack && !arguments.empty() ? use_frames(arguments.front()) : use(part, {});
    });
    const KnownValue from = read_arguments(row.reads, arguments);
    const bool is_copy = row.value == dif::ValueOrigin::bytes && from.is_word();
    set(in.rd(), is_copy ? KnownValue{KnownValue::Kind::copy, from.word, from.number} : KnownValue{});
  }

  // Returns the address of what a subroutine reads.
  KnownValue read_arguments(const dif::MemoryRead& reads, const std::vector<KnownValue>& arguments) {
    const auto argument = [&](size_t i) { return i < arguments.size() ? arguments[i] : KnownValue{}; };
    const KnownValue from = KnownValue::of_variable(argument(reads.address));
    switch (reads.kind) {
      case dif::MemoryRead::Kind::none:
        return {};
      case dif::MemoryRead::Kind::text:
        copy_string(from, reads.size < arguments.size() ? &arguments[reads.size] : nullptr);
        break;
      case dif::MemoryRead::Kind::bytes:
        if (from.is_word()) need(from, argument(reads.size), kMostBytes, false);
        note_late(from);
        break;
      case dif::MemoryRead::Kind::fixed:
        read_bytes(from, KnownValue::constant(reads.size));
        break;
    }
    return from;
  }

  // copyinstr(address[, size]). A size counts the NUL; the string has no more than strsize characters. Of a longer one than
  // kMostBytes that many are captured, which are all if the NUL is among them.
  void copy_string(const KnownValue& address, const KnownValue* limit = nullptr) {
    const KnownValue from = KnownValue::of_variable(address);
    note_late(from);
    if (!from.is_word()) return;
    const uint32_t most = std::clamp(strsize_, 1u, kMostBytes - 1) + 1;
    if (limit == nullptr) return need(from, KnownValue::constant(most), most, true);
    KnownValue size = *limit;
    if (size.is_constant()) size.number = std::clamp<uint64_t>(size.number, 2, most);
    need(from, size, most, true);
  }

  void read_pushed(Instruction in) {
    const KnownValue value = get(in.rd());
    if (in.r1() == static_cast<unsigned>(dif::PushType::string)) read_string(value);
    if (in.r1() == static_cast<unsigned>(dif::PushType::bytes)) read_bytes(value, get(in.r2()));
  }

  // The machine reads a string, bytes, or a value of a type at an address.
  void read_string(const KnownValue& address) { copy_string(address); }
  void read_bytes(const KnownValue& address, const KnownValue& size) {
    const KnownValue from = KnownValue::of_variable(address);
    if (from.is_word() && size.is_constant()) need(from, size, kMostFixed, false);
    note_late(from);
  }
  void read(const KnownValue& address, const dif::DataType& type) {
    if (type.kind == dif::TypeKind::string) read_string(address);
    if (type.kind == dif::TypeKind::bytes) read_bytes(address, KnownValue::constant(type.size));
  }

  void need(const KnownValue& address, uint32_t size) { need(address, KnownValue::constant(size), size, false); }

  // most: bytes of a copy whose size is a word.
  void need(const KnownValue& address, const KnownValue& size, uint32_t most, bool is_string) {
    MemoryNeed need{address.word, is_string, static_cast<int64_t>(address.number), most, {}};
    if (size.is_constant() && size.number <= kMostFixed) {
      need.size = static_cast<uint32_t>(size.number);
    } else if (size.kind == KnownValue::Kind::limited) {
      need.size = static_cast<uint32_t>(std::min<uint64_t>(size.number, is_string ? most : kMostBytes));
      need.sized_by = size.word;
    } else if (size.is_word() && size.number <= UINT8_MAX) {
      need.sized_by = size.word;
      need.more = static_cast<uint8_t>(size.number);
    } else {
      return;
    }
    needs_.add(need);
  }

  KnownValue get(unsigned r) const { return r < dif::kRegisters ? state_->registers[r] : KnownValue{}; }
  void set(unsigned r, KnownValue value) {
    if (r != 0 && r < dif::kRegisters) state_->registers[r] = value;
  }
  KnownValue integer(unsigned index) const {
    return index < difo_.integers.size() ? KnownValue::constant(difo_.integers[index]) : KnownValue{};
  }

  // Of a clause-local or thread-local variable that is no array.
  static std::optional<unsigned> key_of(const dif::OpcodeInfo& row, Instruction in) {
    if (row.scope == dif::Scope::clause) return in.index();
    const bool is_scalar = in.opcode() == dif::Opcode::ldts || in.opcode() == dif::Opcode::stts;
    return is_scalar ? std::optional(known::kOfThread + in.index()) : std::nullopt;
  }
  KnownValue local(const dif::OpcodeInfo& row, Instruction in) const {
    const auto key = key_of(row, in);
    const auto found = key ? state_->locals.find(*key) : state_->locals.end();
    return found == state_->locals.end() ? KnownValue{} : found->second;
  }
  // A variable of 8 bytes keeps the whole value. A structure is copied, so its address is that of another copy.
  void set_local(unsigned key, Instruction in, KnownValue value) {
    const dif::Variable* variable = stored_variable(difo_, in);
    const bool is_copy = variable && variable->type.kind == dif::TypeKind::bytes && value.is_address();
    if (is_copy) value.kind = KnownValue::Kind::copy;
    if (is_copy || (variable && !variable->type.by_ref() && variable->type.size == 8))
      state_->locals[key] = value;
    else
      state_->locals.erase(key);
  }

  const dif::Difo& difo_;
  uint32_t strsize_;
  LateVariables* late_;
  CaptureNeeds needs_;
  KnownState* state_ = nullptr;  // before the instruction that is looked at
  std::optional<Locals> ended_;  // where a ret was met
};

// What is recorded of the firing itself: stacks, and symbols in a process.
CaptureNeeds made_needs(const dif::RecDesc& desc) {
  CaptureNeeds needs;
  needs.thread = desc.made_by != dif::Action::expression;
  if (!dif::is_own_stack(desc)) return needs;
  uint16_t& frames = dif::is_of_kernel(desc.made_by) ? needs.kernel_frames : needs.frames;
  frames = static_cast<uint16_t>(std::min<uint32_t>(desc.frames, kMostFrames));
  return needs;
}

// All that is kept of a firing is kept, or dropped, for its CPU.
bool keeps_something(const dif::ActDesc& action) { return action.kind != dif::Action::expression; }

}  // namespace

CaptureNeeds needs_of(const dif::Difo& difo, uint32_t strsize) {
  Locals locals;
  return DifoReader(difo, strsize).read(locals);
}

CaptureNeeds needs_of(const dif::EcbDesc& clause, uint32_t strsize) {
  Locals variables;
  return needs_of(clause, strsize, variables);
}

CaptureNeeds needs_of(const dif::EcbDesc& clause, uint32_t strsize, Locals& locals, LateVariables* late) {
  CaptureNeeds needs;
  if (clause.predicate) needs |= DifoReader(clause.predicate->difo, strsize, late).read(locals);
  for (const dif::ActDesc& action : clause.actions) {
    for (const dif::RecDesc& argument : action.args) {
      needs |= made_needs(argument);
      if (!dif::is_own_stack(argument)) needs |= DifoReader(argument.difo, strsize, late).read(locals);
    }
    needs.cpu |= keeps_something(action);
  }
  needs.cpu |= clause.actions.empty();
  return needs;
}

}  // namespace dvm::runtime
