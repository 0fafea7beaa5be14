// Walks the ways through a predicate. Tested by tests/unit/instrument/wanted_pids_test.cpp.
#include "runtime/instrument/wanted_pids.h"

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "dvm/dif/register.h"
#include "dvm/dif/variable.h"

namespace dvm::runtime {
namespace {

using dif::Instruction;
using dif::Opcode;

constexpr unsigned kMostWays = 256;
constexpr size_t kMostPids = 64;

struct Value {
  enum class Kind : uint8_t { unknown, constant, pid };
  Kind kind = Kind::unknown;
  uint64_t number = 0;
};

// Where one way has come to, and what is known there.
struct Way {
  size_t pc = 0;
  std::array<Value, dif::kRegisters> registers{};
  Value left, right;           // that were compared last
  std::optional<int32_t> pid;  // it must be this one

  Way() { registers[0] = {Value::Kind::constant, 0}; }
  Value get(unsigned r) const { return r < registers.size() ? registers[r] : Value{}; }
  void set(unsigned r, Value value) {
    if (r != 0 && r < registers.size()) registers[r] = value;
  }
  // The process that the last comparison was with, if it was with one.
  std::optional<int32_t> compared() const {
    if (left.kind == Value::Kind::constant && right.kind == Value::Kind::pid) return as_pid(left);
    return left.kind == Value::Kind::pid && right.kind == Value::Kind::constant ? as_pid(right) : std::nullopt;
  }

 private:
  static std::optional<int32_t> as_pid(const Value& value) {
    if (value.number > std::numeric_limits<int32_t>::max()) return std::nullopt;
    return static_cast<int32_t>(value.number);
  }
};

bool cannot_fault(Opcode op) {
  constexpr Opcode kSafe[] = {Opcode::or_, Opcode::xor_, Opcode::and_, Opcode::sll,  Opcode::srl,  Opcode::sra, Opcode::sub,
                              Opcode::add, Opcode::mul,  Opcode::not_, Opcode::mov,  Opcode::cmp,  Opcode::tst, Opcode::nop,
                              Opcode::ret, Opcode::setx, Opcode::sets, Opcode::ldgs, Opcode::ldts, Opcode::ldls};
  return std::find(std::begin(kSafe), std::end(kSafe), op) != std::end(kSafe);
}

class Walk {
 public:
  explicit Walk(const dif::Difo& difo) : difo_(difo) {}

  std::vector<int32_t> pids() {
    ways_.push_back({});
    for (unsigned count = 0; !ways_.empty(); count++) {
      if (count == kMostWays) return {};
      Way way = ways_.back();
      ways_.pop_back();
      if (!go(way)) return {};
    }
    return {found_.begin(), found_.end()};
  }

 private:
  // To the end or to a branch. False: it may be true in any process.
  bool go(Way& way) {
    for (; way.pc < difo_.text.size(); way.pc++) {
      const Instruction in = difo_.text[way.pc];
      if (in.number() == 0 || in.number() > dif::kOpcodeCount) return false;
      if (dif::info(in.opcode()).format == dif::Format::branch) return branch(way, in);
      if (!way.pid && !cannot_fault(in.opcode())) return false;
      if (in.opcode() == Opcode::ret) return end(way, way.get(in.rd()));
      step(way, in);
    }
    return false;
  }

  void step(Way& way, Instruction in) const {
    switch (in.opcode()) {
      case Opcode::cmp:
        way.left = way.get(in.r1()), way.right = way.get(in.r2());
        return;
      case Opcode::tst:
      case Opcode::scmp:
        way.left = way.right = {};
        return;
      case Opcode::mov:
        return way.set(in.rd(), way.get(in.r1()));
      case Opcode::setx:
        return way.set(in.rd(),
                       in.index() < difo_.integers.size() ? Value{Value::Kind::constant, difo_.integers[in.index()]} : Value{});
      case Opcode::ldgs:
        return way.set(in.rd(), in.index() == static_cast<unsigned>(dif::BuiltIn::pid) ? Value{Value::Kind::pid} : Value{});
      default:
        return way.set(in.rd(), {});
    }
  }

  bool branch(const Way& way, Instruction in) {
    if (in.label() <= way.pc) return false;
    const std::optional<int32_t> pid = way.compared();
    if (in.opcode() != Opcode::ba) take(way, way.pc + 1, in.opcode() == Opcode::bne ? pid : std::nullopt);
    take(way, in.label(), in.opcode() == Opcode::be ? pid : std::nullopt);
    return true;
  }

  // A way on which the process would have to be two is none.
  void take(Way way, size_t pc, std::optional<int32_t> pid) {
    if (pid && way.pid && *pid != *way.pid) return;
    if (pid) way.pid = pid;
    way.pc = pc;
    ways_.push_back(way);
  }

  bool end(const Way& way, const Value& result) {
    if (result.kind == Value::Kind::constant && result.number == 0) return true;
    if (way.pid) found_.insert(*way.pid);
    return way.pid.has_value() && found_.size() <= kMostPids;
  }

  const dif::Difo& difo_;
  std::vector<Way> ways_;
  std::set<int32_t> found_;
};

}  // namespace

std::vector<int32_t> wanted_pids(const dif::Difo& predicate) { return Walk(predicate).pids(); }

std::vector<int32_t> wanted_pids(std::span<const dif::EcbDesc* const> clauses) {
  std::set<int32_t> all;
  for (const dif::EcbDesc* clause : clauses) {
    const auto pids = clause->predicate ? wanted_pids(clause->predicate->difo) : std::vector<int32_t>{};
    if (pids.empty()) return {};
    all.insert(pids.begin(), pids.end());
  }
  return {all.begin(), all.end()};
}

}  // namespace dvm::runtime
