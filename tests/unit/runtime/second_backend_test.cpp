// A session with another backend beside `local`: what it hands over comes out as if `local` had run the clauses.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>

#include "runtime/backend/backend.h"
#include "runtime/enabling/enabling.h"
#include "tests/unit/runtime/session.h"

namespace dvm::runtime::test {
namespace {

using testing::HasSubstr;

// Takes the probes of function g. Each has fired twice, on two lanes, with arg0 as 10 and 20: the clause has printed and counted
// it.
class SecondBackend final : public Backend, RecordSource, AggregationSource {
 public:
  explicit SecondBackend(const Enabling& enabling) : enabling_(enabling) {}

  std::string_view name() const override { return "second"; }
  Answer answer(const EcbPlan&, const Probe& probe) const override {
    if (probe.function != "g") return {.by = "", .reason = "another function", .others = {}};
    return refusal.empty() ? Answer{.by = "a stub", .engine = "its own", .reason = "", .others = {}}
                           : Answer{.by = "", .reason = refusal, .others = {}};
  }
  Status start(const Notice& notice) override { return notice("second starts"), Status(); }
  Status extend() override { return {}; }
  void learn(int32_t pid, bool) override { learnt.push_back(pid); }
  Status enable(std::span<const EnabledProbe> probes, std::vector<Refused>& refused) override {
    for (const EnabledProbe& one : probes) {
      if (refuses) refused.push_back({one.probe, refusal = "no room for a jump"});
      if (!refuses) fired_.push_back(enabling_.find(one.probe->id)->ecbs.front());
    }
    return {};
  }
  Result<Polled> poll() override {
    const std::vector<const Ecb*> fired = std::exchange(fired_, {});
    for (const Ecb* ecb : fired) {
      tallies_.emplace_back(*enabling_.ecbs()[0].code);
      while (tallies_.size() < ecb->epid) tallies_.emplace_back(*ecb->code);
      for (EcbTallies& one : tallies_) one.costs = std::vector<vm::OpCost>();  // its own code counts no DIF
      tallies_[ecb->epid - 1].firings += 2;
      for (const uint64_t value : {uint64_t{10}, uint64_t{20}}) add_record(*ecb, value);
      stages_[Stage::actions] += {2, 2, 2000, 0};
    }
    polls++;
    if (on_poll) on_poll();
    return Polled{.firings = 2 * fired.size(), .is_partial = on_poll && !is_disabled && polls < 1000};
  }
  void work_at_rate(MonotonicTime) override {}
  void disable() override { is_disabled = true; }
  uint64_t next_poll(uint64_t until, std::vector<int>&) override { return until; }
  bool is_on() const override { return !lanes_.empty(); }
  bool is_finished() override { return true; }
  std::optional<int> end_status() const override { return {}; }
  RecordSource& records() override { return *this; }
  AggregationSource& aggregations() override { return *this; }
  Drops drops() override {
    Drops all;
    all.add(Drop::principal, 3, 0);
    return all;
  }
  uint64_t lost_firings() override { return 3; }
  FiringCounts counts() const override { return {.firings = 2}; }
  std::vector<ContextAccount> accounts() override { return {{tallies_, &stages_}}; }
  void take_addresses(const VisitAddress&) override {}
  std::vector<ProcessChange> take_changes() override { return {}; }
  Abilities abilities() override { return {}; }

  bool refuses = false, is_disabled = false;
  unsigned polls = 0;
  std::function<void()> on_poll;  // with it, there is always more to poll
  std::string refusal;
  std::vector<int32_t> learnt;

 private:
  void add_record(const Ecb& ecb, uint64_t value) {
    std::vector<std::byte>& bytes = lanes_.emplace_back(ecb.plan->record_size);
    const RecordHeader header{ecb.epid, ecb.plan->record_size, UINT64_MAX - 100 + value};
    std::memcpy(bytes.data(), &header, sizeof header);
    std::memcpy(bytes.data() + ecb.plan->actions[0].values[0].offset, &value, sizeof value);
    keys_.push_back(value);
  }
  std::vector<RecordLane> take_records() override {
    taken_ = std::exchange(lanes_, {});
    std::vector<RecordLane> lanes;
    for (size_t i = 0; i < taken_.size(); i++) lanes.push_back({static_cast<int32_t>(i), taken_[i]});
    return lanes;
  }
  void visit(const Visit& each) const override {
    const uint64_t one = 1;
    for (const uint64_t& key : keys_) each({1, std::as_bytes(std::span(&key, 1)), {&one, 1}});
  }
  void clear() noexcept override { keys_.clear(); }
  bool empty() const noexcept override { return keys_.empty(); }
  bool wants_reading() const noexcept override { return false; }

  const Enabling& enabling_;
  std::vector<const Ecb*> fired_;
  std::vector<std::vector<std::byte>> lanes_, taken_;
  std::vector<uint64_t> keys_;
  std::vector<EcbTallies> tallies_;
  Stages stages_;
};

class TwoBackends : public testing::Test {
 protected:
  TwoBackends() : session(vm::CostPolicy::blocks) {
    session.handle().add_backend([&](HandleConfig&, const Enabling& enabling) {
      auto made = std::make_unique<SecondBackend>(enabling);
      second = made.get();
      return made;
    });
    f = session.add_probe("f", "entry"), g = session.add_probe("g", "entry");
    session.fire(f, {20}), session.fire(f, {30});
  }
  void run() {
    dif::EcbDesc desc = clause("entry", {print("%d ", {built_in(dif::BuiltIn::arg0)}),
                                         aggregate(dif::Action::agg_count, 1, {built_in(dif::BuiltIn::arg0)}, 1)});
    desc.predicate = dif::PredDesc{constant(1)};  // DIF, whose instructions are counted
    session.run({desc}, {declare(1, dif::Action::agg_count, {kLong})});
  }

  Session session;
  SecondBackend* second = nullptr;
  uint32_t f = 0, g = 0;
};

TEST_F(TwoBackends, RecordsAreMergedByOrderAndAggregationsByKey) {
  run();
  EXPECT_THAT(session.out(), HasSubstr("20 30 10 20 "));
  std::map<uint64_t, uint64_t> counts;
  for (const AggregatedKey& one : session.handle().aggregated(1)) {
    uint64_t key = 0;
    std::memcpy(&key, one.key.data(), sizeof key);
    counts[key] = one.state[0];
  }
  EXPECT_EQ(counts, (std::map<uint64_t, uint64_t>{{10, 1}, {20, 2}, {30, 1}}));
}

TEST_F(TwoBackends, AnInterruptEndsThePollingOfUnendingFirings) {
  second->on_poll = [this] { session.handle().interrupt(); };
  run();
  EXPECT_TRUE(second->is_disabled);
  EXPECT_LT(second->polls, 10U);
  EXPECT_THAT(session.out(), HasSubstr("20 30 10 20 "));
}

TEST_F(TwoBackends, AccountsAndDropsAreAddedUp) {
  run();
  const Account account = session.handle().account();
  EXPECT_EQ(account.events, 4U);
  ASSERT_EQ(account.ecbs.size(), 2U);
  EXPECT_EQ(account.ecbs[0].firings, 2U);
  EXPECT_EQ(account.ecbs[1].firings, 2U);
  const auto actions =
      std::find_if(account.stages.begin(), account.stages.end(), [](const auto& stage) { return stage.first == "actions"; });
  ASSERT_NE(actions, account.stages.end());
  EXPECT_GE(actions->second.ticks, 2000U);
  EXPECT_EQ(session.handle().instrument_drops(), 3U);
  EXPECT_THAT(session.err(), HasSubstr("3 drops on CPU 0"));
  EXPECT_THAT(session.err(), HasSubstr("second starts"));
}

TEST_F(TwoBackends, ABackendThatHasRunNoClauseNeedsNoTallies) {
  second->refuses = true;
  session.fire(g, {40});
  run();
  const Account account = session.handle().account();
  ASSERT_EQ(account.ecbs.size(), 2U);
  EXPECT_EQ(account.ecbs[0].firings, 2U);
  EXPECT_EQ(account.ecbs[1].firings, 1U);
}

TEST_F(TwoBackends, EachSaysWhatItTakes) {
  run();
  const std::vector<Placement> all = session.handle().placements();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].backend, "local");
  EXPECT_THAT(all[0].others, testing::Contains(testing::Pair("second", "another function")));
  EXPECT_EQ(all[1].backend, "second");
  EXPECT_EQ(all[1].by, "a stub");
  EXPECT_EQ(all[1].engine, "its own");
  EXPECT_THAT(second->learnt, testing::Contains(1));
  EXPECT_TRUE(second->is_disabled);
}

TEST_F(TwoBackends, LearnOfEachProcessOnceWhateverTheNumberOfItsProbes) {
  for (const char* function : {"h", "i"})
    session.handle().catalog().add({0, "pid", "a.out", function, "entry", UprobeSite{"a.out", 1, false, getpid()}});
  run();
  EXPECT_THAT(second->learnt, testing::UnorderedElementsAre(1, getpid()));
}

TEST_F(TwoBackends, TheNextTakesAProbeThatOneCannotEnable) {
  second->refuses = true;
  session.fire(g, {40});
  run();
  EXPECT_THAT(session.out(), HasSubstr("20 30 40 "));
  const std::vector<Placement> all = session.handle().placements();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[1].backend, "local");
  EXPECT_THAT(all[1].others, testing::Contains(testing::Pair("second", "no room for a jump")));
}

}  // namespace
}  // namespace dvm::runtime::test
