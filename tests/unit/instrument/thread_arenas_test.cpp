// Entries of the arena of a thread, and their keys (runtime/agent/inside/aggregate.h), in this process.

#include <gtest/gtest.h>
#include <unistd.h>

#include <vector>

#include "runtime/agent/inside/aggregate.h"

namespace dvm::runtime::inside {
namespace {

constexpr uint32_t kKeyWords = 2, kStateWords = 3;
constexpr uint32_t kEntryBytes = sizeof(ArenaEntry) + (kKeyWords + kStateWords) * sizeof(uint64_t);

class ThreadArenas : public testing::Test {
 protected:
  ThreadArenas() {
    clause_.clause = 5, clause_.words = kStateWords, clause_.initial = 77;
    set_key(0);
  }
  void set_key(uint64_t second) { arena().key[0] = 4, arena().key[1] = second; }
  Arena& arena() { return *reinterpret_cast<Arena*>(memory_.data()); }
  ArenaEntry& entry(uint32_t position) {
    return *reinterpret_cast<ArenaEntry*>(reinterpret_cast<uint64_t>(&arena() + 1) + position);
  }
  uint32_t& bucket(uint64_t behind = 0) {
    return arena().buckets[(first_bucket(clause_.clause, arena().key, kKeyWords) + behind) % kArenaBuckets];
  }
  uint64_t* find() { return find_state(arena(), clause_, kKeyWords); }
  uint64_t* state_at(uint32_t position) { return reinterpret_cast<uint64_t*>(&entry(position) + 1) + kKeyWords; }

  std::vector<uint64_t> memory_ = std::vector<uint64_t>(kArenaBytes / sizeof(uint64_t));
  ThreadAggregation clause_;
};

TEST_F(ThreadArenas, HaveAnEntryForEachKey) {
  uint64_t* first = find();
  ASSERT_EQ(first, state_at(0));
  EXPECT_EQ(std::vector<uint64_t>(first - kKeyWords, first + kStateWords + 1), (std::vector<uint64_t>{4, 0, 77, 77, 77, 0}));
  EXPECT_EQ(arena().used, kEntryBytes);
  EXPECT_EQ(bucket(), 1);
  *first = 9;
  EXPECT_EQ(find(), first);
  EXPECT_EQ(*first, 9);
  set_key(1);
  EXPECT_EQ(find(), state_at(kEntryBytes));
  set_key(0);
  EXPECT_EQ(find(), first);
  EXPECT_EQ(arena().used, 2 * kEntryBytes);
}

TEST_F(ThreadArenas, TellEntriesOfOneBucketApart) {
  auto next = [&, made = 0U]() mutable {
    EXPECT_EQ(find(), state_at(made * kEntryBytes));
    return &entry(made++ * kEntryBytes);
  };
  next()->clause++;
  next()->words++;
  next()->key_words++;
  reinterpret_cast<uint64_t*>(next() + 1)[1]++;
  next();
  EXPECT_EQ(find(), state_at(4 * kEntryBytes));
  EXPECT_EQ(bucket(4), 4 * kEntryBytes + 1);
}

TEST_F(ThreadArenas, HaveNoRoomBehindTheirEnd) {
  for (const uint64_t used :
       {uint64_t{kEntryRoom - kEntryBytes + 8}, uint64_t{kEntryRoom - kEntryBytes - 4}, ~uint64_t{0}, uint64_t{1} << 32}) {
    arena().used = used;
    EXPECT_EQ(find(), nullptr) << used;
    EXPECT_EQ(bucket(), 0);
    EXPECT_EQ(arena().used, used);
  }
  arena().used = kEntryRoom - kEntryBytes;
  EXPECT_EQ(find(), state_at(kEntryRoom - kEntryBytes));
  EXPECT_EQ(arena().used, kEntryRoom);
}

// The process may have written anything there.
TEST_F(ThreadArenas, DoNotFollowPositionsThatCannotBe) {
  constexpr uint32_t kTooFar = kEntryRoom - kEntryBytes + 8;
  bucket() = kTooFar + 1;
  entry(kTooFar) = {clause_.clause, kStateWords, kKeyWords};
  reinterpret_cast<uint64_t*>(&entry(kTooFar) + 1)[0] = arena().key[0];
  bucket(1) = ~uint32_t{0};
  bucket(2) = 4 + 1;
  EXPECT_EQ(find(), state_at(0));
  EXPECT_EQ(bucket(3), 1);
}

TEST_F(ThreadArenas, HaveSixteenBucketsForAKey) {
  entry(0).clause = 9;
  arena().used = kEntryBytes;
  for (uint64_t i = 0; i < 15; i++) bucket(i) = 1;
  EXPECT_EQ(find(), state_at(kEntryBytes));
  for (uint64_t i = 15; i < 20; i++) bucket(i) = 1;
  EXPECT_EQ(find(), nullptr);
  bucket(16) = 0;
  EXPECT_EQ(find(), nullptr);
}

TEST_F(ThreadArenas, GoOnAtTheirFirstBucket) {
  for (uint64_t word = 0; first_bucket(clause_.clause, arena().key, kKeyWords) != kArenaBuckets - 1;) set_key(++word);
  bucket() = ~uint32_t{0};
  EXPECT_EQ(find(), state_at(0));
  EXPECT_EQ(arena().buckets[0], 1);
}

TEST(PlainCounts, AreCountsWithoutKeys) {
  const auto is_plain = [](SiteFunction function, uint32_t keys, uint32_t number) {
    ThreadAggregation clause;
    clause.function = static_cast<uint32_t>(function), clause.key_count = keys, clause.clause = number;
    return is_plain_count(clause);
  };
  EXPECT_TRUE(is_plain(SiteFunction::count, 0, 0));
  EXPECT_TRUE(is_plain(SiteFunction::count, 0, kPlainCounts - 1));
  EXPECT_FALSE(is_plain(SiteFunction::count, 0, kPlainCounts));
  EXPECT_FALSE(is_plain(SiteFunction::count, 1, 0));
  EXPECT_FALSE(is_plain(SiteFunction::sum, 0, 0));
}

TEST(ShapedStates, CountOnBothSidesOfZero) {
  std::vector<uint64_t> state(75);
  const UpdateShape decades{{10, 0, 3, 10}, 75};
  for (const int64_t value : {0, 5, -5, 5, 9999, -100000})
    update(SiteFunction::llquantize, decades, state.data(), static_cast<uint64_t>(value));
  std::vector<uint64_t> expected(75);
  expected[37] = 1, expected[37 + 5] = 2, expected[37 - 5] = 1, expected[73] = 1, expected[0] = 1;
  EXPECT_EQ(state, expected);

  state.assign(5, 0);
  const UpdateShape steps{{-10, 20, 10, 0}, 5};  // below -10, from -10, from 0, from 10, from 20
  for (const int64_t value : {-11, -10, -1, 0, 19, 20, 500})
    update(SiteFunction::lquantize, steps, state.data(), static_cast<uint64_t>(value));
  EXPECT_EQ(state, (std::vector<uint64_t>{1, 2, 1, 1, 2}));

  state.assign(4, 0);
  for (const int64_t value : {-3, 5}) update(SiteFunction::stddev, {}, state.data(), static_cast<uint64_t>(value));
  EXPECT_EQ(state, (std::vector<uint64_t>{2, 2, 34, 0}));
}

// What the code of a key returns.
uint64_t found = 0;
uint64_t code_of_key(const uint64_t* saved, Workspace* workspace) { return found + saved[0] + workspace->time; }

class ThreadKeys : public ThreadArenas {
 protected:
  ThreadKeys() {
    page_.pid = static_cast<uint64_t>(getpid());
    context_.armed = reinterpret_cast<uint64_t>(&page_), context_.lasting = reinterpret_cast<uint64_t>(&lasting_);
    context_.data = reinterpret_cast<uint64_t>(&header_);
    saved_[0] = 100, workspace_.time = 1000, workspace_.lane = &lane_;
  }
  void add(KeyKind kind, uint32_t most = 0) {
    clause_.keys[clause_.key_count++] = {reinterpret_cast<uint64_t>(code_of_key), kind, most, -1};
  }
  KeyRead make() { return (words_ = 0, make_key(clause_, context_, arena(), saved_, workspace_, words_)); }

  DataHeader header_;
  ArmedPage page_;
  LastingMemory lasting_;
  Context context_;
  Lane lane_;
  Workspace workspace_{};
  uint64_t saved_[kSavedWords] = {};
  uint32_t words_ = 0;
};

TEST_F(ThreadKeys, FollowEachOther) {
  alignas(8) const char text[] = "eleven char";
  add(KeyKind::integer), add(KeyKind::string, 9), add(KeyKind::integer);
  clause_.keys[2].code = 0;
  found = reinterpret_cast<uint64_t>(text) - 1100;
  EXPECT_EQ(make(), KeyRead::whole);
  EXPECT_EQ(std::vector<uint64_t>(arena().key, arena().key + words_),
            (std::vector<uint64_t>{reinterpret_cast<uint64_t>(text), 0x63206e6576656c65, 0x68, 0}));
}

TEST_F(ThreadKeys, LeaveAStringThatCannotBeReadToDvm) {
  add(KeyKind::integer), add(KeyKind::string, 9);
  found = 8 - uint64_t{1100};
  EXPECT_EQ(make(), KeyRead::fault);
  EXPECT_EQ(workspace_.unreadable, 8);
  EXPECT_EQ(header_.muted, 0);
}

TEST_F(ThreadKeys, CountAStackThatMayNotBeRead) {
  add(KeyKind::integer), add(KeyKind::stack, 3);
  page_.muted = 1;
  EXPECT_EQ(make(), KeyRead::muted);
  EXPECT_EQ(header_.muted, 1);
  EXPECT_EQ(workspace_.unreadable, 0);
  clause_.keys[1].kind = KeyKind::name;
  EXPECT_EQ(make(), KeyRead::fault);
  EXPECT_EQ(header_.muted, 1);
}

}  // namespace
}  // namespace dvm::runtime::inside
