// Follows the paths through a predicate. Tested by tests/unit/instrument/wanted_processes_test.cpp.
#include "runtime/instrument/wanted_processes.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "dvm/dif/forward_flow.h"
#include "dvm/dif/variable.h"

namespace dvm::runtime {
namespace {

using dif::Instruction;
using dif::Opcode;

constexpr size_t kMostPaths = 256;
constexpr size_t kMostProcesses = 64;
constexpr size_t kMostName = 15;  // characters that the kernel keeps of a name

struct ComparedValue {
  enum class Kind : uint8_t { unknown, constant, pid, text, name };
  Kind kind = Kind::unknown;
  uint64_t number = 0;  // a constant, or the offset of a text in the string table
  friend bool operator==(const ComparedValue&, const ComparedValue&) = default;
};

using WantedProcess = std::variant<int32_t, std::string>;

// What is known on one path through the predicate.
struct Path {
  std::array<ComparedValue, dif::kRegisters> registers{};
  ComparedValue left, right;             // that were compared last
  std::optional<WantedProcess> process;  // that it must be

  Path() { registers[0] = {ComparedValue::Kind::constant, 0}; }
  ComparedValue get(unsigned r) const { return r < registers.size() ? registers[r] : ComparedValue{}; }
  void set(unsigned r, ComparedValue value) {
    if (r != 0 && r < registers.size()) registers[r] = value;
  }
  friend bool operator==(const Path&, const Path&) = default;
};

// Paths are kept apart where they meet: which process it must be depends on the path.
using Paths = std::vector<Path>;

class Walk {
 public:
  explicit Walk(const dif::Difo& difo) : difo_(difo) {}

  // Nothing: all processes. Empty: the predicate is never true.
  std::optional<std::set<WantedProcess>> processes() {
    flow_forward(difo_, Paths(1), *this);
    return is_any_ ? std::nullopt : std::optional(std::move(found_));
  }

  void step(Paths& paths, Instruction in, size_t pc) {
    is_any_ |= !dif::is_opcode(in.number()) || leaves_text(in, pc);
    if (is_any_) return;
    for (Path& path : paths) step(path, in);
  }

  void split(Paths& next, Paths& taken, Instruction in, size_t) const {
    require_process(next, in.opcode() == Opcode::bne);
    require_process(taken, in.opcode() == Opcode::be);
  }

  void join(Paths& into, const Paths& from, size_t) {
    for (const Path& path : from)
      if (std::find(into.begin(), into.end(), path) == into.end()) into.push_back(path);
    is_any_ |= into.size() > kMostPaths;
  }

 private:
  // Only where the predicate is not verified.
  bool leaves_text(Instruction in, size_t pc) const {
    if (is_branch(in) && (in.label() <= pc || in.label() >= difo_.text.size())) return true;
    return goes_on(in) && pc + 1 == difo_.text.size();
  }

  void step(Path& path, Instruction in) {
    const dif::OpcodeInfo& row = dif::info(in.opcode());
    if (!path.process && row.can_fault && !compares_name(path, in)) is_any_ = true;
    switch (row.format) {
      case dif::Format::ret:
        return end(path, path.get(in.rd()));
      case dif::Format::cmp:
        path.left = path.get(in.r1()), path.right = path.get(in.r2());
        return;
      case dif::Format::tst:
        path.left = path.right = {};
        return;
      case dif::Format::none:
      case dif::Format::branch:
      case dif::Format::copy:
      case dif::Format::store:
      case dif::Format::stv:
      case dif::Format::pushts:
      case dif::Format::pushv:
        return;
      default:
        return path.set(in.rd(), loaded(path, in));
    }
  }

  static bool compares_name(const Path& path, Instruction in) {
    const auto has_name = [](const ComparedValue& a, const ComparedValue& b) {
      return a.kind == ComparedValue::Kind::name && b.kind == ComparedValue::Kind::text;
    };
    const ComparedValue left = path.get(in.r1()), right = path.get(in.r2());
    return has_format(in, dif::Format::cmp) && (has_name(left, right) || has_name(right, left));
  }

  ComparedValue loaded(const Path& path, Instruction in) const {
    if (is_move(in)) return path.get(in.r1());
    if (has_format(in, dif::Format::sets)) return {ComparedValue::Kind::text, in.index()};
    if (has_format(in, dif::Format::setx) && in.index() < difo_.integers.size())
      return {ComparedValue::Kind::constant, difo_.integers[in.index()]};
    const auto id = built_in_of(in);
    if (id == static_cast<unsigned>(dif::BuiltIn::pid)) return {ComparedValue::Kind::pid};
    return id == static_cast<unsigned>(dif::BuiltIn::execname) ? ComparedValue{ComparedValue::Kind::name} : ComparedValue{};
  }

  // The process that the last comparison was with, if it was with one.
  std::optional<WantedProcess> compared(const Path& path) const {
    for (const auto& [what, with] : {std::pair(path.left, path.right), {path.right, path.left}}) {
      if (what.kind == ComparedValue::Kind::pid && with.kind == ComparedValue::Kind::constant) return as_pid(with.number);
      if (what.kind == ComparedValue::Kind::name && with.kind == ComparedValue::Kind::text) return as_name(with.number);
    }
    return std::nullopt;
  }
  static std::optional<WantedProcess> as_pid(uint64_t number) {
    if (number > std::numeric_limits<int32_t>::max()) return std::nullopt;
    return static_cast<int32_t>(number);
  }
  std::optional<WantedProcess> as_name(uint64_t at) const {
    if (at >= difo_.strings.size()) return std::nullopt;
    const std::string name = difo_.strings.substr(at, difo_.strings.find('\0', at) - at);
    if (name.size() > kMostName) return std::nullopt;
    return name;
  }

  // Behind a branch that tells that what was compared is equal. A path on which the process would need two numbers, or two names,
  // does not exist. A number says more than a name.
  void require_process(Paths& paths, bool is_equal) const {
    if (!is_equal) return;
    std::erase_if(paths, [this](const Path& path) {
      const auto process = compared(path);
      return process && path.process && process->index() == path.process->index() && *process != *path.process;
    });
    for (Path& path : paths)
      if (const auto process = compared(path); process && !(path.process && std::holds_alternative<int32_t>(*path.process)))
        path.process = process;
  }

  void end(const Path& path, const ComparedValue& result) {
    if (result.kind == ComparedValue::Kind::constant && result.number == 0) return;
    if (path.process) found_.insert(*path.process);
    is_any_ |= !path.process || found_.size() > kMostProcesses;
  }

  const dif::Difo& difo_;
  std::set<WantedProcess> found_;
  bool is_any_ = false;
};

WantedProcesses sorted(const std::set<WantedProcess>& processes) {
  WantedProcesses wanted;
  for (const WantedProcess& process : processes) {
    if (const int32_t* pid = std::get_if<int32_t>(&process))
      wanted.pids.push_back(*pid);
    else
      wanted.names.push_back(std::get<std::string>(process));
  }
  return wanted;
}

}  // namespace

WantedProcesses wanted_processes(const dif::Difo& predicate) {
  return sorted(Walk(predicate).processes().value_or(std::set<WantedProcess>()));
}

WantedProcesses wanted_processes(std::span<const dif::EcbDesc* const> clauses) {
  std::set<WantedProcess> all;
  for (const dif::EcbDesc* clause : clauses) {
    auto wanted = clause->predicate ? Walk(clause->predicate->difo).processes() : std::nullopt;
    if (!wanted) return {};
    all.merge(*wanted);
  }
  return sorted(all);
}

}  // namespace dvm::runtime
