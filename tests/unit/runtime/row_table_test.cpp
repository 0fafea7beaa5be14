// Rows by key, and what is left of them.

#include "runtime/consumer/row_table.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "runtime/consumer/aggregation.h"

namespace dvm::runtime {
namespace {

// Keys are words.
std::string key_of(uint64_t number) { return std::string(reinterpret_cast<const char*>(&number), sizeof(number)); }
MergedRow& row_of(RowTable& table, const std::string& key, unsigned words = 1, uint64_t initial = 0) {
  static const MergedAggregation aggregation;
  return table.find_or_add(aggregation, key, words, initial);
}

TEST(RowTable, OneRowForEachKeyAndItStaysWhereItIs) {
  RowTable table;
  std::vector<const MergedRow*> first;
  for (uint64_t i = 0; i < 10'000; i++) first.push_back(&row_of(table, key_of(i * 64)));
  for (uint64_t i = 0; i < 10'000; i++) {
    MergedRow& again = row_of(table, key_of(i * 64));
    EXPECT_EQ(&again, first[i]);
    again.state[0] += i;
  }
  EXPECT_EQ(table.size(), 10'000u);
  for (uint64_t i = 0; i < 10'000; i++) EXPECT_EQ(first[i]->state[0], i);
}

TEST(RowTable, KeysOfAllLengths) {
  RowTable table;
  MergedRow& none = row_of(table, "", 2, 9);
  EXPECT_EQ(none.state[1], 9u);
  EXPECT_EQ(&row_of(table, ""), &none);
  EXPECT_NE(&row_of(table, std::string(8, '\0')), &none);
  EXPECT_NE(&row_of(table, std::string(16, '\0')), &row_of(table, std::string(8, '\0')));
  const std::string large(3 << 20, 'x');  // larger than a block
  EXPECT_EQ(row_of(table, large).key, large);
  EXPECT_EQ(table.size(), 4u);
}

TEST(RowTable, KeepsWhatItIsToldTo) {
  RowTable table;
  for (uint64_t i = 0; i < 1000; i++) row_of(table, key_of(i)).state[0] = i;
  std::vector<const MergedRow*> kept;
  for (const MergedRow* row : table.rows())
    if (row->state[0] % 100 == 7) kept.push_back(row);
  const size_t before = table.bytes();
  table.keep_only(kept);
  EXPECT_LT(table.bytes(), before);
  std::set<uint64_t> states;
  for (const MergedRow* row : table.rows()) states.insert(row->state[0]);
  EXPECT_EQ(states, (std::set<uint64_t>{7, 107, 207, 307, 407, 507, 607, 707, 807, 907}));
  EXPECT_EQ(row_of(table, key_of(107)).state[0], 107u);
  EXPECT_EQ(row_of(table, key_of(108)).state[0], 0u);
  EXPECT_EQ(table.size(), 11u);
}

TEST(RowTable, KeepsAllWordsOfAState) {
  RowTable table;
  MergedRow& row = row_of(table, key_of(1), 3);
  for (uint64_t i = 0; i < 3; i++) row.state[i] = i + 5;
  const MergedRow* const kept[] = {&row};
  table.keep_only(kept);
  const auto state = row_of(table, key_of(1), 3).state;
  EXPECT_EQ(std::vector<uint64_t>(state.begin(), state.end()), (std::vector<uint64_t>{5, 6, 7}));
}

}  // namespace
}  // namespace dvm::runtime
