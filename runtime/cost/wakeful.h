#pragma once
// Somebody who works a little and sleeps for a millisecond, again and again. A machine that is idle but for one process, a virtual
// one above all, takes longer to wake up than one on which another does, too, and that time is charged to who wakes up. So
// what is compared is measured with as much going on: dvm looks for firings at such times, and the traced program does its work.

#include <chrono>
#include <cstdint>
#include <thread>

#include "common/clock.h"

namespace dvm::runtime {

// Until it is destroyed.
inline std::jthread wakeful(uint64_t work_ns) {
  return std::jthread([work_ns](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const uint64_t end = read_clock(CLOCK_MONOTONIC) + work_ns;
      while (read_clock(CLOCK_MONOTONIC) < end) {
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
}

}  // namespace dvm::runtime
