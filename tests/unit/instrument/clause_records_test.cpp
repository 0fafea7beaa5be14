// Records of single clauses as a process may write them: their values, or nothing.

#include "runtime/instrument/agent/clause_records.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

namespace dvm::runtime {
namespace {

constexpr uint64_t kCookie = 7, kLarger = uint64_t{1} << 32 | 7, kCpu5 = uint64_t{5} << 48;

class ClauseRecordsTest : public testing::Test {
 protected:
  void SetUp() override {
    const KnownRecord known{3, {kCookie, kLarger}, {{dif::Scope::thread, 500}, {dif::Scope::clause, 501}}, true};
    EXPECT_EQ(records_.add({1, {kCookie, 0}}), 0U);
    EXPECT_EQ(records_.add(known), 1U);
  }
  std::optional<ClauseRecords::Found> read(std::vector<uint64_t>& words, uint32_t number = 1) {
    return records_.read(std::as_writable_bytes(std::span(words)), number);
  }

  ClauseRecords records_;
};

TEST_F(ClauseRecordsTest, HaveVariablesAndTime) {
  for (const uint64_t cookie : {kCookie, kLarger}) {
    std::vector<uint64_t> words = {0, 11, 12, 13, cookie | kCpu5, 99};
    const auto found = read(words);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->clause.epid, 3U);
    EXPECT_EQ(found->clause.variables[0].value, 11U);
    EXPECT_EQ(found->clause.variables[1].value, 12U);
    EXPECT_EQ(found->time, 13U);
    EXPECT_EQ(found->record.size(), 2 * sizeof(uint64_t));
    EXPECT_EQ(static_cast<void*>(found->record.data()), &words[4]);
  }
}

TEST_F(ClauseRecordsTest, MayBeAboutAnAddress) {
  const uint32_t number = records_.add({.epid = 9, .cookies = {kCookie, 0}, .has_time = true, .has_fault = true});
  std::vector<uint64_t> words{uint64_t{inside::kClauseMark} << 32 | number, 0, 0x4321, kCookie};
  const auto found = read(words, number);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->clause.unreadable, 0x4321U);
  EXPECT_FALSE(found->time);  // the clause has not asked for it
}

TEST_F(ClauseRecordsTest, HaveStringsBehindTheValues) {
  KnownRecord known{.epid = 3, .cookies = {kCookie, 0}, .has_time = true};
  known.variables = {{dif::Scope::thread, 500, 0, true}, {dif::Scope::thread, 501}, {dif::Scope::thread, 502, 0, true}};
  const uint32_t number = records_.add(known);
  std::vector<uint64_t> words = {0, 2, 11, 1, 13, 'a', 'b', 'c', kCookie, 99}, null = {0, 0, 11, 0, 13, kCookie};
  const auto found = read(words, number);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->clause.variables[1].value, 11U);
  EXPECT_EQ(found->time, 13U);
  EXPECT_EQ(static_cast<const void*>(found->clause.variables[0].text.data()), &words[5]);
  EXPECT_EQ(found->clause.variables[0].text.size(), 16U);
  EXPECT_EQ(static_cast<const void*>(found->clause.variables[2].text.data()), &words[7]);
  EXPECT_EQ(static_cast<void*>(found->record.data()), &words[8]);
  ASSERT_TRUE(read(null, number));
  EXPECT_EQ(read(null, number)->clause.variables[0].value, 0U);
  // Lengths that cannot be.
  for (const uint64_t count : {uint64_t{4}, uint64_t{inside::kTextWords} + 1, ~uint64_t{0}, uint64_t{1} << 61}) {
    words[1] = count;
    EXPECT_FALSE(read(words, number)) << count;
  }
  std::vector<uint64_t> cut = {0, 2, 11};
  EXPECT_FALSE(read(cut, number));
}

// The record may have the time at which a global variable was seen, from before.
TEST_F(ClauseRecordsTest, AreNotOfTheFuture) {
  constexpr uint64_t kRecord = 1'000'000'000, kNow = 2'000'000'000, kBetween = 1'500'000'000, kLater = 3'000'000'000;
  const uint32_t seen = records_.add({.cookies = {kCookie, 0}, .has_time = true, .is_seen = true});
  for (const auto [time, at_once, at_last] : {std::array{kBetween, kRecord, kBetween}, std::array{kLater, kRecord, kNow}}) {
    std::vector<uint64_t> words = {0, time, kCookie}, more = {0, 1, 2, time, kCookie};
    EXPECT_EQ(read(more, 1)->time_of(kRecord, kNow), at_once + ClauseRecords::kApart);
    EXPECT_EQ(read(words, seen)->time_of(kRecord, kNow), std::min(time, at_last + ClauseRecords::kApart));
  }
  std::vector<uint64_t> none = {0, kCookie};
  EXPECT_EQ(read(none, 0)->time_of(kRecord, kNow), kRecord);
}

TEST_F(ClauseRecordsTest, MayHaveNoValues) {
  std::vector<uint64_t> words = {0, kCookie};
  const auto found = read(words, 0);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->clause.variables.empty());
  EXPECT_FALSE(found->time);
}

TEST_F(ClauseRecordsTest, MustBeThoseOfTheirClause) {
  std::vector<uint64_t> foreign = {0, 11, 12, 13, 8}, cut = {0, 11, 12, 13}, whole = {0, 11, 12, 13, kCookie};
  std::vector<uint64_t> none = {0, kCpu5};
  EXPECT_FALSE(read(foreign));
  EXPECT_FALSE(read(none, 0));
  EXPECT_FALSE(read(cut));
  EXPECT_FALSE(read(whole, 2));
  EXPECT_TRUE(read(whole));
}

}  // namespace
}  // namespace dvm::runtime
