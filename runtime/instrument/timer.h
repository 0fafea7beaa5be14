#pragma once
// tick-N: fires in the thread that polls, without any privilege. Deadlines stand on a grid that begins at enable(), so a late
// poll delays one firing and shifts none. If a poll comes so late that several deadlines of a probe have passed, the probe fires
// once for all of them. A tick on a CPU that was held up does the same. missed() counts the others.

#include <memory>

#include "runtime/instrument/instrument.h"

namespace dvm::runtime {

class TimerInstrument : public Instrument {
 public:
  virtual uint64_t missed() const = 0;
};

std::unique_ptr<TimerInstrument> make_timer_instrument();

}  // namespace dvm::runtime
