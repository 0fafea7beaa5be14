#pragma once
// What some instruments can do beyond instrument.h, an interface each. Instrument::abilities() says which of them one has.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dvm/common/result.h"
#include "runtime/buffer/sources.h"
#include "runtime/symbol/linker.h"

namespace dvm::runtime {

class EventSink;

// Traces what a process forks as well.
class FollowsProcesses {
 public:
  // From now on the descendants of the process are traced like the process itself. Called before its probes are enabled.
  virtual Status follow(int32_t pid) = 0;
  // Whether descendants are left, once the processes named to follow() have gone.
  virtual bool has_descendants() = 0;

 protected:
  ~FollowsProcesses() = default;
};

// A process that has mapped files, and the traced process that it descends from.
struct LoadedIn {
  int32_t root = 0, pid = 0;
};

class HoldsThreads;

// Notices files that a process maps while it is traced.
class WatchesLoads {
 public:
  virtual Status watch(const LinkerSite& linker) = 0;
  // Probes that are on may be lost by what a process maps.
  virtual bool may_lose_probes() const { return false; }
  // The processes that have mapped files since the last call. They wait for settle(), two seconds at most, so that probes can be
  // enabled before the new code runs. holders: those that one of these holds do not run on yet; may be null.
  virtual std::vector<LoadedIn> take_loads() = 0;
  virtual void settle(const HoldsThreads* holders) = 0;

 protected:
  ~WatchesLoads() = default;
};

// Stops the threads that it traces.
class HoldsThreads {
 public:
  // Whether it is the ptrace tracer of the process. It then resumes a process that dvm has started, at the next poll().
  virtual bool holds(int32_t pid) const = 0;

 protected:
  ~HoldsThreads() = default;
};

// Times of a firing, in ns.
struct Moment {
  uint64_t timestamp = 0, walltimestamp = 0;
};

// Has firings from elsewhere than a live process, so they end.
class Replays {
 public:
  // Nothing more will ever arrive.
  virtual bool finished() const = 0;
  // The time for what fires in dvm itself, such as BEGIN and END: just before the first event of a recording, then just after the
  // latest one. None: the time is now.
  virtual std::optional<Moment> moment() const { return {}; }
  // CPU time spent reading its file, in ns.
  virtual uint64_t reading_ns() const { return 0; }

 protected:
  ~Replays() = default;
};

// Has something to tell the user, once: about probes that are on, or at the end.
class TellsNotes {
 public:
  virtual std::vector<std::string> take_notes() = 0;

 protected:
  ~TellsNotes() = default;
};

// Knows more about what the kernel has lost than Instrument::drops().
class CountsLosses {
 public:
  // drops() of one CPU.
  virtual uint64_t drops_on(uint32_t cpu) const = 0;
  // Returns that the kernel did not report since enable(), because calls were nested too deep.
  virtual uint64_t missed_returns() const = 0;

 protected:
  ~CountsLosses() = default;
};

// Runs clauses that only aggregate, where they fire.
class Aggregates {
 public:
  using VisitAddress = std::function<void(int32_t pid, uint64_t address)>;
  virtual AggregationSource& aggregations() = 0;
  // BEGIN has fired. What was aggregated before is left out, and what threads have assigned to their variables is forgotten.
  virtual void begin() = 0;
  // From now on the global variable has this value there.
  virtual void set_global(uint16_t id, uint64_t value) = 0;
  // Calls a function for each address that is in a key for the first time since the last call.
  virtual void take_addresses(const VisitAddress& visit) = 0;

 protected:
  ~Aggregates() = default;
};

// Keeps its firings until it is asked for them, so that they can be delivered among those of others by time. Times are in ns of
// CLOCK_MONOTONIC.
class Merges {
 public:
  // Reads what has fired up to now.
  virtual void collect() = 0;
  // The time of the earliest firing that was read; none: there is none.
  virtual std::optional<uint64_t> first() = 0;
  // Delivers that one. Returns like EventSink::fire().
  virtual bool deliver_first(EventSink& sink) = 0;

 protected:
  ~Merges() = default;
};

struct LostProbe;

// Places probes in the memory of a process, which may take it away, or execute another program.
class LosesProbes {
 public:
  // Those that are there no more since the last call. From now on they are others' to make fire.
  // loads: what processes have mapped meanwhile.
  virtual std::vector<LostProbe> take_lost(std::span<const LoadedIn> loads) = 0;

 protected:
  ~LosesProbes() = default;
};

// Null where the instrument lacks the ability.
struct Abilities {
  FollowsProcesses* follows = nullptr;
  WatchesLoads* watches = nullptr;
  HoldsThreads* holds = nullptr;
  Replays* replays = nullptr;
  TellsNotes* notes = nullptr;
  CountsLosses* losses = nullptr;
  Aggregates* aggregates = nullptr;
  Merges* merges = nullptr;
  LosesProbes* loses = nullptr;
};

}  // namespace dvm::runtime
