// The instrument: processes with an agent, and their lanes. Tested by tests/runtime/scenarios/test_agent.py.

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>

#include "common/clock.h"
#include "runtime/agent/agent_process.h"
#include "runtime/agent/stopped_process.h"
#include "runtime/agent/target_check.h"
#include "runtime/instrument/agent/agent.h"
#include "runtime/instrument/agent/agent_planner.h"
#include "runtime/instrument/agent/arena_reader.h"
#include "runtime/instrument/agent/lane_reader.h"
#include "runtime/instrument/agent/record_program.h"
#include "runtime/instrument/agent/tsc_clock.h"
#include "runtime/instrument/pace.h"
#include "runtime/instrument/uprobe/delivery.h"

namespace dvm::runtime {
namespace {

constexpr uint32_t kLanes = 256;
constexpr size_t kLeastRing = 64 * 1024, kMostRing = 4096 * 1024, kShares = 8;
constexpr uint64_t kFreesEvery = 100'000'000;  // ns

struct TracedProcess {
  explicit TracedProcess(AgentProcess its) : agent(std::move(its)) {}

  void read_from(uint32_t lane_count, uint32_t ring_bytes) {
    lanes = std::make_unique<LaneReader>(agent.data_file(), lane_count, ring_bytes);
    arenas = std::make_unique<ArenaReader>(agent.data_file(), lane_count, ring_bytes);
  }

  AgentProcess agent;
  std::unique_ptr<LaneReader> lanes;
  std::unique_ptr<ArenaReader> arenas;
  std::unordered_set<uint64_t> cookies;
};

// What threads have aggregated since the last visit.
class ThreadAggregations final : public AggregationSource {
 public:
  using Collect = std::function<void(const Visit&)>;
  explicit ThreadAggregations(Collect collect) : collect_(std::move(collect)) {}
  void visit(const Visit& each) const override { collect_(each); }
  void clear() noexcept override {}
  bool empty() const noexcept override { return is_empty; }
  bool wants_reading() const noexcept override { return false; }

  bool is_empty = true;  // no clause aggregates there

class AgentInstrument final : public Instrument, public FollowsProcesses, public TellsNotes, public Aggregates {
 public:
  explicit AgentInstrument(size_t ring_bytes)
      : ring_bytes_(static_cast<uint32_t>(std::bit_floor(std::clamp(ring_bytes / kShares, kLeastRing, kMostRing)))) {}
  ~AgentInstrument() override { AgentInstrument::disable(); }

  std::string_view name() const override { return "agent"; }
  std::string_view way(const Probe& probe) const override {
    return in_thread_.contains(&probe) ? "agent, in the traced thread" : name();
  }

  std::string_view refusal(const Probe& probe) const override {
    return std::holds_alternative<UprobeSite>(probe.site) ? "" : "it fires at instructions only";
  }

  Status enable(std::span<const EnabledProbe> probes, std::vector<Refused>& refused) override {
    if (probes.empty()) return {};
    auto planned = planner_.plan(probes, refused);
    if (!planned) return planned.error();
    for (auto& [pid, sites] : *planned) {
      const Status enabled = enable_in(pid, sites, refused);
      if (enabled) continue;
      for (const AgentPlannedSite& site : sites)
        for (const Probe* probe : site.probes) refused.push_back({probe, enabled.error().message});
    }
    return {};
  }

  Result<uint64_t> poll(EventSink& sink) override {
    release_stragglers();
    clock_.read();
    delivery_.set_wall_offset(read_clock(CLOCK_REALTIME) - read_clock(CLOCK_MONOTONIC));
    const uint64_t before = copied();
    for (auto& [pid, process] : processes_)
      if (process->lanes) process->lanes->collect();
    found_ = copied() - before;
    free_lanes();
    uint64_t count = 0;
    while (TracedProcess* process = earliest()) {
      const bool wants_more = deliver(*process, *process->lanes->first(), sink);
      process->lanes->take_first();
      count++;
      if (!wants_more) break;
    }
    return count;
  }

  Pacing pacing() const override { return {.backlog = static_cast<double>(found_) / wanted_bytes(ring_bytes_)}; }
  Abilities abilities() override { return {.follows = this, .notes = this, .aggregates = this}; }
  AggregationSource& aggregations() override { return aggregations_; }
  Status follow(int32_t) override { return Error{"-x followfork: an agent does not follow children; -x instrument=uprobe does"}; }
  bool has_descendants() override { return false; }
  bool passes_on() const override { return true; }
  std::vector<std::string> take_notes() override { return std::exchange(notes_, {}); }

  uint64_t drops() const override {
    uint64_t lost = foreign_;
    for (const auto& [pid, process] : processes_)
      if (process->lanes) lost += process->lanes->lost();
    return lost;
  }

  void disable() override {
    for (auto& [pid, process] : processes_)
      if (Status off = process->agent.disable(); !off && kill(pid, 0) == 0)
        notes_.push_back(
            fmt::format("process {} keeps its probes, which do nothing any more: {}; 'dvm detach -p {}' takes them off", pid,
                        off.error().message, pid));
  }


}  // namespace dvm::runtime
