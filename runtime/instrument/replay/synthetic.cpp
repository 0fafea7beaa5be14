// Made-up firings. Covered by tests/unit/instrument/replay_test.cpp.

#include <algorithm>

#include "runtime/instrument/replay/replay.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kBatch = 4096;  // firings a poll
constexpr uint64_t kWallOffset = 1'700'000'000'000'000'000;

class SyntheticInstrument final : public ReplayInstrument {
 public:
  explicit SyntheticInstrument(SyntheticFirings config) : config_(std::move(config)) {
    config_.threads = std::max(config_.threads, 1);
    for (const auto& [arg, text] : config_.strings) {
      if (arg >= config_.args.size()) continue;
      auto bytes = std::as_bytes(std::span(text.c_str(), text.size() + 1));
      memory_.push_back({config_.args[arg], bytes, true});
    }
  }

  std::string_view name() const override { return "synthetic"; }
  std::string_view refusal(const Probe& probe) const override { return replay_refusal(probe); }

  Status enable(std::span<const EnabledProbe> probes, std::vector<Refused>&) override {
    for (const EnabledProbe& enabled : probes) ids_.push_back(enabled.probe->id);
    return {};
  }

  Result<uint64_t> poll(EventSink& sink) override {
    const uint64_t begin = done_, until = std::min(done_ + kBatch, total());
    for (bool goes_on = true; goes_on && done_ < until; done_++) {
      vm::Firing firing;
      firing.probe_id = ids_[done_ % ids_.size()];
      firing.timestamp = config_.start_ns + done_ * config_.period_ns;
      firing.walltimestamp = firing.timestamp + kWallOffset;
      firing.pid = config_.pid;
      firing.tid = config_.pid + static_cast<int32_t>(done_ % static_cast<uint64_t>(config_.threads));
      firing.args = config_.args;
      firing.execname = config_.execname;
      firing.memory = memory_;
      goes_on = sink.fire(firing);
    }
    return done_ - begin;
  }

  Pacing pacing() const override { return {.deadline = finished() ? UINT64_MAX : 0}; }
  uint64_t drops() const override { return 0; }
  bool finished() const override { return done_ == total(); }
  void disable() override {
    ids_.clear();
    done_ = 0;
  }

 private:
  uint64_t total() const { return config_.count * ids_.size(); }

  SyntheticFirings config_;
  std::vector<vm::CapturedMemory> memory_;
  std::vector<uint32_t> ids_;
  uint64_t done_ = 0;
};

}  // namespace

std::unique_ptr<ReplayInstrument> make_synthetic_instrument(SyntheticFirings firings) {
  return std::make_unique<SyntheticInstrument>(std::move(firings));
}

}  // namespace dvm::runtime
