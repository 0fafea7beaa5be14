// The cost of the cheapest, the dearest and the expected path. Covered by tests/unit/vm/path_cost_test.cpp.

#include "dvm/vm/path_cost.h"

#include <utility>

#include "dvm/dif/variable_of.h"
#include "dvm/vm/operands.h"

namespace dvm::vm {
namespace {

using dif::Instruction;

struct Bytes {
  double least = 0, expected = 0, most = 0;
};

Bytes exactly(double bytes) { return {bytes, bytes, bytes}; }

class PathPricing {
 public:
  PathPricing(const dif::Difo& difo, const Profile& profile, const Sizes& sizes, std::set<std::string>& missing,
              std::span<const InstructionCount> counts, std::string_view engine)
      : difo_(difo),
        profile_(profile),
        engine_(engine),
        text_{sizes.least, sizes.expected, sizes.most},
        operands_(priced_operands(difo)),
        missing_(missing),
        counts_(counts),
        pushed_(pushed_bytes(difo, counts)) {}

  CostRange price(size_t pc) {
    const Instruction in = difo_.text[pc];
    const PricedOperands& on = operands_[pc];
    CostRange sum = priced(row_of(difo_, in).name(), measured(pc, bytes_of(in, on)));
    for (const StringOperand& text : on.strings) sum += place(text);
    if (!takes_key(in.opcode())) return sum;
    for (unsigned i = 0; i < on.values; i++) sum += priced(kValueKeyRow, {});
    for (const StringOperand& key : on.references) {
      Bytes bytes = bytes_of(key);
      if (is_counted(pc)) bytes.expected = pushed_[pc] / static_cast<double>(on.references.size());
      sum += priced(kReferenceKeyRow, bytes);
    }
    return sum;
  }

  // How often a conditional branch is taken.
  double share_taken(size_t pc) const {
    return is_counted(pc) ? static_cast<double>(counts_[pc].taken) / static_cast<double>(counts_[pc].entered) : 0.5;
  }

  CostRange place(const StringOperand& text) {
    return text.place == StringPlace::literal ? CostRange{} : priced(place_row(text.place), {});
  }

 private:
  CostRange priced(const std::string& row, const Bytes& bytes) {
    const RowName name = RowName::of_table(row).in(engine_);
    const Price* price = profile_.find(name);
    if (!price) price = profile_.find(RowName::of_table(row));
    if (!price) return missing_.insert(name.text()), CostRange{};
    const auto [least, most] = price->n < 0 ? std::pair(bytes.most, bytes.least) : std::pair(bytes.least, bytes.most);
    return {Cost::of(*price, least), Cost::of(*price, bytes.expected), Cost::of(*price, most)};
  }

  bool is_counted(size_t pc) const { return pc < counts_.size() && counts_[pc].entered != 0; }
  double units(size_t pc) const { return static_cast<double>(counts_[pc].units) / static_cast<double>(counts_[pc].entered); }

  // With the mean of a counted run, if there is one.
  Bytes measured(size_t pc, Bytes bytes) const {
    if (is_counted(pc)) bytes.expected = units(pc);
    return bytes;
  }

  Bytes bytes_of(const StringOperand& text) const { return text.bytes > 0 ? exactly(text.bytes) : text_; }

  // The units of an instruction: the size of what is stored, pushed or compared, or of a subroutine's first string; 1 if a
  // variable is found, or appears or vanishes.
  Bytes bytes_of(Instruction in, const PricedOperands& on) const {
    if (info(in.opcode()).cost == dif::CostClass::found) return {0, 1, 1};
    const dif::Variable* stored = stored_variable(difo_, in);
    if (stored && !stored->type.by_ref()) return {0, 0, 1};  // the variable comes or goes
    if (stored && stored->type.kind == dif::TypeKind::bytes) return exactly(stored->type.size);
    if (!on.strings.empty()) return bytes_of(on.strings.front());
    if (has_format(in, dif::Format::call) && !on.references.empty()) return bytes_of(on.references.front());
    return text_;
  }

  const dif::Difo& difo_;
  const Profile& profile_;
  std::string_view engine_;
  Bytes text_;
  std::vector<PricedOperands> operands_;
  std::set<std::string>& missing_;
  std::span<const InstructionCount> counts_;
  std::vector<double> pushed_;
};

// The cost of two paths, where the second is taken with this probability. The choice adds no spread.
CostRange either(const CostRange& a, const CostRange& b, double share) {
  return {a.cheapest.clocks < b.cheapest.clocks ? a.cheapest : b.cheapest, a.expected.times(1 - share) + b.expected.times(share),
          a.dearest.clocks > b.dearest.clocks ? a.dearest : b.dearest};
}

}  // namespace

CostRange price_difo(const dif::Difo& difo, const Profile& profile, const Sizes& sizes, std::set<std::string>& missing,
                     std::span<const InstructionCount> counts, std::string_view engine) {
  PathPricing pricing(difo, profile, sizes, missing, counts, engine);
  std::vector<CostRange> from(difo.text.size() + 1);  // from there to the end
  for (size_t pc = difo.text.size(); pc-- > 0;) {
    const Instruction in = difo.text[pc];
    CostRange cost = pricing.price(pc);
    if (is_conditional(in))
      cost += either(from[pc + 1], from[in.label()], pricing.share_taken(pc));
    else if (!is_return(in))
      cost += from[is_branch(in) ? in.label() : pc + 1];
    from[pc] = cost;
  }
  return from[0];
}

}  // namespace dvm::vm
