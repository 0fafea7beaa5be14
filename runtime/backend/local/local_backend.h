#pragma once
// The backend `local`: instruments deliver firings to dvm, which runs the plans in its own thread.
//
//   instruments (instruments.h) ── poll ──> firing_path.h ──> ECB loop (runtime/probe/) in fire_memory.h
//
// dvm's own probes, BEGIN and END, fire here too.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dvm/runtime/handle.h"
#include "runtime/backend/backend.h"
#include "runtime/backend/local/fire_memory.h"
#include "runtime/backend/local/firing_path.h"
#include "runtime/backend/local/instruments.h"
#include "runtime/backend/local/process_host.h"

namespace dvm::runtime {

// Combines two sources.
class JoinedAggregations final : public AggregationSource {
 public:
  JoinedAggregations(AggregationSource& one, AggregationSource& other) : one_(one), other_(other) {}
  void visit(const Visit& each) const override { one_.visit(each), other_.visit(each); }
  void clear() noexcept override { one_.clear(), other_.clear(); }
  bool empty() const noexcept override { return one_.empty() && other_.empty(); }
  bool wants_reading() const noexcept override { return one_.wants_reading() || other_.wants_reading(); }

 private:
  AggregationSource &one_, &other_;
};

class LocalBackend final : public Backend, public OwnProbes, public RunsCode {
 public:
  LocalBackend(HandleConfig& config, const Enabling& enabling);
  ~LocalBackend() override { instruments_.disable(); }

  // aside: why it is not asked before those that were added earlier.
  void add(std::unique_ptr<Instrument> instrument, std::string aside) {
    instruments_.add(std::move(instrument), std::move(aside));
  }

  std::string_view name() const override { return "local"; }
  Answer answer(const EcbPlan& plan, const Probe& probe) const override;
  void preview(std::span<const EnabledProbe> probes) override { instruments_.preview(probes); }
  Status start(const Notice& notice) override;
  Status extend() override;
  void learn(int32_t pid, bool may_act) override { host_.learn(pid, may_act); }
  Status enable(std::span<const EnabledProbe> probes, std::vector<Refused>& refused) override {
    for (const EnabledProbe& one : probes) path_.share(one.globals);
    return instruments_.enable(probes, refused);
  }
  Result<Polled> poll() override;
  Status fire_overdue(MonotonicTime now) override;
  // In a replay, speculations are cleaned by the times of its firings.
  void work_at_rate(MonotonicTime now) override {
    if (!config_.is_replay) path_.clean_at_rate(now);
  }
  void disable() override { instruments_.disable(); }
  uint64_t next_poll(uint64_t until, std::vector<int>& descriptors) override;
  bool is_on() const override { return !instruments_.active().empty(); }
  bool is_finished() override { return instruments_.finished(); }
  std::optional<int> end_status() const override;
  RecordSource& records() override { return memory_.context().cpus; }
  AggregationSource& aggregations() override { return aggregations_; }
  Drops drops() override;
  uint64_t lost_firings() override { return instruments_.lost_firings(); }
  FiringCounts counts() const override;
  std::vector<ContextAccount> accounts() override { return {{memory_.context().tallies, &memory_.context().stages}}; }
  void take_addresses(const VisitAddress& visit) override;
  std::vector<ProcessChange> take_changes() override { return path_.take_changes(); }
  Abilities abilities() override;

  OwnProbes* own_probes() override { return this; }
  void fire_begin() override {
    path_.fire_own("BEGIN", instruments_.moment());
    instruments_.collect();
    path_.begin();
    instruments_.begin();
  }
  void end_firings(MonotonicTime now) override { path_.end(now); }
  // False: no probe of a process or of the kernel has.
  bool may_have_fired() const { return path_.may_have_fired(); }
  // The firings that are not polled yet become drops.
  void drop_rest() { path_.drop_rest(); }
  // END may use the reserved room of the buffers.
  void fire_end() override;
  RunsCode* runs_code() override { return this; }
  std::span<const EcbRuns> runs() const override { return memory_.context().runs; }
  void take_up(const EcbCode& code) override { memory_.take_up(code); }

 private:
  Result<uint64_t> poll(Instrument& instrument);
  Result<uint64_t> deliver(Instrument& instrument);
  Result<uint64_t> poll_overdue(MonotonicTime now);
  void begin_merge();

  const HandleConfig& config_;
  ProcessHost host_;
  FireMemory memory_;
  Instruments instruments_;
  FiringPath path_;
  JoinedAggregations aggregations_{memory_.context().aggregations, instruments_};
  size_t next_ = 0;            // the active instrument with which a partial poll continues
  uint64_t turn_ = 0;          // firings and parts of that instrument since its turn began
  uint64_t merged_until_ = 0;  // the time up to which firings that are held back were delivered
};

}  // namespace dvm::runtime
