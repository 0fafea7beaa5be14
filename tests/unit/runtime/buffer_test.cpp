// The buffers: order, room, drops, switching and emptying.

#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "runtime/buffer/aggregation_buffer.h"
#include "runtime/buffer/principal_buffer.h"

namespace dvm::runtime {
namespace {

TEST(PrincipalBuffer, KeepsRecordsInOrderUntilTheSwitch) {
  PrincipalBuffer buffer;
  ASSERT_TRUE(buffer.allocate(64));
  for (int i = 0; i < 3; i++) {
    std::byte* to = buffer.reserve(8);
    ASSERT_NE(to, nullptr);
    std::memset(to, i, 8);
    buffer.commit(8);
  }
  std::span<const std::byte> records = buffer.switch_buffers();
  ASSERT_EQ(records.size(), 24u);
  EXPECT_EQ(records[0], std::byte{0});
  EXPECT_EQ(records[16], std::byte{2});
  EXPECT_TRUE(buffer.empty());
  std::memset(buffer.reserve(8), 9, 8);
  EXPECT_EQ(records[0], std::byte{0}) << "the other half is being filled";
}

TEST(PrincipalBuffer, ARecordWithoutRoomIsADrop) {
  PrincipalBuffer buffer;
  ASSERT_TRUE(buffer.allocate(31));  // 24 usable bytes
  EXPECT_EQ(buffer.reserve(32), nullptr);
  ASSERT_NE(buffer.reserve(16), nullptr);
  buffer.commit(16);
  EXPECT_EQ(buffer.reserve(16), nullptr);
  EXPECT_NE(buffer.reserve(8), nullptr);
  EXPECT_EQ(buffer.drops(), 2u);
}

TEST(PrincipalBuffer, WhatIsNotCommittedIsForgotten) {
  PrincipalBuffer buffer;
  ASSERT_TRUE(buffer.allocate(64));
  std::byte* first = buffer.reserve(16);
  EXPECT_EQ(buffer.reserve(8), first);
  EXPECT_TRUE(buffer.switch_buffers().empty());
}

std::span<const std::byte> key_of(const uint64_t& key) { return std::as_bytes(std::span(&key, 1)); }

std::map<uint64_t, uint64_t> contents(const AggregationBuffer& buffer) {
  std::map<uint64_t, uint64_t> found;
  buffer.for_each([&](uint32_t, std::span<const std::byte> key, std::span<const uint64_t> words) {
    uint64_t number = 0;
    std::memcpy(&number, key.data(), key.size());
    found[number] = words[0];
  });
  return found;
}

TEST(AggregationBuffer, OneStateForEachKey) {
  AggregationBuffer buffer;
  ASSERT_TRUE(buffer.allocate(1 << 16));
  for (uint64_t i = 0; i < 3000; i++) {
    uint64_t key = i % 100;
    uint64_t* state = buffer.find(1, key_of(key), 1, 0);
    ASSERT_NE(state, nullptr);
    ++*state;
  }
  auto found = contents(buffer);
  EXPECT_EQ(found.size(), 100u);
  for (auto [key, count] : found) EXPECT_EQ(count, 30u) << key;
  EXPECT_EQ(buffer.drops(), 0u);
}

TEST(AggregationBuffer, AggregationsDoNotShareKeys) {
  AggregationBuffer buffer;
  ASSERT_TRUE(buffer.allocate(4096));
  uint64_t key = 5;
  uint64_t* a = buffer.find(1, key_of(key), 1, 7);
  uint64_t* b = buffer.find(2, key_of(key), 2, 8);
  uint64_t* none = buffer.find(1, {}, 1, 9);
  EXPECT_NE(a, b);
  EXPECT_EQ(*a, 7u);
  EXPECT_EQ(b[1], 8u);
  EXPECT_EQ(*none, 9u);
  EXPECT_EQ(buffer.find(1, key_of(key), 1, 0), a);
}

TEST(AggregationBuffer, KeysWithoutRoomAreDropsAndKnownOnesGoOn) {
  AggregationBuffer buffer;
  ASSERT_TRUE(buffer.allocate(256));
  uint64_t kept = 0;
  while (buffer.find(1, key_of(kept), 1, 0)) kept++;
  EXPECT_GT(kept, 2u);
  EXPECT_EQ(buffer.drops(), 1u);
  uint64_t first = 0;
  EXPECT_NE(buffer.find(1, key_of(first), 1, 0), nullptr);
  EXPECT_EQ(buffer.drops(), 1u);
}

TEST(AggregationBuffer, EmptyingMakesRoomAndANewGeneration) {
  AggregationBuffer buffer;
  ASSERT_TRUE(buffer.allocate(256));
  for (int round = 0; round < 50; round++) {
    uint32_t before = buffer.generation();
    uint64_t key = static_cast<uint64_t>(round) * 1000;
    ASSERT_NE(buffer.find(1, key_of(key), 1, 3), nullptr);
    EXPECT_EQ(contents(buffer).size(), 1u);
    buffer.clear();
    EXPECT_TRUE(buffer.empty());
    EXPECT_NE(buffer.generation(), before);
  }
}

TEST(AggregationBuffer, TheSmallestBufferStillEnds) {
  AggregationBuffer buffer;
  ASSERT_TRUE(buffer.allocate(0));
  for (uint64_t key = 0; key < 100; key++) buffer.find(1, key_of(key), 1, 0);
  EXPECT_GT(buffer.drops(), 90u);
}

}  // namespace
}  // namespace dvm::runtime
