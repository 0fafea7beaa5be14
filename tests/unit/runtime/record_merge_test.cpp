// Records of several CPUs as one sequence.

#include "runtime/consumer/record_merge.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "runtime/buffer/cpu_buffers.h"

namespace dvm::runtime {
namespace {

class RecordMergeTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(cpus.allocate({BufferPolicy::switch_, 1024}, 3)); }
  void record(int32_t cpu) {
    const RecordHeader header{1, sizeof(header), order++};
    std::memcpy(cpus[cpu].principal.reserve(sizeof(header)), &header, sizeof(header));
    cpus[cpu].principal.commit(sizeof(header));
  }
  // "0@1 1@2 ": which record of which CPU, one after another.
  std::string merged(bool is_temporal) {
    std::string text;
    RecordMerge merge(cpus.take_records(), is_temporal);
    while (merge.next()) text += std::to_string(header_of(merge.record()).order) + "@" + std::to_string(merge.cpu()) + " ";
    return text;
  }
  CpuBuffers cpus;
  uint64_t order = 0;
};

TEST_F(RecordMergeTest, ByTime) {
  for (int32_t cpu : {1, 1, 0, 2, 0, 0, 1}) record(cpu);
  EXPECT_EQ(merged(true), "0@1 1@1 2@0 3@2 4@0 5@0 6@1 ");
  EXPECT_EQ(merged(true), "");
}

TEST_F(RecordMergeTest, CpuByCpuFromWhereTheOldestIs) {
  for (int32_t cpu : {1, 1, 0, 2, 0, 0, 1}) record(cpu);
  EXPECT_EQ(merged(false), "0@1 1@1 6@1 3@2 2@0 4@0 5@0 ");
}

TEST_F(RecordMergeTest, BothPartsOfARing) {
  ASSERT_TRUE(cpus.allocate({BufferPolicy::ring, 4 * sizeof(RecordHeader)}, 2));
  for (int32_t cpu : {0, 1, 0, 0, 0, 0, 1, 0}) record(cpu);
  EXPECT_EQ(merged(true), "1@1 3@0 4@0 5@0 6@1 7@0 ");
}

TEST_F(RecordMergeTest, KnowsWhatFollowsOnItsCpu) {
  for (int32_t cpu : {0, 1, 0}) record(cpu);
  RecordMerge merge(cpus.take_records(), true);
  ASSERT_TRUE(merge.next());
  ASSERT_FALSE(merge.following().empty());
  EXPECT_EQ(header_of(merge.following().data()).order, 2u);
}

}  // namespace
}  // namespace dvm::runtime
