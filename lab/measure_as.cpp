// Covered by tests/runtime/scenarios/test_cost.py.

#include "lab/measure_as.h"

#include "lab/noise/core_speed.h"
#include "lab/noise/quiet_time.h"
#include "runtime/cost/machine.h"

namespace dvm::runtime {

void measure_as(const vm::Profile& profile) {
  noise::give_times_at(profile.core_speed);
  if (profile.made_on.cpu == this_machine("").cpu) noise::expect_readings({profile.quiet_core.near, profile.quiet_core.far});
}

}  // namespace dvm::runtime
