#pragma once
// How firings arrive. An instrument enables probes of the sites it knows and hands each firing to the sink, in the thread that
// polls.
//
//   uprobe   kernel uprobes through BPF and a ring buffer (uprobe/), with profile-N by perf events
//   breakpoint  execution breakpoints in processes of one's own user, without privileges (breakpoint/)
//   timer    tick-N from dvm's own loop
//   replay   a recording (replay/)

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/result.h"
#include "dvm/vm/host.h"
#include "runtime/catalog/probe.h"
#include "runtime/instrument/capture.h"
#include "runtime/instrument/wanted_processes.h"
#include "runtime/symbol/linker.h"

namespace dvm::runtime {

// How returns are probed: the words of option `return`, in their order.
enum class ReturnBy : uint8_t { safe, uretprobe, exits };

struct EnabledProbe {
  const Probe* probe = nullptr;
  CaptureNeeds needs;
  WantedProcesses wanted{};  // all its clauses are false in others
  bool at_entry = false;     // an entry probe must not be put behind the first instruction, though it were cheaper
  ReturnBy returns = ReturnBy::safe;
};

// What a followed process did.
struct ProcessChange {
  enum class What : uint8_t { forked, execed };

  What what = What::forked;
  int32_t pid = 0;    // the process
  int32_t child = 0;  // that it has forked; 0: its number is not known
};

// Receives firings during poll(). Its functions are probe context: they do not allocate, lock, print or write files. Buffers are
// emptied between two polls, so a sink can ask for a poll to end early.
class EventSink {
 public:
  // The instrument fills probe_id, timestamp, walltimestamp and the captured values; the sink fills the names and the EPID. The
  // firing is valid during the call only. False: poll() should return as soon as it can.
  virtual bool fire(vm::Firing& firing) noexcept = 0;
  // A change of a followed process, in its place among the firings. Returns like fire().
  virtual bool change(const ProcessChange&) noexcept { return true; }
  // False: no buffers exist for this CPU yet. Firings may come from CPUs of another machine, so an instrument that replays asks
  // before it hands over the first firing of a CPU; on false, poll() returns and offers that firing again.
  virtual bool has_buffers(int32_t /*cpu*/) noexcept { return true; }

 protected:
  ~EventSink() = default;
};

// A process that has mapped files, and the traced one that it comes from.
struct LoadedIn {
  int32_t root = 0, pid = 0;
};

// A probe that could not be enabled, and why; the others are.
struct Refused {
  const Probe* probe = nullptr;
  std::string reason;
};

// Times of a firing, in ns.
struct Moment {
  uint64_t timestamp = 0, walltimestamp = 0;
};

class Instrument {
 public:
  virtual ~Instrument() = default;
  // Whether the site is of this instrument's kind.
  virtual bool takes(const Probe& probe) const = 0;
  // Makes the probes fire, all or (with an error) none; single ones that the kernel cannot probe are left out and added to
  // refused.
  virtual Status enable(std::span<const EnabledProbe> probes, std::vector<Refused>& refused) = 0;
  // Hands over what has arrived. Returns how many firings; an error ends tracing. Never waits.
  virtual Result<uint64_t> poll(EventSink& sink) = 0;
  // What the last poll() found, as a part of what should wait for it at most: where it is more, it should be called more often.
  virtual double filled() const { return 0; }
  // When poll() should next be called at the latest, in ns of CLOCK_MONOTONIC; UINT64_MAX: no wish.
  virtual uint64_t next_deadline() const { return UINT64_MAX; }
  // A descriptor that becomes readable when poll() should be called at once; -1: there is none.
  virtual int wake_descriptor() const { return -1; }
  // Nothing more will ever arrive (a recording has been read).
  virtual bool finished() const { return false; }
  // CPU time that reading its file has taken, in ns.
  virtual uint64_t reading_ns() const { return 0; }
  // When it is for what fires in dvm itself, as BEGIN and END; none: now. In a recording it is just before its first event, and
  // then behind the last one that poll() has handed over.
  virtual std::optional<Moment> moment() const { return {}; }
  // Firings lost since enable(), because a buffer was full.
  virtual uint64_t drops() const { return 0; }
  // The same for one CPU. What was lost on a CPU that is not known is CPU 0's.
  virtual uint64_t drops_on(uint32_t cpu) const { return cpu == 0 ? drops() : 0; }
  // Returns that the kernel did not report since enable(), because the calls were nested too deep.
  virtual uint64_t missed_returns() const { return 0; }
  // From now on what the process forks is traced as it is, with all that comes of it. Before its probes are enabled.
  virtual Status follow(int32_t) { return {}; }
  // Whether such processes are left, asked once those that follow() named have gone.
  virtual bool has_descendants() { return false; }
  // Tells from now on of files that the process maps: take_loads() says in which processes there are new ones, and these wait
  // until settle(), two seconds at most, so that their probes can be enabled before they run.
  virtual Status watch(const LinkerSite&) { return {}; }
  virtual std::vector<LoadedIn> take_loads() { return {}; }
  virtual void settle() {}
  // Whether it is the tracer of the process, as ptrace has it: then it lets it run itself, at the next poll().
  virtual bool holds(int32_t) const { return false; }
  // What whoever traces should know, told once: of probes that are on, or when tracing ends.
  virtual std::vector<std::string> take_notes() { return {}; }
  // Takes all probes off. What has arrived already can still be polled. Called by the destructor too.
  virtual void disable() = 0;
};

}  // namespace dvm::runtime
