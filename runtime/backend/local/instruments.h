#pragma once
// The instruments of the local backend. Chooses the one that makes a probe fire, and combines their abilities.

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/backend/backend.h"
#include "runtime/buffer/drops.h"
#include "runtime/instrument/instrument.h"

namespace dvm::runtime {

class Instruments final : public FollowsProcesses,
                          public WatchesLoads,
                          public HoldsThreads,
                          public Replays,
                          public TellsNotes,
                          public AggregationSource {
 public:
  // is_replay: nothing is traced, so tracing is finished when no probe is on.
  explicit Instruments(bool is_replay) : is_replay_(is_replay) {}

  // Adds an instrument. The first one that takes a probe makes it fire. aside: why this one is not asked first; it is reported
  // for probes that it could take too.
  void add(std::unique_ptr<Instrument> instrument, std::string aside);
  Answer answer(const Probe& probe, unsigned clause) const;
  Status enable(std::span<const EnabledProbe> probes, std::vector<Refused>& refused);
  // Finds out what enable() would do with these probes, for later calls of answer().
  void preview(std::span<const EnabledProbe> probes);
  // The instruments that have a probe enabled or watch a process.
  const std::vector<Instrument*>& active() const { return active_; }
  // An active instrument with an overdue timer, or null.
  Instrument* overdue(uint64_t now) const;
  // The interface by which the last active instrument holds back firings, if several are active; or null.
  Merges* merges() const;
  uint64_t next_poll(uint64_t until, std::vector<int>& descriptors) const;
  // Disables the last instrument first, because an instrument that holds threads lets the earlier ones stop them.
  void disable();
  // Adds the losses on the first `cpus` CPUs. Losses on other CPUs count for CPU 0.
  void add_drops(Drops& drops, size_t cpus) const;
  uint64_t lost_firings() const;

  Status follow(int32_t pid) override;
  bool has_descendants() override;
  Status watch(const LinkerSite& linker) override;
  bool may_lose_probes() const override;
  // Probes that an instrument has lost by these loads pass to the instruments after it.
  std::vector<LoadedIn> take_loads() override;
  void settle() override;
  bool holds(int32_t pid) const override;
  bool finished() const override;
  std::optional<Moment> moment() const override;
  uint64_t reading_ns() const override;
  std::vector<std::string> take_notes() override;
  std::vector<std::string> changes() const override;
  // Visits the aggregations of clauses that run where their probes fire.
  void visit(const Visit& each) const override;
  void collect();            // call when BEGIN has fired: losses until then are none of the run
  void begin();              // call after that
  bool run_clauses() const;  // whether one runs clauses where they fire
  void set_global(uint16_t id, uint64_t value) const;
  bool take_changes(std::span<GlobalChange> globals) const;  // like ChangesGlobals
  void take_addresses(const Aggregates::VisitAddress& visit) const;
  void clear() noexcept override {}
  bool empty() const noexcept override;
  bool wants_reading() const noexcept override;

 private:
  struct ListedInstrument {
    std::unique_ptr<Instrument> instrument;
    std::string aside;
  };
  void activate(Instrument& instrument);
  // The probes by the instrument that takes them. refused: those that none takes, or null.
  std::vector<std::vector<EnabledProbe>> shares_of(std::span<const EnabledProbe> probes, std::vector<Refused>* refused = nullptr);
  Status enable_shares(size_t from, std::vector<std::vector<EnabledProbe>>& shares, std::vector<Refused>& refused);
  void move_lost(size_t from, std::span<const LoadedIn> loads);
  Status enable_share(size_t number, std::vector<EnabledProbe>& share, std::vector<Refused>& refused);
  void pass_on(size_t from, std::vector<std::vector<EnabledProbe>>& shares, std::vector<Refused>& refused);
  void note_refused(const Instrument& instrument, std::span<const Refused> refused);
  void forget_refused(std::span<const EnabledProbe> probes);
  std::string_view refusal(const Instrument& instrument, const Probe& probe) const;

  bool is_replay_;
  std::vector<ListedInstrument> all_;
  std::vector<Instrument*> active_;
  std::vector<std::string> notes_;
  // Probes that an instrument has refused or passed on to those after it, and why.
  std::map<std::pair<const Instrument*, const Probe*>, std::string> passed_;
  std::map<const Probe*, std::string> left_out_;  // those of these that no instrument makes fire
};

}  // namespace dvm::runtime
