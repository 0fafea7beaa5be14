#pragma once
// Equations (5) and (6), the consumer:
//
//   co = Cost_status_snapshot + Cost_buf_snapshot + Cost_agg_snapshot + (bytes of both buffers) / bandwidth + Cost_agg_build
//   Cost(consumer) = a second's chew-and-print + its wake-ups * co + 2 * its wake-ups * Cost_csw

//
// And what the paper's machine need not do, since its VM runs in the thread that fires: dvm looks for firings, looks_a_second().

#include <algorithm>
#include <span>

#include "runtime/cost/prices.h"
#include "runtime/instrument/pace.h"

namespace dvm::runtime {

// (5): one copy-out of so many bytes of principal and aggregation buffers.
inline vm::Cost copy_out(Prices& prices, double bytes) {
  return prices.of("consumer/status_snapshot"_row) + prices.of("consumer/buffer_snapshot"_row) +
         prices.of("consumer/aggregation_snapshot"_row) + prices.of("consumer/copy"_row, bytes) +
         prices.of("consumer/aggregation_build"_row);
}

// (6), in clocks a second.
inline vm::Cost consumer_cost(Prices& prices, const vm::Cost& chew_and_print, double wake_ups, const vm::Cost& copy_out) {
  return chew_and_print + copy_out.times(wake_ups) + prices.of("consumer/context_switch"_row).times(2 * wake_ups);
}

// Linux wakes a thread up so late, to wake several up at once.
inline constexpr double kTimerSlack = 50e-6;

// How often dvm looks for firings that come evenly, so much of what is wanted in a second. late: seconds from when it was to
// wake up to when it goes to sleep again.
inline double looks_a_second(double wanted, double late = kTimerSlack, double longest = kLongestWait) {
  return 1 / (wait_for(wanted, 1e9, longest) / 1e9 + late);
}

// Of a look that finds firings of so many clauses; is_shared: on a CPU that traced threads use, too. Of a profile that has no
// look, two switches of threads.
inline vm::Cost look_cost(Prices& prices, double clauses, bool is_shared = false) {
  if (is_shared && prices.find("consumer/look_shared"_row)) return prices.of("consumer/look_shared"_row, clauses);
  return prices.find("consumer/look"_row) ? prices.of("consumer/look"_row, clauses)
                                          : prices.of("consumer/context_switch"_row).times(2);
}

inline double lateness(const vm::Profile& profile) {
  const vm::Price* late = profile.find("consumer/late"_row);
  return late ? late->m / profile.clock_hz : kTimerSlack;
}

// Clauses whose firings come so often, evenly.
struct LookedFor {
  double rate = 0, clauses = 0;
};

// In clocks a second.
inline vm::Cost looking_cost(Prices& prices, std::span<const LookedFor> all, double wanted, double longest = kLongestWait) {
  const double looks = looks_a_second(wanted, lateness(prices.profile()), longest);
  double clauses = 0;  // that a look finds
  for (const LookedFor& one : all) clauses += one.clauses * std::min(one.rate / looks, 1.0);
  return look_cost(prices, clauses).times(looks);
}

}  // namespace dvm::runtime
