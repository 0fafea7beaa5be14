#pragma once
// The assumptions of a prediction about a run: rates, predicates, the sources of firings, sizes of strings and stacks.

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "dvm/dif/option.h"
#include "dvm/dif/program.h"
#include "dvm/vm/path_cost.h"
#include "runtime/cost/rows.h"
#include "runtime/instrument/agent/key_room.h"
#include "runtime/instrument/capture_needs.h"

namespace dvm::runtime {

// A source of a description's firings, with its share of them: 1 is all.
struct SourceShare {
  std::string source;
  double share = 1;
  bool copies_stack = false;  // ustack() copies a piece of the stack, as some code of the process has no frame pointers
};
using SourceShares = std::vector<SourceShare>;
using SourcesOfProbes = std::map<std::string, SourceShares>;  // by the description as text

// A use of a row. things: the number of units of its price n.
struct RowUse {
  Row row;
  double things = 0;
};

// A record from which dvm runs the actions of one clause.
struct LeftRecord {
  double bytes = 0;  // in the lane
  CaptureNeeds needs;
};

// A clause in the traced thread.
struct SiteUses {
  std::vector<RowUse> predicate, actions;
  unsigned strings = 0;                // string keys that may be on the heap
  double copied = 0;                   // the expected number of them that are
  std::optional<LeftRecord> record{};  // the record that it leaves if the predicate is true
  KeyedUpdates updates{};
  double fault_bytes = 0;  // of the record that it leaves if a string cannot be read
};

// How an agent (runtime/instrument/agent) runs the clauses of a probe, as far as prices depend on it.
struct AgentWay {
  Row stub = "agent/stub/entry"_row;
  bool is_at_site = false;  // clauses without a record of their own run in the thread; false: dvm runs all from one record
  std::string_view reason;  // why dvm runs a clause; a literal
  std::string by_calls{};   // why the heap is read by system calls; empty: it need not be, or no clause reads memory
  // Bytes of a record in the lane, and of the stack in it. 0: the stack is walked by frame pointers.
  double record_bytes = 0;
  uint32_t stack_bytes = 0;
  bool is_gated = false;   // the firing ends at once if all predicates are false
  bool is_common = false;  // the work is done by the code that all sites share
  bool takes_lane = true;  // false: a single count or assignment, which does not lock the lane
  // The clauses at the site. With one record for all clauses: their predicates, if is_gated.
  std::vector<SiteUses> clauses;
  // The share of the probes that an agent takes, and why it does not take one of the others (a literal).
  double share = 1;
  std::string_view refusal;
};

// True if some clause has a record of its own.
inline bool has_records(const AgentWay& way) {
  return std::any_of(way.clauses.begin(), way.clauses.end(), [](const SiteUses& one) { return one.record.has_value(); });
}

using AgentWays = std::map<std::string, AgentWay>;  // by the description as text

inline constexpr unsigned kUsualDigits = 5;  // of a printed number, such as a process id

// Counts of a clause in a run, as EcbAccount has them, over all of its probes.
struct MeasuredClause {
  double firings = 0, hits = 0, faults = 0;
  std::vector<vm::InstructionCounts> instructions;

  double probability() const { return hits / firings; }  // that its predicate held
};

using ClausePosition = std::tuple<std::string, unsigned, unsigned>;
inline ClausePosition position_of(const dif::SourcePosition& position) { return {position.file, position.line, position.column}; }
using MeasuredClauses = std::map<ClausePosition, MeasuredClause>;

struct PredictOptions {
  vm::Sizes sizes;
  std::optional<Execution> execution;  // where clauses run; nothing: the default of the profile
  double probability = 0.5;            // that a predicate holds, unless measured
  double faults = 0;                   // share of clauses that cannot read memory of the process, unless measured
  MeasuredClauses measured;
  std::map<std::string, double> rates;  // firings a second, by the description as text
  std::set<std::string> named_rates;    // rates that follow from the name of a probe
  SourcesOfProbes sources;              // if the probed instructions are known; otherwise single steps are assumed, the dearest
  AgentWays agent;                      // of the probes in processes that an agent takes
  std::optional<uint32_t> stack_bytes;  // the option ustackunwind; none: its default
  double event_bytes = 80;              // bytes of a recorded event
  double wake_ups = 1;                  // of the consumer, a second
  double ring = 8 << 20;                // bytes of the ring
  double heap = 0;                      // share of the strings and copies that are on the heap
  double returns = 0;                   // functions that return between a firing and the next call
  double wakes = 0;                     // wake-ups from idle before a firing, per second, of all threads together
  double digits = kUsualDigits;         // of a printed number
  double keys = 10;                     // keys of an aggregation or an associative array
  bool is_quiet = true;                 // -q: records print no heading

  const MeasuredClause* measured_of(const dif::EcbDesc& clause) const;  // null: no run counted it
};

// Sets what the options of a run decide: the size of strings and of the ring, wake-ups, copies of the stack, headings.
void take_options(PredictOptions& how, const dif::Options& run);

// The clauses of all programs, and their probe descriptions.
std::vector<const dif::EcbDesc*> clauses_of(std::span<const dif::Program* const> programs);
std::vector<const dif::ProbeDesc*> descriptions_of(std::span<const dif::Program* const> programs);

// "pid$target:libc:malloc:entry".
std::string text_of(const dif::ProbeDesc& description);

double rate_of(const dif::EcbDesc& clause, const PredictOptions& options);  // known firings a second of its probes

// The probability that the actions of a firing run.
double probability_of(const dif::EcbDesc& clause, const PredictOptions& options);

// The share of the runs of its actions that end with a fault.
double faults_of(const dif::EcbDesc& clause, const PredictOptions& options);

// BEGIN, END and ERROR: dvm fires them itself, and no other process pays.
bool is_own_probe(const dif::ProbeDesc& description);

// The source that prices a probe: pid for pid1234 and pid$target, sched for proc.
std::string source_of(const dif::ProbeDesc& description);

// Estimates the fraction of speculated records that is committed, and so printed. All speculations of a script are treated alike.
// Clauses with speculation() begin them; clauses with commit() or discard() end them. In program order, each of these ends what
// earlier ones have left. Clauses are weighted by the rates of their probes or, if not all rates are known, equally.

// True if the records of the clause go to a speculation.
bool speculates(const dif::EcbDesc& clause);
// The committed fraction, 0 to 1: of all speculations that begin or, if only BEGIN begins any, of all that end.
double committed_share(std::span<const dif::Program* const> programs, const PredictOptions& options);
// The same for one clause that speculates; 0 if it ends its speculation itself.
double committed_share(const dif::EcbDesc& clause, double of_all);

}  // namespace dvm::runtime
