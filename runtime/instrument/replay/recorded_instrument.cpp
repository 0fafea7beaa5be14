// An instrument whose firings are written as they pass. Covered by tests/unit/instrument/replay_test.cpp and
// tests/runtime/scenarios/test_recording.py.

#include <set>

#include "runtime/instrument/replay/recording.h"

namespace dvm::runtime {
namespace {

// A later script may ask more of a firing than the recorded script: the registers that hold arguments, time, thread and
// goroutine are captured for it. Memory is not, because only the recorded script says which memory.
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

unsigned in_vectors(const UprobeSite& site) {
  unsigned bits = 0;
  for (size_t n = 0; site.inside && n < site.inside->size(); n++)
    bits |= unsigned{(*site.inside)[n].kind == Operand::Kind::vector} << n;
  return bits;
}

// A bit for each argument that is in a vector register somewhere. Uprobes that are asked for it are refused.
unsigned in_vectors(const Probe& probe) {
  const auto* first = std::get_if<UprobeSite>(&probe.site);
  unsigned bits = first != nullptr ? in_vectors(*first) : 0;
  for (const UprobeSite& more : probe.more_sites) bits |= in_vectors(more);
  return bits;
}

class RecordedInstrument : public Instrument, private EventSink, private Merges {
 public:
  RecordedInstrument(std::unique_ptr<Instrument> inner, std::shared_ptr<RecordingWriter> writer)
      : inner_(std::move(inner)), writer_(std::move(writer)) {}

  std::string_view name() const override { return inner_->name(); }
  ClauseWay way(const Probe& probe, unsigned clause) const override { return inner_->way(probe, clause); }
  bool is_for_others(const Probe& probe) const override { return inner_->is_for_others(probe); }
  std::string_view refusal(const Probe& probe) const override { return inner_->refusal(probe); }
  Status enable(std::span<const EnabledProbe> probes, std::vector<Refused>& refused) override {
    std::vector<EnabledProbe> widened(probes.begin(), probes.end());
    for (EnabledProbe& enabled : widened) {
      const uint16_t unknown = not_asked(enabled);
      enabled.needs |= kWhateverIsAsked;
      if (name() == "uprobe") enabled.needs.owner = enabled.needs.parent = true;  // others make system calls for these
      enabled.needs.args &= static_cast<uint16_t>(~unknown);
      enabled.clauses.clear();  // its firings are recorded
      enabled.in_dvm = InDvm::accounted;
      if (std::holds_alternative<TracepointSite>(enabled.probe->site)) enabled.needs.args = kAllArguments;
    }
    const size_t before = refused.size();
    Status done = inner_->enable(widened, refused);
    if (done) add_probes(probes, std::span(refused).subspan(before));
    return done;
  }
  Result<uint64_t> poll(EventSink& sink) override {
    sink_ = &sink;
    auto count = inner_->poll(*this);
    if (!count) return count;
    keep();
    if (Status written = writer_->status(); !written) return written.error();
    return count;
  }
  bool passes_on() const override { return inner_->passes_on(); }
  void preview(std::span<const EnabledProbe> probes, std::vector<Refused>& refused) override { inner_->preview(probes, refused); }
  Pacing pacing() const override { return inner_->pacing(); }
  uint64_t drops() const override { return inner_->drops(); }
  void disable() override { inner_->disable(); }
  Abilities abilities() override {
    Abilities abilities = inner_->abilities();
    merged_ = abilities.merges;
    if (merged_ != nullptr) abilities.merges = this;
    return abilities;
  }

 private:
  // A bit for each argument that no clause reads and that makes uprobes refuse the probe.
  uint16_t not_asked(const EnabledProbe& enabled) const {
    return name() == "uprobe" ? static_cast<uint16_t>(in_vectors(*enabled.probe) & ~enabled.needs.args) : 0;
  }

  // Another instrument, which may know fewer arguments, records those that this one passes on.
  void add_probes(std::span<const EnabledProbe> probes, std::span<const Refused> refused) {
    std::set<const Probe*> passed_on;
    for (const Refused& one : passes_on() ? refused : std::span<const Refused>()) passed_on.insert(one.probe);
    for (const EnabledProbe& enabled : probes)
      if (!passed_on.contains(enabled.probe)) writer_->add_probe(*enabled.probe, not_asked(enabled));
  }

  // It is written once its clauses have read what they read late. What fires after exit() runs no clause.
  bool fire(vm::Firing& firing) noexcept override {
    if (sink_->traced_time().drops(firing.timestamp) || sink_->has_ended()) return true;
    writer_->late_reads().begin();
    const bool goes_on = sink_->fire(firing);
    firing.late = writer_->late_reads().pieces();
    if (writer_->write(firing)) return goes_on;
    sink_->end_poll();
    return false;
  }

  // Between two firings: writes what is buffered, and learns of processes while they are there.
  void keep() {
    writer_->empty_buffer();
    writer_->learn();
  }

  bool change(const ProcessChange& change) noexcept override { return sink_->change(change); }
  bool has_buffers(int32_t cpu) noexcept override { return sink_->has_buffers(cpu); }
  bool admits(uint64_t time) noexcept override { return sink_->admits(time); }

  // An instrument that merges is not polled. poll() of the one beside it, which is recorded too, tells of errors.
  void collect() override { merged_->collect(); }
  bool deliver_until(uint64_t time, EventSink& sink, uint64_t& count) override {
    sink_ = &sink;
    const bool goes_on = merged_->deliver_until(time, *this, count);
    if (!goes_on) keep();  // the run may end before the other one is polled, and with it the process
    return goes_on;
  }

  std::unique_ptr<Instrument> inner_;
  std::shared_ptr<RecordingWriter> writer_;
  EventSink* sink_ = nullptr;
  Merges* merged_ = nullptr;  // of the inner one
};

}  // namespace

std::unique_ptr<Instrument> make_recorded_instrument(std::unique_ptr<Instrument> inner, std::shared_ptr<RecordingWriter> writer) {
  return std::make_unique<RecordedInstrument>(std::move(inner), std::move(writer));
}

}  // namespace dvm::runtime
