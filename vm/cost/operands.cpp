// Registers and the tuple stack, followed through a text. Covered by tests/unit/vm/path_cost_test.cpp.

#include "dvm/vm/operands.h"

#include <cstring>
#include <optional>

#include "dvm/dif/forward_flow.h"
#include "dvm/dif/subroutine.h"
#include "dvm/dif/variable.h"
#include "dvm/dif/variable_of.h"

namespace dvm::vm {

bool takes_key(dif::Opcode opcode) { return dif::info(opcode).tuple == dif::TupleUse::key; }

namespace {

using dif::Format;
using dif::Instruction;
using dif::TupleUse;

struct Known {
  std::array<StringOperand, dif::kRegisters> registers{};
  std::vector<std::optional<StringOperand>> stack;  // nothing: a value

  StringOperand text(unsigned number) const { return number < registers.size() ? registers[number] : StringOperand{}; }
  void set(unsigned number, const StringOperand& text) {
    if (number < registers.size()) registers[number] = text;
  }
};

class Following {
 public:
  explicit Following(const dif::Difo& difo) : difo_(difo), found_(difo.text.size()) {}

  void step(Known& known, Instruction in, size_t pc) {
    if (!dif::is_opcode(in.number())) return;
    found_[pc] = uses(known, in);
    follow(known, in);
    if (is_return(in)) result_ = known.text(in.rd());
  }
  // A path further down the text is the likelier one: it is where a condition holds.
  void join(Known& into, const Known& from, size_t) const { into = from; }

  std::vector<PricedOperands> take() { return std::move(found_); }
  StringOperand result() const { return result_; }

 private:
  PricedOperands uses(const Known& known, Instruction in) const {
    PricedOperands found;
    const dif::Variable* stored = stored_variable(difo_, in);
    const dif::OpcodeInfo& row = info(in.opcode());
    if (row.width == dif::Width::text) found.strings = {known.text(in.r1()), known.text(in.r2())};
    if (pushes_string(in) || (stored && stored->type.kind == dif::TypeKind::string)) found.strings = {known.text(in.rd())};
    if (row.tuple != TupleUse::key && row.tuple != TupleUse::arguments) return found;
    for (const std::optional<StringOperand>& key : known.stack) {
      if (key) found.references.push_back(*key);
      found.values += !key;
    }
    return found;
  }

  static bool pushes_string(Instruction in) {
    return has_format(in, Format::pushts) && in.r1() == static_cast<unsigned>(dif::PushType::string);
  }

  void follow(Known& known, Instruction in) const {
    if (const auto loaded = this->loaded(known, in)) known.set(in.rd(), *loaded);
    dif::use_tuple(known.stack, in, [&] { return pushed(known, in); });
  }

  static std::optional<StringOperand> pushed(const Known& known, Instruction in) {
    if (has_format(in, Format::pushv)) return std::nullopt;
    return pushes_string(in) ? known.text(in.rd()) : StringOperand{};
  }

  // The text that a register is given, if that may be a string.
  std::optional<StringOperand> loaded(const Known& known, Instruction in) const {
    const dif::OpcodeInfo& row = info(in.opcode());
    switch (row.format) {
      case Format::sets:
        return literal(in.index());
      case Format::setx:
        return StringOperand{};
      case Format::call:
        return returned(known, in.index());
      case Format::ldv:
        return StringOperand{place_of(row, in)};
      default:
        return is_move(in) ? std::optional(known.text(in.r1())) : std::nullopt;
    }
  }

  static StringPlace place_of(const dif::OpcodeInfo& row, Instruction in) {
    if (built_in_of(in)) return StringPlace::name;
    if (row.scope == dif::Scope::clause) return StringPlace::local;
    return row.scope == dif::Scope::global && row.tuple == TupleUse::none ? StringPlace::variable : StringPlace::dynamic;
  }

  static StringOperand returned(const Known& known, unsigned subroutine) {
    const auto origin = subroutine < dif::kSubroutineCount ? dif::kSubroutines[subroutine].value : dif::ValueOrigin::made;
    if (origin == dif::ValueOrigin::text) return {StringPlace::captured};
    if (origin == dif::ValueOrigin::part && !known.stack.empty() && known.stack.front()) return {known.stack.front()->place};
    return {StringPlace::scratch};
  }

  StringOperand literal(size_t at) const {
    if (at >= difo_.strings.size()) return {};
    return {StringPlace::literal, static_cast<double>(std::strlen(difo_.strings.c_str() + at) + 1)};
  }

  const dif::Difo& difo_;
  std::vector<PricedOperands> found_;
  StringOperand result_;
};

Following followed(const dif::Difo& difo) {
  Following following(difo);
  flow_forward(difo, Known{}, following);
  return following;
}

}  // namespace

std::vector<PricedOperands> priced_operands(const dif::Difo& difo) { return followed(difo).take(); }

StringOperand result_text(const dif::Difo& difo) { return followed(difo).result(); }

}  // namespace dvm::vm
