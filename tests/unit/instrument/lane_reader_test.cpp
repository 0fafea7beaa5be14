// Records come out of lanes in the order of their times, whatever the process has written there.
#include "runtime/instrument/agent/lane_reader.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <vector>

#include "runtime/instrument/agent/gone_threads.h"

namespace dvm::runtime {
namespace {

constexpr uint32_t kLanes = 8, kRing = 256;

class LaneReaderTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_GE(file_, 0);
    ASSERT_EQ(ftruncate(file_, inside::arenas_at(kLanes, kRing)), 0);
  }
  void TearDown() override { close(file_); }

  static off_t lane_at(uint32_t lane) { return static_cast<off_t>(sizeof(inside::DataHeader) + lane * sizeof(inside::Lane)); }
  void put(off_t at, uint64_t word) { ASSERT_EQ(pwrite(file_, &word, sizeof word, at), ssize_t{sizeof word}); }
  void put_in_ring(uint32_t lane, uint64_t position, uint64_t word) {
    put(static_cast<off_t>(inside::rings_at(kLanes) + lane * kRing + position % kRing), word);
  }

  // As a stub does it: a record of one word.
  void write(uint32_t lane, uint64_t ticks, uint64_t word) {
    uint64_t& head = heads_[lane];
    constexpr uint64_t kBytes = sizeof(inside::RecordHead) + sizeof word;
    if (head % kRing + kBytes > kRing) {
      put_in_ring(lane, head, 0);
      head += kRing - head % kRing;
    }
    put_in_ring(lane, head, sizeof word);
    put_in_ring(lane, head + 8, ticks);
    put_in_ring(lane, head + 16, word);
    head += kBytes;
    put(lane_at(lane) + static_cast<off_t>(offsetof(inside::Lane, head)), head);
  }

  std::vector<uint64_t> take() {
    std::vector<uint64_t> words;
    reader_.collect();
    while (const auto record = reader_.first()) {
      EXPECT_EQ(record->bytes.size(), sizeof(uint64_t));
      std::memcpy(&words.emplace_back(), record->bytes.data(), sizeof(uint64_t));
      reader_.take_first();
    }
    return words;
  }

  int file_ = memfd_create("lanes", MFD_CLOEXEC);
  uint64_t heads_[kLanes] = {};
  LaneReader reader_{file_, kLanes, kRing};
};

TEST_F(LaneReaderTest, MergesLanesByTime) {
  write(0, 10, 1);
  write(0, 30, 3);
  write(1, 20, 2);
  EXPECT_EQ(take(), (std::vector<uint64_t>{1, 2, 3}));
  EXPECT_EQ(take(), std::vector<uint64_t>());
}

// Some end early, and some have the next record again and again.
TEST_F(LaneReaderTest, MergesManyLanesByTime) {
  constexpr uint64_t kRecords = 32;
  std::vector<uint64_t> expected;
  for (uint64_t i = 0, mixed = 1; i < kRecords; i++, mixed = mixed * 6364136223846793005 + 1442695040888963407) {
    write(static_cast<uint32_t>((mixed >> 40) % (i < kRecords / 2 ? kLanes : kLanes - 1)), i + 1, i);
    expected.push_back(i);
  }
  EXPECT_EQ(take(), expected);
  EXPECT_EQ(reader_.lost(), 0);
}

TEST_F(LaneReaderTest, GoesRoundTheRing) {
  uint64_t expected = 0;
  for (uint64_t round = 0; round < 50; round++) {
    std::vector<uint64_t> words;
    for (uint64_t i = 0; i <= round % 7; i++) words.push_back(expected), write(0, expected, expected), expected++;
    ASSERT_EQ(take(), words) << round;
  }
  EXPECT_EQ(reader_.lost(), 0);
}

// Not even what a reader would copy to find that out.
TEST_F(LaneReaderTest, DoesNotReadTheRestOfTheRingWhereTheWriterBeginsAnew) {
  write(0, 1, 1);
  EXPECT_EQ(take(), std::vector<uint64_t>{1});
  put_in_ring(0, heads_[0], 0);
  heads_[0] = kRing;
  const uint64_t before = reader_.bytes();
  write(0, 2, 2);
  EXPECT_EQ(take(), std::vector<uint64_t>{2});
  EXPECT_EQ(reader_.bytes() - before, sizeof(inside::RecordHead) + sizeof(uint64_t));
  EXPECT_EQ(reader_.lost(), 0);
}

// It has used more of it than the reader knows to be free.
TEST_F(LaneReaderTest, FollowsAWriterThatHasMovedItsTail) {
  write(0, 1, 1);
  EXPECT_EQ(take(), std::vector<uint64_t>{1});
  heads_[0] = kRing;
  put(lane_at(0) + static_cast<off_t>(offsetof(inside::Lane, tail)), kRing);
  std::vector<uint64_t> words;
  for (uint64_t i = 2; i < 12; i++) words.push_back(i), write(0, i, i);
  EXPECT_EQ(take(), words);
  EXPECT_EQ(reader_.lost(), 0);
}

// The reader has written the tail once more since. Nothing else explains more than a ring.
TEST_F(LaneReaderTest, FollowsAWriterThatHasFilledItsRingAnew) {
  write(0, 1, 1);
  EXPECT_EQ(take(), std::vector<uint64_t>{1});
  heads_[0] = kRing;
  std::vector<uint64_t> words;
  for (uint64_t i = 2; i < 12; i++) words.push_back(i), write(0, i, i);
  EXPECT_EQ(take(), words);
  EXPECT_EQ(reader_.lost(), 0);
}

// Where the writer says that it begins behind its head, or not at the beginning of the ring.
TEST_F(LaneReaderTest, FollowsNoOtherTail) {
  for (const uint64_t tail : {uint64_t{kRing}, uint64_t{48}, ~uint64_t{0}}) {
    write(0, 1, tail);
    put(lane_at(0) + static_cast<off_t>(offsetof(inside::Lane, tail)), tail);
    EXPECT_EQ(take(), std::vector<uint64_t>{tail});
  }
  EXPECT_EQ(reader_.lost(), 0);
}

TEST_F(LaneReaderTest, TellsTheWriterWhatHasBeenRead) {
  write(1, 5, 7);
  take();
  uint64_t tail = 0;
  ASSERT_EQ(pread(file_, &tail, sizeof tail, lane_at(1) + static_cast<off_t>(offsetof(inside::Lane, tail))),
            ssize_t{sizeof tail});
  EXPECT_EQ(tail, heads_[1]);
}

TEST_F(LaneReaderTest, KeepsWhatIsNewerThanItsReading) {
  write(0, UINT64_MAX, 9);  // later than now: taken for now
  EXPECT_EQ(take(), std::vector<uint64_t>());
  EXPECT_EQ(take(), std::vector<uint64_t>{9});
}

// Its thread may not run for long.
TEST_F(LaneReaderTest, DoesNotWaitForeverForAFiringThatIsUnderWay) {
  put(lane_at(0) + static_cast<off_t>(offsetof(inside::Lane, turns)), 5);
  write(1, 1, 7);
  EXPECT_EQ(take(), std::vector<uint64_t>{7});
}

TEST_F(LaneReaderTest, CountsNonsenseAndLosses) {
  put(lane_at(0) + static_cast<off_t>(offsetof(inside::Lane, head)), 12345);  // no multiple of a word, and more than a ring
  put(lane_at(1) + static_cast<off_t>(offsetof(inside::Lane, full)), 3);
  put(lane_at(1) + static_cast<off_t>(offsetof(inside::Lane, nested)), 2);
  put(0, 4);  // homeless
  EXPECT_EQ(take(), std::vector<uint64_t>());
  EXPECT_EQ(reader_.lost(), 10);
}

TEST_F(LaneReaderTest, CountsNoLossesBeforeTheRun) {
  const off_t full = lane_at(1) + static_cast<off_t>(offsetof(inside::Lane, full));
  put(full, 3);
  reader_.forget_losses();
  EXPECT_EQ(reader_.lost(), 0);
  put(full, 5);
  take();
  EXPECT_EQ(reader_.lost(), 2);
}

TEST_F(LaneReaderTest, CountsNoLossesAfterTheRun) {
  const off_t full = lane_at(1) + static_cast<off_t>(offsetof(inside::Lane, full));
  put(full, 3);
  take();
  reader_.end_losses();
  put(full, 5);
  write(1, 1, 7);
  EXPECT_EQ(take(), std::vector<uint64_t>{7});
  EXPECT_EQ(reader_.lost(), 3);
}

TEST_F(LaneReaderTest, CountsLossesWhileItCopiesNoMore) {
  std::vector<uint64_t> all;
  for (uint64_t i = 1; i <= 1100; i++) {
    if (i <= 1030) write(0, i, i), all.push_back(i);
    reader_.collect();
  }
  all.resize(1025);  // the others stay in the lane
  put(lane_at(1) + static_cast<off_t>(offsetof(inside::Lane, full)), 3);
  reader_.collect();
  reader_.end_losses();
  EXPECT_EQ(reader_.lost(), 3);
  std::vector<uint64_t> taken;
  for (; reader_.first(); reader_.take_first()) taken.push_back(reader_.first()->ticks);
  EXPECT_EQ(taken, all);
  EXPECT_EQ(take(), (std::vector<uint64_t>{1026, 1027, 1028, 1029, 1030}));
}

TEST_F(LaneReaderTest, DoesNotReadBeyondARecordThatIsTooLong) {
  write(0, 1, 1);
  put_in_ring(0, 0, 4000);
  EXPECT_EQ(take(), std::vector<uint64_t>());
  EXPECT_EQ(reader_.lost(), 1);
}

// A thread has filled its ring while dvm was late, with one record.
class FilledRing : public testing::Test {
 protected:
  static constexpr uint32_t kBytes = 4 << 20;

  void SetUp() override {
    ASSERT_EQ(ftruncate(file_, static_cast<off_t>(inside::data_bytes(1, kBytes))), 0);
    put_in_lane(offsetof(inside::Lane, owner), static_cast<uint64_t>(gettid()));
    write_one(kBytes);
    reader_.free_lanes();  // the thread could be busy
  }
  void TearDown() override { close(file_); }

  void put(off_t at, uint64_t word) { ASSERT_EQ(pwrite(file_, &word, sizeof word, at), ssize_t{sizeof word}); }
  // At the beginning of the ring. It is taken at once.
  void write_one(uint32_t bytes) {
    const std::vector<std::byte> ones(bytes, std::byte{1});
    ASSERT_EQ(pwrite(file_, ones.data(), bytes, kRingAt), ssize_t{bytes});
    put(kRingAt, bytes - sizeof(inside::RecordHead));
    put_in_lane(offsetof(inside::Lane, head), head_ += bytes);
    reader_.collect();
    while (reader_.first()) reader_.take_first();
  }
  void put_in_lane(size_t field, uint64_t word) { put(static_cast<off_t>(sizeof(inside::DataHeader) + field), word); }
  uint64_t tail() {
    uint64_t word = 0;
    EXPECT_EQ(pread(file_, &word, sizeof word, sizeof(inside::DataHeader) + offsetof(inside::Lane, tail)), ssize_t{sizeof word});
    return word;
  }
  uint64_t used() {
    struct stat status {};
    EXPECT_EQ(fstat(file_, &status), 0);
    return static_cast<uint64_t>(status.st_blocks) * 512;
  }

  static constexpr off_t kRingAt = inside::rings_at(1);
  int file_ = memfd_create("lanes", MFD_CLOEXEC);
  uint64_t head_ = 0;
  LaneReader reader_{file_, 1, kBytes};
};

TEST_F(FilledRing, KeepsItsMemoryWhileItsThreadMayBeBusy) {
  EXPECT_GT(used(), kBytes);
  EXPECT_EQ(tail(), kBytes);
}

TEST_F(FilledRing, GivesItsMemoryBack) {
  reader_.free_lanes();
  EXPECT_LT(used(), 1 << 20);
  EXPECT_EQ(tail(), kBytes);
  put(kRingAt, sizeof(uint64_t)), put(kRingAt + 8, 1);
  put_in_lane(offsetof(inside::Lane, head), kBytes + sizeof(inside::RecordHead) + sizeof(uint64_t));
  reader_.collect();
  ASSERT_TRUE(reader_.first());
  EXPECT_EQ(reader_.first()->bytes.size(), sizeof(uint64_t));
  EXPECT_EQ(reader_.lost(), 0);
}

TEST_F(FilledRing, KeepsItsMemoryWhileItsThreadWritesMoreThanItWouldHave) {
  write_one(1 << 20);
  reader_.free_lanes();
  EXPECT_GT(used(), kBytes);
  reader_.free_lanes();
  EXPECT_LT(used(), 1 << 20);
}

// A thread that fills its ring again and again would have little room each time.
TEST_F(FilledRing, KeepsItsMemoryForAWhileIfItHasBeenGivenBackBefore) {
  reader_.free_lanes();
  EXPECT_LT(used(), 1 << 20);
  write_one(kBytes);
  for (int i = 0; i < 20; i++) reader_.free_lanes();
  EXPECT_GT(used(), kBytes);
  for (int i = 0; i < 20; i++) reader_.free_lanes();
  EXPECT_LT(used(), 1 << 20);
}

// It may have seen that it has the whole ring.
TEST_F(FilledRing, KeepsItsMemoryDuringAFiring) {
  put_in_lane(offsetof(inside::Lane, turns), 1);
  reader_.free_lanes();
  EXPECT_GT(used(), kBytes);
  EXPECT_EQ(tail(), kBytes);
  put_in_lane(offsetof(inside::Lane, turns), 2);
  reader_.free_lanes();
  EXPECT_LT(used(), 1 << 20);
}

TEST_F(FilledRing, KeepsItsMemoryIfItsThreadHasGoneToItsBeginning) {
  put_in_lane(offsetof(inside::Lane, tail), 2 * kBytes);
  reader_.free_lanes();
  EXPECT_GT(used(), kBytes);
  EXPECT_EQ(tail(), 2 * kBytes);
}

// Where the position after it is less.
class RingNearTheLastPosition : public FilledRing, public testing::WithParamInterface<uint64_t> {};

TEST_P(RingNearTheLastPosition, ComesToAnEnd) {
  for (const uint64_t head : {GetParam() - kBytes, GetParam()}) {
    put_in_lane(offsetof(inside::Lane, head), head);
    reader_.collect();
  }
  reader_.free_lanes();
  reader_.free_lanes();
  EXPECT_LT(used(), 1 << 20);
  EXPECT_EQ(tail(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Heads, RingNearTheLastPosition,
                         testing::Values(~uint64_t{7}, -uint64_t{2 << 20}, -uint64_t{4 << 20}, -uint64_t{(4 << 20) + 8}));

class GoneSink final : public EventSink {
 public:
  std::vector<int32_t> gone;
  bool fire(vm::Firing&) noexcept override { return true; }
  bool change(const ProcessChange& change) noexcept override { return gone.push_back(change.child), true; }
};

// A thread that takes the number of one of them fires in between.
TEST(GoneThreads, AreToldEachBeforeWhatFiresLater) {
  GoneSink sink;
  GoneThreads threads;
  threads.add(1, 11, 100);
  threads.add(1, 12, 200);
  threads.tell(100, sink);
  EXPECT_EQ(sink.gone, std::vector<int32_t>());
  threads.tell(200, sink);
  EXPECT_EQ(sink.gone, std::vector<int32_t>{11});
  threads.tell(201, sink);
  EXPECT_EQ(sink.gone, (std::vector<int32_t>{11, 12}));
  threads.tell(300, sink);
  EXPECT_EQ(sink.gone.size(), 2U);
}

}  // namespace
}  // namespace dvm::runtime
