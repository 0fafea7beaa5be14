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
      : difo_(difo), profile_(profile), text_{sizes.least, sizes.expected, sizes.most}, missing_(missing) {
    find_keys();
  }

  CostRange price(size_t pc) {
    const Instruction in = difo_.text[pc];
    const std::string row = row_of(difo_, in).name();
    const Price* price = profile_.find(row);
    if (!price) {
      missing_.insert(row);
      return {};
    }
    const dif::Variable* stored = stored_variable(difo_, in);
    if (takes_key(in.opcode()) && !(stored && stored->type.by_ref())) return priced(*price, keys_[pc]);
    const Bytes bytes = stored && stored->type.kind == dif::TypeKind::bytes ? exactly(stored->type.size) : text_;
    return priced(*price, bytes);
  }

 private:
  static CostRange priced(const Price& price, const Bytes& bytes) {
    return {Cost::of(price, bytes.least), Cost::of(price, bytes.expected), Cost::of(price, bytes.most)};
  }

  // What lies on the tuple stack before each instruction. Tuples are made without branches between.
  void find_keys() {
    Bytes now;
    for (const Instruction in : difo_.text) {
      keys_.push_back(now);
      if (in.opcode() == Opcode::flushts || in.opcode() == Opcode::call) now = {};
      if (in.opcode() == Opcode::pushtv) now = {now.least + kKeyWord, now.expected + kKeyWord, now.most + kKeyWord};
      if (in.opcode() == Opcode::pushtr) now = {now.least + text_.least, now.expected + text_.expected, now.most + text_.most};
    }
  }

  const dif::Difo& difo_;
  const Profile& profile_;
  Bytes text_;
  std::vector<Bytes> keys_;
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
    CostRange cost = pricing.price(pc);
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
