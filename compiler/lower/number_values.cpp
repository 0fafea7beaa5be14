// Values that are computed twice, constants and decided branches. Tests: tests/unit/compiler/optimize_test.cpp.
//
// One walk over the code. A value is known by its opcode and operands, and by the version of what it reads: each store to a
// variable, and whatever may write to memory, begins a new version. What was computed before is taken again if its block
// dominates the current one, that is, if every path led through it; since branches only go ahead, dominators are known on the
// way.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "compiler/lower/optimize.h"

namespace dvm::compiler {

using dif::Opcode;

namespace {

constexpr unsigned kMaxWalk = 256;  // dominators looked at for one value
constexpr uint32_t kNoBlock = ~uint32_t{0};

struct Key {
  Opcode op;
  Register left, right;
  uint64_t value;
  uint32_t version;
  bool operator==(const Key&) const = default;
};

struct KeyHash {
  size_t operator()(const Key& k) const {
    uint64_t h = static_cast<uint64_t>(k.op);
    for (const uint64_t part : {uint64_t{k.left}, uint64_t{k.right}, k.value, uint64_t{k.version}})
      h = (h ^ part) * 0x9e3779b97f4a7c15, h ^= h >> 29;
    return h;
  }
};

// Blocks by their immediate dominators.
class Dominators {
 public:
  uint32_t add(uint32_t dominator) {
    blocks_.push_back({dominator, dominator == kNoBlock ? 0 : blocks_[dominator].depth + 1});
    return static_cast<uint32_t>(blocks_.size() - 1);
  }
  uint32_t common(uint32_t a, uint32_t b) const {
    if (a == kNoBlock) return b;
    while (a != b) {
      uint32_t& deeper = blocks_[a].depth < blocks_[b].depth ? b : a;
      deeper = blocks_[deeper].dominator;
    }
    return a;
  }
  bool dominates(uint32_t a, uint32_t b) const {
    for (unsigned n = 0; n < kMaxWalk && blocks_[b].depth > blocks_[a].depth; n++) b = blocks_[b].dominator;
    return a == b;
  }

 private:
  struct Block {
    uint32_t dominator, depth;
  };
  std::vector<Block> blocks_;
};

bool commutes(Opcode op) {
  return op == Opcode::add || op == Opcode::mul || op == Opcode::and_ || op == Opcode::or_ || op == Opcode::xor_;
}

bool is_shift(Opcode op) { return op == Opcode::sll || op == Opcode::srl || op == Opcode::sra; }

class Numbering {
 public:
  explicit Numbering(Code& code)
      : code_(code), counts_(code), same_(code.registers), made_(code.registers), arrivals_(code.labels, kNoBlock) {
    for (Register r = 0; r < code.registers; r++) same_[r] = r;
    for (uint32_t i = 0; i < code.steps.size(); i++) last_write_[code.steps[i].writes] = i;
    block_ = dominators_.add(kNoBlock);
  }

  void run() {
    steps_ = std::move(code_.steps);
    for (at_ = 0; at_ < steps_.size(); at_++) visit(steps_[at_]);
  }

 private:
  struct Definition {
    uint32_t block = 0;
    Step step;  // that made it; a nop: not known
  };

  void visit(Step s) {
    if (s.is_label) return enter(s);
    if (!is_reached_) return;
    for (Register& r : s.reads) r = same_[r];
    if (s.is_branch()) return branch(s);
    if (s.is_compare()) return compare(s);
    if (s.op == Opcode::ret) is_reached_ = false;
    if (is_variable_store(s)) versions_[s.symbol]++;
    if (changes_memory(s)) memory_++;
    if (s.writes == 0) return keep(s);
    if (counts_.writes[s.writes] > 1) return keep_shared(s);
    simplify(s);
    if (s.op == Opcode::mov && is_settled(s.reads[0]))
      same_[s.writes] = s.reads[0];
    else
      number(s);
  }

  void keep(const Step& s) { code_.steps.push_back(s); }

  // Paths.

  void enter(const Step& label) {
    uint32_t dominator = arrivals_[label.value];
    if (is_reached_) dominator = dominators_.common(dominator, block_);
    is_reached_ = dominator != kNoBlock;
    if (!is_reached_) return;
    block_ = dominators_.add(dominator);
    codes_.reset();
    keep(label);
  }

  void branch(Step& s) {
    if (s.is_conditional() && codes_) {
      if (!is_taken(s.op)) return;
      s.op = Opcode::ba;
    }
    arrivals_[s.value] = dominators_.common(arrivals_[s.value], block_);
    keep(s);
    is_reached_ = s.is_conditional();
    if (is_reached_) block_ = dominators_.add(block_);
  }

  bool is_taken(Opcode op) const {
    const auto [l, r] = *codes_;
    const auto less = static_cast<int64_t>(l) < static_cast<int64_t>(r);
    switch (op) {
      case Opcode::be:
        return l == r;
      case Opcode::bne:
        return l != r;
      case Opcode::bl:
        return less;
      case Opcode::blu:
        return l < r;
      case Opcode::ble:
        return less || l == r;
      case Opcode::bleu:
        return l <= r;
      case Opcode::bg:
        return !less && l != r;
      case Opcode::bgu:
        return l > r;
      case Opcode::bge:
        return !less;
      default:
        return l >= r;
    }
  }

  // Comparisons.

  void compare(Step& s) {
    codes_.reset();
    if (s.op == Opcode::scmp) return compare_strings(s);
    const auto left = constant(s.reads[0]), right = s.op == Opcode::tst ? 0 : constant(s.reads[1]);
    if (left && right) codes_ = {*left, *right};
    if (is_text(s.reads[0]) && right == 0) codes_ = {1, 0};
    if (right) compare_low(s, *right);
    if (s.reads[1] == 0 && asks_for_zero()) s.op = Opcode::tst;
    keep(s);
  }

  // The branch that follows does: tst answers nothing else.
  bool asks_for_zero() const {
    uint32_t next = at_ + 1;
    while (next < steps_.size() && !steps_[next].is_branch()) next++;
    return next < steps_.size() && (steps_[next].op == Opcode::be || steps_[next].op == Opcode::bne);
  }

  // v << j >> k against a constant is v << j against that constant << k, if j is at least k.
  void compare_low(Step& s, uint64_t right) {
    const Step& shifted = made_[s.reads[0]].step;
    if (shifted.op != Opcode::sra) return;
    const Step& up = made_[shifted.reads[0]].step;
    const auto up_by = constant(up.reads[1]), by = constant(shifted.reads[1]);
    if (up.op != Opcode::sll || !by || !up_by || *by >= 64 || *up_by >= 64 || *up_by < *by) return;
    const uint64_t moved = right << *by;
    if (static_cast<uint64_t>(static_cast<int64_t>(moved) >> *by) != right) return;
    s.reads = {shifted.reads[0], moved == 0 ? 0 : new_constant(moved)};
  }

  // How much of a string is compared depends on strsize, but for its first character.
  void compare_strings(const Step& s) {
    if (is_text(s.reads[0]) && is_text(s.reads[1])) {
      const std::string &left = text(s.reads[0]), &right = text(s.reads[1]);
      if (left == right) codes_ = {0, 0};
      if (left[0] != right[0]) codes_ = {static_cast<unsigned char>(left[0]), static_cast<unsigned char>(right[0])};
      if (codes_) return;
    }
    keep(s);
  }

  bool is_text(Register r) const { return r != 0 && made_[r].step.op == Opcode::sets; }
  const std::string& text(Register r) const { return code_.strings[made_[r].step.value]; }

  // Values.

  std::optional<uint64_t> constant(Register r) const {
    if (r == 0) return 0;
    if (made_[r].step.op == Opcode::setx) return made_[r].step.value;
    return std::nullopt;
  }

  // It keeps the value that it has now.
  bool is_settled(Register r) const {
    if (r == 0 || counts_.writes[r] <= 1) return true;
    return last_write_.at(r) < at_;
  }

  // The register has other values on other paths.
  void keep_shared(Step& s) {
    if (s.op == Opcode::mov && s.reads[0] != 0) {
      const Step& from = made_[s.reads[0]].step;
      if (from.op == Opcode::setx || from.op == Opcode::sets) s.op = from.op, s.value = from.value, s.reads = {};
    }
    keep(s);
  }

  Register new_constant(uint64_t value) {
    Step s{.op = Opcode::setx, .writes = code_.registers++, .value = value};
    same_.push_back(s.writes);
    counts_.writes.push_back(1);
    made_.emplace_back();
    return number(s);
  }

  static void become_copy(Step& s, Register from) { s = {.op = Opcode::mov, .reads = {from}, .writes = s.writes}; }
  static void become_constant(Step& s, uint64_t value) {
    if (value == 0) return become_copy(s, 0);
    s = {.op = Opcode::setx, .writes = s.writes, .value = value};
  }

  void simplify(Step& s) {
    if (commutes(s.op) && constant(s.reads[0]) && !constant(s.reads[1])) std::swap(s.reads[0], s.reads[1]);
    const auto left = constant(s.reads[0]), right = constant(s.reads[1]);
    if (left && right)
      if (const auto value = evaluate(s.op, *left, *right)) return become_constant(s, *value);
    if (!right || !evaluate(s.op, 1, 1)) return simplify_equal(s);
    simplify_with(s, *right);
  }

  void simplify_equal(Step& s) {
    if (s.reads[0] != s.reads[1]) return;
    if (s.op == Opcode::sub || s.op == Opcode::xor_) become_constant(s, 0);
    if (s.op == Opcode::and_ || s.op == Opcode::or_) become_copy(s, s.reads[0]);
  }

  void simplify_with(Step& s, uint64_t right) {
    if (s.op == Opcode::not_) return;
    const bool keeps_left = (right == 0 && (s.op == Opcode::add || s.op == Opcode::sub || s.op == Opcode::or_ ||
                                            s.op == Opcode::xor_ || is_shift(s.op))) ||
                            (right == 1 && (s.op == Opcode::mul || s.op == Opcode::sdiv || s.op == Opcode::udiv)) ||
                            (right == ~uint64_t{0} && s.op == Opcode::and_);
    if (keeps_left) return become_copy(s, s.reads[0]);
    if (right == 0 && (s.op == Opcode::mul || s.op == Opcode::and_)) return become_constant(s, 0);
    merge_constants(s, right);
  }

  // (v op a) op b is v op (a op b).
  void merge_constants(Step& s, uint64_t right) {
    const Step& inner = made_[s.reads[0]].step;
    if (s.reads[0] == 0 || inner.op != s.op || !is_settled(inner.reads[0])) return;
    const auto first = constant(inner.reads[1]);
    if (!first) return;
    std::optional<uint64_t> both;
    if (commutes(s.op)) both = evaluate(s.op, *first, right);
    if (is_shift(s.op) && *first < 64 && right < 64) both = std::min<uint64_t>(*first + right, s.op == Opcode::sra ? 63 : 64);
    if (!both) return;
    if (*both == 64) return become_constant(s, 0);
    s.reads = {inner.reads[0], *both == 0 ? 0 : new_constant(*both)};
  }

  std::optional<uint32_t> version_of(const Step& s) {
    if (is_scalar_load(s)) return versions_[s.symbol];
    if (is_memory_load(s)) return memory_;
    if (s.op == Opcode::setx || s.op == Opcode::sets || s.op == Opcode::ldga || evaluate(s.op, 1, 1)) return 0;
    return std::nullopt;
  }

  // Keeps the step, unless its value is there. Returns the register that has it.
  Register number(const Step& s) {
    made_[s.writes] = {block_, s};
    const auto version = version_of(s);
    const bool settled = is_settled(s.reads[0]) && is_settled(s.reads[1]);
    if (!version || !settled) {
      if (!settled) made_[s.writes].step = {};
      keep(s);
      return s.writes;
    }
    const Key key{s.op, s.reads[0], s.reads[1], s.symbol ? reinterpret_cast<uint64_t>(s.symbol) : s.value, *version};
    const auto [it, is_new] = numbers_.try_emplace(key, s.writes);
    if (!is_new && dominators_.dominates(made_[it->second].block, block_)) return same_[s.writes] = it->second;
    it->second = s.writes;
    keep(s);
    return s.writes;
  }

  Code& code_;
  std::vector<Step> steps_;  // as they were
  uint32_t at_ = 0;
  RegisterCounts counts_;
  std::unordered_map<Register, uint32_t> last_write_;
  std::vector<Register> same_;  // a register with the same value, that was there first
  std::vector<Definition> made_;
  std::unordered_map<Key, Register, KeyHash> numbers_;

  Dominators dominators_;
  std::vector<uint32_t> arrivals_;  // by label: what dominates all branches to it
  uint32_t block_ = 0;
  bool is_reached_ = true;

  std::map<const Symbol*, uint32_t> versions_;
  uint32_t memory_ = 0;
  std::optional<std::pair<uint64_t, uint64_t>> codes_;  // what was compared, if it is known
};

}  // namespace

void number_values(Code& code) { Numbering(code).run(); }

}  // namespace dvm::compiler
