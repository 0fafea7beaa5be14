#pragma once
// The cost model: Tao and Yang, "Performance Model of Dynamic Tracing System", Computer Engineering 35(10), 2009. Each equation
// is a function here; docs/cost-model.md has them as formulas. Costs are in clocks of the profile's machine, with their spread.

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "dvm/dif/program.h"
#include "runtime/cost/prices.h"
#include "runtime/instrument/capture.h"
#include "runtime/instrument/pace.h"
#include "runtime/instrument/uprobe/record.h"

namespace dvm::runtime {

// Equation (1), over the stages of flow_stages.def.

struct SourceCost {
  std::array<vm::Cost, kFlowStages.size()> stages{};  // Stage(K, x)
  vm::Cost all, thread;                               // their sum; of those in the traced thread, of which a recording has none
};
// A source without a price is reported as missing; sites in processes then have those of `pid`. event_bytes: of a replayed event.
SourceCost source_cost(Prices& prices, std::string_view source, double event_bytes = 0);

inline vm::Cost flow(const vm::Cost& source, const vm::Cost& prepare_machine, const vm::Cost& prepare_ecb, double ecbs) {
  return source + prepare_machine + prepare_ecb.times(ecbs);
}

// The frames of a stack, by which its rows are priced. One that says no number has as many as are expected.
inline double frames_of(const vm::Sizes& sizes, const dif::RecDesc& value) {
  return value.frames == 0 ? sizes.frames : std::min<double>(sizes.frames, value.frames);
}

// Part of stage 2: capturing the data that the clauses of a live firing need (captures.def). Strings and stacks have their
// expected length. CaptureNeeds::stack_bytes follows from option ustackunwind and the code. at: the site, whose kind decides what
// is captured of the process itself. Without it, an agent captures, which asks for numbers of the process by system calls.
struct CaptureCost {
  vm::Cost thread, dvm;
  vm::Cost cheapest, dearest;  // in the thread, if an agent loads all memory or reads all by system calls

  vm::CostRange in_thread() const { return {cheapest, thread, dearest}; }
};
CaptureCost capture_cost(Prices& thread, Prices& dvm, const CaptureNeeds& needs, std::optional<SiteKind> at = {});
// Bytes of a record in a lane, padded; strings have `string` bytes.
double record_bytes(const RecordLayouts& layouts, double string);
// Bytes of a firing in the ring; strings have `string` bytes. at: only a timer matters, which has fewer captures of the process.
double ring_bytes(const CaptureNeeds& needs, double string, SiteKind at = SiteKind::entry);

// Counts of the instructions of a clause's DIFOs in a run, as in EcbAccount; empty: not known.
using ClauseCounts = std::span<const vm::InstructionCounts>;

// (2), with the sums of vm::price_difo. Nothing for a clause without a predicate.
vm::CostRange predicate_cost(Prices& prices, const dif::EcbDesc& clause, ClauseCounts instructions = {});
// (3). committed: bytes that a commit() finds in its speculation.
vm::CostRange actions_cost(Prices& prices, const dif::EcbDesc& clause, double committed, ClauseCounts instructions = {});

// Equation (4). Prob_i is the fraction of firings whose predicate holds. Without a predicate, pred_i is 0 and Prob_i is 1. In the
// cheapest firing no predicate holds, in the most expensive one all do.
struct EcbCost {
  bool has_predicate = false;
  double probability = 1;
  vm::CostRange predicate, actions;
  double faults = 0;  // share of the runs of its actions that end with a fault
  vm::Cost error{};   // of one fault; actions.expected includes its share
};

inline vm::CostRange always(const vm::Cost& cost) { return {cost, cost, cost}; }

inline vm::CostRange firing_cost(const vm::Cost& flow, std::span<const EcbCost> ecbs) {
  vm::CostRange sum = always(flow);
  for (const EcbCost& ecb : ecbs) {
    sum += ecb.predicate;
    sum.expected += ecb.actions.expected.times(ecb.probability);
    sum.dearest += ecb.actions.dearest;
    if (!ecb.has_predicate) sum.cheapest += ecb.actions.cheapest;
  }
  return sum;
}

// Equation (5), of so many bytes of principal and aggregation buffers.
inline vm::Cost copy_out(Prices& prices, double bytes) {
  return prices.of("consumer/status_snapshot"_row) + prices.of("consumer/buffer_snapshot"_row) +
         prices.of("consumer/aggregation_snapshot"_row) + prices.of("consumer/copy"_row, bytes) +
         prices.of("consumer/aggregation_build"_row);
}

// Equation (6), in clocks a second. dvm adds polls; the paper's machine has none, because its VM runs in the thread that fires.
inline vm::Cost consumer_cost(Prices& prices, const vm::Cost& chew_and_print, double wake_ups, const vm::Cost& copy_out) {
  return chew_and_print + copy_out.times(wake_ups) + prices.of("consumer/context_switch"_row).times(2 * wake_ups);
}

// Linux may wake a thread this much later (in seconds), to combine wake-ups.
inline constexpr double kTimerSlack = 50e-6;

// Polls a second. wanted: bytes a second by the most that one should find. late: seconds from planned wake-up to next sleep.
inline double polls_a_second(double wanted, double late = kTimerSlack, double longest = kLongestWait) {
  return 1 / (wait_for(wanted, 1e9, longest) / 1e9 + late);
}

inline constexpr Row kPoll = "consumer/poll"_row;  // of dvm's own ring

// The cost of a poll that finds firings of so many clauses. Without a price: that of a usual one, or else two context switches.
inline vm::Cost poll_cost(Prices& prices, double clauses, Row poll = kPoll) {
  for (const Row row : {poll, kPoll})
    if (prices.find(row)) return prices.of(row, clauses);
  return prices.of("consumer/context_switch"_row).times(2);
}

inline double lateness(const vm::Profile& profile) {
  const vm::Price* late = profile.find("consumer/late"_row);
  return late ? late->m / profile.clock_hz : kTimerSlack;
}

// Clauses whose firings are evenly spaced. rate: per second.
struct PolledClauses {
  double rate = 0, clauses = 0;
};

// The cost of all polls, in clocks per second.
inline vm::Cost polling_cost(Prices& prices, std::span<const PolledClauses> all, double wanted, double longest = kLongestWait,
                             Row poll = kPoll) {
  const double polls = polls_a_second(wanted, lateness(prices.profile()), longest);
  double clauses = 0;  // whose firings a poll finds
  for (const PolledClauses& one : all) clauses += one.clauses * std::min(one.rate / polls, 1.0);
  return poll_cost(prices, clauses, poll).times(polls);
}

// Equations (7) and (8). Chew-and-print is user time, the rest of the consumer system time. A firing takes system time in the
// traced thread, then user time in dvm. The consumer takes system time to wake up, and user time for everything else. If the VM
// is in the kernel (the paper's machine), probes in processes take user time, all others system time.
struct Total {
  vm::Cost probes_user, probes_system, consumer_user, consumer_system;

  vm::Cost probes() const { return probes_user + probes_system; }
  vm::Cost consumer() const { return consumer_user + consumer_system; }
  vm::Cost user() const { return probes_user + consumer_user; }
  vm::Cost system() const { return probes_system + consumer_system; }
  vm::Cost all() const { return probes() + consumer(); }
};

// Freq * Cost(Probe), in clocks a second.
inline vm::Cost probe_cost(const vm::Cost& firing, double rate) { return firing.times(rate); }

inline double share_of_cpu(double clocks_a_second, double clock_hz) { return clocks_a_second / clock_hz; }  // 0 to 1

// Firings a second at which a firing of so many clocks takes this share of one CPU.
inline double rate_of_share(double clocks, double clock_hz, double share) { return clocks > 0 ? share * clock_hz / clocks : 0; }

// The share of a CPU that tracing takes, from measured shares and rates. A workload with cost T between firings uses F * T of a
// CPU untraced, at F firings per second, and F' * (T + C) traced.
inline double measured_share(double traced, double traced_rate, double untraced, double untraced_rate) {
  return traced - untraced * traced_rate / untraced_rate;
}

}  // namespace dvm::runtime
