// Walks the ways through a predicate. Tested by tests/unit/instrument/wanted_processes_test.cpp.
#include "runtime/instrument/wanted_processes.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "dvm/dif/register.h"
#include "dvm/dif/variable.h"

namespace dvm::runtime {
namespace {

using dif::Instruction;
using dif::Opcode;

constexpr unsigned kMostWays = 256;
constexpr size_t kMostProcesses = 64;
constexpr size_t kMostName = 15;  // characters that the kernel keeps of a name

struct Value {
  enum class Kind : uint8_t { unknown, constant, pid, text, name };
  Kind kind = Kind::unknown;
  uint64_t number = 0;  // a constant, or where in the string table a text is
};

using Process = std::variant<int32_t, std::string>;

// Where one way has come to, and what is known there.
struct Way {
  size_t pc = 0;
  std::array<Value, dif::kRegisters> registers{};
  Value left, right;               // that were compared last
  std::optional<Process> process;  // that it must be

  Way() { registers[0] = {Value::Kind::constant, 0}; }
  Value get(unsigned r) const { return r < registers.size() ? registers[r] : Value{}; }
  void set(unsigned r, Value value) {
    if (r != 0 && r < registers.size()) registers[r] = value;
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

  std::set<Process> processes() {
    ways_.push_back({});
    for (unsigned count = 0; !ways_.empty(); count++) {
      if (count == kMostWays) return {};
      Way way = ways_.back();
      ways_.pop_back();
      if (!go(way)) return {};
    }
    return found_;
  }

 private:
  // To the end or to a branch. False: it may be true in any process.
  bool go(Way& way) {
    for (; way.pc < difo_.text.size(); way.pc++) {
      const Instruction in = difo_.text[way.pc];
      if (in.number() == 0 || in.number() > dif::kOpcodeCount) return false;
      if (dif::info(in.opcode()).format == dif::Format::branch) return branch(way, in);
      if (!way.process && !cannot_fault(in.opcode()) && !compares_name(way, in)) return false;
      if (in.opcode() == Opcode::ret) return end(way, way.get(in.rd()));
      step(way, in);
    }
    return false;
  }

  static bool compares_name(const Way& way, Instruction in) {
    const auto has_name = [](const Value& a, const Value& b) {
      return a.kind == Value::Kind::name && b.kind == Value::Kind::text;
    };
    const Value left = way.get(in.r1()), right = way.get(in.r2());
    return in.opcode() == Opcode::scmp && (has_name(left, right) || has_name(right, left));
  }

  void step(Way& way, Instruction in) const {
    switch (in.opcode()) {
      case Opcode::cmp:
      case Opcode::scmp:
        way.left = way.get(in.r1()), way.right = way.get(in.r2());
        return;
      case Opcode::tst:
        way.left = way.right = {};
        return;
      case Opcode::mov:
        return way.set(in.rd(), way.get(in.r1()));
      case Opcode::setx:
        return way.set(in.rd(),
                       in.index() < difo_.integers.size() ? Value{Value::Kind::constant, difo_.integers[in.index()]} : Value{});
      case Opcode::sets:
        return way.set(in.rd(), {Value::Kind::text, in.index()});
      case Opcode::ldgs:
        return way.set(in.rd(), built_in(in.index()));
      default:
        return way.set(in.rd(), {});
    }
  }

  static Value built_in(unsigned id) {
    if (id == static_cast<unsigned>(dif::BuiltIn::pid)) return {Value::Kind::pid};
    return id == static_cast<unsigned>(dif::BuiltIn::execname) ? Value{Value::Kind::name} : Value{};
  }

  // The process that the last comparison was with, if it was with one.
  std::optional<Process> compared(const Way& way) const {
    for (const auto& [what, with] : {std::pair(way.left, way.right), {way.right, way.left}}) {
      if (what.kind == Value::Kind::pid && with.kind == Value::Kind::constant) return as_pid(with.number);
      if (what.kind == Value::Kind::name && with.kind == Value::Kind::text) return as_name(with.number);
    }
    return std::nullopt;
  }
  static std::optional<Process> as_pid(uint64_t number) {
    if (number > std::numeric_limits<int32_t>::max()) return std::nullopt;
    return static_cast<int32_t>(number);
  }
  std::optional<Process> as_name(uint64_t at) const {
    if (at >= difo_.strings.size()) return std::nullopt;
    const std::string name = difo_.strings.substr(at, difo_.strings.find('\0', at) - at);
    if (name.size() > kMostName) return std::nullopt;
    return name;
  }

  bool branch(const Way& way, Instruction in) {
    if (in.label() <= way.pc) return false;
    const std::optional<Process> process = compared(way);
    if (in.opcode() != Opcode::ba) take(way, way.pc + 1, in.opcode() == Opcode::bne ? process : std::nullopt);
    take(way, in.label(), in.opcode() == Opcode::be ? process : std::nullopt);
    return true;
  }

  // A way on which the process would have to have two numbers, or two names, is none. A number says more than a name.
  void take(Way way, size_t pc, const std::optional<Process>& process) {
    if (process && way.process && process->index() == way.process->index() && *process != *way.process) return;
    if (process && !(way.process && std::holds_alternative<int32_t>(*way.process))) way.process = process;
    way.pc = pc;
    ways_.push_back(std::move(way));
  }

  bool end(const Way& way, const Value& result) {
    if (result.kind == Value::Kind::constant && result.number == 0) return true;
    if (way.process) found_.insert(*way.process);
    return way.process.has_value() && found_.size() <= kMostProcesses;
  }

  const dif::Difo& difo_;
  std::vector<Way> ways_;
  std::set<Process> found_;
};

}  // namespace

WantedProcesses wanted_processes(const dif::Difo& predicate) {
  WantedProcesses wanted;
  for (const Process& process : Walk(predicate).processes()) {
    if (const int32_t* pid = std::get_if<int32_t>(&process))
      wanted.pids.push_back(*pid);
    else
      wanted.names.push_back(std::get<std::string>(process));
  }
  return wanted;
}

WantedProcesses wanted_processes(std::span<const dif::EcbDesc* const> clauses) {
  std::set<int32_t> pids;
  std::set<std::string> names;
  for (const dif::EcbDesc* clause : clauses) {
    const WantedProcesses wanted = clause->predicate ? wanted_processes(clause->predicate->difo) : WantedProcesses{};
    if (wanted.is_any()) return {};
    pids.insert(wanted.pids.begin(), wanted.pids.end());
    names.insert(wanted.names.begin(), wanted.names.end());
  }
  return {{pids.begin(), pids.end()}, {names.begin(), names.end()}};
}

}  // namespace dvm::runtime
