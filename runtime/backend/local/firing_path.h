#pragma once
// Passes firings from an instrument, or from dvm itself, to the ECB loop. During a poll it is probe context. The poll ends after
// a firing that leaves a buffer nearly full, so that consumer context can empty it, and after 4096 firings.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "dvm/runtime/handle.h"
#include "runtime/backend/local/fire_memory.h"
#include "runtime/backend/local/process_host.h"
#include "runtime/backend/local/shared_globals.h"
#include "runtime/backend/rate.h"
#include "runtime/enabling/enabling.h"
#include "runtime/instrument/instrument.h"
#include "runtime/probe/fire.h"

namespace dvm::runtime {

class FiringPath final : public EventSink {
 public:
  FiringPath(const HandleConfig& config, const Enabling& enabling, FireMemory& memory, ProcessHost& host,
             const Instruments& instruments)
      : config_(config), enabling_(enabling), memory_(memory), host_(host), globals_(instruments) {}

  // Call when memory is allocated.
  void start();
  // Call again after probes were added.
  void index_probes();
  // Makes room for changes of followed processes.
  void expect_changes() { changes_.reserve(kMostChanges); }

  // Before each poll: makes the buffers of a CPU that fires for the first time.
  void begin_poll(MonotonicTime now);
  // True if the poll should end.
  bool ends_poll() const { return ends_poll_; }
  bool fire(vm::Firing& firing) noexcept override;
  bool fire_clause(vm::Firing& firing, const ClauseFiring& clause) noexcept override;
  bool change(const ProcessChange& change) noexcept override;
  bool has_buffers(int32_t cpu) noexcept override;
  void end_poll() noexcept override { ends_poll_ = true; }
  TracedTime traced_time() const noexcept override { return traced_; }
  bool has_ended() const noexcept override { return context_.activity != Activity::active; }
  std::vector<ProcessChange> take_changes();

  // Call after BEGIN has fired. Earlier firings of other probes are dropped.
  void begin();
  // Later firings of other probes are dropped.
  void end(MonotonicTime now);
  // From now on, firings are counted as drops of their CPU, and no clause runs on them.
  void drop_rest() { drops_rest_ = true; }
  // Fires dvm's own probe of this name. moment: the time of the firing; nothing: now.
  void fire_own(std::string_view name, const std::optional<Moment>& moment);
  // Ends tracing if the buffer of a CPU is filled. As in DTrace, other CPUs go on until this is noticed.
  void stop_if_filled();
  void clean_at_rate(MonotonicTime now);
  void clean();
  // Passes the values of these variables to the instruments, now and when they change.
  void share(std::span<const uint16_t> globals) { globals_.add(globals, *context_.variables); }

  uint64_t firings() const { return firings_; }
  // Also true if clauses run elsewhere that may leave nothing but a variable.
  bool may_have_fired() const { return firings_ > timer_firings_ || !globals_.empty(); }
  // TSC ticks spent in firings, where the run is timed.
  uint64_t ticks() const { return ticks_; }

 private:
  static constexpr size_t kMostChanges = 1024;  // in one poll
  const ProbeEcbs* find(uint32_t probe_id) const noexcept;
  [[gnu::always_inline]] void prepare(vm::Firing& firing) noexcept;
  [[gnu::always_inline]] void deliver(const ProbeEcbs& probe, vm::Firing& firing) noexcept;
  [[gnu::always_inline]] bool count() noexcept;
  bool drop(int32_t cpu) noexcept;
  void tell_globals() noexcept;
  bool is_of_one_cpu(const Probe& probe, vm::Firing& firing) const noexcept;

  const HandleConfig& config_;
  const Enabling& enabling_;
  FireMemory& memory_;
  ProcessHost& host_;
  SharedGlobals globals_;
  FireContext& context_ = memory_.context();
  void (*fire_one_)(FireLevel&, const ProbeEcbs&, vm::Firing&) noexcept = fire_probe<Off>;
  std::vector<const ProbeEcbs*> by_id_;  // probe id to ECBs
  bool is_timed_ = false;
  int64_t only_cpu_ = -1;  // -x cpu; -1: all
  MonotonicTime polled_at_ = 0;
  TracedTime traced_;
  Rate cleaning_;
  bool ends_poll_ = false;
  bool drops_rest_ = false;
  int32_t new_cpu_ = -1;  // the CPU that fires next, if it has no buffers yet; -1: it has
  std::vector<ProcessChange> changes_;
  uint64_t firings_ = 0, timer_firings_ = 0, ticks_ = 0;
  uint64_t part_ends_ = 0;  // the number of the firing after which the poll ends, so that dvm checks the time
};

}  // namespace dvm::runtime
