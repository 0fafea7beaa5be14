#pragma once
// A backend makes probes fire and runs plans on the firings. A session holds backends and knows nothing of what is behind them:
//
//   plan, probe ── answer() ──> taken, and by what; or why not
//   ECBs ───────── start(), extend() ──> memory to run them in
//   probes ─────── enable() ──> poll(): firings become records, aggregation entries, and drops
//
// One thread calls all functions. poll() runs the plans; consumer context reads and prints between two polls. Abilities that only
// some backends have are separate interfaces: firing dvm's own probes (OwnProbes) and running the enabling's code (RunsCode).

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dvm/common/result.h"
#include "runtime/backend/rate.h"
#include "runtime/buffer/drops.h"
#include "runtime/buffer/sources.h"
#include "runtime/instrument/instrument.h"
#include "runtime/plan/plan.h"
#include "runtime/probe/runs.h"
#include "runtime/probe/stages.h"
#include "runtime/probe/tallies.h"

namespace dvm::runtime {

// An instrument or backend that does not take a probe, and why.
struct PassedOver {
  std::string name, reason;
};

// The answer of a backend to a plan on a probe: it takes it, or the reason why not.
struct Answer {
  std::string by;        // what makes the probe fire there, such as "uprobe"; empty: the backend does not take it
  std::string engine{};  // what executes the plan, if it is not the enabling's code
  std::string reason;    // why not
  std::vector<PassedOver> others;

  bool is_taken() const { return !by.empty(); }
};

// The result of a poll.
struct Polled {
  uint64_t firings = 0;
  double backlog = 0;       // as a fraction of the target (pace.h)
  bool is_partial = false;  // the poll stopped at full buffers, or to check the time; poll again at once
  bool is_urgent = false;   // clauses make late reads, so poll again soon
};

struct FiringCounts {
  // Firings that plans ran on, reads of memory that was not captured, and how many of those came after the process continued.
  uint64_t firings = 0, late_reads = 0, late_values = 0;
  // Dynamic variables that exist.
  uint64_t live_dynamic = 0;
  uint64_t unknown_files = 0;  // reads of fds[] whose result was unknown
};

// The account of one context: counters that its firings have made since start().
struct ContextAccount {
  std::span<EcbTallies> tallies;  // by EPID - 1; empty without accounting
  const Stages* stages = nullptr;
};

// Fires dvm's own probes, BEGIN and END.
class OwnProbes {
 public:
  virtual void fire_begin() = 0;
  // Before the first probe is off: later firings are dropped, so none is seen without those of probes that were off earlier.
  virtual void end_firings(MonotonicTime now) = 0;
  // After all probes are off and all firings are read.
  virtual void fire_end() = 0;

 protected:
  ~OwnProbes() = default;
};

// Runs the code of the enabling. Faster code may replace it while tracing.
class RunsCode {
 public:
  // The cost so far of interpreting each ECB with DIF, by EPID - 1.
  virtual std::span<const EcbRuns> runs() const = 0;
  // Replaces the code of an ECB. Between two firings.
  virtual void take_up(const EcbCode& code) = 0;

 protected:
  ~RunsCode() = default;
};

using Notice = std::function<void(const std::string&)>;  // tells the user

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  // After enable() has refused a probe or passed it on, the answer has that reason.
  virtual Answer answer(const EcbPlan& plan, const Probe& probe) const = 0;
  // Finds out what enable() would do with these probes, for later calls of answer().
  virtual void preview(std::span<const EnabledProbe>) {}

  // Allocates all memory for the ECBs that are enabled, and prepares to run them. Once, before enable().
  virtual Status start(const Notice& notice) = 0;
  // Prepares to run ECBs that were made after start().
  virtual Status extend() = 0;
  // Stores the data of a process that clauses may need after it has ended. may_act: clauses may signal it; stores that ability
  // too.
  virtual void learn(int32_t pid, bool may_act) = 0;
  // Makes the probes fire. Adds those that cannot be enabled to `refused`, with the reason; the session then asks the next
  // backend that takes them. An error means that no probe is on.
  virtual Status enable(std::span<const EnabledProbe> probes, std::vector<Refused>& refused) = 0;
  virtual Result<Polled> poll() = 0;
  // Fires timers that are overdue. Also called while the consumer reads records.
  virtual Status fire_overdue(MonotonicTime) { return {}; }
  // Does what is due by time, between two polls.
  virtual void work_at_rate(MonotonicTime now) = 0;
  // Takes all probes off. Firings that have already arrived can still be polled.
  virtual void disable() = 0;

  // Adds the descriptors that become readable when poll() should be called at once. Returns the latest time for that call, at
  // most `until`, in ns of CLOCK_MONOTONIC.
  virtual uint64_t next_poll(uint64_t until, std::vector<int>& descriptors) = 0;
  // True if a probe is on, or can be turned on later.
  virtual bool is_on() const = 0;
  // True if nothing more will fire.
  virtual bool is_finished() = 0;
  // The exit status, if a firing has ended tracing: the argument of exit(), or 0 if a buffer is full.
  virtual std::optional<int> end_status() const = 0;

  virtual RecordSource& records() = 0;
  virtual AggregationSource& aggregations() = 0;
  // Everything lost since enable(), by kind and CPU.
  virtual Drops drops() = 0;
  // Firings lost before a plan could run on them.
  virtual uint64_t lost_firings() = 0;
  virtual FiringCounts counts() const = 0;
  virtual std::vector<ContextAccount> accounts() = 0;

  using VisitAddress = std::function<void(int32_t pid, uint64_t address)>;
  // Calls a function for each address that was recorded for the first time since the last call.
  virtual void take_addresses(const VisitAddress& visit) = 0;
  // Changes of followed processes since the last call.
  virtual std::vector<ProcessChange> take_changes() = 0;
  // The abilities of all its instruments together (notes, following processes and the like).
  virtual Abilities abilities() = 0;
  // Null: the backend lacks the ability.
  virtual OwnProbes* own_probes() { return nullptr; }
  virtual RunsCode* runs_code() { return nullptr; }
};

// In the order in which they are asked.
using BackendList = std::vector<std::unique_ptr<Backend>>;

}  // namespace dvm::runtime
