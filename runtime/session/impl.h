#pragma once
// The session behind a Handle: providers, instruments, enabling, machine state, buffers and consumer, joined in one thread.
//   buffers.cpp  memory
//   setup.cpp    from probe descriptions to probes that are on
//   firings.cpp  from an instrument, or from dvm itself, to the ECB loop
//   loop.cpp     waiting, the rates, the end
//   account.cpp  what it cost
//   demangled_probes.cpp  other names of probes
//   late.cpp     probes of files that a process maps while it is traced, and processes that it forks

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "dvm/runtime/handle.h"
#include "runtime/buffer/drops.h"
#include "runtime/consumer/consumer.h"
#include "runtime/consumer/errors.h"
#include "runtime/enabling/enabling.h"
#include "runtime/instrument/pace.h"
#include "runtime/probe/fire.h"
#include "runtime/session/demangled_probes.h"
#include "runtime/backend/local/process_host.h"
#include "runtime/backend/rate.h"

namespace dvm::runtime {

constexpr size_t kMostDirectIds = 1 << 20;

// The process id at the end of a provider's name; 0: none.
int32_t process_of(std::string_view provider);

// Of an ECB's DIFOs.
struct DifCounts {
  vm::Counts rows;
  std::vector<vm::InstructionCounts> instructions;  // as EcbAccount has them
};

struct Handle::Impl final : EventSink {
  explicit Impl(HandleConfig c);
  ~Impl();

  HandleConfig config;
  Catalog catalog;
  std::vector<std::unique_ptr<Provider>> providers;
  std::vector<std::unique_ptr<Instrument>> instruments;
  std::vector<Instrument*> active;  // those with a probe enabled
  Enabling enabling;
  ProcessHost host;
  Consumer consumer;
  StepCounts consumed;

  FireContext context;
  void (*fire_one)(FireLevel&, const ProbeEcbs&, vm::Firing&) noexcept = fire_probe<Off>;
  std::vector<const ProbeEcbs*> by_id;  // probe id to ECBs
  DemangledProbes demangled;

  int wake = -1;
  std::atomic<bool> interrupted = false;
  std::atomic<bool> targets_gone = false;
  bool ends_poll = false;              // a firing asked for the poll to end, so that consumer context makes room
  int32_t new_cpu = -1;                // that fires next and has no buffers yet; -1: none
  std::vector<ProcessChange> changes;  // of followed processes, not yet taken up
  std::vector<int32_t> watched;        // processes that tell of files which they map
  bool is_running = false, is_stopped = false;
  Status failure;
  Rate switching, aggregating, reporting, cleaning;
  Clock polled_at = 0;               // when the instruments were last asked
  double next_wait = kShortestWait;  // ns until they are asked again
  bool acts_soon = false;            // clauses do what should not be late
  Drops reported;
  unsigned drop_reports = 0;
  int64_t only_cpu = -1;  // -x cpu; -1: all
  uint64_t events = 0;
  uint64_t writing_ns = 0;  // CPU time

  uint64_t fire_ticks = 0;
  uint64_t first_tick = 0;
  Clock first_time = 0;
  std::vector<DifCounts> counts;  // by EPID - 1, what account() has taken so far

  bool accounts() const { return config.cost != vm::CostPolicy::none; }
  bool times() const { return accounts() && config.is_timed; }

  bool fire(vm::Firing& firing) noexcept override;
  bool has_buffers(int32_t cpu) noexcept override;
  void deliver(const ProbeEcbs& probe, vm::Firing& firing) noexcept;
  const ProbeEcbs* find(uint32_t probe_id) const noexcept;
  void fire_own(std::string_view name);
  void stop_if_filled();
  void make_room_for_firings();
  Result<uint64_t> poll_one(Instrument& instrument);

  Status check() const;
  size_t size_of(dif::Option option) const;
  Status fit(dif::Option option, std::string_view what, const std::function<bool(size_t)>& make);
  Status allocate_buffers();
  Status allocate_speculations();
  Status allocate_state();
  Status make_room();
  void make_tallies();
  std::vector<std::string> similar_providers(std::string_view name) const;
  std::vector<const Probe*> match(const dif::ProbeDesc& description);
  void index_probes();
  std::vector<EnabledProbe> enabled() const;
  CaptureNeeds needs_on_error(const std::function<CaptureNeeds(const std::vector<const Ecb*>&)>& needs_of_all) const;
  void learn_processes();
  Status turn_on(std::span<const EnabledProbe> probes, std::vector<Refused>& refused);
  void activate(Instrument& instrument);
  void tell_notes();
  std::set<int32_t> roots() const;
  // The outcome of a step. If the step failed, or is incomplete and no process is left: that a process has exited.
  Discovery gone(int32_t pid) const;
  Status after_exits(Status status, bool is_complete) const;
  Status follow_forks();
  bool change(const ProcessChange& change) noexcept override;
  void take_up_changes();
  void name_addresses();
  bool are_targets_gone() const;
  void watch_loads();
  void match_late();
  Status enable_late();
  Status take_up(size_t first_probe);
  Result<uint64_t> poll_all();
  void wait(Clock until);
  bool look();
  Clock next_rate() const { return std::min({switching.next(), aggregating.next(), reporting.next()}); }
  void wake_up() const noexcept;
  bool all_finished() const;
  bool is_done() const { return interrupted.load(std::memory_order_relaxed) || context.activity != Activity::active || !failure; }

  void take_aggregations();
  void take_records();
  void take_switched();
  void take_all();
  static uint64_t drops_on(Instrument& instrument, uint32_t cpu);
  Drops drops() const;
  void report_drops();
  void sum_up_drops();
  void flush();
  void work_at_rates(Clock now);
  void clean_at_rate(Clock now);
  void clean();
  void drain();
};

}  // namespace dvm::runtime
