#pragma once
// Firings that come from no live process: those of a recording, and synthetic ones for tests and benchmarks.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/instrument/instrument.h"
#include "runtime/instrument/replay/recording.h"

namespace dvm::runtime {

// An instrument whose firings end.
class ReplayInstrument : public Instrument, public Replays {
 public:
  Abilities abilities() override { return {.replays = this}; }
};

// Why the replay instrument refuses a probe; empty: it takes it, as it does all but BEGIN, END and ERROR.
inline std::string_view replay_refusal(const Probe& probe) { return is_own(probe) ? "it fires in dvm itself" : ""; }

// Fires the enabled probes of the recording, with all that was recorded of each firing. A tick-N or profile-N that was not
// recorded fires as the recorded time passes; any other probe that was not recorded never fires.
// kReplayBatch: the most events that a poll takes.
inline constexpr uint64_t kReplayBatch = 1024;
std::unique_ptr<ReplayInstrument> make_replay_instrument(std::unique_ptr<RecordingReader> reader);

// `count` firings of each enabled probe that has a site (not BEGIN), one probe after the other in turn.
struct SyntheticFirings {
  uint64_t count = 0;
  decltype(vm::Firing::args) args{};
  std::vector<std::pair<uint8_t, std::string>> strings;  // what an argument points at; its address is args[]
  int32_t pid = 1000;
  int32_t threads = 1;  // tids are pid, pid + 1, ..., in turn
  uint64_t start_ns = 1'000'000'000, period_ns = 1000;
  std::string execname = "synthetic";
};
std::unique_ptr<ReplayInstrument> make_synthetic_instrument(SyntheticFirings firings);

}  // namespace dvm::runtime
