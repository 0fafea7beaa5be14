// Arenas: what threads aggregate arrives once, and nothing that a process writes there does harm.

#include "runtime/instrument/agent/arena_reader.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <optional>
#include <random>
#include <span>

#include "runtime/agent/inside/aggregate.h"
#include "runtime/probe/aggregate.h"

namespace dvm::runtime {
namespace {

constexpr uint32_t kLanes = 4, kRing = 4096;
constexpr size_t kBytes = inside::tails_at(kLanes, kRing);

using Totals = std::map<std::pair<uint32_t, uint64_t>, uint64_t>;  // by aggregation and key: the first word

class Arenas : public testing::Test {
 protected:
  Arenas() : file_(memfd_create("arenas", 0)) {
    if (ftruncate(file_, kBytes) != 0) ADD_FAILURE();
    memory_ = static_cast<std::byte*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0));
    reader_.emplace(file_, kLanes, kRing);
  }
  ~Arenas() override {
    munmap(memory_, kBytes);
    close(file_);
  }
  inside::Lane& lane(uint32_t number) { return reinterpret_cast<inside::Lane*>(memory_ + sizeof(inside::DataHeader))[number]; }
  inside::Arena& arena(uint32_t number, uint64_t which) {
    std::byte* arenas = memory_ + inside::arenas_at(kLanes, kRing);
    return *reinterpret_cast<inside::Arena*>(arenas + (2 * number + which) * inside::kArenaBytes);
  }
  // One round of a thread. False: there is no room.
  bool count(uint32_t number, uint32_t clause, uint64_t key) {
    inside::ThreadAggregation its;
    its.clause = clause, its.words = 1;
    its.function = static_cast<uint32_t>(inside::SiteFunction::count);
    inside::Arena& here = arena(number, lane(number).arena & 1);
    here.key[0] = key;
    uint64_t* state = inside::find_state(here, its, 1);
    if (state != nullptr) inside::update(inside::SiteFunction::count, {}, state, 0);
    lane(number).turns += 2;
    return state != nullptr;
  }
  Totals collect(bool is_last = false) {
    Totals totals;
    reader_->collect(
        {{7, 1, 0, 0, {{}}}, {8, 1, 0, 0, {{}}}},
        [&](const AggregationEntry& entry) {
          uint64_t key = 0;
          std::memcpy(&key, entry.key.data(), sizeof key);
          totals[{entry.aggregation, key}] += entry.words[0];
        },
        is_last);
    return totals;
  }

  int file_;
  std::byte* memory_ = nullptr;
  std::optional<ArenaReader> reader_;
};

TEST_F(Arenas, GiveEachValueOnce) {
  for (int round = 0; round < 5; round++) {
    for (uint64_t i = 0; i < 300; i++) EXPECT_TRUE(count(i % 2, i % 3 == 0, i % 50));
    const Totals totals = collect();
    EXPECT_EQ(totals.size(), 100);
    uint64_t all = 0;
    for (const auto& [key, value] : totals) all += value;
    EXPECT_EQ(all, 300);
    EXPECT_TRUE(collect().empty());
  }
  EXPECT_EQ(reader_->nonsense(), 0);
}

// A count without keys, for each of the two clauses.
std::vector<KnownClause> counts_without_keys() { return {{7, 1, 0, 0, {}}, {8, 1, 0, 0, {}}}; }

TEST_F(Arenas, HoldCountsWithoutEntries) {
  std::map<uint32_t, uint64_t> counts;
  const auto add = [&](const AggregationEntry& entry) {
    EXPECT_TRUE(entry.key.empty());
    counts[entry.aggregation] += entry.words[0];
  };
  for (uint32_t number = 0; number < kLanes; number++) {
    lane(number).counts[1][0] = 100 + number;
    reader_->collect(counts_without_keys(), add, false);
    EXPECT_EQ(lane(number).arena, 1);
    lane(number).counts[0][1] = 5;
    lane(number).counts[1][0]++;  // of a firing that had seen the arena before
  }
  for (int i = 0; i < 2; i++) reader_->collect(counts_without_keys(), add, false);
  EXPECT_EQ(counts, (std::map<uint32_t, uint64_t>{{7, 5 * kLanes}, {8, 406 + kLanes}}));
  for (const uint32_t arena : {0, 1}) lane(2).counts[0][arena] += 10;
  reader_->collect(counts_without_keys(), add, true);
  reader_->collect(counts_without_keys(), add, true);
  EXPECT_EQ(counts[7], 5 * kLanes + 20);
  EXPECT_EQ(reader_->nonsense(), 0);
}

// But for those that come once the thread goes to its other arena.
TEST_F(Arenas, ForgetCounts) {
  uint64_t count = 0;
  const auto add = [&](const AggregationEntry& entry) { count += entry.words[0]; };
  lane(0).counts[1][0] = 3;
  reader_->forget();
  lane(0).counts[1][0]++;  // a firing that had begun
  lane(0).counts[1][1] += 10;
  lane(1).counts[1][0] += 100;
  for (const bool is_last : {false, false, true}) reader_->collect(counts_without_keys(), add, is_last);
  EXPECT_EQ(count, 110);
}

// Counts and entries of one firing come together.
TEST_F(Arenas, OfAFiringThatCountsAreReadOnceItHasEnded) {
  lane(1).counts[1][0]++;
  lane(1).turns++;
  EXPECT_TRUE(collect().empty());
  lane(1).turns++;
  EXPECT_EQ(collect(), Totals());  // of a clause with a key: nonsense
  EXPECT_EQ(reader_->nonsense(), 1);
}

TEST_F(Arenas, MayHoldCountsOfClausesThatAreNone) {
  lane(0).counts[0][0] = 3;  // its clause has a key
  lane(0).counts[2][0] = 3;  // there is no such clause
  EXPECT_TRUE(collect().empty());
  EXPECT_EQ(reader_->nonsense(), 2);
}

TEST_F(Arenas, OfAThreadInTheMidstAreReadOnceItHasLeft) {
  count(1, 0, 5);
  lane(1).turns++;
  EXPECT_TRUE(collect().empty());
  count(1, 0, 5);  // the firing ends, a later one begins
  EXPECT_EQ(collect(), (Totals{{{7, 5}, 1}}));
  EXPECT_EQ(collect(true), (Totals{{{7, 5}, 1}}));
}

TEST_F(Arenas, AreReadToTheLast) {
  count(2, 1, 9);
  lane(2).turns++;
  EXPECT_TRUE(collect().empty());
  count(2, 1, 9);
  lane(2).turns -= 2;  // it has not left the first
  EXPECT_EQ(collect(true), (Totals{{{8, 9}, 2}}));
}

TEST_F(Arenas, HoldNothingOfWhatIsForgotten) {
  for (const uint32_t number : {0, 1}) count(number, 0, 5);
  lane(1).turns++;
  reader_->forget();
  count(0, 0, 6);
  lane(1).turns++;  // the firing of before ends
  count(1, 0, 7);
  EXPECT_EQ(collect(true), (Totals{{{7, 6}, 1}, {{7, 7}, 1}}));
}

TEST_F(Arenas, AreBounded) {
  uint64_t key = 0;
  while (count(0, 0, key)) key++;
  EXPECT_GT(key, 200);
  EXPECT_TRUE(count(0, 0, 0));
  EXPECT_EQ(collect().size(), key);
  EXPECT_TRUE(count(0, 0, key));
}

TEST_F(Arenas, MayHoldAnything) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 200; round++) {
    const uint32_t number = static_cast<uint32_t>(random() % kLanes);
    const auto bytes = std::span(memory_ + sizeof(inside::DataHeader), kBytes - sizeof(inside::DataHeader));
    for (int i = 0; i < 200; i++) {
      const uint64_t word = random() % 3 == 0 ? random() : random() % 100;
      std::memcpy(bytes.data() + random() % (bytes.size() / 8) * 8, &word, sizeof word);
    }
    inside::Arena& here = arena(number, random() % 2);
    here.used = random() % 2 == 0 ? random() % inside::kArenaBytes : random();
    for (uint32_t& bucket : here.buckets) bucket = static_cast<uint32_t>(random());
    count(number, static_cast<uint32_t>(random() % 3), random() % 10);  // stays within the arena, or has no room
    lane(number).turns &= ~uint64_t{1};
    collect();
  }
}

// A key of an integer, a constant word and a string of at most 10 characters.
class ArenaKeys : public Arenas {
 protected:
  std::vector<std::vector<uint64_t>> collect_keys() {
    std::vector<std::vector<uint64_t>> found;
    const KnownClause clause{9, 1, 0, 0, {{}, {KeyPart::Kind::constant, 0, {77}}, {KeyPart::Kind::string, 10, {}}}};
    reader_->collect(
        {clause},
        [&](const AggregationEntry& entry) {
          auto& key = found.emplace_back(entry.key.size() / sizeof(uint64_t));
          std::memcpy(key.data(), entry.key.data(), entry.key.size());
        },
        false);
    return found;
  }
  void count(const std::vector<uint64_t>& key) {
    inside::ThreadAggregation its;
    its.words = 1;
    std::copy(key.begin(), key.end(), arena(0, lane(0).arena & 1).key);
    EXPECT_NE(inside::find_state(arena(0, lane(0).arena & 1), its, static_cast<uint32_t>(key.size())), nullptr);
  }
};

TEST_F(ArenaKeys, AreMadeOfWhatIsKnownAndWhatTheThreadFound) {
  count({5, 0x4142});
  count({5, 0x4142434445464748, 0x4142});
  count({6, 0});
  EXPECT_EQ(collect_keys(),
            (std::vector<std::vector<uint64_t>>{{5, 77, 0x4142}, {5, 77, 0x4142434445464748, 0x4142}, {6, 77, 0}}));
  EXPECT_EQ(reader_->nonsense(), 0);
}

TEST_F(ArenaKeys, ThatNoThreadWritesAreNonsense) {
  const std::vector<uint64_t> wrong[] = {
      {}, {5}, {5, ~uint64_t{0}}, {5, 0x4142, 0}, {5, 0x4100000000000041}, {5, ~uint64_t{0}, 0x414243}, {5, 0x4142, 0x4142}};
  for (const auto& key : wrong) {
    count(key);
    EXPECT_TRUE(collect_keys().empty());
  }
  EXPECT_EQ(reader_->nonsense(), std::size(wrong));
}

TEST(ThreadFunctions, AreThoseOfDvm) {
  std::array<uint64_t, 127> state{};
  inside::update(inside::SiteFunction::quantize, {}, state.data(), 5);
  EXPECT_EQ(state[dif::kQuantizeZero + 3], 1);
  state[0] = static_cast<uint64_t>(INT64_MAX);
  inside::update(inside::SiteFunction::min, {}, state.data(), static_cast<uint64_t>(-3));
  EXPECT_EQ(state[0], static_cast<uint64_t>(-3));
  inside::update(inside::SiteFunction::max, {}, state.data(), 12);
  EXPECT_EQ(state[0], 12);
  inside::update(inside::SiteFunction::avg, {}, state.data(), 8);
  EXPECT_EQ(state[0], 13);
  EXPECT_EQ(state[1], 8);
}

// Beside the table of runtime/probe/aggregate.h, for values at the edges of buckets.
TEST(ThreadFunctions, OfConstantsAreThoseOfDvm) {
  const std::pair<dif::Action, std::vector<int64_t>> all[] = {
      {dif::Action::agg_lquantize, {0, 10}},
      {dif::Action::agg_lquantize, {-5, 100, 7}},
      {dif::Action::agg_llquantize, {10, 0, 3, 10}},
      {dif::Action::agg_llquantize, {10, 0, 6, 100}},
      {dif::Action::agg_llquantize, {2, 3, 20, 2}},
      {dif::Action::agg_llquantize, {10, 2, 17, 20}},
      {dif::Action::agg_stddev, {}},
  };
  for (const auto& [action, parameters] : all) {
    EnabledAggregation aggregation;
    aggregation.desc.parameters = parameters;
    aggregation.words = aggregation_words(action, parameters);
    inside::UpdateShape shape{{0, 0, 1, 0}, aggregation.words};
    std::copy(parameters.begin(), parameters.end(), shape.parameters);
    const auto function = action == dif::Action::agg_stddev      ? inside::SiteFunction::stddev
                          : action == dif::Action::agg_lquantize ? inside::SiteFunction::lquantize
                                                                 : inside::SiteFunction::llquantize;
    std::vector<uint64_t> here(aggregation.words), there(aggregation.words);
    for (int64_t power = 1; power < INT64_MAX / 10; power = power * 3 / 2 + 1)
      for (const int64_t value : {power - 1, power, power + 1, -power, power / 10 * 10, INT64_MAX - power, INT64_MIN + power}) {
        inside::update(function, shape, here.data(), static_cast<uint64_t>(value));
        find_aggregate(action)->update(aggregation, there.data(), value, 1);
      }
    EXPECT_EQ(here, there);
  }
}

// A stack is a process, program counters, and 0. dvm says how many of these can be code, and of which process.
TEST(Keys, HoldStacksAsFarAsTheyCanBeCode) {
  const std::vector<KeyPart> parts = {{KeyPart::Kind::stack, 4, {}, 2}, {}};
  const StackCheck check = [](int32_t& pid, std::span<const uint64_t> frames, size_t certain) {
    EXPECT_EQ(certain, 2);
    pid = 5;
    return frames.size() - 1;
  };
  std::vector<uint64_t> key;
  const auto make = [&](const std::vector<uint64_t>& found) { return make_key(parts, found, key, check); };
  EXPECT_TRUE(make({7, 0x10, 0x20, 0x30, 0, 99}));
  EXPECT_EQ(key, (std::vector<uint64_t>{5, 0x10, 0x20, 0, 99}));
  EXPECT_TRUE(make({7, 0x10, 0x20, 0x30, 0x40, 0, 99}));
  EXPECT_FALSE(make({7, 0x10, 0x20, 0x30, 0x40, 0x50, 0, 99}));  // longer than the thread makes them
  EXPECT_FALSE(make({7, 0x10, 0x20}));
  EXPECT_FALSE(make({7, 0x10, 0}));  // no integer follows
  EXPECT_FALSE(make({7}));
  EXPECT_FALSE(make({}));
}

}  // namespace
}  // namespace dvm::runtime
