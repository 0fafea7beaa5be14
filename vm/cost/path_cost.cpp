// The cheapest, dearest and expected path. Covered by tests/unit/vm/path_cost_test.cpp.

#include "dvm/vm/path_cost.h"

#include <optional>

namespace dvm::vm {
namespace {

using dif::Instruction;
using dif::Opcode;

struct Bytes {
  double least = 0, expected = 0, most = 0;
};

Bytes exactly(double bytes) { return {bytes, bytes, bytes}; }

std::optional<dif::Scope> stored_scope(Opcode opcode) {
  switch (opcode) {
    case Opcode::stgs:
    case Opcode::stgaa:
      return dif::Scope::global;
    case Opcode::stts:
    case Opcode::sttaa:
      return dif::Scope::thread;
    case Opcode::stls:
      return dif::Scope::clause;
    default:
      return std::nullopt;
  }
}

class Pricing {
 public:
  Pricing(const dif::Difo& difo, const Profile& profile, const Sizes& sizes, std::set<std::string>& missing)
      : difo_(difo), profile_(profile), text_{sizes.least, sizes.expected, sizes.most}, missing_(missing) {}

  CostRange price(Instruction in) {
    const std::string row = row_of(in).name();
    const Price* price = profile_.find(row);
    if (!price) {
      missing_.insert(row);
      return {};
    }
    const Bytes bytes = price->n == 0 ? Bytes{} : bytes_of(in);
    return {Cost::of(*price, bytes.least), Cost::of(*price, bytes.expected), Cost::of(*price, bytes.most)};
  }

 private:
  Bytes bytes_of(Instruction in) const {
    if (const auto scope = stored_scope(in.opcode())) return bytes_of(*scope, in.index());
    return text_;
  }

  Bytes bytes_of(dif::Scope scope, unsigned id) const {
    for (const dif::Variable& variable : difo_.variables)
      if (variable.scope == scope && variable.id == id)
        return variable.type.kind == dif::TypeKind::string ? text_ : exactly(variable.type.size);
    return text_;
  }

  const dif::Difo& difo_;
  const Profile& profile_;
  Bytes text_;
  std::set<std::string>& missing_;
};

// Of two ways as likely as each other. That one of them is taken is no error of measurement.
Cost mean(const Cost& a, const Cost& b) { return (a + b).times(0.5); }

CostRange either(const CostRange& a, const CostRange& b) {
  return {a.cheapest.clocks < b.cheapest.clocks ? a.cheapest : b.cheapest, mean(a.expected, b.expected),
          a.dearest.clocks > b.dearest.clocks ? a.dearest : b.dearest};
}

}  // namespace

CostRange price_difo(const dif::Difo& difo, const Profile& profile, const Sizes& sizes, std::set<std::string>& missing) {
  Pricing pricing(difo, profile, sizes, missing);
  std::vector<CostRange> from(difo.text.size() + 1);  // from there to the end
  for (size_t pc = difo.text.size(); pc-- > 0;) {
    const Instruction in = difo.text[pc];
    CostRange cost = pricing.price(in);
    const bool is_branch = info(in.opcode()).format == dif::Format::branch;
    if (is_branch && in.opcode() != Opcode::ba)
      cost += either(from[pc + 1], from[in.label()]);
    else if (in.opcode() != Opcode::ret)
      cost += from[is_branch ? in.label() : pc + 1];
    from[pc] = cost;
  }
  return from[0];
}

}  // namespace dvm::vm
