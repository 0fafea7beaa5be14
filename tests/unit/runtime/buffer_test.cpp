// The buffers: order, room, drops, switching and emptying.

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <fstream>
#include <map>
#include <vector>

#include "runtime/buffer/aggregation_buffer.h"
#include "runtime/buffer/cpu_buffers.h"
#include "runtime/buffer/key_words.h"
#include "runtime/buffer/seen_addresses.h"

namespace dvm::runtime {
namespace {

constexpr size_t kRecord = 24;

// A record with its number as the value.
bool put(PrincipalBuffer& buffer, uint64_t number) {
  std::byte* to = buffer.reserve(kRecord);
  if (!to) return false;
  const RecordHeader header{1, kRecord, number};
  std::memcpy(to, &header, sizeof(header));
  std::memcpy(to + sizeof(header), &number, sizeof(number));
  buffer.commit(kRecord);
  return true;
}

std::vector<uint64_t> take_numbers(PrincipalBuffer& buffer) {
  std::vector<uint64_t> numbers;
  for (std::span<const std::byte> records : buffer.take())
    for (; !records.empty(); records = records.subspan(header_of(records.data()).size))
      std::memcpy(&numbers.emplace_back(), records.data() + sizeof(RecordHeader), sizeof(uint64_t));
  return numbers;
}

using Numbers = std::vector<uint64_t>;

TEST(PrincipalBuffer, KeepsRecordsInOrderUntilTheyAreTaken) {
  PrincipalBuffer buffer;
  ASSERT_TRUE(buffer.allocate({BufferPolicy::switch_, 4 * kRecord}));
  for (uint64_t i = 0; i < 3; i++) ASSERT_TRUE(put(buffer, i));
  const auto records = buffer.take();
  ASSERT_EQ(records[1].size(), 3 * kRecord);
  ASSERT_TRUE(put(buffer, 9));
  EXPECT_EQ(header_of(records[1].data()).order, 0u) << "the other half is being filled";
  EXPECT_EQ(take_numbers(buffer), Numbers{9});
  EXPECT_EQ(take_numbers(buffer), Numbers{});
}

TEST(PrincipalBuffer, ARecordWithoutRoomIsADrop) {
  PrincipalBuffer buffer;
  ASSERT_TRUE(buffer.allocate({BufferPolicy::switch_, 31}));  // 24 usable bytes
  EXPECT_EQ(buffer.reserve(32), nullptr);
  ASSERT_NE(buffer.reserve(16), nullptr);
  buffer.commit(16);
  EXPECT_TRUE(buffer.wants_reading());
  EXPECT_EQ(buffer.reserve(16), nullptr);
  EXPECT_NE(buffer.reserve(8), nullptr);
  EXPECT_EQ(buffer.drops(), 2u);
}

TEST(PrincipalBuffer, WhatIsNotCommittedIsForgotten) {
  PrincipalBuffer buffer;
  ASSERT_TRUE(buffer.allocate({BufferPolicy::switch_, 64}));
  std::byte* first = buffer.reserve(16);
  EXPECT_EQ(buffer.reserve(8), first);
  EXPECT_TRUE(take_numbers(buffer).empty());
}

TEST(PrincipalBuffer, WithoutMemoryEachRecordIsADrop) {
  PrincipalBuffer buffer;
  EXPECT_EQ(buffer.reserve(8), nullptr);
  EXPECT_EQ(buffer.drops(), 1u);
}

TEST(PrincipalBuffer, AFilledOneTakesNothingFurther) {
  PrincipalBuffer buffer;
  ASSERT_TRUE(buffer.allocate({BufferPolicy::fill, 3 * kRecord, kRecord}));
  EXPECT_TRUE(put(buffer, 0));
  EXPECT_EQ(buffer.reserve(2 * kRecord), nullptr);
  EXPECT_TRUE(buffer.is_filled());
  EXPECT_FALSE(put(buffer, 1)) << "even though it would fit";
  buffer.open_reserve();
  EXPECT_TRUE(put(buffer, 2)) << "END";
  EXPECT_EQ(take_numbers(buffer), (Numbers{0, 2}));
  EXPECT_EQ(buffer.drops(), 0u);
}

TEST(PrincipalBuffer, WhatIsSetApartIsForEndAlone) {
  PrincipalBuffer buffer;
  ASSERT_TRUE(buffer.allocate({BufferPolicy::fill, 3 * kRecord, kRecord}));
  EXPECT_TRUE(put(buffer, 0));
  EXPECT_TRUE(put(buffer, 1));
  EXPECT_FALSE(put(buffer, 2));
  buffer.open_reserve();
  EXPECT_TRUE(put(buffer, 3));
}

TEST(PrincipalBuffer, WhereAllIsSetApartNothingElseFits) {
  for (const size_t set_apart : {kRecord, 2 * kRecord}) {
    PrincipalBuffer buffer;
    ASSERT_TRUE(buffer.allocate({BufferPolicy::fill, kRecord, set_apart}));
    EXPECT_FALSE(put(buffer, 0));
    buffer.open_reserve();
    EXPECT_TRUE(put(buffer, 1));
  }
}

TEST(PrincipalBuffer, OnlySwitchHasTwoHalves) {
  EXPECT_EQ((BufferPlan{BufferPolicy::switch_, 100}.memory()), 200u);
  EXPECT_EQ((BufferPlan{BufferPolicy::fill, 100}.memory()), 100u);
  EXPECT_EQ((BufferPlan{BufferPolicy::ring, 100}.memory()), 100u);
}

// Whatever was recorded, a ring holds the newest, complete, in order; and no fewer than fit beside one that is being written.
TEST(PrincipalBuffer, ARingKeepsTheNewest) {
  for (size_t bytes : {kRecord, 3 * kRecord, 3 * kRecord + 8, 7 * kRecord + 16})
    for (uint64_t count = 0; count < 40; count++) {
      PrincipalBuffer buffer;
      ASSERT_TRUE(buffer.allocate({BufferPolicy::ring, bytes}));
      for (uint64_t i = 0; i < count; i++) ASSERT_TRUE(put(buffer, i));
      const Numbers kept = take_numbers(buffer);
      ASSERT_GE(kept.size(), std::min<size_t>(count, bytes / kRecord)) << bytes << " bytes, " << count << " records";
      for (size_t i = 0; i < kept.size(); i++) ASSERT_EQ(kept[i], count - kept.size() + i);
      ASSERT_EQ(take_numbers(buffer), Numbers{});
    }
}

TEST(PrincipalBuffer, ARingOfRecordsOfManySizes) {
  PrincipalBuffer buffer;
  ASSERT_TRUE(buffer.allocate({BufferPolicy::ring, 512}));
  for (uint64_t i = 0; i < 1000; i++) {
    const auto size = static_cast<uint32_t>(16 + i * 56 % 200 / 8 * 8);
    std::byte* to = buffer.reserve(size);
    ASSERT_NE(to, nullptr);
    const RecordHeader header{1, size, i};
    std::memcpy(to, &header, sizeof(header));
    if (i % 5 == 0) continue;  // a fault: not committed
    buffer.commit(size);
  }
  uint64_t last = 0;
  for (std::span<const std::byte> records : buffer.take())
    for (; !records.empty(); records = records.subspan(header_of(records.data()).size)) {
      EXPECT_GT(header_of(records.data()).order, last);
      last = header_of(records.data()).order;
    }
  EXPECT_EQ(last, 999u);
  EXPECT_EQ(buffer.reserve(520), nullptr);
  EXPECT_EQ(buffer.drops(), 1u) << "larger than the whole ring";
}

TEST(CpuBuffers, AreMadeForEachCpuThatFires) {
  CpuBuffers cpus;
  ASSERT_TRUE(cpus.allocate({BufferPolicy::switch_, 2 * kRecord}, 2));
  EXPECT_FALSE(cpus.knows(5));
  cpus.meet(5);
  ASSERT_TRUE(cpus.knows(5));
  EXPECT_TRUE(put(cpus[5].principal, 1));
  EXPECT_TRUE(put(cpus[5].principal, 2));
  EXPECT_FALSE(put(cpus[5].principal, 3));
  EXPECT_TRUE(put(cpus[1].principal, 4));
  EXPECT_EQ(cpus[5].principal.drops(), 1u);
  EXPECT_EQ(cpus[1].principal.drops(), 0u);
}

TEST(CpuBuffers, ACpuThatThereCannotBeIsTheFirst) {
  CpuBuffers cpus;
  ASSERT_TRUE(cpus.allocate({BufferPolicy::switch_, 2 * kRecord}, 1));
  for (int32_t cpu : {-1, INT32_MAX, INT32_MIN, static_cast<int32_t>(CpuBuffers::kMostCpus)}) {
    cpus.meet(cpu);
    EXPECT_EQ(&cpus[cpu], &cpus[0]);
  }
}

uint64_t address_space() {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// A recording says which CPUs there are.
TEST(CpuBuffers, AreNotMadeForCpusWithLowerNumbers) {
  CpuBuffers cpus;
  ASSERT_TRUE(cpus.allocate({BufferPolicy::switch_, 4 << 20}, 1));
  const uint64_t before = address_space();
  cpus.meet(2048);
  EXPECT_TRUE(cpus.knows(2048));
  EXPECT_FALSE(cpus.knows(2047));
  EXPECT_EQ(cpus.find(2047), nullptr);
  EXPECT_TRUE(put(cpus[2048].principal, 1));
  EXPECT_LT(address_space() - before, uint64_t{100} << 20);
}

TEST(CpuBuffers, OfManyCpusTakeHalfOfTheMemory) {
  CpuBuffers cpus;
  ASSERT_TRUE(cpus.allocate({BufferPolicy::switch_, memory_for_each(1) / 16}, 1));
  const uint64_t before = address_space();
  for (int32_t cpu = 7; cpu < static_cast<int32_t>(CpuBuffers::kMostCpus); cpu += 16) {
    cpus.meet(cpu);
    ASSERT_TRUE(put(cpus[cpu].principal, 1)) << cpu;
  }
  EXPECT_LT(address_space() - before, memory_for_each(1));
}

TEST(CpuBuffers, AreNotLargerThanTheMachine) {
  CpuBuffers cpus;
  EXPECT_FALSE(cpus.allocate({BufferPolicy::ring, size_t{1} << 46}, 4));
  EXPECT_FALSE(cpus.allocate({BufferPolicy::ring, memory_for_each(4) + 8}, 4));
}

TEST(CpuBuffers, EndMayUseWhatEachHasSetApart) {
  CpuBuffers cpus;
  ASSERT_TRUE(cpus.allocate({BufferPolicy::fill, 2 * kRecord, kRecord}, 2));
  for (int32_t cpu : {0, 1}) EXPECT_TRUE(put(cpus[cpu].principal, 0) && !put(cpus[cpu].principal, 1));
  EXPECT_TRUE(cpus.is_filled());
  cpus.open_reserve();
  for (int32_t cpu : {0, 1}) EXPECT_TRUE(put(cpus[cpu].principal, 2));
}

std::span<const std::byte> key_of(const uint64_t& key) { return std::as_bytes(std::span(&key, 1)); }

std::map<uint64_t, uint64_t> contents(const AggregationBuffer& buffer) {
  std::map<uint64_t, uint64_t> found;
  buffer.visit([&](const AggregationEntry& entry) {
    uint64_t number = 0;
    std::memcpy(&number, entry.key.data(), entry.key.size());
    found[number] = entry.words[0];
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

TEST(AggregationBuffer, KeysAreKeptApartByCpu) {
  AggregationBuffer buffer;
  ASSERT_TRUE(buffer.allocate(4096));
  buffer.part_by_cpu();
  const uint64_t key = 5;
  for (const int32_t cpu : {1, 0, 1, 1}) {
    const uint32_t before = buffer.generation();
    buffer.select(cpu);
    buffer.select(cpu);
    EXPECT_LE(buffer.generation() - before, 1u);
    ++*buffer.find(1, key_of(key), 1, 0);
    ++*buffer.find(2, {}, 1, 0);
  }
  std::map<std::array<int64_t, 3>, uint64_t> found;  // by aggregation, CPU and size of the key
  buffer.visit([&](const AggregationEntry& entry) {
    found[{entry.aggregation, entry.cpu, static_cast<int64_t>(entry.key.size())}] = entry.words[0];
  });
  const decltype(found) wanted = {{{1, 0, 8}, 1}, {{1, 1, 8}, 3}, {{2, 0, 0}, 1}, {{2, 1, 0}, 3}};
  EXPECT_EQ(found, wanted);
}

// A zero behind a key leaves its hash as it is.
TEST(AggregationBuffer, KeysOfOneHashAreKeptApart) {
  AggregationBuffer buffer;
  ASSERT_TRUE(buffer.allocate(4096));
  const uint64_t both[] = {5, 0}, high[] = {5 + (uint64_t{1} << 40)};
  const std::span<const std::byte> longer = std::as_bytes(std::span(both)), shorter = longer.first(8);
  ASSERT_EQ(hash_key(1, longer), hash_key(1, shorter)) << "then this test finds nothing";
  uint64_t* first = buffer.find(1, longer, 1, 1);
  uint64_t* second = buffer.find(1, shorter, 1, 2);
  EXPECT_NE(first, second);
  EXPECT_EQ(*first, 1u);
  EXPECT_EQ(*second, 2u);
  EXPECT_EQ(buffer.find(1, longer, 1, 0), first);
  EXPECT_EQ(buffer.find(1, shorter, 1, 0), second);
  const uint64_t folded_to_nothing[] = {0, 0xff51afd7ed558ccd};
  const std::span<const std::byte> any = std::as_bytes(std::span(folded_to_nothing));
  ASSERT_EQ(hash_key(1, any), hash_key(2, any)) << "likewise";
  EXPECT_NE(buffer.find(1, any, 1, 1), buffer.find(2, any, 1, 2));
  EXPECT_FALSE(is_same_key(longer.data(), std::as_bytes(std::span(high)).data(), 8));
}

TEST(AggregationBuffer, AnEntryThatWasFoundIsThatOfItsKeyAlone) {
  AggregationBuffer buffer;
  ASSERT_TRUE(buffer.allocate(4096));
  buffer.part_by_cpu();
  buffer.select(0);
  const uint64_t both[] = {5, 0}, other[] = {5, 1};
  const std::span<const std::byte> key = std::as_bytes(std::span(both)), unlike = std::as_bytes(std::span(other));
  RecentEntry recent;
  EXPECT_FALSE(buffer.is_entry(recent, key));
  uint64_t* const state = buffer.find_again(recent, 1, key, 1, 0);
  EXPECT_TRUE(buffer.is_entry(recent, key));
  EXPECT_EQ(recent.state, state);
  EXPECT_FALSE(buffer.is_entry(recent, unlike));
  EXPECT_FALSE(buffer.is_entry(recent, key.first(8))) << "a key that the entry begins with";
  buffer.select(1);
  EXPECT_FALSE(buffer.is_entry(recent, key)) << "that of another CPU";
  EXPECT_NE(buffer.find_again(recent, 1, key, 1, 0), state);
  buffer.clear();
  EXPECT_FALSE(buffer.is_entry(recent, key)) << "the entry is gone";
}

TEST(AggregationBuffer, OneSlotOfTheIndexStaysFree) {
  AggregationBuffer buffer;
  ASSERT_TRUE(buffer.allocate(64));  // two slots, and room for two entries
  EXPECT_NE(buffer.find(1, {}, 1, 0), nullptr);
  EXPECT_EQ(buffer.find(2, {}, 1, 0), nullptr);
}

TEST(AggregationBuffer, KeysWithoutRoomHaveNoStateAndKnownOnesGoOn) {
  AggregationBuffer buffer;
  ASSERT_TRUE(buffer.allocate(256));
  uint64_t kept = 0;
  while (buffer.find(1, key_of(kept), 1, 0)) kept++;
  EXPECT_GT(kept, 2u);
  uint64_t first = 0;
  RecentEntry recent;
  uint64_t* const state = buffer.find_again(recent, 1, key_of(first), 1, 0);
  EXPECT_NE(state, nullptr);
  EXPECT_EQ(buffer.find_again(recent, 1, key_of(kept), 1, 0), nullptr);
  EXPECT_EQ(recent.state, state) << "what has no room replaces nothing";
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
  unsigned without_room = 0;
  for (uint64_t key = 0; key < 100; key++) without_room += buffer.find(1, key_of(key), 1, 0) == nullptr;
  EXPECT_GT(without_room, 90u);
}

TEST(SeenAddresses, HandsOutEachOnceAndOnlyWhereThereIsRoom) {
  SeenAddresses seen;
  seen.note(1, 0x10);  // no room was made
  EXPECT_FALSE(seen.has_added());
  seen.make_room();
  for (const uint64_t address : {0x10, 0x20, 0x10, 0}) seen.note(1, address);
  seen.note(2, 0x10);
  std::vector<std::pair<int32_t, uint64_t>> added;
  seen.take_added([&](const SeenAddresses::SeenAddress& one) { added.emplace_back(one.pid, one.address); });
  EXPECT_EQ(added, (std::vector<std::pair<int32_t, uint64_t>>{{1, 0x10}, {1, 0x20}, {2, 0x10}}));
  seen.note(1, 0x20);
  EXPECT_FALSE(seen.has_added());
}

TEST(SeenAddresses, StaysPartlyFree) {
  SeenAddresses seen;
  seen.make_room();
  size_t count = 0;
  for (uint64_t address = 1; address < 100'000; address++) seen.note(1, address);
  seen.take_added([&](const SeenAddresses::SeenAddress&) { count++; });
  EXPECT_GT(count, 40'000u);
  EXPECT_LT(count, 65'536u);
}

}  // namespace
}  // namespace dvm::runtime
