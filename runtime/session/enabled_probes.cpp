// Tested by tests/unit/runtime/enabling_test.cpp.

#include "runtime/session/enabled_probes.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_map>

#include "runtime/backend/local/site_clauses.h"

namespace dvm::runtime {
namespace {

using known::KnownValue;
using known::Locals;

// The events of a probe at the entry or return of system calls; none of any other probe.
std::span<const KernelEvent> calls_of(const Probe& probe, std::string_view tracepoint) {
  const auto* site = std::get_if<TracepointSite>(&probe.site);
  const bool is_call = site && probe.provider == "syscall" && !site->events.empty() && site->events[0].tracepoint == tracepoint;
  return is_call ? std::span(site->events) : std::span<const KernelEvent>();
}

// The number that a register has among the arguments of a system call.
std::optional<unsigned> call_argument(const Operand& operand) {
  const auto* found = std::find(kSyscallRegisters.begin(), kSyscallRegisters.end(), operand.base);
  if (operand.kind != Operand::Kind::saved || found == kSyscallRegisters.end()) return std::nullopt;
  return static_cast<unsigned>(found - kSyscallRegisters.begin());
}

// The thread-local variables that are known at the return of a call, from those at its entry: its arguments keep their registers.
Locals at_return(const Locals& at_entry, const KernelEvent& entry) {
  Locals known;
  for (auto [variable, value] : at_entry) {
    if (variable < known::kOfThread || !value.is_word() || value.word.arg >= kArguments) continue;
    const auto argument = call_argument(entry.args[value.word.arg].operand);
    if (!argument) continue;
    value.word.arg = Word::of_call(*argument).arg;
    known.emplace(variable, value);
  }
  return known;
}

// The needs of clauses, each worked out once for the same known variables.
class ClauseNeeds {
 public:
  explicit ClauseNeeds(const dif::Options& options)
      : strsize_(static_cast<uint32_t>(std::clamp<int64_t>(options[dif::Option::strsize], 1, 1 << 24))) {}

  // What scripts keep of a system call at its entry, for the clauses at its return.
  void note_entries(const Enabling& enabling) {
    for (const ProbeEcbs& probe : enabling.probes()) {
      const std::span<const KernelEvent> events = calls_of(*probe.probe, "sys_enter");
      if (events.empty()) continue;
      Locals known;
      of_all(probe.ecbs, known);
      for (const KernelEvent& event : events) at_return_[probe.probe->function].push_back(at_return(known, event));
    }
  }

  // Integers of the thread in which clauses of one probe keep addresses for those of another.
  void note_kept(const Enabling& enabling) {
    Locals all;
    std::set<unsigned> stored;
    for (const dif::Variable& one : enabling.variables())
      if (const auto number = kept_number(one)) all.emplace(known::kOfThread + one.id, KnownValue::of(Word::of_kept(*number)));
    for (const ProbeEcbs& probe : enabling.probes()) {
      if (!is_in_process(*probe.probe)) continue;
      Locals known = all;
      for (const MemoryNeed& need : of_all(probe.ecbs, known).memory) note_address(need, all);
      for (const Ecb* ecb : probe.ecbs)  // in a thread, a record starts from the variable that its own clause names
        for (const MemoryNeed& need : find(ecb->plan->desc, all).needs.memory) note_address(need, all);
      for (const auto& [variable, value] : known)
        if (all.contains(variable) && value.is_word() && value != all.at(variable)) stored.insert(variable);
    }
    for (const auto& [variable, value] : addresses_)
      if (stored.contains(variable)) kept_.emplace(variable, value);
  }
  // Those that clauses take for addresses, wherever they come from.
  const Locals& addresses() const { return addresses_; }

  CaptureNeeds of(const ProbeEcbs& probe, std::vector<LateMemory>& late) {
    if (is_in_process(*probe.probe)) return in_process(probe, late);
    Locals nothing;
    if (calls_of(*probe.probe, "sys_exit").empty()) return of_all(probe.ecbs, nothing, &late);
    const std::vector<Locals>& entries = at_return_[probe.probe->function];
    CaptureNeeds all = of_all(probe.ecbs, nothing, entries.empty() ? &late : nullptr);
    for (Locals known : entries) all |= of_all(probe.ecbs, known, &late);
    return all;
  }

  // ERROR fires where the fault was, so what its clauses ask of the thread and the time must be captured with every probe that
  // can fault. Its arguments are its own.
  CaptureNeeds on_error(const Enabling& enabling) {
    CaptureNeeds needs;
    std::vector<LateMemory> nothing;
    for (const ProbeEcbs& probe : enabling.probes())
      if (is_own(*probe.probe, "ERROR")) needs = of(probe, nothing);
    needs.args = 0;
    needs.memory.clear();
    needs.keeps.clear();
    return needs;
  }

 private:
  static bool is_in_process(const Probe& probe) { return std::holds_alternative<UprobeSite>(probe.site); }
  static int64_t offset_of(const KnownValue& value) { return static_cast<int64_t>(value.number); }

  static std::optional<unsigned> kept_number(const dif::Variable& one) {
    const bool is_word = one.scope == dif::Scope::thread && one.kind == dif::VariableKind::scalar &&
                         one.type.kind == dif::TypeKind::integer && !one.type.by_ref() && one.type.size == sizeof(uint64_t);
    const unsigned number = one.id - dif::kFirstUserVariable;
    return is_word && number < Word::kKeptWords ? std::optional(number) : std::nullopt;
  }

  CaptureNeeds in_process(const ProbeEcbs& probe, std::vector<LateMemory>& late) {
    Locals known = kept_;
    CaptureNeeds all = of_all(probe.ecbs, known, &late);
    for (const auto& [variable, kept] : kept_) {
      const auto value = known.find(variable);
      if (value == known.end() || !value->second.is_word() || value->second == kept) continue;
      all.add(KeptWord{static_cast<uint8_t>(kept.word.kept_number()), value->second.word, offset_of(value->second)});
    }
    return all;
  }

  void note_address(const MemoryNeed& need, const Locals& all) {
    for (const auto& [variable, value] : all) {
      const bool is_base = need.base.arg == value.word.arg;
      if (is_base || (need.sized_by && need.sized_by->arg == value.word.arg)) addresses_.emplace(variable, value);
    }
  }

  struct Found {
    Locals before, after;
    CaptureNeeds needs;
    LateVariables late{};
  };

  // variables: those that are known before the first clause, and after the last one.
  CaptureNeeds of_all(const std::vector<const Ecb*>& ecbs, Locals& variables, std::vector<LateMemory>* late = nullptr) {
    CaptureNeeds all;
    for (const Ecb* ecb : ecbs) {
      const Found& found = find(ecb->plan->desc, variables);
      all |= found.needs;
      for (const std::string& one : found.late)
        if (late != nullptr) late->push_back({ecb->plan->clause, one});
      keep_words(variables, found.after);
    }
    return all;
  }

  const Found& find(const dif::EcbDesc& clause, const Locals& before) {
    std::vector<Found>& all = found_[&clause];
    const auto known = std::find_if(all.begin(), all.end(), [&](const Found& one) { return one.before == before; });
    if (known != all.end()) return *known;
    Found& made = all.emplace_back(Found{before, before, {}});
    made.needs = needs_of(clause, strsize_, made.after, &made.late);
    return made;
  }

  uint32_t strsize_;
  std::unordered_map<const dif::EcbDesc*, std::vector<Found>> found_;
  std::map<std::string, std::vector<Locals>> at_return_;  // by the name of the system call
  Locals addresses_;                                      // variables with addresses that probes of processes follow
  Locals kept_;                                           // those to which a probe of a process assigns a word that it knows
};

}  // namespace

std::vector<EnabledProbe> enabled_probes(const Enabling& enabling, const dif::Options& options, bool may_run_at_site) {
  const int64_t unwound = options[dif::Option::ustackunwind];
  const uint32_t stack_bytes = unwound < 0 ? kWhereNeeded : static_cast<uint32_t>(unwound);
  ClauseNeeds needs(options);
  needs.note_entries(enabling);
  needs.note_kept(enabling);
  const CaptureNeeds on_error = needs.on_error(enabling);
  const SiteClauses site_clauses(enabling, options, needs.addresses());
  std::vector<EnabledProbe> result;
  for (const ProbeEcbs& probe : enabling.probes()) {
    std::vector<const dif::EcbDesc*> clauses;
    for (const Ecb* ecb : probe.ecbs) clauses.push_back(&ecb->plan->desc);
    std::vector<LateMemory> late;
    result.push_back({probe.probe, needs.of(probe, late), wanted_processes(clauses), options[dif::Option::site] != 0,
                      static_cast<ReturnBy>(options[dif::Option::return_])});
    result.back().late = std::move(late);
    if (may_run_at_site) {
      SiteClauseList at_site = site_clauses.clauses_of(probe);
      for (SiteClause& clause : at_site.clauses) {
        for (std::optional<ClauseRecordPlan>* record : {&clause.record, &clause.fault}) {
          if (!*record) continue;
          if (probe.needs_machine) (*record)->needs |= on_error;
          if ((*record)->needs.frames != 0) (*record)->needs.stack_bytes = stack_bytes;
        }
      }
      result.back().clauses = std::move(at_site.clauses);
      result.back().in_dvm = at_site.in_dvm;
      result.back().globals = std::move(at_site.globals);
      result.back().other_globals = std::move(at_site.other_globals);
    }
    result.back().has_thread_variables = site_clauses.has_thread_variables(probe);
    if (probe.needs_machine) result.back().needs |= on_error;
    if (result.back().needs.frames != 0) result.back().needs.stack_bytes = stack_bytes;
  }
  return result;
}

}  // namespace dvm::runtime
