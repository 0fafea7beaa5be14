// An instrument whose firings are written as they pass. Covered by tests/unit/instrument/replay_test.cpp and
// tests/runtime/scenarios/test_recording.py.

#include "runtime/instrument/replay/recording.h"

namespace dvm::runtime {
namespace {

// What a later script may ask of any firing, beside what the recorded one asks: the registers that hold arguments, time,
// thread and goroutine. Memory is not among it: only the recorded script says which.
const CaptureNeeds kWhateverIsAsked{.args = 0x3f | kGoroutineBit,
                                    .time = true,
                                    .vtime = false,
                                    .thread = true,
                                    .cpu = true,
                                    .comm = true,
                                    .error = true,
                                    .memory = {},
                                    .frames = 0,
                                    .registers = 0};

constexpr uint16_t kAllArguments = 0x3ff;  // of a tracepoint: they cost little there

class RecordedInstrument : public Instrument, private EventSink {
 public:
  RecordedInstrument(std::unique_ptr<Instrument> inner, std::shared_ptr<RecordingWriter> writer)
      : inner_(std::move(inner)), writer_(std::move(writer)) {}

  bool takes(const Probe& probe) const override { return inner_->takes(probe); }
  Status enable(std::span<const EnabledProbe> probes, std::vector<Refused>& refused) override {
    for (const EnabledProbe& enabled : probes) writer_->add_probe(*enabled.probe);
    std::vector<EnabledProbe> widened(probes.begin(), probes.end());
    for (EnabledProbe& enabled : widened) {
      enabled.needs |= kWhateverIsAsked;
      if (std::holds_alternative<TracepointSite>(enabled.probe->site)) enabled.needs.args = kAllArguments;
    }
    return inner_->enable(widened, refused);
  }
  Result<uint64_t> poll(EventSink& sink) override {
    sink_ = &sink;
    auto count = inner_->poll(*this);
    if (!count) return count;
    writer_->empty_buffer();
    writer_->learn();
    if (Status written = writer_->status(); !written) return written.error();
    return count;
  }
  Status follow(int32_t pid) override { return inner_->follow(pid); }
  bool has_descendants() override { return inner_->has_descendants(); }
  Status watch(const LinkerSite& linker) override { return inner_->watch(linker); }
  std::vector<LoadedIn> take_loads() override { return inner_->take_loads(); }
  void settle() override { inner_->settle(); }
  int wake_descriptor() const override { return inner_->wake_descriptor(); }
  bool holds(int32_t pid) const override { return inner_->holds(pid); }
  std::vector<std::string> take_notes() override { return inner_->take_notes(); }
  double filled() const override { return inner_->filled(); }
  uint64_t next_deadline() const override { return inner_->next_deadline(); }
  bool finished() const override { return inner_->finished(); }
  uint64_t drops() const override { return inner_->drops(); }
  uint64_t drops_on(uint32_t cpu) const override { return inner_->drops_on(cpu); }
  uint64_t missed_returns() const override { return inner_->missed_returns(); }
  void disable() override { inner_->disable(); }

 private:
  // It is written once its clauses have read what they read late.
  bool fire(vm::Firing& firing) noexcept override {
    writer_->late_reads().begin();
    const bool goes_on = sink_->fire(firing);
    firing.late = writer_->late_reads().pieces();
    return writer_->write(firing) && goes_on;
  }

  bool change(const ProcessChange& change) noexcept override { return sink_->change(change); }
  bool has_buffers(int32_t cpu) noexcept override { return sink_->has_buffers(cpu); }

  std::unique_ptr<Instrument> inner_;
  std::shared_ptr<RecordingWriter> writer_;
  EventSink* sink_ = nullptr;
};

}  // namespace

std::unique_ptr<Instrument> make_recorded_instrument(std::unique_ptr<Instrument> inner, std::shared_ptr<RecordingWriter> writer) {
  return std::make_unique<RecordedInstrument>(std::move(inner), std::move(writer));
}

}  // namespace dvm::runtime
