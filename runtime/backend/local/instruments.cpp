// Covered by tests/unit/runtime/backend_test.cpp and handle_test.cpp.

#include "runtime/backend/local/instruments.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <utility>

#include "runtime/instrument/pace.h"

namespace dvm::runtime {
namespace {

uint64_t drops_on(Instrument& instrument, size_t cpu) {
  if (const CountsLosses* losses = instrument.abilities().losses) return losses->drops_on(static_cast<uint32_t>(cpu));
  return cpu == 0 ? instrument.drops() : 0;
}

constexpr const char* kNoInstrument = "no instrument can make it fire";

uint64_t missed_returns(Instrument& instrument) {
  const CountsLosses* losses = instrument.abilities().losses;
  return losses ? losses->missed_returns() : 0;
}

}  // namespace

void Instruments::add(std::unique_ptr<Instrument> instrument, std::string aside) {
  all_.push_back({std::move(instrument), std::move(aside)});
}

std::string_view Instruments::refusal(const Instrument& instrument, const Probe& probe) const {
  const std::string_view by_kind = instrument.refusal(probe);
  const auto passed = passed_.find({&instrument, &probe});
  return by_kind.empty() && passed != passed_.end() ? passed->second : by_kind;
}

Answer Instruments::answer(const Probe& probe, unsigned clause) const {
  Answer answer;
  const auto left_out = left_out_.find(&probe);
  for (const auto& [instrument, aside] : all_) {
    const std::string_view refusal = this->refusal(*instrument, probe);
    if (refusal.empty() && !answer.is_taken() && left_out == left_out_.end()) {
      const ClauseWay way = instrument->way(probe, clause);
      answer.by = way.by, answer.engine = way.engine;
      if (!way.in_dvm.empty()) answer.others.push_back({"in the traced thread", std::string(way.in_dvm)});
    } else if (!instrument->is_for_others(probe) && (!refusal.empty() || !aside.empty())) {
      answer.others.push_back({std::string(instrument->name()), refusal.empty() ? aside : std::string(refusal)});
    }
  }
  if (!answer.is_taken()) answer.reason = left_out != left_out_.end() ? left_out->second : kNoInstrument;
  return answer;
}

// One whose firings are merged with those of the others comes behind them.
void Instruments::activate(Instrument& instrument) {
  if (std::find(active_.begin(), active_.end(), &instrument) != active_.end()) return;
  const bool is_first_of_two = !active_.empty() && active_.back()->abilities().merges != nullptr;
  active_.insert(is_first_of_two ? active_.end() - 1 : active_.end(), &instrument);
}

Merges* Instruments::merges() const { return active_.size() > 1 ? active_.back()->abilities().merges : nullptr; }

Status Instruments::enable(std::span<const EnabledProbe> probes, std::vector<Refused>& refused) {
  forget_refused(probes);
  std::vector<std::vector<EnabledProbe>> shares = shares_of(probes, &refused);
  return enable_shares(0, shares, refused);
}

std::vector<std::vector<EnabledProbe>> Instruments::shares_of(std::span<const EnabledProbe> probes,
                                                              std::vector<Refused>* refused) {
  std::vector<std::vector<EnabledProbe>> shares(all_.size());
  for (const EnabledProbe& probe : probes) {
    const auto taker =
        std::find_if(all_.begin(), all_.end(), [&](const ListedInstrument& one) { return one.instrument->takes(*probe.probe); });
    if (taker != all_.end())
      shares[static_cast<size_t>(taker - all_.begin())].push_back(probe);
    else if (refused != nullptr)
      refused->push_back({probe.probe, kNoInstrument});
  }
  return shares;
}

Status Instruments::enable_shares(size_t from, std::vector<std::vector<EnabledProbe>>& shares, std::vector<Refused>& refused) {
  for (size_t i = from; i < all_.size(); i++) {
    if (shares[i].empty()) continue;
    activate(*all_[i].instrument);
    if (merges() != nullptr)
      for (EnabledProbe& probe : shares[i]) probe.needs.time = true;  // tells which firing goes first
    std::vector<Refused> its;
    if (Status status = enable_share(i, shares[i], its); !status) return status;
    if (all_[i].instrument->passes_on()) pass_on(i, shares, its);
    note_refused(*all_[i].instrument, its);
    refused.insert(refused.end(), its.begin(), its.end());
  }
  return {};
}

// Where an instrument cannot take what another has passed on, such as too many breakpoints, it is left out; the rest goes on.
Status Instruments::enable_share(size_t number, std::vector<EnabledProbe>& share, std::vector<Refused>& refused) {
  const Status status = all_[number].instrument->enable(share, refused);
  if (status) return status;
  const auto reason_of = [&](const EnabledProbe& one) -> const std::string* {
    for (size_t i = 0; i < number; i++)
      if (const auto passed = passed_.find({all_[i].instrument.get(), one.probe}); passed != passed_.end())
        return &passed->second;
    return nullptr;
  };
  std::vector<Refused> out;
  const size_t left = std::erase_if(share, [&](const EnabledProbe& one) {
    const std::string* reason = reason_of(one);
    if (reason == nullptr) return false;
    out.push_back({one.probe, *reason});
    passed_[{all_[number].instrument.get(), one.probe}] = status.error().message;
    return true;
  });
  if (left == 0) return status;
  refused = std::move(out);
  return share.empty() ? Status() : all_[number].instrument->enable(share, refused);
}

// Probes that one instrument has refused become shares of those behind it that take them.
void Instruments::pass_on(size_t from, std::vector<std::vector<EnabledProbe>>& shares, std::vector<Refused>& refused) {
  std::unordered_map<const Probe*, const EnabledProbe*> share;
  for (const EnabledProbe& its : shares[from]) share.try_emplace(its.probe, &its);
  std::erase_if(refused, [&](Refused& one) {
    const auto next = std::find_if(all_.begin() + static_cast<ptrdiff_t>(from) + 1, all_.end(),
                                   [&](const ListedInstrument& entry) { return entry.instrument->takes(*one.probe); });
    const auto probe = share.find(one.probe);
    if (next == all_.end() || probe == share.end()) return false;
    shares[static_cast<size_t>(next - all_.begin())].push_back(*probe->second);
    passed_[{all_[from].instrument.get(), one.probe}] = std::move(one.reason);
    return true;
  });
}

// The instrument's own reason is known already if the probes are left out for that of an earlier one.
void Instruments::note_refused(const Instrument& instrument, std::span<const Refused> refused) {
  for (const Refused& one : refused) {
    passed_.try_emplace({&instrument, one.probe}, one.reason);
    left_out_[one.probe] = one.reason;
  }
}

void Instruments::forget_refused(std::span<const EnabledProbe> probes) {
  if (passed_.empty()) return;
  for (const EnabledProbe& one : probes) {
    for (const ListedInstrument& entry : all_) passed_.erase({entry.instrument.get(), one.probe});
    left_out_.erase(one.probe);
  }
}

void Instruments::preview(std::span<const EnabledProbe> probes) {
  forget_refused(probes);
  std::vector<std::vector<EnabledProbe>> shares = shares_of(probes);
  for (size_t i = 0; i < all_.size(); i++) {
    std::vector<Refused> refused;
    all_[i].instrument->preview(shares[i], refused);
    if (all_[i].instrument->passes_on()) pass_on(i, shares, refused);
    note_refused(*all_[i].instrument, refused);
  }
}

uint64_t Instruments::next_poll(uint64_t until, std::vector<int>& descriptors) const {
  for (const Instrument* instrument : active_) {
    const Pacing pacing = instrument->pacing();
    until = std::min(until, pacing.deadline);
    if (pacing.descriptor >= 0) descriptors.push_back(pacing.descriptor);
  }
  return until;
}

Instrument* Instruments::overdue(uint64_t now) const {
  const auto found = std::find_if(active_.begin(), active_.end(), [now](const Instrument* one) {
    const Pacing pacing = one->pacing();
    return pacing.fires_then && pacing.deadline < now && now - pacing.deadline > kMostLate;
  });
  return found == active_.end() ? nullptr : *found;
}

void Instruments::disable() {
  for (size_t i = all_.size(); i-- > 0;) all_[i].instrument->disable();
}

void Instruments::add_drops(Drops& drops, size_t cpus) const {
  for (Instrument* instrument : active_) {
    for (size_t cpu = 0; cpu < cpus; cpu++) drops.add(Drop::principal, drops_on(*instrument, cpu), cpu);
    drops.add(Drop::returns, missed_returns(*instrument));
  }
}

uint64_t Instruments::lost_firings() const {
  uint64_t lost = 0;
  for (Instrument* instrument : active_) lost += instrument->drops() + missed_returns(*instrument);
  return lost;
}

// The first must be able to. The others may lack the permission, and are not needed then.
Status Instruments::follow(int32_t pid) {
  std::optional<Status> first;
  for (const ListedInstrument& one : all_) {
    FollowsProcesses* follows = one.instrument->abilities().follows;
    if (follows == nullptr) continue;
    Status status = follows->follow(pid);
    if (!first) first = std::move(status);
  }
  return first.value_or(Status());
}

bool Instruments::has_descendants() {
  return std::any_of(all_.begin(), all_.end(), [](const ListedInstrument& one) {
    FollowsProcesses* follows = one.instrument->abilities().follows;
    return follows != nullptr && follows->has_descendants();
  });
}

Status Instruments::watch(const LinkerSite& linker) {
  Status watched;
  for (auto one = all_.rbegin(); one != all_.rend(); ++one) {
    WatchesLoads* watches = one->instrument->abilities().watches;
    if (watches == nullptr) continue;
    Status status = watches->watch(linker);
    activate(*one->instrument);
    if (status) return status;
    if (watched || !status.error().message.empty()) watched = std::move(status);
  }
  return watched;
}

bool Instruments::may_lose_probes() const {
  return std::any_of(active_.begin(), active_.end(), [](Instrument* one) { return one->abilities().loses != nullptr; });
}

void Instruments::move_lost(size_t from, std::span<const LoadedIn> loads) {
  LosesProbes* loses = all_[from].instrument->abilities().loses;
  if (loses == nullptr) return;
  std::vector<std::vector<EnabledProbe>> shares(all_.size());
  std::vector<Refused> refused;
  for (LostProbe& one : loses->take_lost(loads)) {
    refused.push_back({one.enabled.probe, std::move(one.reason)});
    shares[from].push_back(std::move(one.enabled));
  }
  if (refused.empty()) return;
  const std::vector<Refused> lost = refused;
  pass_on(from, shares, refused);
  if (const Status moved = enable_shares(from + 1, shares, refused); !moved)
    for (refused.clear(); const Refused& one : lost) refused.push_back({one.probe, moved.error().message});
  if (refused.empty()) return;
  notes_.push_back(fmt::format("could not place {2} of the removed probes again, such as {0} of {1}: {3}",
                               refused[0].probe->function, refused[0].probe->module, refused.size(), refused[0].reason));
}

std::vector<LoadedIn> Instruments::take_loads() {
  std::vector<LoadedIn> loads;
  for (Instrument* instrument : active_)
    if (WatchesLoads* watches = instrument->abilities().watches) {
      const std::vector<LoadedIn> its = watches->take_loads();
      loads.insert(loads.end(), its.begin(), its.end());
    }
  for (size_t i = 0; i < all_.size(); i++) move_lost(i, loads);
  return loads;
}

void Instruments::settle() {
  for (Instrument* instrument : active_)
    if (WatchesLoads* watches = instrument->abilities().watches) watches->settle();
}

bool Instruments::holds(int32_t pid) const {
  return std::any_of(active_.begin(), active_.end(), [&](Instrument* one) {
    const HoldsThreads* holds = one->abilities().holds;
    return holds != nullptr && holds->holds(pid);
  });
}

// A replay without enabled probes is over at once. A live run goes on, since probes may be enabled later.
bool Instruments::finished() const {
  if (active_.empty()) return is_replay_;
  return std::all_of(active_.begin(), active_.end(), [](Instrument* one) {
    const Replays* replays = one->abilities().replays;
    return replays != nullptr && replays->finished();
  });
}

std::optional<Moment> Instruments::moment() const {
  std::optional<Moment> moment;
  for (Instrument* instrument : active_)
    if (const Replays* replays = instrument->abilities().replays)
      if (const auto its = replays->moment()) moment = its;
  return moment;
}

uint64_t Instruments::reading_ns() const {
  uint64_t ns = 0;
  for (Instrument* instrument : active_)
    if (const Replays* replays = instrument->abilities().replays) ns += replays->reading_ns();
  return ns;
}

std::vector<std::string> Instruments::take_notes() {
  std::vector<std::string> all = std::exchange(notes_, {});
  for (Instrument* instrument : active_)
    if (TellsNotes* notes = instrument->abilities().notes)
      for (std::string& note : notes->take_notes()) all.push_back(std::move(note));
  return all;
}

std::vector<std::string> Instruments::changes() const {
  std::vector<std::string> all;
  for (Instrument* instrument : active_)
    if (const TellsNotes* notes = instrument->abilities().notes)
      for (std::string& one : notes->changes()) all.push_back(std::move(one));
  return all;
}

void Instruments::collect() {
  for (Instrument* instrument : active_)
    if (Merges* kept = instrument->abilities().merges) kept->collect();
}

void Instruments::begin() {
  for (Instrument* instrument : active_)
    if (Aggregates* aggregates = instrument->abilities().aggregates) aggregates->begin();
}

bool Instruments::run_clauses() const {
  return std::any_of(all_.begin(), all_.end(),
                     [](const ListedInstrument& one) { return one.instrument->abilities().aggregates; });
}

// Also of those that have no probe yet.
void Instruments::set_global(uint16_t id, uint64_t value) const {
  for (const ListedInstrument& one : all_)
    if (Aggregates* aggregates = one.instrument->abilities().aggregates) aggregates->set_global(id, value);
}

bool Instruments::take_changes(std::span<GlobalChange> globals) const {
  return std::any_of(all_.begin(), all_.end(), [&](const ListedInstrument& one) {
    ChangesGlobals* its = one.instrument->abilities().globals;
    return its != nullptr && its->take_changes(globals);
  });
}

void Instruments::take_addresses(const Aggregates::VisitAddress& visit) const {
  for (Instrument* instrument : active_)
    if (Aggregates* aggregates = instrument->abilities().aggregates) aggregates->take_addresses(visit);
}

void Instruments::visit(const Visit& each) const {
  for (Instrument* instrument : active_)
    if (Aggregates* aggregates = instrument->abilities().aggregates) aggregates->aggregations().visit(each);
}

bool Instruments::wants_reading() const noexcept {
  return std::any_of(active_.begin(), active_.end(), [](Instrument* one) {
    Aggregates* aggregates = one->abilities().aggregates;
    return aggregates != nullptr && aggregates->aggregations().wants_reading();
  });
}

bool Instruments::empty() const noexcept {
  return std::all_of(active_.begin(), active_.end(), [](Instrument* one) {
    Aggregates* aggregates = one->abilities().aggregates;
    return aggregates == nullptr || aggregates->aggregations().empty();
  });
}

}  // namespace dvm::runtime
