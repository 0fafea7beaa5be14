// The store of dynamic variables and the blocks under it.

#include "vm/state/dynamic_variables.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <map>
#include <random>

#include "dvm/vm/dynamic_room.h"
#include "vm/state/address.h"

namespace dvm::vm {

namespace {

TupleEntry value(uint64_t v) { return {v, 0, dif::PushType::value, nullptr}; }
TupleEntry text(std::string_view s) { return {0, s.size(), dif::PushType::string, std::as_bytes(std::span(s)).data()}; }
const char* text_at(uint64_t address) { return reinterpret_cast<const char*>(address & ~kDMemory); }
std::span<const std::byte> bytes(std::string_view s) { return std::as_bytes(std::span(s)); }

TEST(DynamicVariables, KeepsKeysApart) {
  DynamicVariables store(1 << 16);
  const TupleEntry one[] = {value(1)}, two[] = {value(2)}, pair[] = {value(1), value(2)}, a[] = {text("a")}, ab[] = {text("ab")};
  const DynamicKey keys[] = {{0x500, false, 0, one}, {0x501, false, 0, one},  {0x500, true, 0, one}, {0x500, true, 7, one},
                             {0x500, false, 0, two}, {0x500, false, 0, pair}, {0x500, false, 0, a},  {0x500, false, 0, ab},
                             {0x500, true, 8, {}},   {0x500, true, 9, {}}};
  uint64_t n = 1;
  for (const DynamicKey& key : keys) store.store(key, n++);
  n = 1;
  for (const DynamicKey& key : keys) EXPECT_EQ(store.load(key), n++);
}

TEST(DynamicVariables, ForgetsThoseOfAThread) {
  DynamicVariables store(1 << 16);
  const TupleEntry one[] = {value(1)}, a[] = {text("a")};
  const DynamicKey gone[] = {{0x500, true, 7, {}}, {0x500, true, 7, one}, {0x501, true, 7, a}};
  const DynamicKey kept[] = {{0x500, true, 8, {}}, {0x500, true, 8, one}, {0x502, false, 7, one}};
  for (const DynamicKey& key : gone) store.store(key, 1);
  for (const DynamicKey& key : kept) store.store(key, 2);
  store.forget_thread(7);
  for (const DynamicKey& key : gone) EXPECT_EQ(store.load(key), 0u);
  for (const DynamicKey& key : kept) EXPECT_EQ(store.load(key), 2u);
  EXPECT_EQ(store.live(), std::size(kept));
}

// The hash of keys, backwards: which word leads from one hash to another. Where the store hashes otherwise, the tests below are
// as true as before, but find less.
constexpr uint64_t kOdd = 0x9e3779b97f4a7c15u;
constexpr uint64_t inverse_of_odd() {
  uint64_t inverse = kOdd;
  for (int i = 0; i < 6; i++) inverse *= 2 - kOdd * inverse;
  return inverse;
}
uint64_t mixed(uint64_t hash, uint64_t word) { return std::rotl((hash ^ word) * kOdd, 29); }
uint64_t word_between(uint64_t hash, uint64_t wanted) { return hash ^ std::rotr(wanted, 29) * inverse_of_odd(); }

// A text of two words and more that begins with `begin` (8 characters each) and hashes as "a" does.
std::string hashed_as_a(const std::string& begin) {
  const uint64_t start = mixed(0x500, 0), wanted = mixed(mixed(start, 1), 'a');
  uint64_t hash = mixed(start, begin.size() + 8);
  for (size_t at = 0; at < begin.size(); at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, begin.data() + at, 8);
    hash = mixed(hash, word);
  }
  const uint64_t last = word_between(hash, std::rotr(wanted, 29) * inverse_of_odd());  // the rest, of no bytes, is hashed as 0
  return begin + std::string(reinterpret_cast<const char*>(&last), 8);
}

TEST(DynamicVariables, KeysOfOneHashAreKeptApart) {
  DynamicVariables store(1 << 16);
  const uint64_t hash = mixed(mixed(0x500, 0), 7);
  const std::string longer = hashed_as_a("aaaaaaaa");
  const TupleEntry one[] = {value(7)}, two[] = {value(7), value(word_between(hash, hash))}, a[] = {text("a")},
                   b[] = {text(longer)};
  const DynamicKey keys[] = {{0x500, true, 1, {}},       {0x501, true, 0, {}},       {0x500, false, 0, two},
                             {0x500, false, 0, one},     {0x500, false, 0, b},       {0x500, false, 0, a},
                             {0x8b9c, true, 131072, {}}, {0x8cc6, true, 131072, {}},  // by chance, like the next two
                             {0x500, true, 1502353, {}}, {0x500, true, 3492693, {}}};
  uint64_t n = 1;
  for (const DynamicKey& key : keys) EXPECT_TRUE(store.store(key, n++));
  n = 1;
  for (const DynamicKey& key : keys) EXPECT_EQ(store.load(key), n++);
}

// A key that DIF made longer than what was stored of it ends where that did.
TEST(DynamicVariables, SpoiledKeysEndWithTheirBlock) {
  DynamicVariables store(1 << 14);
  const std::string longer = hashed_as_a(std::string(64, 'a'));
  const TupleEntry a[] = {text("a")}, b[] = {text(longer)}, z[] = {text("z")};
  for (uint16_t id = 0x501; id < 0x510; id++) store.store({id, false, 0, z}, 1);  // provides memory behind the variable
  store.store({0x500, false, 0, a}, 5);
  const std::string stored("\1\0\0\0\0\0\0\0a", 9);
  const std::string_view memory(reinterpret_cast<const char*>(store.memory().data()), store.memory().size());
  const size_t at = memory.find(stored);
  const uint64_t size = longer.size();
  ASSERT_LE(at + 8 + size, memory.size());
  std::memcpy(store.memory().data() + at, &size, 8);
  std::memcpy(store.memory().data() + at + 8, longer.data(), longer.size());
  EXPECT_EQ(store.load({0x500, false, 0, b}), 0u);
}

TEST(DynamicVariables, EqualTextIsTheSameKey) {
  DynamicVariables store(1 << 16);
  const std::string first = "key", second = "key";
  const TupleEntry a[] = {text(first)}, b[] = {text(second)};
  store.store({1, false, 0, a}, 5);
  EXPECT_EQ(store.load({1, false, 0, b}), 5u);
}

TEST(DynamicVariables, ZeroFreesForOthers) {
  DynamicVariables store(4096);
  uint64_t stored = 0;
  for (uint64_t i = 1; store.drops() == 0; i++, stored++) {
    const TupleEntry key[] = {value(i)};
    store.store({1, false, 0, key}, i);
  }
  EXPECT_GT(stored, 10u);
  for (uint64_t i = 1; i <= stored; i++) {
    const TupleEntry key[] = {value(i)};
    store.store({1, false, 0, key}, 0);
    EXPECT_EQ(store.load({1, false, 0, key}), 0u);
  }
  for (uint64_t i = 1; i < stored; i++) {
    const TupleEntry key[] = {value(i + 1'000'000)};
    store.store({1, false, 0, key}, i);
  }
  EXPECT_EQ(store.drops(), 1u);
}

TEST(DynamicVariables, DroppedStoresLeaveNothing) {
  DynamicVariables store(0);
  store.store({1, true, 5, {}}, 1);
  store.store_bytes({2, true, 5, {}}, bytes("text"), true);
  EXPECT_EQ(store.load({1, true, 5, {}}), 0u);
  EXPECT_EQ(store.load({2, true, 5, {}}), 0u);
  EXPECT_EQ(store.drops(), 2u);
}

// A value too large for what is left: the variable keeps what it had, a new one does not come to be.
TEST(DynamicVariables, ATooLargeValueIsDropped) {
  DynamicVariables store(4096);
  const std::string large(4096, 'x');
  store.store_bytes({1, false, 0, {}}, bytes("old"), true);
  store.store_bytes({1, false, 0, {}}, bytes(large), true);
  store.store_bytes({2, false, 0, {}}, bytes(large), true);
  EXPECT_EQ(store.drops(), 2u);
  EXPECT_STREQ(text_at(store.load({1, false, 0, {}})), "old");
  EXPECT_EQ(store.load({2, false, 0, {}}), 0u);
  EXPECT_EQ(store.live(), 1u);
}

TEST(DynamicVariables, WhatIsReplacedOrFreedIsRoomForOthers) {
  DynamicVariables store(4096);
  const std::string small(30, 'x'), large(100, 'y');
  for (int round = 0; round < 100; round++) {
    store.store_bytes({1, false, 0, {}}, bytes(small), true);
    store.store_bytes({1, false, 0, {}}, bytes(large), true);
    store.store({1, false, 0, {}}, 0);
  }
  EXPECT_EQ(store.drops(), 0u);
}

TEST(DynamicVariables, AgreesWithAMap) {
  DynamicVariables store(1 << 23);
  std::map<std::string, std::string> model;
  std::mt19937 random(1);
  for (int i = 0; i < 20000; i++) {
    const std::string name = "key" + std::string(random() % 40, 'k') + std::to_string(random() % 50);
    const TupleEntry key[] = {text(name), value(3)};
    if (random() % 3 == 0) {
      store.store({9, false, 0, key}, 0);
      model.erase(name);
    } else {
      const std::string content(random() % 300, static_cast<char>('a' + random() % 26));
      store.store_bytes({9, false, 0, key}, bytes(content), true);
      model[name] = content;
    }
    const uint64_t found = store.load({9, false, 0, key});
    const auto expected = model.find(name);
    ASSERT_EQ(found != 0, expected != model.end());
    if (found != 0) {
      ASSERT_EQ(text_at(found), expected->second);
    }
  }
  EXPECT_EQ(store.drops(), 0u);
  EXPECT_EQ(store.live(), model.size());
  for (const auto& [name, content] : model) {
    const TupleEntry key[] = {text(name), value(3)};
    EXPECT_EQ(text_at(store.load({9, false, 0, key})), content);
  }
}

// DIF may write over all data; lookups then miss, and nothing else happens.
TEST(DynamicVariables, SpoiledDataOnlyMisses) {
  DynamicVariables store(1 << 14);
  const TupleEntry key[] = {text("some key"), value(1)};
  store.store({1, false, 0, key}, 5);
  for (std::byte& b : store.memory()) b = std::byte{0xff};
  EXPECT_EQ(store.load({1, false, 0, key}), 0u);
  store.store({1, false, 0, key}, 6);
  EXPECT_EQ(store.load({1, false, 0, key}), 6u);
}

TEST(BuddyStore, JoinsWhatWasSplit) {
  BuddyStore store(64);
  EXPECT_TRUE(store.allocate(64 * BuddyStore::kGranule));
  BuddyStore other(64);
  std::vector<BuddyStore::Block> blocks;
  while (const auto block = other.allocate(1)) blocks.push_back(block);
  EXPECT_EQ(blocks.size(), 64u);
  std::shuffle(blocks.begin(), blocks.end(), std::mt19937(3));
  for (const auto& block : blocks) other.release(block);
  EXPECT_TRUE(other.allocate(64 * BuddyStore::kGranule));
  EXPECT_FALSE(other.allocate(1));
}

// Untouched memory is not allocated.
TEST(BuddyStore, TheLargestBlocksHaveNoBuddies) {
  constexpr size_t kLargest = BuddyStore::kGranule << (BuddyStore::kOrders - 1);
  BuddyStore store(2 * kLargest / BuddyStore::kGranule);
  for (int round = 0; round < 2; round++) {
    const auto first = store.allocate(kLargest), second = store.allocate(kLargest);
    ASSERT_TRUE(first && second);
    EXPECT_FALSE(store.allocate(1));
    store.release(first);
    store.release(second);
  }
}

TEST(BuddyStore, UsesASizeThatIsNoPowerOfTwo) {
  BuddyStore store(100);
  size_t got = 0;
  while (store.allocate(1)) got++;
  EXPECT_EQ(got, 100u);
}

TEST(BuddyStore, BlocksDoNotOverlap) {
  BuddyStore store(1024);
  std::mt19937 random(7);
  std::vector<bool> taken(1024);
  std::vector<BuddyStore::Block> blocks;
  const auto mark = [&](BuddyStore::Block block, bool to) {
    for (uint32_t i = 0; i < 1u << block.order; i++) {
      ASSERT_NE(taken[block.granule + i], to);
      taken[block.granule + i] = to;
    }
  };
  for (int i = 0; i < 20000; i++) {
    if (random() % 2 == 0) {
      const auto block = store.allocate(1 + random() % 400);
      if (!block) continue;
      mark(block, true);
      blocks.push_back(block);
    } else if (!blocks.empty()) {
      std::swap(blocks[random() % blocks.size()], blocks.back());
      mark(blocks.back(), false);
      store.release(blocks.back());
      blocks.pop_back();
    }
  }
}

// How many entries the store takes, one after another, until it drops one.
size_t stored_until_full(size_t dynvarsize, const std::vector<std::pair<size_t, std::string>>& kinds) {
  DynamicVariables store(dynvarsize);
  for (uint64_t i = 1;; i++) {
    uint16_t id = 0x500;
    for (const auto& [integers, string] : kinds) {
      std::vector<TupleEntry> tuple(integers, value(i));
      const DynamicKey key{id++, true, static_cast<int32_t>(i), tuple};
      if (string.empty())
        store.store(key, i);
      else
        store.store_bytes(key, bytes(string), true);
    }
    if (store.drops() > 0) return i - 1;
  }
}

size_t room_until_full(size_t dynvarsize, const std::vector<std::pair<size_t, std::string>>& kinds, size_t at_once) {
  const auto has_room = [&](size_t count) {
    DynamicRoom room(dynvarsize);
    for (size_t left = count; left > 0; left -= std::min(left, at_once))
      for (const auto& [integers, string] : kinds)
        if (!room.add({integers * stored_key(8), string.empty() ? 0 : string.size() + 1}, std::min(left, at_once))) return false;
    return true;
  };
  size_t fits = 0;
  for (size_t step = size_t{1} << 20; step > 0; step /= 2)
    if (has_room(fits + step)) fits += step;
  return fits;
}

// Added one by one or all together, by the order of variables or not.
TEST(DynamicRoom, IsWhatTheStoreHas) {
  const std::string small(10, 'x'), odd(100, 'y'), large(300, 'z');
  const std::vector<std::vector<std::pair<size_t, std::string>>> all = {{{0, ""}},
                                                                        {{1, ""}},
                                                                        {{2, ""}},
                                                                        {{3, ""}},
                                                                        {{5, ""}},
                                                                        {{0, small}},
                                                                        {{1, odd}},
                                                                        {{1, large}},
                                                                        {{3, ""}, {1, large}},
                                                                        {{1, large}, {3, ""}},
                                                                        {{0, ""}, {5, small}, {2, odd}},
                                                                        {{9, large}, {1, small}, {0, ""}}};
  for (const size_t dynvarsize : {0, 100, 4096, 50'000, 1 << 20})
    for (const auto& kinds : all) {
      const size_t stored = stored_until_full(dynvarsize, kinds);
      for (const size_t at_once : {size_t{1} << 30, size_t{7}, size_t{1}})
        EXPECT_EQ(room_until_full(dynvarsize, kinds, at_once), stored) << dynvarsize << " " << &kinds - &all[0] << " " << at_once;
    }
}

}  // namespace

}  // namespace dvm::vm
