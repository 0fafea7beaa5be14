// Replays a recording. Covered by tests/unit/instrument/replay_test.cpp.

#include "runtime/instrument/replay/replay.h"

#include <algorithm>

#include "runtime/instrument/replay/recording_gaps.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kMostPeriods = 4096;  // that a timer fires between two events

// A timer that was not recorded: it fires when the recorded time passes its deadline.
struct ReplayTimer {
  uint32_t probe_id = 0;
  uint64_t period = 0;
  uint64_t deadline = 0;  // 0: no event has been seen yet
  CaptureNeeds needs{};
};

class RecordedFirings final : public ReplayInstrument, public TellsNotes {
 public:
  explicit RecordedFirings(std::unique_ptr<RecordingReader> reader) : reader_(std::move(reader)) {
    for (const Probe& probe : reader_->probes()) {
      if (probe.id >= recorded_.size()) recorded_.resize(probe.id + 1);
      recorded_[probe.id] = true;
    }
    enabled_.resize(recorded_.size());
    needs_.resize(recorded_.size());
    ticks_.resize(recorded_.size());
    in_kernel_.resize(recorded_.size());
    for (const Probe& probe : reader_->probes()) {
      if (const auto* timer = std::get_if<TimerSite>(&probe.site)) ticks_[probe.id] = !timer->every_cpu;
      in_kernel_[probe.id] = std::holds_alternative<TracepointSite>(probe.site);
    }
  }

  std::string_view name() const override { return "replay"; }
  std::string_view refusal(const Probe& probe) const override { return replay_refusal(probe); }

  Status enable(std::span<const EnabledProbe> probes, std::vector<Refused>&) override {
    for (const EnabledProbe& enabled : probes) {
      uint32_t id = enabled.probe->id;
      if (id < recorded_.size() && recorded_[id]) {
        enabled_[id] = true;
        needs_[id] = enabled.needs;
      } else if (const auto* timer = std::get_if<TimerSite>(&enabled.probe->site)) {
        if (timer->period_ns > 0) timers_.push_back({id, timer->period_ns, 0, enabled.needs});
      }
    }
    return find_begin();
  }

  Result<uint64_t> poll(EventSink& sink) override {
    uint64_t fired = 0;
    goes_on_ = true;
    for (uint64_t i = 0; i < kReplayBatch && goes_on_ && !finished_; i++) {
      if (Status read = read_next(); !read) return read.error();
      if (finished_ || (may_fire() && !sink.has_buffers(next_.cpu))) break;
      if (!timers_.empty() && next_.timestamp - 1 < INT64_MAX) fired += fire_timers(sink, next_);
      if (!goes_on_) break;  // the next poll fires what is left before this event
      has_next_ = false;
      if (enabled_[next_.probe_id]) fired++, fire_next(sink);
      moment_ = {next_.timestamp + 1, next_.walltimestamp + 1};
    }
    return fired;
  }

  std::optional<Moment> moment() const override { return moment_; }

  Pacing pacing() const override { return {.deadline = finished_ ? UINT64_MAX : 0}; }
  bool finished() const override { return finished_; }
  uint64_t reading_ns() const override { return reader_->reading_ns(); }
  uint64_t drops() const override { return reader_->drops(); }
  std::vector<std::string> take_notes() override { return gaps_.take(); }
  Abilities abilities() override { return {.replays = this, .notes = this}; }
  void disable() override {
    std::fill(enabled_.begin(), enabled_.end(), false);
    timers_.clear();
  }

 private:
  // Leaves a firing that was read but not handed over where it is.
  Status read_next() {
    if (has_next_) return {};
    const auto found = reader_->next(next_);
    if (!found) return found.error();
    has_next_ = *found;
    finished_ = !*found;
    return {};
  }

  // True if handing over the next event fires a probe.
  bool may_fire() const { return enabled_[next_.probe_id] || !timers_.empty(); }

  void fire_next(EventSink& sink) {
    next_.reads_in_time = ticks_[next_.probe_id];
    gaps_.note(next_, needs_[next_.probe_id], !next_.reads_in_time, in_kernel_[next_.probe_id]);
    goes_on_ &= sink.fire(next_);
  }

  // Before the first event of a probe that is no tick, and all ticks before it: they are recorded when they fire, other events
  // when they are fetched. A recording without events begins now.
  Status find_begin() {
    auto reader = reader_->again();
    if (!reader) return reader.error();
    for (bool is_tick = true; is_tick;) {
      vm::Firing one;
      const auto found = (*reader)->next(one);
      if (!found) return found.error();
      if (!*found) break;
      const Moment before = {std::max<uint64_t>(one.timestamp, 1) - 1, std::max<uint64_t>(one.walltimestamp, 1) - 1};
      if (!moment_ || before.timestamp < moment_->timestamp) moment_ = before;
      is_tick = ticks_[one.probe_id];
    }
    return {};
  }

  // All deadlines up to the event, the earliest first, unless the sink asks for the poll to end. A gap of too many periods is
  // jumped: the times of a recording may be anything.
  uint64_t fire_timers(EventSink& sink, const vm::Firing& event) {
    uint64_t fired = 0;
    for (ReplayTimer& timer : timers_) {
      bool jump = timer.deadline == 0 ||
                  (event.timestamp > timer.deadline && (event.timestamp - timer.deadline) / timer.period > kMostPeriods);
      if (jump) timer.deadline = event.timestamp + timer.period;
    }
    for (;; fired++) {
      auto next = std::min_element(timers_.begin(), timers_.end(),
                                   [](const ReplayTimer& a, const ReplayTimer& b) { return a.deadline < b.deadline; });
      if (next->deadline > event.timestamp || !goes_on_) return fired;
      vm::Firing firing;
      firing.probe_id = next->probe_id;
      firing.timestamp = next->deadline;
      firing.walltimestamp = event.walltimestamp - (event.timestamp - next->deadline);
      firing.cpu = event.cpu;
      firing.execname = "";
      next->deadline += next->period;
      gaps_.note(firing, next->needs, false, false);
      goes_on_ &= sink.fire(firing);
      moment_ = {firing.timestamp + 1, firing.walltimestamp + 1};
    }
  }

  std::unique_ptr<RecordingReader> reader_;
  std::vector<bool> recorded_, enabled_;  // by probe id
  std::vector<bool> ticks_;               // those that fired in dvm itself
  std::vector<bool> in_kernel_;           // tracepoints and system calls
  std::vector<CaptureNeeds> needs_;       // by probe id
  std::vector<ReplayTimer> timers_;
  RecordingGaps gaps_;
  std::optional<Moment> moment_;
  vm::Firing next_;
  bool has_next_ = false;  // next_ has been read and not handed over
  bool goes_on_ = true;    // false: the sink asks for this poll to end
  bool finished_ = false;
};

}  // namespace

std::unique_ptr<ReplayInstrument> make_replay_instrument(std::unique_ptr<RecordingReader> reader) {
  return std::make_unique<RecordedFirings>(std::move(reader));
}

}  // namespace dvm::runtime
