// The session: providers, instruments, enabling, machine state, buffers and consumer, joined in one thread. Tested by
// tests/unit/runtime/handle_test.cpp.

#include "dvm/runtime/handle.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <optional>

#include "runtime/consumer/consumer.h"
#include "runtime/consumer/errors.h"
#include "runtime/cost/stages.h"
#include "runtime/enabling/enabling.h"
#include "runtime/probe/fire.h"
#include "runtime/process/target_memory.h"

namespace dvm::runtime {
namespace {

using Clock = uint64_t;  // ns of CLOCK_MONOTONIC
constexpr Clock kNever = UINT64_MAX;
constexpr Clock kBusyWait = 1'000'000;   // between polls that found something lately
constexpr Clock kIdleWait = 10'000'000;  // at the longest, between polls that found nothing
constexpr size_t kMostDirectIds = 1 << 20;

uint64_t read_clock(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

// What the DIF asks of the process that fired.
class ProcessHost final : public vm::Host {
 public:
  explicit ProcessHost(const HandleConfig& config) : is_replay_(config.is_replay) {
    if (is_replay_) memory_.use_recorded(config.recorded_processes);
  }

  void serve(int32_t pid) noexcept { pid_ = pid; }
  uint64_t late_reads() const { return late_reads_; }

  bool read(uint64_t address, std::span<std::byte> to) noexcept override {
    if (is_replay_) return false;
    late_reads_++;
    return memory_.read(pid_, address, to);
  }
  std::ptrdiff_t read_string(uint64_t address, std::span<char> to) noexcept override {
    if (is_replay_) return -1;
    late_reads_++;
    return memory_.read_string(pid_, address, to);
  }
  int32_t ppid() noexcept override { return memory_.ids(pid_).ppid; }
  int64_t uid() noexcept override { return memory_.ids(pid_).uid; }
  int64_t gid() noexcept override { return memory_.ids(pid_).gid; }
  std::string_view command_line() noexcept override { return memory_.command_line(pid_); }
  bool user_register(uint64_t, uint64_t&) noexcept override { return false; }

 private:
  bool is_replay_;
  int32_t pid_ = 0;
  uint64_t late_reads_ = 0;
  TargetMemory memory_;
};

// When something is due again at a rate.
class Rate {
 public:
  void start(Clock now, int64_t period) { next_ = now + at_least_one(period); }
  bool due(Clock now) const { return now >= next_; }
  // The period may have changed since.
  void done(Clock now, int64_t period) {
    next_ += (now - next_) / at_least_one(period) * at_least_one(period) + at_least_one(period);
  }
  Clock next() const { return next_; }

 private:
  static Clock at_least_one(int64_t period) { return static_cast<Clock>(std::max<int64_t>(period, 1)); }
  Clock next_ = kNever;
};

// Adds the ticks of its scope to a stage of the account, when there is one.
class StageTimer {
 public:
  explicit StageTimer(vm::Tally* stage) : stage_(stage), begin_(stage ? __rdtsc() : 0) {}
  ~StageTimer() {
    if (stage_) stage_->count++, stage_->timed++, stage_->ticks += __rdtsc() - begin_;
  }
  StageTimer(const StageTimer&) = delete;
  StageTimer& operator=(const StageTimer&) = delete;

 private:
  vm::Tally* stage_;
  uint64_t begin_;
};

std::string_view name_of(dif::Action kind) {
  if (const dif::AggregationInfo* info = dif::find_aggregation(kind)) return info->name;
  const dif::ActionInfo* info = dif::find_action(kind);
  return info ? info->name : "unknown";
}

void add_tally(std::vector<std::pair<std::string, vm::Tally>>& into, std::string_view name, const vm::Tally& tally) {
  auto same = std::find_if(into.begin(), into.end(), [&](const auto& entry) { return entry.first == name; });
  if (same == into.end()) same = into.insert(into.end(), {std::string(name), {}});
  same->second += tally;
  if (static_cast<int64_t>(same->second.ticks) < 0) same->second.ticks = 0;  // less than the clock can tell
}

void take_counts(Value& value, vm::Counts& into) {
  value.difo->take_counts(into);
  if (value.timed) value.timed->take_counts(into);
}

bool is_error_probe(const Probe& probe) { return std::holds_alternative<InternalSite>(probe.site) && probe.name == "ERROR"; }

}  // namespace

struct Handle::Impl final : EventSink {
  explicit Impl(HandleConfig c) : config(c), host(config), consumer(c.out, c.err, config.options, enabling) {
    wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  }
  ~Impl() {
    for (auto& instrument : instruments) instrument->disable();
    if (wake >= 0) close(wake);
  }

  HandleConfig config;
  Catalog catalog;
  std::vector<std::unique_ptr<Provider>> providers;
  std::vector<std::unique_ptr<Instrument>> instruments;
  std::vector<Instrument*> active;  // those with a probe enabled
  Enabling enabling;
  ProcessHost host;
  Consumer consumer;

  FireSession session;
  std::optional<vm::VariableState> variables;
  std::optional<vm::MachineState> machine, error_machine;
  std::optional<FireContext> context, error_context;
  void (*fire_one)(FireContext&, const ProbeEcbs&, vm::Firing&) noexcept = fire_probe<Off>;
  std::vector<const ProbeEcbs*> by_id;  // probe id to ECBs

  int wake = -1;
  std::atomic<bool> interrupted = false;
  bool is_running = false, is_stopped = false;
  Status failure;
  Rate switching, aggregating, reporting;
  Clock idle_wait = kBusyWait;
  Drops reported;
  uint64_t events = 0;

  uint64_t fire_ticks = 0;
  uint64_t first_tick = 0;
  Clock first_time = 0;
  std::vector<vm::Counts> counts;  // by EPID - 1, what account() has taken so far

  bool accounts() const { return config.cost != vm::CostPolicy::none; }
  vm::Tally* stage(Stage which) { return accounts() ? &session.stages[which] : nullptr; }

  void fire(vm::Firing& firing) noexcept override;
  void deliver(const ProbeEcbs& probe, vm::Firing& firing) noexcept;
  const ProbeEcbs* find(uint32_t probe_id) const noexcept;
  void fire_own(std::string_view name);

  Status check() const;
  Status allocate();
  void index_probes();
  std::vector<EnabledProbe> enabled() const;
  CaptureNeeds needs_on_error(const std::function<CaptureNeeds(const std::vector<Ecb*>&)>& needs_of_all) const;
  void learn_symbols();
  Status turn_on(std::vector<Refused>& refused);
  Result<uint64_t> poll_all();
  void wait(Clock until);
  bool all_finished() const;
  bool is_done() const { return interrupted.load(std::memory_order_relaxed) || session.activity != Activity::active || !failure; }

  void take_aggregations();
  void take_records();
  void report_drops();
  void flush();
  void work_at_rates(Clock now);
  void drain();
};

Handle::Handle(HandleConfig config) : impl_(std::make_unique<Impl>(config)) {}
Handle::~Handle() = default;

Catalog& Handle::catalog() { return impl_->catalog; }
dif::Options& Handle::options() { return impl_->config.options; }
bool Handle::is_replay() const { return impl_->config.is_replay; }
void Handle::add_provider(std::unique_ptr<Provider> provider) { impl_->providers.push_back(std::move(provider)); }
void Handle::add_instrument(std::unique_ptr<Instrument> instrument) { impl_->instruments.push_back(std::move(instrument)); }

Discovery Handle::discover(const dif::ProbeDesc& description) {
  Discovery result;
  for (auto& provider : impl_->providers) {
    Discovery found = provider->discover(description, impl_->catalog);
    if (result.reason.empty()) result.reason = found.reason, result.tag = found.tag;
    result.similar.insert(result.similar.end(), found.similar.begin(), found.similar.end());
  }
  return result;
}

bool Handle::has_provider(std::string_view name) const {
  const std::string_view kind = name.substr(0, name.find_last_not_of("0123456789") + 1);  // pid123 is one of pid
  return std::any_of(impl_->providers.begin(), impl_->providers.end(),
                     [&](const auto& p) { return p->name() == name || p->name() == kind; });
}

Status Handle::enable(const dif::Program& program) {
  auto matches = [this](const dif::ProbeDesc& description) { return impl_->catalog.match(description); };
  if (Status status = impl_->enabling.add(program, matches, impl_->config.options, impl_->config.cost); !status) return status;
  return impl_->consumer.prepare();
}

std::vector<EnabledProbe> Handle::enabled() const { return impl_->enabled(); }

std::vector<EnabledProbe> Handle::Impl::enabled() const {
  auto strsize = static_cast<uint32_t>(std::clamp<int64_t>(config.options[dif::Option::strsize], 1, 1 << 24));
  std::unordered_map<const dif::EcbDesc*, CaptureNeeds> known;
  auto needs_of_all = [&](const std::vector<Ecb*>& ecbs) {
    CaptureNeeds all;
    for (const Ecb* ecb : ecbs) {
      auto [needs, is_new] = known.try_emplace(ecb->desc);
      if (is_new) needs->second = needs_of(*ecb->desc, strsize);
      all |= needs->second;
    }
    return all;
  };
  const CaptureNeeds on_error = needs_on_error(needs_of_all);
  std::vector<EnabledProbe> result;
  for (const ProbeEcbs& probe : enabling.probes()) {
    result.push_back({probe.probe, needs_of_all(probe.ecbs)});
    if (probe.needs_machine) result.back().needs |= on_error;
  }
  return result;
}

// ERROR fires where the fault was, so what its clauses ask of the thread and the time must be captured with every probe that can
// fault. Its arguments are its own.
CaptureNeeds Handle::Impl::needs_on_error(const std::function<CaptureNeeds(const std::vector<Ecb*>&)>& needs_of_all) const {
  CaptureNeeds needs;
  for (const ProbeEcbs& probe : enabling.probes())
    if (is_error_probe(*probe.probe)) needs = needs_of_all(probe.ecbs);
  needs.args = 0;
  needs.memory.clear();
  return needs;
}

// --- Going on ---

Status Handle::Impl::check() const {
  if (config.options[dif::Option::destructive] <= 0 && !enabling.destructive_action().empty())
    return Error{"Destructive actions not allowed"};
  if (enabling.largest_record() > static_cast<uint64_t>(std::max<int64_t>(config.options[dif::Option::bufsize], 0)))
    return Error{"Enabling exceeds size of buffer"};
  if (wake < 0) return Error{"no file descriptor is left"};
  return {};
}

Status Handle::Impl::allocate() {
  auto size_of = [this](dif::Option option) { return static_cast<size_t>(std::max<int64_t>(config.options[option], 0)); };
  if (!session.principal.allocate(size_of(dif::Option::bufsize)))
    return Error{fmt::format("no memory for a principal buffer of {} bytes", size_of(dif::Option::bufsize))};
  if (!session.aggregations.allocate(size_of(dif::Option::aggsize)))
    return Error{fmt::format("no memory for an aggregation buffer of {} bytes", size_of(dif::Option::aggsize))};
  vm::StateLimits limits;
  limits.strsize = size_of(dif::Option::strsize);
  limits.dynvarsize = size_of(dif::Option::dynvarsize);
  limits.scratch = std::max(limits.scratch, 16 * limits.strsize);
  variables.emplace(enabling.variables(), limits);
  machine.emplace(*variables, limits);
  error_machine.emplace(*variables, limits);
  context.emplace(session, *machine, host, enabling.largest_key());
  error_context.emplace(session, *error_machine, host, enabling.largest_key());
  context->error = &*error_context;
  if (config.cost == vm::CostPolicy::blocks) fire_one = fire_probe<OnSample>;
  if (config.cost == vm::CostPolicy::time) fire_one = fire_probe<OnAlways>;
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
    if (is_error_probe(*probe.probe)) session.error_probe = &probe;
}

// While the processes are there to be looked at.
void Handle::Impl::learn_symbols() {
  if (config.is_replay) return;
  for (const ProbeEcbs& probe : enabling.probes())
    if (const auto* site = std::get_if<UprobeSite>(&probe.probe->site)) consumer.symbols().learn(site->pid);
}

Status Handle::Impl::turn_on(std::vector<Refused>& refused) {
  std::vector<std::vector<EnabledProbe>> shares(instruments.size());
  for (const EnabledProbe& probe : enabled()) {
    if (std::holds_alternative<InternalSite>(probe.probe->site)) continue;
    auto taker = std::find_if(instruments.begin(), instruments.end(), [&](auto& i) { return i->takes(*probe.probe); });
    if (taker == instruments.end())
      refused.push_back({probe.probe, "nothing here can make it fire"});
    else
      shares[static_cast<size_t>(taker - instruments.begin())].push_back(probe);
  }
  for (size_t i = 0; i < instruments.size(); i++) {
    if (shares[i].empty()) continue;
    active.push_back(instruments[i].get());
    if (Status status = instruments[i]->enable(shares[i], refused); !status) return status;
  }
  return {};
}

Status Handle::go(std::vector<Refused>& refused) {
  Impl& impl = *impl_;
  if (Status status = impl.check(); !status) return status;
  if (Status status = impl.allocate(); !status) return status;
  impl.index_probes();
  if (impl.accounts()) TickStamp::calibrate();
  impl.first_tick = __rdtsc();
  impl.first_time = read_clock(CLOCK_MONOTONIC_RAW);
  impl.learn_symbols();
  if (Status status = impl.turn_on(refused); !status) {
    for (Instrument* instrument : impl.active) instrument->disable();
    return status;
  }
  Clock now = read_clock(CLOCK_MONOTONIC);
  impl.switching.start(now, impl.config.options[dif::Option::switchrate]);
  impl.aggregating.start(now, impl.config.options[dif::Option::aggrate]);
  impl.reporting.start(now, impl.config.options[dif::Option::statusrate]);
  impl.is_running = true;
  impl.fire_own("BEGIN");
  return {};
}

// --- Firings ---

const ProbeEcbs* Handle::Impl::find(uint32_t probe_id) const noexcept {
  if (probe_id < by_id.size()) return by_id[probe_id];
  return probe_id < kMostDirectIds ? nullptr : enabling.find(probe_id);
}

void Handle::Impl::fire(vm::Firing& firing) noexcept {
  if (const ProbeEcbs* probe = find(firing.probe_id)) {
    events++;
    deliver(*probe, firing);
  }
}

// Between two firings is the one moment at which a buffer can be emptied without a drop; at the rates it happens anyway.
void Handle::Impl::deliver(const ProbeEcbs& probe, vm::Firing& firing) noexcept {
  uint64_t begin = accounts() ? __rdtsc() : 0;
  if (session.principal.half_full()) take_aggregations(), take_records(), flush();
  if (session.aggregations.half_full()) take_aggregations();
  host.serve(firing.pid);
  fire_one(*context, probe, firing);
  if (accounts()) fire_ticks += __rdtsc() - begin;
}

// BEGIN and END fire in dvm itself.
void Handle::Impl::fire_own(std::string_view name) {
  for (const ProbeEcbs& probe : enabling.probes()) {
    if (!std::holds_alternative<InternalSite>(probe.probe->site) || probe.probe->name != name) continue;
    vm::Firing firing;
    firing.timestamp = read_clock(CLOCK_MONOTONIC);
    firing.walltimestamp = read_clock(CLOCK_REALTIME);
    firing.vtimestamp = read_clock(CLOCK_THREAD_CPUTIME_ID);
    firing.pid = getpid();
    firing.tid = gettid();
    firing.cpu = std::max(sched_getcpu(), 0);
    firing.execname = "dvm";
    deliver(probe, firing);
  }
}

Result<uint64_t> Handle::Impl::poll_all() {
  uint64_t total = 0;
  for (Instrument* instrument : active) {
    uint64_t begin = accounts() ? __rdtsc() : 0;
    uint64_t inside = fire_ticks;
    Result<uint64_t> count = instrument->poll(*this);
    if (!count) return count;
    total += *count;
    if (accounts() && *count > 0) {
      uint64_t ticks = __rdtsc() - begin;
      uint64_t elsewhere = fire_ticks - inside + *count * TickStamp::cost();
      session.stages[Stage::deliver] += {*count, *count, ticks - std::min(ticks, elsewhere), 0};
    }
  }
  return total;
}

// --- The loop ---

void Handle::Impl::wait(Clock until) {
  Clock now = read_clock(CLOCK_MONOTONIC);
  for (Instrument* instrument : active) until = std::min(until, instrument->next_deadline());
  if (!active.empty()) until = std::min(until, now + idle_wait);
  idle_wait = std::min(idle_wait * 2, kIdleWait);
  if (until <= now) return;
  timespec time{static_cast<time_t>((until - now) / 1'000'000'000), static_cast<long>((until - now) % 1'000'000'000)};
  pollfd waker{wake, POLLIN, 0};
  ppoll(&waker, 1, &time, nullptr);
}

bool Handle::Impl::all_finished() const {
  return !active.empty() && std::all_of(active.begin(), active.end(), [](const Instrument* i) { return i->finished(); });
}

bool Handle::work() {
  Impl& impl = *impl_;
  if (!impl.is_running || impl.is_stopped) return false;
  Clock deadline = std::min({impl.switching.next(), impl.aggregating.next(), impl.reporting.next()});
  for (Clock now = 0; now < deadline; now = read_clock(CLOCK_MONOTONIC)) {
    if (impl.is_done()) return false;
    Result<uint64_t> count = impl.poll_all();
    if (!count) impl.failure = count.error();
    if (impl.is_done() || impl.all_finished()) return false;
    if (*count > 0) impl.idle_wait = kBusyWait;
    impl.wait(*count > 0 ? std::min(deadline, read_clock(CLOCK_MONOTONIC) + kBusyWait) : deadline);
  }
  impl.work_at_rates(read_clock(CLOCK_MONOTONIC));
  return !impl.is_done();
}

void Handle::interrupt() noexcept {
  impl_->interrupted.store(true, std::memory_order_relaxed);
  uint64_t one = 1;
  [[maybe_unused]] ssize_t written = write(impl_->wake, &one, sizeof(one));
}

void Handle::Impl::take_aggregations() {
  StageTimer timer(stage(Stage::snapshot_aggregations));
  consumer.take(session.aggregations);
}

void Handle::Impl::take_records() {
  std::span<const std::byte> records;
  {
    StageTimer timer(stage(Stage::snapshot_records));
    records = session.principal.switch_buffers();
  }
  StageTimer timer(stage(Stage::print));
  consumer.consume(records);
}

void Handle::Impl::report_drops() {
  Drops now{session.principal.drops(), session.aggregations.drops(), variables->drops(), session.errors_in_error};
  for (const Instrument* instrument : active) now.principal += instrument->drops();
  consumer.notice(drops_text(reported, now));
  reported = now;
}

void Handle::Impl::flush() {
  Status status = consumer.flush();
  if (!status && failure) failure = status;
}

// Aggregations first, so that the records' printa() sees all that fired before it.
void Handle::Impl::work_at_rates(Clock now) {
  if (aggregating.due(now)) take_aggregations(), aggregating.done(now, config.options[dif::Option::aggrate]);
  if (switching.due(now)) take_records(), switching.done(now, config.options[dif::Option::switchrate]);
  if (reporting.due(now)) report_drops(), reporting.done(now, config.options[dif::Option::statusrate]);
  flush();
}

// --- The end ---

void Handle::Impl::drain() {
  while (failure && session.activity == Activity::active) {
    Result<uint64_t> count = poll_all();
    if (!count)
      failure = count.error();
    else if (*count == 0)
      return;
  }
}

Status Handle::stop() {
  Impl& impl = *impl_;
  if (impl.is_stopped || !impl.is_running) return impl.failure;
  impl.is_stopped = true;
  for (Instrument* instrument : impl.active) instrument->disable();
  impl.drain();
  impl.fire_own("END");
  impl.take_aggregations();
  impl.take_records();
  impl.consumer.print_rest();
  impl.report_drops();
  impl.flush();
  return impl.failure;
}

Status Handle::status() const { return impl_->failure; }
int Handle::exit_status() const { return impl_->session.exit_status; }
uint64_t Handle::instrument_drops() const {
  uint64_t drops = 0;
  for (const Instrument* instrument : impl_->active) drops += instrument->drops();
  return drops;
}

Account Handle::account() {
  Impl& impl = *impl_;
  Account account;
  Clock elapsed = read_clock(CLOCK_MONOTONIC_RAW) - impl.first_time;
  if (elapsed > 0)
    account.ticks_per_second = static_cast<double>(__rdtsc() - impl.first_tick) * 1e9 / static_cast<double>(elapsed);
  account.events = impl.events;
  account.late_reads = impl.host.late_reads();
  if (!impl.accounts()) return account;
  impl.counts.resize(impl.enabling.ecbs().size());
  for (Ecb& ecb : impl.enabling.ecbs()) {
    if (ecb.tallies.firings == 0) continue;
    vm::Counts& counts = impl.counts[ecb.epid - 1];
    EcbAccount row{
        ecb.epid, ecb.probe->id, ecb.desc->position, ecb.tallies.firings, ecb.tallies.predicate_hits, ecb.tallies.faults, {}, {}};
    if (ecb.predicate) take_counts(*ecb.predicate, counts);
    for (Action& action : ecb.actions) {
      for (Value& value : action.values) take_counts(value, counts);
      add_tally(row.actions, name_of(action.kind), {action.tally.count, action.tally.timed, action.tally.ticks, 0});
    }
    row.counts = counts;
    account.ecbs.push_back(std::move(row));
  }
  for (const StageInfo& info : kStages) add_tally(account.stages, info.name, impl.session.stages[info.id]);
  return account;
}

}  // namespace dvm::runtime
