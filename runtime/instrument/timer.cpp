// tick-N. Tested by tests/unit/instrument/timer_test.cpp.
#include "runtime/instrument/timer.h"

#include <algorithm>

#include "common/clock.h"
#include "runtime/instrument/own_firing.h"

namespace dvm::runtime {
namespace {

class Timers final : public TimerInstrument {
 public:
  std::string_view name() const override { return "timer"; }

  std::string_view refusal(const Probe& probe) const override {
    const auto* site = std::get_if<TimerSite>(&probe.site);
    return site && !site->every_cpu ? "" : "it fires tick probes only";
  }
  bool is_for_others(const Probe& probe) const override { return !takes(probe); }

  Status enable(std::span<const EnabledProbe> probes, std::vector<Refused>& refused) override {
    const uint64_t start = read_clock(CLOCK_MONOTONIC);
    for (const EnabledProbe& enabled : probes) {
      const uint64_t period = std::get<TimerSite>(enabled.probe->site).period_ns;
      if (period == 0)
        refused.push_back({enabled.probe, "its period is zero"});
      else
        ticks_.push_back({enabled.probe->id, period, start + period});
    }
    return {};
  }

  // Of several that are due, the one whose time came first fires first.
  Result<uint64_t> poll(EventSink& sink) override {
    const uint64_t time = read_clock(CLOCK_MONOTONIC);
    uint64_t count = 0;
    bool goes_on = true;
    for (Tick* tick = next(); goes_on && tick && tick->due <= time; tick = next(), count++) {
      const uint64_t passed = (time - tick->due) / tick->period;
      tick->due += (passed + 1) * tick->period;
      missed_ += passed;
      goes_on = fire(*tick, sink);
    }
    return count;
  }

  Pacing pacing() const override {
    Pacing pacing{.deadline = UINT64_MAX, .descriptor = -1, .backlog = 0, .fires_then = true};
    for (const Tick& tick : ticks_) pacing.deadline = std::min(pacing.deadline, tick.due);
    return pacing;
  }

  uint64_t drops() const override { return 0; }  // a late tick stands for those that it has missed
  uint64_t missed() const override { return missed_; }
  void disable() override { ticks_.clear(); }

 private:
  struct Tick {
    uint32_t probe_id;
    uint64_t period;
    uint64_t due;
  };

  Tick* next() {
    const auto first = std::min_element(ticks_.begin(), ticks_.end(), [](const Tick& a, const Tick& b) { return a.due < b.due; });
    return first == ticks_.end() ? nullptr : &*first;
  }

  static bool fire(const Tick& tick, EventSink& sink) {
    vm::Firing firing = own_firing();
    firing.probe_id = tick.probe_id;
    firing.args[1] = reinterpret_cast<uint64_t>(&fire);  // the program counter: as in profile-N, one in a process
    return sink.fire(firing);
  }

  std::vector<Tick> ticks_;
  uint64_t missed_ = 0;
};

}  // namespace

std::unique_ptr<TimerInstrument> make_timer_instrument() { return std::make_unique<Timers>(); }

}  // namespace dvm::runtime
