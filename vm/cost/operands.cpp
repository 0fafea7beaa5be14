// Registers and the tuple stack, followed through a text. Covered by tests/unit/vm/path_cost_test.cpp.

#include "dvm/vm/operands.h"

#include <cstring>
#include <optional>

#include "dvm/dif/opcode.h"
#include "dvm/dif/subroutine.h"
#include "dvm/dif/variable.h"
#include "dvm/vm/profile.h"

namespace dvm::vm {
namespace {

using dif::Instruction;
using dif::Opcode;

bool is_built_in(unsigned id) { return id < dif::kFirstUserVariable; }

// A part of its first argument, where that lies.
bool returns_part(std::string_view subroutine) {
  return subroutine == "strchr" || subroutine == "strrchr" || subroutine == "strstr";
}

class Following {
 public:
  explicit Following(const dif::Difo& difo) : difo_(difo) {}

  Operands step(Instruction in) {
    Operands found = uses(in);
    follow(in);
    return found;
  }
  Text text(unsigned number) const { return registers_[number]; }

 private:
  using Key = std::optional<Text>;  // nothing: a value

  Operands uses(Instruction in) const {
    Operands found;
    const dif::Variable* stored = stored_variable(difo_, in);
    if (in.opcode() == Opcode::scmp) found.strings = {text(in.r1()), text(in.r2())};
    if (pushes_string(in) || (stored && stored->type.kind == dif::TypeKind::string)) found.strings = {text(in.rd())};
    if (!takes_key(in.opcode()) && in.opcode() != Opcode::call) return found;
    for (const Key& key : stack_) {
      if (key) found.references.push_back(*key);
      found.values += !key;
    }
    return found;
  }

  static bool pushes_string(Instruction in) {
    return in.opcode() == Opcode::pushtr && in.r1() == static_cast<unsigned>(dif::PushType::string);
  }

  void follow(Instruction in) {
    switch (in.opcode()) {
      case Opcode::pushtv:
        return stack_.emplace_back(std::nullopt), void();
      case Opcode::pushtr:
        return stack_.emplace_back(pushes_string(in) ? text(in.rd()) : Text{}), void();
      case Opcode::popts:
        if (!stack_.empty()) stack_.pop_back();
        return;
      case Opcode::flushts:
        return stack_.clear();
      case Opcode::call:
        registers_[in.rd()] = returned(in.index());
        return stack_.clear();
      default:
        if (const auto loaded = this->loaded(in)) registers_[in.rd()] = *loaded;
    }
  }

  Text returned(unsigned subroutine) const {
    const std::string_view name = subroutine < dif::kSubroutineCount ? dif::kSubroutines[subroutine].name : std::string_view();
    if (name == "copyinstr") return {Place::captured};
    if (returns_part(name) && !stack_.empty() && stack_.front()) return {stack_.front()->place};
    return {Place::scratch};
  }

  // What a register is given, if that may be a string.
  std::optional<Text> loaded(Instruction in) const {
    switch (in.opcode()) {
      case Opcode::sets:
        return literal(in.index());
      case Opcode::setx:
        return Text{};
      case Opcode::mov:
        return text(in.r1());
      case Opcode::ldgs:
        return Text{is_built_in(in.index()) ? Place::name : Place::variable};
      case Opcode::ldls:
        return Text{Place::local};
      case Opcode::ldts:
      case Opcode::ldgaa:
      case Opcode::ldtaa:
        return Text{Place::dynamic};
      default:
        return std::nullopt;
    }
  }

  Text literal(size_t at) const {
    if (at >= difo_.strings.size()) return {};
    return {Place::literal, static_cast<double>(std::strlen(difo_.strings.c_str() + at) + 1)};
  }

  const dif::Difo& difo_;
  std::array<Text, 256> registers_{};  // what is not verified may name any
  std::vector<Key> stack_;
};

}  // namespace

std::vector<Operands> operands_of(const dif::Difo& difo) {
  Following following(difo);
  std::vector<Operands> found;
  found.reserve(difo.text.size());
  for (const Instruction in : difo.text) found.push_back(following.step(in));
  return found;
}

Text result_text(const dif::Difo& difo) {
  Following following(difo);
  for (const Instruction in : difo.text) following.step(in);
  return difo.text.empty() ? Text{} : following.text(difo.text.back().rd());
}

}  // namespace dvm::vm
