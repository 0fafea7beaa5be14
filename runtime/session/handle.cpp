// Open, enable, go, stop. Tested by tests/unit/runtime/handle_test.cpp.

#include <algorithm>

#include "common/clock.h"
#include "dvm/vm/engine.h"
#include "runtime/consumer/trace_events.h"
#include "runtime/session/enabled_probes.h"
#include "runtime/session/impl.h"
#include "runtime/session/placements.h"
#include "runtime/session/untraced_children.h"

namespace dvm::runtime {

Handle::Impl::Impl(HandleConfig c)
    : config(c),
      consumer(c.out, c.err, config.options, enabling, c.as_json, c.symbols ? c.symbols : std::make_shared<UserSymbols>(),
               config.named_rows),
      local(static_cast<LocalBackend&>(*backends.emplace_back(std::make_unique<LocalBackend>(config, enabling)))) {
  consumer.set_target(config.target);
  consumer.between_records([this] { fire_overdue(); });
  if (c.shows_source) consumer.show_source();
  if (c.aggregations_copy) consumer.copy_aggregations(c.aggregations_copy, c.copies_stacks_only);
  if (c.trace_events) consumer.copy_records(std::make_shared<TraceEvents>(c.trace_events, enabling));
  if (c.record_reader) consumer.copy_records(c.record_reader);
  if (accounts()) consumer.count_into(accounting.consumed());
}

Handle::Handle(HandleConfig config) : impl_(std::make_unique<Impl>(config)) {}
Handle::~Handle() = default;

Catalog& Handle::catalog() { return impl_->catalog; }
dif::Options& Handle::options() { return impl_->config.options; }
bool Handle::is_replay() const { return impl_->config.is_replay; }
const std::string& Handle::recorded_kernel() const { return impl_->config.recorded_kernel; }
UserSymbols& Handle::symbols() { return impl_->consumer.symbols(); }
void Handle::add_provider(std::unique_ptr<Provider> provider) { impl_->probing.add(std::move(provider)); }
bool Handle::has_provider(std::string_view name) const { return impl_->probing.has_provider(name); }
void Handle::add_instrument(std::unique_ptr<Instrument> instrument, std::string aside) {
  impl_->local.add(std::move(instrument), std::move(aside));
}
void Handle::add_backend(const MakeBackend& make) {
  BackendList& all = impl_->backends;
  all.insert(all.end() - 1, make(impl_->config, impl_->enabling));
}

Discovery Handle::discover(const dif::ProbeDesc& description) { return impl_->probing.discover(description); }
Status Handle::enable(const dif::Program& program) { return impl_->probing.enable(program); }
std::vector<EnabledProbe> Handle::enabled() const {
  return enabled_probes(impl_->enabling, impl_->config.options, !impl_->accounts());
}

// Why a clause does not begin on engine llvm if dvm may choose it.
static std::string why_not_translated() {
  const std::string problem = vm::kEngines[1].problem();
  return problem.empty() ? "translating it does not pay yet" : problem.substr(0, problem.find('\n'));
}

// The other engine, and why a clause does not begin on it.
static void add_engine(Placement& placement, int64_t chosen) {
  if (!placement.engine_problem.empty()) return;
  if (placement.engine == vm::kUsualEngine.name)
    placement.others.emplace_back("llvm", chosen == 0 ? why_not_translated() : "-x engine=interp");
  else if (placement.engine == vm::kEngines[1].name)
    placement.others.emplace_back(vm::kUsualEngine.name, chosen == 0 ? "translating it pays" : "-x engine=llvm");
}

std::vector<Placement> Handle::placements() const {
  std::vector<Placement> all = placements_of(impl_->enabling, impl_->backends);
  for (const Ecb& ecb : impl_->enabling.ecbs())
    for (Placement& placement : all)
      if (placement.clause == ecb.plan->clause) placement.interpreted += impl_->translations.interpreted(ecb.epid);
  for (Placement& placement : all)
    if (placement.engine_problem.empty()) placement.engine_problem = impl_->translations.problem(placement.clause);
  for (Placement& placement : all) add_engine(placement, impl_->config.options[dif::Option::engine]);
  return all;
}
std::vector<Placement> Handle::placements(const Probe& probe) const {
  std::vector<Placement> all;
  const ProbeEcbs* found = impl_->enabling.find(probe.id);
  if (found == nullptr) return all;
  for (const Ecb* ecb : found->ecbs)
    add_engine(all.emplace_back(placement_of(*ecb, impl_->backends)), impl_->config.options[dif::Option::engine]);
  return all;
}

Placement Handle::placement(const Probe& probe) const {
  Placement placement = placement_of({}, probe, impl_->backends);
  if (placement.backend.empty() || !placement.engine.empty()) return placement;
  const int64_t chosen = impl_->config.options[dif::Option::engine];
  const vm::Engine& asked = vm::kEngines[static_cast<size_t>(std::max<int64_t>(chosen, 1)) - 1];  // 0 is auto, which begins as 1
  placement.engine_problem = asked.problem();
  placement.engine = placement.engine_problem.empty() ? asked.name : vm::kUsualEngine.name;
  add_engine(placement, chosen);
  return placement;
}

void Handle::preview(std::span<const EnabledProbe> probes) {
  for (const auto& backend : impl_->backends) backend->preview(probes);
}

std::vector<std::string> Handle::changes() const {
  std::vector<std::string> all;
  for (const auto& backend : impl_->backends)
    if (const TellsNotes* notes = backend->abilities().notes)
      for (std::string& one : notes->changes()) all.push_back(std::move(one));
  return all;
}

bool Handle::holds(int32_t pid) const {
  return std::any_of(impl_->backends.begin(), impl_->backends.end(), [&](const auto& one) {
    const HoldsThreads* holds = one->abilities().holds;
    return holds != nullptr && holds->holds(pid);
  });
}

void Handle::Impl::tell_notes() {
  for (const auto& backend : backends)
    if (TellsNotes* notes = backend->abilities().notes)
      for (const std::string& note : notes->take_notes()) consumer.notice(note);
}

// Once: what one DIFO has met, others will.
void Handle::Impl::tell_engine_problem() {
  for (const EcbCode& code : enabling.codes())
    if (!code.problem.empty()) return tell_interpreted(code.problem);
}

// Timers and BEGIN record nothing of a process.
void Handle::Impl::tell_untraced_children() {
  if (config.is_replay || config.options[dif::Option::followfork] > 0 || local.may_have_fired() || consumer.has_aggregated())
    return;
  for (const std::string& note : notes_of_untraced_children(probing.roots())) consumer.notice(note);
}

Drops Handle::Impl::drops() {
  Drops all;
  for (const auto& backend : backends) all += backend->drops();
  return all;
}

// What acts on processes should do so soon.
Status Handle::Impl::turn_on(std::vector<Refused>& refused) {
  if (!config.is_replay && probing.is_destructive()) pacer.hurry();
  probing.learn_processes();
  if (enabling.chills_others()) consumer.notice("chill() delays dvm, not the thread that fired, which has already continued");
  Status status;
  if (!config.is_replay && config.options[dif::Option::followfork] > 0) status = late.follow_forks();
  if (status) status = probing.turn_on(enabled_probes(enabling, config.options, !accounts()), refused);
  status = probing.after_exits(status, refused.empty());
  for (const auto& backend : backends)
    if (!status) backend->disable();
  return status;
}

void Handle::Impl::start_rates() {
  const MonotonicTime now = read_clock(CLOCK_MONOTONIC);
  switching.start(now, config.options[dif::Option::switchrate]);
  aggregating.start(now, config.options[dif::Option::aggrate]);
  reporting.start(now, config.options[dif::Option::statusrate]);
}

Status Handle::go(std::vector<Refused>& refused) {
  Impl& impl = *impl_;
  if (Status status = impl.probing.check(); !status) return status;
  if (impl.wake.descriptor() < 0) return Error{"no file descriptor is left"};
  const auto notice = [&impl](const std::string& text) { impl.consumer.notice(text); };
  for (const auto& backend : impl.backends)
    if (Status status = backend->start(notice); !status) return status;
  impl.accounting.start();
  if (Status status = impl.turn_on(refused); !status) return status;
  impl.tell_notes();
  impl.tell_engine_problem();
  if (!impl.config.is_replay) impl.late.watch_loads();
  impl.start_rates();
  impl.exports.publish();
  impl.is_running = true;
  for (const auto& backend : impl.backends)
    if (OwnProbes* own = backend->own_probes()) own->fire_begin();
  return {};
}

std::shared_ptr<void> Handle::Impl::show_end(const char* what) const { return config.show_end ? config.show_end(what) : nullptr; }

// The kernel needs seconds to remove tens of thousands of uprobes.
void Handle::Impl::turn_off() {
  const std::shared_ptr<void> shown = show_end("removing probes");
  const MonotonicTime now = read_clock(CLOCK_MONOTONIC);
  for (const auto& backend : backends)
    if (OwnProbes* own = backend->own_probes()) own->end_firings(now);
  for (const auto& backend : backends) backend->disable();
}

Status Handle::stop() {
  constexpr const char* kPreparing = "preparing the results";
  Impl& impl = *impl_;
  if (impl.is_stopped || !impl.is_running) return impl.failure;
  impl.is_stopped = true;
  impl.turn_off();
  impl.consumer.hold_until_flush(impl.show_end(kPreparing));
  impl.drain();
  impl.collector.take_all();  // trunc(), clear() and printa() so far mean what was aggregated before END, whose records come last
  for (const auto& backend : impl.backends)
    if (OwnProbes* own = backend->own_probes()) own->fire_end();
  impl.collector.take_all();
  impl.exports.end();
  impl.consumer.print_unprinted();
  impl.tell_notes();
  impl.tell_untraced_children();
  impl.consumer.report_more_errors();
  if (impl.consumer.symbols().misses_kernel())
    impl.consumer.notice("the kernel hides its symbols, so its addresses stay numbers; dvm doctor says what would show them");
  impl.drop_reports.report(impl.drops());
  impl.drop_reports.sum_up();
  uint64_t late_values = 0, unknown_files = 0;
  for (const auto& backend : impl.backends) {
    late_values += backend->counts().late_values;
    unknown_files += backend->counts().unknown_files;
  }
  if (late_values > 0) impl.consumer.report_late_values(late_values);
  if (unknown_files > 0) impl.consumer.notice(unknown_files_text(unknown_files));
  impl.consumer.print_exit(exit_status());
  impl.fail(impl.collector.flush());
  const std::shared_ptr<void> shown = impl.config.exporter ? impl.show_end(kPreparing) : nullptr;
  impl.exports.publish_last();
  return impl.failure;
}

Status Handle::status() const { return impl_->failure; }

int Handle::exit_status() const {
  for (const auto& backend : impl_->backends)
    if (const std::optional<int> status = backend->end_status()) return *status;
  return 0;
}

std::vector<AggregatedKey> Handle::aggregated(uint32_t id) {
  std::vector<AggregatedKey> all;
  if (const MergedAggregation* found = impl_->consumer.aggregations().find(id))
    for (const MergedRow* row : found->rows.rows())
      all.push_back({std::string(row->key), {row->state.begin(), row->state.end()}});
  return all;
}

uint64_t Handle::drops() const {
  if (!impl_->is_running) return 0;
  const Drops drops = impl_->drops();
  uint64_t all = 0;
  for (const DropInfo& kind : kDrops) all += drops.total(kind.id);
  return all;
}

uint64_t Handle::instrument_drops() const {
  uint64_t drops = 0;
  for (const auto& backend : impl_->backends) drops += backend->lost_firings();
  return drops;
}

Account Handle::account(bool with_clauses) {
  Impl& impl = *impl_;
  Account account = impl.accounting.summary();
  account.writing_ns = impl.collector.writing_ns();
  account.locals = dif::count_locals(impl.enabling.variables());
  if (!impl.accounts()) return account.live_dynamic = account.locals = 0, account;
  impl.accounting.add_steps(account);
  if (with_clauses && impl.is_running) impl.accounting.add_clauses(account);
  for (EcbAccount& ecb : account.ecbs) ecb.interpreted = impl.translations.interpreted(ecb.epid);
  return account;
}

}  // namespace dvm::runtime
