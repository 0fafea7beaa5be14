#pragma once
// Interfaces of the abilities that only some instruments have, beyond instrument.h. Instrument::abilities() returns them.

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

// Traces forked children too.
class FollowsProcesses {
 public:
  // Begins to trace the descendants of a process like the process itself. Called before its probes are enabled.
  virtual Status follow(int32_t pid) = 0;
  // True if descendants are left after the processes passed to follow() have ended.
  virtual bool has_descendants() = 0;

 protected:
  ~FollowsProcesses() = default;
};

// A process that has mapped files, and the traced process that it descends from.
struct LoadedIn {
  int32_t root = 0, pid = 0;
};

// Notices files that a process maps while it is traced.
class WatchesLoads {
 public:
  virtual Status watch(const LinkerSite& linker) = 0;
  // True if probes that are on may be lost when a process maps files.
  virtual bool may_lose_probes() const { return false; }
  // The processes that have mapped files since the last call. They wait for settle(), at most two seconds, so that probes can be
  // enabled before the new code runs.
  virtual std::vector<LoadedIn> take_loads() = 0;
  virtual void settle() = 0;

 protected:
  ~WatchesLoads() = default;
};

// Stops the threads that it traces.
class HoldsThreads {
 public:
  // True if it is the ptrace tracer of the process. It then resumes a process that dvm has started, at the next poll().
  virtual bool holds(int32_t pid) const = 0;

 protected:
  ~HoldsThreads() = default;
};

// Times of a firing, in ns.
struct Moment {
  uint64_t timestamp = 0, walltimestamp = 0;
};

// Replays firings, so they end.
class Replays {
 public:
  // Nothing more will ever arrive.
  virtual bool finished() const = 0;
  // The time for probes that fire in dvm itself, such as BEGIN and END: just before the first event of a recording, later just
  // after the latest one. Nothing: now.
  virtual std::optional<Moment> moment() const { return {}; }
  // CPU time spent reading its file, in ns.
  virtual uint64_t reading_ns() const { return 0; }

 protected:
  ~Replays() = default;
};

// Has notes for the user, each once: about probes that are on, or at the end.
class TellsNotes {
 public:
  virtual std::vector<std::string> take_notes() = 0;
  // What has changed since the probes were turned on, for users who want details.
  virtual std::vector<std::string> changes() const { return {}; }

 protected:
  ~TellsNotes() = default;
};

// Has details of the losses that Instrument::drops() counts.
class CountsLosses {
 public:
  // drops() of one CPU.
  virtual uint64_t drops_on(uint32_t cpu) const = 0;
  // Returns that the kernel did not report since enable(), because calls were nested too deep.
  virtual uint64_t missed_returns() const = 0;

 protected:
  ~CountsLosses() = default;
};

// Runs clauses that only aggregate where their probes fire.
class Aggregates {
 public:
  using VisitAddress = std::function<void(int32_t pid, uint64_t address)>;
  virtual AggregationSource& aggregations() = 0;
  // BEGIN has fired. Discards earlier aggregations and thread-local variables.
  virtual void begin() = 0;
  // Sets the value of a global variable for clauses that run where they fire.
  virtual void set_global(uint16_t id, uint64_t value) = 0;
  // Calls a function for each address that is in a key for the first time since the last call.
  virtual void take_addresses(const VisitAddress& visit) = 0;

 protected:
  ~Aggregates() = default;
};

// Holds its firings back until they are requested, so that they can be merged by time with those of other instruments. Times are
// in ns of CLOCK_MONOTONIC.
class Merges {
 public:
  // Reads all firings up to now.
  virtual void collect() = 0;
  // Delivers the firings that were read, up to a time, the earliest first, and counts them. Returns like EventSink::fire().
  virtual bool deliver_until(uint64_t time, EventSink& sink, uint64_t& count) = 0;

 protected:
  ~Merges() = default;
};

// A global variable, and what clauses have added to it where they fired.
struct GlobalChange {
  uint16_t id = 0;
  uint64_t added = 0;
};

// Runs clauses that change global variables where their probes fire.
class ChangesGlobals {
 public:
  // Sets what clauses have added to these variables. False: nothing since the last call that returned true.
  virtual bool take_changes(std::span<GlobalChange> globals) = 0;

 protected:
  ~ChangesGlobals() = default;
};

struct LostProbe;

// Places probes in the memory of a process, which may unmap it or execute another program.
class LosesProbes {
 public:
  // The probes that were lost since the last call. Other instruments may take them. loads: processes that have mapped files since
  // then.
  virtual std::vector<LostProbe> take_lost(std::span<const LoadedIn> loads) = 0;

 protected:
  ~LosesProbes() = default;
};

// Null: the instrument lacks the ability.
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
  ChangesGlobals* globals = nullptr;
};

}  // namespace dvm::runtime
