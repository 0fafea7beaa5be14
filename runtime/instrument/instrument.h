#pragma once
// An instrument makes probes fire. It enables probes on the sites that it supports and passes each firing to the sink, in the
// thread that polls. Abilities that only some instruments have are separate interfaces (abilities.h). The instruments are:
//
//   uprobe      Kernel uprobes through BPF and a ring buffer (uprobe/). Also profile-N, by perf events.
//   breakpoint  Execution breakpoints in processes of the same user (breakpoint/). Needs no privileges.
//   agent       Jumps to code inside of processes of the same user (agent/). Needs no privileges.
//   timer       tick-N, from dvm's own loop.
//   replay      A recording (replay/).

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dvm/common/result.h"
#include "dvm/vm/host.h"
#include "dvm/vm/set_variables.h"
#include "runtime/catalog/probe.h"
#include "runtime/instrument/abilities.h"
#include "runtime/instrument/capture.h"
#include "runtime/instrument/in_dvm.h"
#include "runtime/instrument/site_clause.h"
#include "runtime/instrument/wanted_processes.h"

namespace dvm::runtime {

// How returns are probed: the words of option `return`, in their order.
enum class ReturnBy : uint8_t { safe, uretprobe, exits };

// A clause reads memory at an address in a variable of an earlier firing that cannot be captured.
struct LateMemory {
  unsigned clause = 0;  // its number
  std::string variable;
};

struct EnabledProbe {
  const Probe* probe = nullptr;
  CaptureNeeds needs;
  WantedProcesses wanted{};  // in other processes, the predicates of all clauses are false
  bool at_entry = false;     // an entry probe must be on the first instruction, even if a later one is cheaper
  ReturnBy returns = ReturnBy::safe;
  std::vector<SiteClause> clauses{};  // of the probe, in order, for instruments that run clauses
  InDvm in_dvm = InDvm::accounted;    // why not all clauses can run where it fires

  bool has_thread_variables = false;  // all clauses that share thread-local variables with these must run on the same side
  std::vector<uint16_t> globals{};    // global variables that the clauses may read where it fires
  std::vector<LateMemory> late{};
  std::vector<uint16_t> other_globals{};  // that the clauses use, and that threads must not change
};

// A change of a followed process, or of a thread.
struct ProcessChange {
  enum class What : uint8_t {
    forked,
    execed,
    renumbered,  // the thread `child` has just started or has ended: its id no longer means an earlier thread
  };

  What what = What::forked;
  int32_t pid = 0;    // the process
  int32_t child = 0;  // the forked child; 0: its id is not known
};

// A clause whose predicate was true where its probe fired, with variables as they were at that time.
struct ClauseFiring {
  uint32_t epid = 0;
  std::span<vm::VariableValue> variables;
  uint64_t unreadable = 0;  // the address of a string that could not be read there; 0: there is none
};

// The time in which probes fire, in ns of CLOCK_MONOTONIC: from BEGIN until tracing stops, since the probes of a run are neither
// placed nor removed at one moment.
struct TracedTime {
  uint64_t begin = 0, end = UINT64_MAX;
  // A firing whose time is not known (0) is never dropped.
  constexpr bool drops(uint64_t time) const { return time != 0 && (time < begin || time > end); }
};

// Receives firings during poll(). Its functions are probe context: they do not allocate, lock, print or write files. Buffers are
// emptied between two polls, so a sink can ask for a poll to end early.
class EventSink {
 public:
  // The instrument fills probe_id, timestamp, walltimestamp and the captured values; the sink fills the names and the EPID. The
  // firing is valid during the call only. False: poll() should return as soon as it can.
  virtual bool fire(vm::Firing& firing) noexcept = 0;
  // A firing for one clause only. Other clauses of the probe have run where it fired, or follow. Returns like fire().
  virtual bool fire_clause(vm::Firing&, const ClauseFiring&) noexcept { return true; }
  // A change, in its place among the firings. Returns like fire().
  virtual bool change(const ProcessChange&) noexcept { return true; }
  // False: no buffers exist for this CPU yet. Recorded firings may come from CPUs of another machine, so a replay asks before it
  // passes on the first firing of a CPU. On false, poll() returns, and the next poll() starts with that firing.
  virtual bool has_buffers(int32_t /*cpu*/) noexcept { return true; }
  // False: a firing of this time must wait for earlier ones of another instrument. poll() then returns, and the next poll()
  // starts with that firing. time: 0 if it is not known.
  virtual bool admits(uint64_t /*time*/) noexcept { return true; }
  // Called during fire() by a sink that forwards firings and has no room for more: the poll is not complete.
  virtual void end_poll() noexcept {}
  virtual TracedTime traced_time() const noexcept { return {}; }
  // True if a clause has called exit().
  virtual bool has_ended() const noexcept { return false; }

 protected:
  ~EventSink() = default;
};

// A probe that could not be enabled, and why.
struct Refused {
  const Probe* probe = nullptr;
  std::string reason;
};

// A probe that an instrument no longer makes fire, and why.
struct LostProbe {
  EnabledProbe enabled;
  std::string reason;
};

// When poll() should be called next.
struct Pacing {
  uint64_t deadline = UINT64_MAX;  // the latest time, in ns of CLOCK_MONOTONIC
  int descriptor = -1;             // poll at once when it becomes readable; -1: there is none

  double backlog = 0;       // of the last poll(), as a fraction of the target (pace.h)
  bool fires_then = false;  // a probe fires at the deadline, so a later poll() makes it late
};

// How an instrument makes an enabled probe fire, and what runs a clause on it, for -v.
struct ClauseWay {
  std::string_view by;
  std::string_view engine{};  // executes the clause; empty: that of dvm
  std::string_view in_dvm{};  // why the clause runs in dvm. Empty: it does not, or the instrument never runs clauses
};

class Instrument {
 public:
  virtual ~Instrument() = default;
  virtual std::string_view name() const = 0;
  virtual ClauseWay way(const Probe&, unsigned /*clause*/) const { return {name()}; }
  // Why it cannot make the probe fire, by the kind of its site; empty: it can.
  virtual std::string_view refusal(const Probe& probe) const = 0;
  // True if -v need not say why it does not make the probe fire, because it is for probes of another kind only.
  virtual bool is_for_others(const Probe&) const { return false; }
  bool takes(const Probe& probe) const { return refusal(probe).empty(); }
  // Makes the probes fire, all or (with an error) none. Single ones that the kernel cannot probe are left out and added to
  // refused.
  virtual Status enable(std::span<const EnabledProbe> probes, std::vector<Refused>& refused) = 0;
  // Passes on the firings that have arrived, until the sink asks to stop. Returns their number. An error ends tracing. Never
  // blocks.
  virtual Result<uint64_t> poll(EventSink& sink) = 0;
  virtual Pacing pacing() const = 0;
  // Firings lost since enable(), because a buffer was full.
  virtual uint64_t drops() const = 0;
  // Takes all probes off. Firings that have already arrived can still be polled. The destructor calls it too.
  virtual void disable() = 0;
  virtual Abilities abilities() { return {}; }
  // True if probes that enable() refuses are offered to later instruments.
  virtual bool passes_on() const { return false; }
  // Adds the probes that enable() would refuse, as far as their code shows it. Changes nothing.
  virtual void preview(std::span<const EnabledProbe>, std::vector<Refused>&) {}
};

}  // namespace dvm::runtime
