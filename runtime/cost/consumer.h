#pragma once
// Equations (5) and (6), the consumer:
//
//   co = Cost_status_snapshot + Cost_buf_snapshot + Cost_agg_snapshot + (bytes of both buffers) / bandwidth + Cost_agg_build
//   Cost(consumer) = a second's chew-and-print + its wake-ups * co + 2 * its wake-ups * Cost_csw

#include "runtime/cost/prices.h"

namespace dvm::runtime {

// (5): one copy-out of so many bytes of principal and aggregation buffers.
inline vm::Cost copy_out(Prices& prices, double bytes) {
  return prices.of("consumer/status_snapshot") + prices.of("consumer/buffer_snapshot") +
         prices.of("consumer/aggregation_snapshot") + prices.of("consumer/copy", bytes) + prices.of("consumer/aggregation_build");
}

// (6), in clocks a second.
inline vm::Cost consumer_cost(Prices& prices, const vm::Cost& chew_and_print, double wake_ups, const vm::Cost& copy_out) {
  return chew_and_print + copy_out.times(wake_ups) + prices.of("consumer/context_switch").times(2 * wake_ups);
}

}  // namespace dvm::runtime
