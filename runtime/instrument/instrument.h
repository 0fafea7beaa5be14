#pragma once
// How firings arrive. An instrument enables probes on the sites that it knows and hands each firing to the sink, in the thread
// that polls. Abilities that only some instruments have are interfaces of their own (abilities.h).
//
//   uprobe   kernel uprobes through BPF and a ring buffer (uprobe/), with profile-N by perf events
//   breakpoint  execution breakpoints in processes of one's own user, without privileges (breakpoint/)
//   agent    jumps to code inside of the process, in processes of one's own user, without privileges (agent/)
//   timer    tick-N from dvm's own loop
//   replay   a recording (replay/)

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

struct EnabledProbe {
  const Probe* probe = nullptr;
  CaptureNeeds needs;
  WantedProcesses wanted{};  // all its clauses are false in others
  bool at_entry = false;     // an entry probe must not be put behind the first instruction, though it were cheaper
  ReturnBy returns = ReturnBy::safe;
  std::vector<SiteClause> clauses{};  // of the probe, in order: what can run where it fires
  InDvm in_dvm = InDvm::accounted;    // why not all clauses can
  bool has_thread_variables = false;  // its clauses use some, which others that do may not have elsewhere
  std::vector<uint16_t> globals{};    // variables that its clauses may read where it fires
};

// A change of a followed process, or of a thread.
struct ProcessChange {
  enum class What : uint8_t {
    forked,
    execed,
    renumbered,  // the thread `child` has just begun, or has ended: its number is not that of an earlier thread
  };

  What what = What::forked;
  int32_t pid = 0;    // the process
  int32_t child = 0;  // that it has forked; 0: its number is not known
};

// A clause whose predicate was true where its probe fired, with the variables of the thread and the clause as they were then.
struct ClauseFiring {
  uint32_t epid = 0;
  std::span<const vm::VariableValue> variables;
};

// Receives firings during poll(). Its functions are probe context: they do not allocate, lock, print or write files. Buffers are
// emptied between two polls, so a sink can ask for a poll to end early.
class EventSink {
 public:
  // The instrument fills probe_id, timestamp, walltimestamp and the captured values; the sink fills the names and the EPID. The
  // firing is valid during the call only. False: poll() should return as soon as it can.
  virtual bool fire(vm::Firing& firing) noexcept = 0;
  // Of one clause: others of the probe have run where it fired, or follow. Returns like fire().
  virtual bool fire_clause(vm::Firing&, const ClauseFiring&) noexcept { return true; }
  // In its place among the firings. Returns like fire().
  virtual bool change(const ProcessChange&) noexcept { return true; }
  // False: no buffers exist for this CPU yet. Firings may come from CPUs of another machine, so an instrument that replays asks
  // before it hands over the first firing of a CPU; on false, poll() returns and offers that firing again.
  virtual bool has_buffers(int32_t /*cpu*/) noexcept { return true; }
  // Asked before a firing of this time is handed over, since earlier ones of another instrument may go first; on false, poll()
  // returns and offers that firing again. A time of 0 is not known.
  virtual bool admits(uint64_t /*time*/) noexcept { return true; }
  // Called during fire() by a sink that hands firings on and has itself no room for more: the poll is not complete.
  virtual void end_poll() noexcept {}
  // When BEGIN fired, in ns of CLOCK_MONOTONIC: what has fired before it is left out. 0: nothing is.
  virtual uint64_t begun() const noexcept { return 0; }
  // A clause has called exit().
  virtual bool has_ended() const noexcept { return false; }

 protected:
  ~EventSink() = default;
};

// A firing of a time that is not known is never left out.
constexpr bool is_before_begin(uint64_t time, uint64_t begun) { return time != 0 && time < begun; }

// A probe that could not be enabled, and why; the others are.
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
  uint64_t deadline = UINT64_MAX;  // at the latest then, in ns of CLOCK_MONOTONIC
  int descriptor = -1;             // at once when it becomes readable; -1: there is none
  double backlog = 0;              // found by the last poll(), as a fraction of what should wait at most (pace.h)
  bool fires_then = false;         // it fires at the deadline, so a later poll() makes it late
};

class Instrument {
 public:
  virtual ~Instrument() = default;
  virtual std::string_view name() const = 0;
  // How it makes a probe fire that it has enabled, if its name does not say that.
  virtual std::string_view way(const Probe&) const { return name(); }
  // Why the clauses of a probe that it has enabled run in dvm; empty: they do not, or it never runs clauses itself.
  virtual std::string_view in_dvm(const Probe&) const { return {}; }
  // Why it cannot make the probe fire, by the kind of its site; empty: it can.
  virtual std::string_view refusal(const Probe& probe) const = 0;
  bool takes(const Probe& probe) const { return refusal(probe).empty(); }
  // Makes the probes fire, all or (with an error) none. Single ones that the kernel cannot probe are left out and added to
  // refused.
  virtual Status enable(std::span<const EnabledProbe> probes, std::vector<Refused>& refused) = 0;
  // Hands over what has arrived, until the sink asks it to end. Returns the number of firings; an error ends tracing. Never
  // waits.
  virtual Result<uint64_t> poll(EventSink& sink) = 0;
  virtual Pacing pacing() const = 0;
  // Firings lost since enable(), because a buffer was full.
  virtual uint64_t drops() const = 0;
  // Takes all probes off. What has arrived already can still be polled. Called by the destructor too.
  virtual void disable() = 0;
  virtual Abilities abilities() { return {}; }
  // Probes that enable() refuses are offered to the instruments behind it.
  virtual bool passes_on() const { return false; }
  // Adds the probes that enable() would refuse, as far as their code shows it. Changes nothing.
  virtual void preview(std::span<const EnabledProbe>, std::vector<Refused>&) {}
};

}  // namespace dvm::runtime
