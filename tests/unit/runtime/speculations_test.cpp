// The states of speculations, what is committed, and what is lost.

#include "runtime/buffer/speculations.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "runtime/consumer/record_merge.h"

namespace dvm::runtime {
namespace {

constexpr uint32_t kRecord = sizeof(RecordHeader);

class SpeculationsTest : public ::testing::Test {
 protected:
  void SetUp() override { make(1, 4 * kRecord); }
  void make(uint32_t count, size_t bytes, size_t bufsize = 1024) {
    ASSERT_TRUE(cpus.allocate({BufferPolicy::switch_, bufsize}, 2));
    ASSERT_TRUE(all.allocate(count, bytes, 2));
  }
  // A record with this EPID; false: the speculation takes none.
  bool speculate(uint64_t id, int32_t cpu, Epid epid) {
    if (!all.enter(id, cpu)) return false;
    const RecordHeader header{epid, kRecord, 0};
    all.add(id, cpu, std::as_bytes(std::span(&header, 1)));
    return true;
  }
  void commit(uint64_t id, int32_t cpu) { all.commit(id, cpu, cpus, order); }
  void clean() { all.clean(cpus, order); }
  // The EPIDs of what has been committed, in order.
  std::string committed() {
    std::string text;
    RecordMerge merge(cpus.take_records(), true);
    while (merge.next()) text += std::to_string(header_of(merge.record()).epid) + "@" + std::to_string(merge.cpu()) + " ";
    return text;
  }
  CpuBuffers cpus;
  Speculations all;
  RecordOrder order;
};

TEST_F(SpeculationsTest, OfOneCpuIsCommittedAtOnce) {
  const uint64_t id = all.open();
  ASSERT_EQ(id, 1u);
  EXPECT_TRUE(speculate(id, 0, 1));
  EXPECT_TRUE(speculate(id, 0, 2));
  EXPECT_EQ(committed(), "");
  commit(id, 0);
  EXPECT_EQ(committed(), "1@0 2@0 ");
  EXPECT_FALSE(all.wants_cleaning());
  EXPECT_EQ(all.open(), 1u) << "free again";
}

TEST_F(SpeculationsTest, OfOneCpuIsDiscardedAtOnce) {
  const uint64_t id = all.open();
  EXPECT_TRUE(speculate(id, 1, 1));
  all.discard(id, 1);
  EXPECT_EQ(all.open(), id);
  EXPECT_TRUE(speculate(id, 1, 2));
  commit(id, 1);
  EXPECT_EQ(committed(), "2@1 ") << "nothing is left of the first";
}

TEST_F(SpeculationsTest, OfSeveralCpusIsBusyUntilCleaned) {
  const uint64_t id = all.open();
  EXPECT_TRUE(speculate(id, 0, 1));
  EXPECT_TRUE(speculate(id, 1, 2));
  commit(id, 1);
  EXPECT_EQ(committed(), "2@1 ") << "the part of the CPU that commits";
  EXPECT_TRUE(all.wants_cleaning());
  EXPECT_FALSE(speculate(id, 0, 3));
  EXPECT_EQ(all.open(), 0u);
  EXPECT_EQ(all.failed_busy(), 1u);
  clean();
  EXPECT_EQ(committed(), "1@0 ");
  EXPECT_EQ(all.open(), id);
}

TEST_F(SpeculationsTest, CommittedElsewhereComesWhenCleaned) {
  const uint64_t id = all.open();
  EXPECT_TRUE(speculate(id, 0, 1));
  commit(id, 1);
  EXPECT_EQ(committed(), "");
  clean();
  EXPECT_EQ(committed(), "1@0 ");
}

TEST_F(SpeculationsTest, DiscardedElsewhereIsForgottenWhenCleaned) {
  const uint64_t id = all.open();
  EXPECT_TRUE(speculate(id, 0, 1));
  all.discard(id, 1);
  EXPECT_TRUE(all.wants_cleaning());
  clean();
  EXPECT_EQ(committed(), "");
  EXPECT_FALSE(all.wants_cleaning());
  EXPECT_EQ(all.open(), id);
}

TEST_F(SpeculationsTest, NothingIsLeftOfWhatIsCleaned) {
  const uint64_t id = all.open();
  EXPECT_TRUE(speculate(id, 0, 1));
  all.discard(id, 1);
  clean();
  EXPECT_EQ(all.open(), id);
  EXPECT_TRUE(speculate(id, 0, 2));
  commit(id, 0);
  EXPECT_EQ(committed(), "2@0 ");
}

TEST_F(SpeculationsTest, SeveralAreCleanedAtOnce) {
  make(2, 64);
  for (const uint64_t id : {all.open(), all.open()}) {
    EXPECT_TRUE(speculate(id, 0, static_cast<Epid>(id)));
    commit(id, 1);
  }
  clean();
  EXPECT_EQ(committed(), "1@0 2@0 ");
  EXPECT_FALSE(all.wants_cleaning());
  EXPECT_NE(all.open(), 0u);
  EXPECT_NE(all.open(), 0u);
}

TEST_F(SpeculationsTest, EachHasMemoryOfItsOwn) {
  make(2, 2 * kRecord);
  const uint64_t first = all.open(), second = all.open();
  for (Epid epid = 1; epid <= 2; epid++) EXPECT_TRUE(speculate(first, 0, epid));
  for (Epid epid = 3; epid <= 4; epid++) EXPECT_TRUE(speculate(second, 0, epid));
  commit(first, 0);
  EXPECT_EQ(committed(), "1@0 2@0 ");
}

TEST_F(SpeculationsTest, AllTogetherAreNotLargerThanTheMachine) { EXPECT_FALSE(all.allocate(2, memory_for_each(2) / 2 + 64, 2)); }

TEST_F(SpeculationsTest, InUseIsUnavailable) {
  make(2, 64);
  EXPECT_EQ(all.open(), 1u);
  EXPECT_EQ(all.open(), 2u);
  EXPECT_EQ(all.open(), 0u);
  EXPECT_EQ(all.open(), 0u);
  EXPECT_EQ(all.failed_unavailable(), 2u);
  EXPECT_EQ(all.failed_busy(), 0u);
  commit(2, 0);
  EXPECT_EQ(all.open(), 2u);
}

TEST_F(SpeculationsTest, IdsThatNobodyHasTakeNothing) {
  EXPECT_FALSE(all.has(2));
  EXPECT_TRUE(all.has(1));
  EXPECT_TRUE(all.has(0));
  EXPECT_FALSE(speculate(0, 0, 1));
  EXPECT_FALSE(speculate(1, 0, 1)) << "not given out yet";
  commit(0, 0);
  all.discard(0, 0);
  commit(1, 0);
  all.discard(1, 0);
  EXPECT_EQ(committed(), "");
  EXPECT_FALSE(all.wants_cleaning());
  EXPECT_EQ(all.drops(), 0u);
}

TEST_F(SpeculationsTest, ARecordWithoutRoomIsADrop) {
  make(1, 2 * kRecord + 8);
  const uint64_t id = all.open();
  for (Epid epid = 1; epid <= 4; epid++) EXPECT_TRUE(speculate(id, 0, epid));
  EXPECT_EQ(all.drops(), 2u);
  commit(id, 0);
  EXPECT_EQ(committed(), "1@0 2@0 ");
}

TEST_F(SpeculationsTest, RecordsMayFillIt) {
  make(1, 2 * kRecord);
  const uint64_t id = all.open();
  for (Epid epid = 1; epid <= 2; epid++) EXPECT_TRUE(speculate(id, 0, epid));
  EXPECT_EQ(all.drops(), 0u);
  commit(id, 0);
  EXPECT_EQ(committed(), "1@0 2@0 ");
}

TEST_F(SpeculationsTest, WhatDoesNotFitInThePrincipalBufferIsOneDrop) {
  make(1, 4 * kRecord, 2 * kRecord);
  const uint64_t id = all.open();
  for (Epid epid = 1; epid <= 3; epid++) EXPECT_TRUE(speculate(id, 0, epid));
  commit(id, 0);
  EXPECT_EQ(committed(), "");
  EXPECT_EQ(cpus[0].principal.drops(), 1u);
  EXPECT_EQ(all.open(), id);
}

TEST_F(SpeculationsTest, TakeTheTimeAtWhichTheyAreCommitted) {
  make(2, 64);
  const uint64_t first = all.open(), second = all.open();
  EXPECT_TRUE(speculate(first, 0, 1));
  EXPECT_TRUE(speculate(second, 1, 2));
  commit(second, 1);
  commit(first, 0);
  EXPECT_EQ(committed(), "2@1 1@0 ");
}

TEST_F(SpeculationsTest, CpusThatAreNewHaveTheirOwn) {
  cpus.meet(3);
  all.meet(3);
  const uint64_t id = all.open();
  EXPECT_TRUE(speculate(id, 3, 7));
  commit(id, 3);
  EXPECT_EQ(committed(), "7@3 ");
}

TEST_F(SpeculationsTest, CpusBetweenThoseThatFireHaveNone) {
  cpus.meet(2048);
  all.meet(2048);
  const uint64_t id = all.open();
  EXPECT_TRUE(speculate(id, 2048, 7));
  EXPECT_TRUE(speculate(id, 0, 8));
  commit(id, 0);
  all.clean(cpus, order);
  EXPECT_EQ(committed(), "8@0 7@2048 ");
}

TEST_F(SpeculationsTest, NoneAreGivenOutWithNspecZero) {
  make(0, 64);
  EXPECT_EQ(all.open(), 0u);
  EXPECT_EQ(all.failed_unavailable(), 1u);
}

}  // namespace
}  // namespace dvm::runtime
