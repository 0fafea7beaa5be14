// From probe descriptions to probes that are on. Tested by tests/unit/runtime/handle_test.cpp.

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>

#include "common/similar.h"
#include "runtime/consumer/json_printer.h"
#include "runtime/process/process.h"
#include "runtime/session/impl.h"

namespace dvm::runtime {
namespace {

bool is_error_probe(const Probe& probe) { return std::holds_alternative<InternalSite>(probe.site) && probe.name == "ERROR"; }

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

}  // namespace

Handle::Impl::Impl(HandleConfig c)
    : config(c),
      host(config),
      consumer(c.out, c.err, config.options, enabling, c.as_json, c.symbols ? c.symbols : std::make_shared<UserSymbols>()) {
  consumer.set_target(config.target);
  if (accounts()) consumer.count_into(consumed);
  wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
}
Handle::Impl::~Impl() {
  for (auto& instrument : instruments) instrument->disable();
  if (wake >= 0) close(wake);
}

Handle::Handle(HandleConfig config) : impl_(std::make_unique<Impl>(config)) {}
Handle::~Handle() = default;

Catalog& Handle::catalog() { return impl_->catalog; }
dif::Options& Handle::options() { return impl_->config.options; }
bool Handle::is_replay() const { return impl_->config.is_replay; }
UserSymbols& Handle::symbols() { return impl_->consumer.symbols(); }
void Handle::add_provider(std::unique_ptr<Provider> provider) { impl_->providers.push_back(std::move(provider)); }
void Handle::add_instrument(std::unique_ptr<Instrument> instrument) { impl_->instruments.push_back(std::move(instrument)); }

Discovery Handle::discover(const dif::ProbeDesc& description) {
  Discovery result;
  for (auto& provider : impl_->providers) {
    Discovery found = provider->discover(description, impl_->catalog);
    if (result.reason.empty()) result.reason = found.reason, result.tag = found.tag;
    result.similar.insert(result.similar.end(), found.similar.begin(), found.similar.end());
  }
  if (result.similar.empty() && impl_->catalog.match(description).empty())
    result.similar = impl_->similar_providers(description.provider);
  const int32_t pid = process_of(description.provider);
  return result.reason.empty() || is_replay() || pid <= 0 || !is_gone(pid) ? result : impl_->gone(pid);
}

// Whatever a step has found amiss: the process may end at any moment.
Discovery Handle::Impl::gone(int32_t pid) const {
  const std::string_view why = pid == config.target ? "it has exited" : "no such process, or it has exited";
  return {fmt::format("failed to grab process {}: {}", pid, why), "D_PROC_GRAB", {}};
}

bool Handle::has_provider(std::string_view name) const {
  const std::string_view kind = name.substr(0, name.find_last_not_of("0123456789") + 1);  // pid123 is one of pid
  return std::any_of(impl_->providers.begin(), impl_->providers.end(),
                     [&](const auto& p) { return p->is_named_in_descriptions() && (p->name() == name || p->name() == kind); });
}

// Near to a name that no provider has; with the number of a process, if it ends with one.
std::vector<std::string> Handle::Impl::similar_providers(std::string_view name) const {
  const size_t digits = name.find_last_not_of("0123456789") + 1;
  std::vector<std::string_view> known;
  for (const auto& provider : providers) {
    const std::string_view its = provider->name();
    if (its == name || its == name.substr(0, digits)) return {};
    if (provider->is_named_in_descriptions() && (its == "pid") == (digits < name.size())) known.push_back(its);
  }
  std::vector<std::string> near = similar_names(name.substr(0, digits), known);
  for (std::string& each : near) each += name.substr(digits);
  return near;
}

std::vector<const Probe*> Handle::Impl::match(const dif::ProbeDesc& description) {
  std::vector<const Probe*> found = catalog.match(description);
  return config.options[dif::Option::demangle] > 0 ? demangled.rename(std::move(found)) : found;
}

Status Handle::enable(const dif::Program& program) {
  const auto matches = [this](const dif::ProbeDesc& description) { return impl_->match(description); };
  const auto add = [&](const dif::Program& enabled) {
    return impl_->enabling.add(enabled, matches, impl_->config.options, impl_->config.cost);
  };
  if (Status status = impl_->config.as_json ? add(with_times(program)) : add(program); !status) return status;
  return impl_->consumer.prepare();
}

std::vector<EnabledProbe> Handle::enabled() const { return impl_->enabled(); }

std::vector<EnabledProbe> Handle::Impl::enabled() const {
  auto strsize = static_cast<uint32_t>(std::clamp<int64_t>(config.options[dif::Option::strsize], 1, 1 << 24));
  std::unordered_map<const dif::EcbDesc*, CaptureNeeds> known;
  auto needs_of_all = [&](const std::vector<const Ecb*>& ecbs) {
    CaptureNeeds all;
    for (const Ecb* ecb : ecbs) {
      auto [needs, is_new] = known.try_emplace(&ecb->plan->desc);
      if (is_new) needs->second = needs_of(ecb->plan->desc, strsize);
      all |= needs->second;
    }
    return all;
  };
  const int64_t unwound = config.options[dif::Option::ustackunwind];
  const uint32_t stack_bytes = unwound < 0 ? kWhereNeeded : static_cast<uint32_t>(unwound);
  const CaptureNeeds on_error = needs_on_error(needs_of_all);
  std::vector<EnabledProbe> result;
  for (const ProbeEcbs& probe : enabling.probes()) {
    std::vector<const dif::EcbDesc*> clauses;
    for (const Ecb* ecb : probe.ecbs) clauses.push_back(&ecb->plan->desc);
    result.push_back({probe.probe, needs_of_all(probe.ecbs), wanted_processes(clauses), config.options[dif::Option::site] != 0,
                      static_cast<ReturnBy>(config.options[dif::Option::return_])});
    if (probe.needs_machine) result.back().needs |= on_error;
    if (result.back().needs.frames != 0) result.back().needs.stack_bytes = stack_bytes;
  }
  return result;
}

// ERROR fires where the fault was, so what its clauses ask of the thread and the time must be captured with every probe that can
// fault. Its arguments are its own.
CaptureNeeds Handle::Impl::needs_on_error(const std::function<CaptureNeeds(const std::vector<const Ecb*>&)>& needs_of_all) const {
  CaptureNeeds needs;
  for (const ProbeEcbs& probe : enabling.probes())
    if (is_error_probe(*probe.probe)) needs = needs_of_all(probe.ecbs);
  needs.args = 0;
  needs.memory.clear();
  return needs;
}

Status Handle::Impl::check() const {
  if (config.options[dif::Option::destructive] <= 0 && !enabling.destructive_action().empty())
    return Error{"Destructive actions not allowed"};
  if (wake < 0) return Error{"no file descriptor is left"};
  return {};
}

void Handle::Impl::index_probes() {
  for (const ProbeEcbs& probe : enabling.probes()) {
    uint32_t id = probe.probe->id;
    if (id >= kMostDirectIds) continue;
    if (by_id.size() <= id) by_id.resize(id + 1);
    by_id[id] = &probe;
  }
  for (const ProbeEcbs& probe : enabling.probes())
    if (is_error_probe(*probe.probe)) context.error_probe = &probe;
}

// While the processes are there to be looked at. What acts on them should do so soon.
void Handle::Impl::learn_processes() {
  if (config.is_replay) return;
  const bool is_destructive = !enabling.destructive_action().empty();
  acts_soon = acts_soon || is_destructive;
  const auto learn = [&](int32_t pid) {
    consumer.symbols().learn(pid);
    host.learn(pid, is_destructive);
  };
  for (const ProbeEcbs& probe : enabling.probes()) {
    if (const auto* site = std::get_if<UprobeSite>(&probe.probe->site))
      learn(site->pid);
    else if (fires_anywhere(*probe.probe) && config.target != 0)
      learn(config.target);
  }
}

void Handle::Impl::activate(Instrument& instrument) {
  if (std::find(active.begin(), active.end(), &instrument) == active.end()) active.push_back(&instrument);
}

Status Handle::Impl::turn_on(std::span<const EnabledProbe> probes, std::vector<Refused>& refused) {
  std::vector<std::vector<EnabledProbe>> shares(instruments.size());
  for (const EnabledProbe& probe : probes) {
    if (std::holds_alternative<InternalSite>(probe.probe->site)) continue;
    if (const std::string_view problem = config.is_replay ? std::string_view() : unknown_goroutine(probe); !problem.empty()) {
      refused.push_back({probe.probe, std::string(problem)});
      continue;
    }
    auto taker = std::find_if(instruments.begin(), instruments.end(), [&](auto& i) { return i->takes(*probe.probe); });
    if (taker == instruments.end())
      refused.push_back({probe.probe, "nothing here can make it fire"});
    else
      shares[static_cast<size_t>(taker - instruments.begin())].push_back(probe);
  }
  for (size_t i = 0; i < instruments.size(); i++) {
    if (shares[i].empty()) continue;
    activate(*instruments[i]);
    if (Status status = instruments[i]->enable(shares[i], refused); !status) return status;
  }
  return {};
}

void Handle::Impl::tell_notes() {
  for (Instrument* instrument : active)
    if (TellsNotes* notes = instrument->abilities().notes)
      for (const std::string& note : notes->take_notes()) consumer.notice(note);
}

bool Handle::holds(int32_t pid) const {
  return std::any_of(impl_->active.begin(), impl_->active.end(), [&](Instrument* one) {
    const HoldsThreads* holds = one->abilities().holds;
    return holds != nullptr && holds->holds(pid);
  });
}

Status Handle::go(std::vector<Refused>& refused) {
  Impl& impl = *impl_;
  if (Status status = impl.check(); !status) return status;
  if (Status status = impl.allocate_buffers(); !status) return status;
  if (Status status = impl.allocate_speculations(); !status) return status;
  if (Status status = impl.allocate_state(); !status) return status;
  if (impl.config.cost == vm::CostPolicy::blocks) impl.fire_one = impl.times() ? fire_probe<OnSample> : fire_probe<OnCount>;
  if (impl.config.cost == vm::CostPolicy::time) impl.fire_one = fire_probe<OnAlways>;
  impl.index_probes();
  impl.only_cpu = impl.config.options[dif::Option::cpu];
  if (impl.accounts()) impl.context.stamps.calibrate();
  impl.first_tick = __rdtsc();
  impl.first_time = read_clock(CLOCK_MONOTONIC_RAW);
  impl.learn_processes();
  if (!impl.config.is_replay && impl.config.options[dif::Option::noresolve] <= 0) impl.context.addresses.make_room();
  if (impl.enabling.chills_others())
    impl.consumer.notice("chill() makes dvm wait, not the thread that fired, which has gone on by then");
  Status status = impl.follow_forks();
  if (status) status = impl.turn_on(impl.enabled(), refused);
  if (status = impl.after_exits(status, refused.empty()); !status) {
    for (Instrument* instrument : impl.active) instrument->disable();
    return status;
  }
  impl.tell_notes();
  impl.watch_loads();
  Clock now = read_clock(CLOCK_MONOTONIC);
  impl.switching.start(now, impl.config.options[dif::Option::switchrate]);
  impl.aggregating.start(now, impl.config.options[dif::Option::aggrate]);
  impl.cleaning.start(impl.config.is_replay ? 0 : now, impl.config.options[dif::Option::cleanrate]);
  impl.reporting.start(now, impl.config.options[dif::Option::statusrate]);
  impl.is_running = true;
  impl.fire_own("BEGIN");
  return {};
}

}  // namespace dvm::runtime
