// Tested by tests/unit/runtime/handle_test.cpp.

#include "runtime/session/probing.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "common/similar.h"
#include "runtime/consumer/json_printer.h"
#include "runtime/consumer/record_copies.h"
#include "runtime/process/cpu_topology.h"
#include "runtime/process/process.h"
#include "runtime/session/enabled_probes.h"

namespace dvm::runtime {
namespace {

bool fires_anywhere(const Probe& probe) {
  return std::holds_alternative<TracepointSite>(probe.site) || std::holds_alternative<TimerSite>(probe.site);
}

// Why a clause on the probe asks for goid in vain; empty: it does not.
std::string_view unknown_goroutine(const EnabledProbe& enabled) {
  constexpr std::string_view kElsewhere = "goid is known only at the entry, the return and the instructions of functions of Go";
  if ((enabled.needs.args & kGoroutineBit) == 0) return {};
  const auto problem = [&](const UprobeSite& site) {
    const std::optional<Operands>& known = site.inside ? site.inside : site.passed;
    if (known && (*known)[kGoroutine].kind != Operand::Kind::none) return std::string_view();
    return site.no_goroutine.empty() ? kElsewhere : site.no_goroutine;
  };
  const auto* site = std::get_if<UprobeSite>(&enabled.probe->site);
  std::string_view found = site == nullptr ? kElsewhere : problem(*site);
  for (const UprobeSite& more : enabled.probe->more_sites)
    if (found.empty()) found = problem(more);
  return found;
}

std::string unknown_argument(const EnabledProbe& enabled) {
  for (const UnknownArgument& one : enabled.probe->unknown_arguments)
    if ((enabled.needs.args >> one.number & 1) != 0)
      return fmt::format("a clause reads arg{}, which cannot be read, {}", one.number, one.reason);
  return {};
}

// Why a value that a clause reads is not known at the probe; empty: all are.
std::string unknown_value(const EnabledProbe& enabled) {
  const std::string_view goroutine = unknown_goroutine(enabled);
  return goroutine.empty() ? unknown_argument(enabled) : std::string(goroutine);
}

}  // namespace

int32_t process_of(std::string_view provider) {
  const std::string_view digits = provider.substr(provider.find_last_not_of("0123456789") + 1);
  int32_t pid = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), pid);
  return pid;
}

Discovery Probing::discover(const dif::ProbeDesc& description) {
  Discovery result;
  for (auto& provider : providers_) {
    Discovery found = provider->discover(description, catalog_);
    if (provider->name() == "absent" && !found.reason.empty()) return found;  // nfsv3 is no provider nfsv of process 3
    if (result.reason.empty()) result.reason = found.reason, result.tag = found.tag;
    if (!result.advise) result.advise = std::move(found.advise);
    result.similar.insert(result.similar.end(), found.similar.begin(), found.similar.end());
  }
  if (result.similar.empty() && catalog_.match(description).empty()) result.similar = similar_providers(description.provider);
  if (config_.is_replay && result.reason.empty() && catalog_.match(description).empty())
    result.reason = "the recording has no such probe; dvm replay --info lists its probes", result.tag = "D_PDESC_ZERO";
  const int32_t pid = process_of(description.provider);
  const bool is_missing = has_provider(description.provider) && catalog_.match(description).empty();
  const bool is_amiss = !result.reason.empty() || is_missing;
  return !is_amiss || config_.is_replay || pid <= 0 || !is_gone(pid) ? result : gone(pid);
}

// Whatever a step has found amiss: the process may end at any moment.
Discovery Probing::gone(int32_t pid) const {
  const std::string_view why = pid == config_.target ? "it has exited" : "no such process, or it has exited";
  return {fmt::format("failed to grab process {}: {}", pid, why), "D_PROC_GRAB", {}};
}

bool Probing::has_provider(std::string_view name) const {
  const std::string_view kind = name.substr(0, name.find_last_not_of("0123456789") + 1);  // pid123 is one of pid
  return std::any_of(providers_.begin(), providers_.end(),
                     [&](const auto& p) { return p->is_named_in_descriptions() && (p->name() == name || p->name() == kind); });
}

// Near to a name that no provider has; with the number of a process, if it ends with one.
std::vector<std::string> Probing::similar_providers(std::string_view name) const {
  const size_t digits = name.find_last_not_of("0123456789") + 1;
  std::vector<std::string_view> known;
  for (const auto& provider : providers_) {
    const std::string_view its = provider->name();
    if (its == name || its == name.substr(0, digits)) return {};
    if (provider->is_named_in_descriptions() && (its == "pid") == (digits < name.size())) known.push_back(its);
  }
  std::vector<std::string> near = similar_names(name.substr(0, digits), known);
  for (std::string& each : near) each += name.substr(digits);
  return near;
}

std::vector<const Probe*> Probing::match(const dif::ProbeDesc& description) {
  std::vector<const Probe*> found = catalog_.match(description);
  return config_.options[dif::Option::demangle] > 0 ? demangled_.rename(std::move(found)) : found;
}

Status Probing::enable(const dif::Program& program) {
  consumer_.symbols().set_demangling(config_.options[dif::Option::demangle] > 0);
  const auto matches = [this](const dif::ProbeDesc& description) { return match(description); };
  const auto add = [&](const dif::Program& enabled) { return enabling_.add(enabled, matches, config_.options, config_.cost); };
  const bool has_origins = config_.trace_events != nullptr || config_.record_reader != nullptr;
  const dif::Program told = has_origins ? with_origins(program) : dif::Program();
  const dif::Program& shown = has_origins ? told : program;
  if (Status status = config_.as_json ? add(with_times(shown)) : add(shown); !status) return status;
  return consumer_.prepare();
}

Status Probing::check() const {
  if (const int64_t cpu = config_.options[dif::Option::cpu]; cpu >= 0 && !config_.is_replay) {
    const std::vector<int> online = online_cpus();
    if (std::find(online.begin(), online.end(), cpu) == online.end()) return Error{fmt::format("CPU {} is not online", cpu)};
  }
  if (config_.options[dif::Option::destructive] <= 0 && is_destructive()) return Error{"Destructive actions not allowed"};
  return {};
}

Status Probing::extend(uint32_t last_id) {
  const auto matches = [&](const dif::ProbeDesc& description) {
    std::vector<const Probe*> found = match(description);
    std::erase_if(found, [&](const Probe* probe) { return probe->id <= last_id; });
    return found;
  };
  const size_t probes = enabling_.probes().size();
  enabling_.extend(matches);
  if (Status status = check(); !status) return status;
  for (const auto& backend : backends_)
    if (Status status = backend->extend(); !status) return status;
  if (Status status = consumer_.prepare(); !status) return status;
  learn_processes();
  std::vector<Refused> refused;
  const std::vector<EnabledProbe> all = enabled_probes(enabling_, config_.options, config_.cost == vm::CostPolicy::none);
  Status status = turn_on(std::span(all).subspan(probes), refused);
  if (!refused.empty())
    consumer_.notice(fmt::format("{} of files that were mapped late {} left out, {} of {}{}: {}",
                                 refused.size() == 1 ? "1 probe" : fmt::format("{} probes", refused.size()),
                                 refused.size() == 1 ? "is" : "are", refused[0].probe->function, refused[0].probe->module,
                                 refused.size() == 1 ? "" : " and others", refused[0].reason));
  return status;
}

// Why the backend does not take the probe with all its clauses; empty: it does.
std::string Probing::refusal(const EnabledProbe& enabled, const Backend& backend) const {
  for (const Ecb* ecb : enabling_.find(enabled.probe->id)->ecbs)
    if (Answer answer = backend.answer(*ecb->plan, *enabled.probe); !answer.is_taken()) return std::move(answer.reason);
  return "";
}

// A probe that is left, and why no backend so far makes it fire.
struct Probing::Left {
  const EnabledProbe* probe = nullptr;
  std::string reason;
};

Status Probing::turn_on(std::vector<Left>& left, Backend& backend) {
  std::vector<EnabledProbe> share;
  std::vector<Left> others;
  for (Left& one : left)
    if (std::string reason = refusal(*one.probe, backend); reason.empty())
      share.push_back(*one.probe);
    else
      others.push_back({one.probe, std::move(reason)});
  std::vector<Refused> refused;
  if (!share.empty())
    if (Status status = backend.enable(share, refused); !status) return status;
  std::unordered_map<const Probe*, const EnabledProbe*> enabled;
  if (!refused.empty())
    for (const Left& one : left) enabled.try_emplace(one.probe->probe, one.probe);
  for (Refused& one : refused) others.push_back({enabled.at(one.probe), std::move(one.reason)});
  left = std::move(others);
  return {};
}

Status Probing::turn_on(std::span<const EnabledProbe> probes, std::vector<Refused>& refused) {
  std::vector<Left> left;
  for (const EnabledProbe& probe : probes) {
    if (is_own(*probe.probe)) continue;  // nothing has to be enabled
    if (std::string problem = config_.is_replay ? unknown_argument(probe) : unknown_value(probe); !problem.empty())
      refused.push_back({probe.probe, std::move(problem)});
    else
      left.push_back({&probe, ""});
  }
  for (const auto& backend : backends_)
    if (Status status = turn_on(left, *backend); !status) return status;
  for (Left& one : left) refused.push_back({one.probe->probe, std::move(one.reason)});
  for (const std::string& note : late_.take(probes, refused, backends_)) consumer_.notice(note);
  return {};
}

void Probing::learn_processes() {
  if (config_.is_replay) return;
  std::set<int32_t> processes;
  for (const ProbeEcbs& probe : enabling_.probes()) {
    if (const auto* site = std::get_if<UprobeSite>(&probe.probe->site))
      processes.insert(site->pid);
    else if (fires_anywhere(*probe.probe) && config_.target != 0)
      processes.insert(config_.target);
  }
  const bool destroys = is_destructive();
  for (const int32_t pid : processes) {
    consumer_.symbols().learn(pid);
    for (const auto& backend : backends_) backend->learn(pid, destroys);
  }
}

std::set<int32_t> Probing::roots() const {
  std::set<int32_t> all;
  if (config_.target != 0) all.insert(config_.target);
  for (const dif::ProbeDesc* description : enabling_.descriptions())
    if (const int32_t pid = process_of(description->provider); pid > 0) all.insert(pid);
  return all;
}

// A process may end at any moment, and each step then fails for a reason of its own that says nothing.
Status Probing::after_exits(Status status, bool is_complete) const {
  if (config_.is_replay || (status && is_complete)) return status;
  const std::set<int32_t> all = roots();
  const auto gone = std::find_if(all.begin(), all.end(), is_gone);
  const bool is_lost = !status || std::all_of(all.begin(), all.end(), is_gone);
  return gone == all.end() || !is_lost ? status : Error{fmt::format("process {} has exited", *gone)};
}

}  // namespace dvm::runtime
