// The cheapest, dearest and expected path. Covered by tests/unit/vm/path_cost_test.cpp.

#include "dvm/vm/path_cost.h"

namespace dvm::vm {
namespace {

using dif::Instruction;
using dif::Opcode;

struct Bytes {
  double least = 0, expected = 0, most = 0;
};

Bytes exactly(double bytes) { return {bytes, bytes, bytes}; }

class Pricing {
 public:
  Pricing(const dif::Difo& difo, const Profile& profile, const Sizes& sizes, std::set<std::string>& missing)
      : difo_(difo), profile_(profile), text_{sizes.least, sizes.expected, sizes.most}, missing_(missing) {}

  CostRange price(Instruction in) {
    const dif::Variable* stored = stored_variable(in);
    const bool by_ref = stored && stored->type.by_ref();
    const std::string row = row_of(in).name() + std::string(by_ref ? kByReference : "");
    const Price* price = profile_.find(row);
    if (!price) {
      missing_.insert(row);
      return {};
    }
    const Bytes bytes = by_ref && stored->type.kind == dif::TypeKind::bytes ? exactly(stored->type.size) : text_;
    return {Cost::of(*price, bytes.least), Cost::of(*price, bytes.expected), Cost::of(*price, bytes.most)};
  }

 private:
  const dif::Variable* stored_variable(Instruction in) const {
    const auto scope = stored_scope(in.opcode());
    if (!scope) return nullptr;
    for (const dif::Variable& variable : difo_.variables)
      if (variable.scope == *scope && variable.id == in.index()) return &variable;
    return nullptr;
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
