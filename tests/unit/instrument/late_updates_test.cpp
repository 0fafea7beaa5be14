// Values that arrive through rings are aggregated once, and records that make no sense are refused.

#include "runtime/instrument/agent/late_updates.h"

#include <gtest/gtest.h>

#include <cstring>

#include "runtime/agent/inside/aggregate.h"

namespace dvm::runtime {
namespace {

using Function = inside::SiteFunction;

KnownClause clause_of(Function function, uint32_t aggregation, uint32_t keys, uint32_t words, uint64_t initial = 0) {
  return {aggregation, words, static_cast<uint32_t>(function), initial, std::vector<KeyPart>(keys)};
}

const std::vector<KnownClause> kClauses = {clause_of(Function::sum, 7, 2, 1), clause_of(Function::min, 8, 0, 1, INT64_MAX),
                                           clause_of(Function::quantize, 9, 1, 127)};

struct Record {
  inside::UpdateRecord head;
  uint64_t keys[4]{};
};

Record record_of(uint32_t clause, uint64_t value, uint64_t first = 0, uint64_t second = 0) {
  return {{.clause = clause, .value = value}, {first, second}};
}

bool add(LateUpdates& updates, const Record& record) {
  const size_t keys = record.head.clause < kClauses.size() ? kClauses[record.head.clause].keys.size() : 0;
  return updates.add(std::as_bytes(std::span(&record, 1)).first(sizeof record.head + keys * sizeof(uint64_t)), kClauses);
}

using Totals = std::map<std::pair<uint32_t, std::vector<uint64_t>>, std::vector<uint64_t>>;

Totals take(LateUpdates& updates) {
  Totals totals;
  updates.take(kClauses, [&](const AggregationEntry& entry) {
    std::vector<uint64_t> key(entry.key.size() / sizeof(uint64_t));
    if (!key.empty()) std::memcpy(key.data(), entry.key.data(), entry.key.size());
    totals[{entry.aggregation, key}] = {entry.words.begin(), entry.words.end()};
  });
  return totals;
}

TEST(LateUpdates, AreAggregatedByTheirKeys) {
  LateUpdates updates;
  EXPECT_TRUE(add(updates, record_of(0, 5, 1, 2)));
  EXPECT_TRUE(add(updates, record_of(0, 6, 1, 2)));
  EXPECT_TRUE(add(updates, record_of(0, 7, 2, 1)));
  EXPECT_TRUE(add(updates, record_of(1, 9, 3)));  // a key that the aggregation does not have
  EXPECT_TRUE(add(updates, record_of(1, static_cast<uint64_t>(-4))));
  EXPECT_EQ(take(updates), (Totals{{{7, {1, 2}}, {11}}, {{7, {2, 1}}, {7}}, {{8, {}}, {static_cast<uint64_t>(-4)}}}));
  EXPECT_TRUE(take(updates).empty());
  EXPECT_TRUE(add(updates, record_of(1, 9)));
  EXPECT_EQ(take(updates), (Totals{{{8, {}}, {9}}}));  // less than what its state begins with
}

TEST(LateUpdates, CountInTheBucketsOfTheirClause) {
  std::vector<KnownClause> clauses = {clause_of(Function::lquantize, 9, 0, 4)};
  clauses[0].shape = {.parameters = {10, 0, 5, 0}, .words = 4};  // below 10, from 10, from 15, from 20
  LateUpdates updates;
  const Record record = record_of(0, 16);
  EXPECT_TRUE(updates.add(std::as_bytes(std::span(&record, 1)).first(sizeof record.head), clauses));
  std::vector<uint64_t> buckets;
  updates.take(clauses, [&](const AggregationEntry& entry) { buckets.assign(entry.words.begin(), entry.words.end()); });
  EXPECT_EQ(buckets, (std::vector<uint64_t>{0, 0, 1, 0}));
}

TEST(LateUpdates, RefuseWhatMakesNoSense) {
  LateUpdates updates;
  EXPECT_FALSE(add(updates, record_of(3, 1)));
  const Record record = record_of(0, 1);
  for (const size_t bytes : {0, 8, 15, 16, 24, 31, 33, 40, 48})
    EXPECT_FALSE(updates.add(std::as_bytes(std::span(&record, 1)).first(bytes), kClauses)) << bytes;
  EXPECT_TRUE(take(updates).empty());
}

TEST(LateUpdates, AskToBeTakenBeforeTheyUseMuchMemory) {
  LateUpdates updates;
  uint64_t key = 0;
  while (!updates.wants_reading() && key < 100'000) EXPECT_TRUE(add(updates, record_of(2, 1, key++)));
  EXPECT_GT(key, 1000);
  EXPECT_LT(key, 10'000);
  EXPECT_EQ(take(updates).size(), key);
  EXPECT_FALSE(updates.wants_reading());
}

}  // namespace
}  // namespace dvm::runtime
