// Combines the series of all passes of a calibration.

#include "lab/noise/series_book.h"

#include <gtest/gtest.h>

namespace dvm::lab::noise {
namespace {

Middle settle_all(SeriesBook& book, const std::vector<double>& passes) {
  Middle last;
  for (const double one : passes) last = book.settle("one", {one, 1}, false);
  return last;
}

TEST(SeriesBook, TheLeastDisturbedPassCounts) {
  SeriesBook book;
  EXPECT_EQ(settle_all(book, {60}).median, 60);
  EXPECT_EQ(settle_all(book, {40, 52}).median, 40);
  EXPECT_EQ(book.settle("another", {90, 1}, false).median, 90);
}

TEST(SeriesBook, ItMayBeOffByHalfOfWhatTheNextIsApart) {
  SeriesBook book;
  EXPECT_EQ(settle_all(book, {400, 600, 412}).distance, 6);
  EXPECT_EQ(settle_all(book, {399}).distance, 1);  // no less than the pass said
  SeriesBook disturbed;
  EXPECT_EQ(settle_all(disturbed, {400, 600}).distance, 12);  // and no more because others were disturbed
}

TEST(SeriesBook, WhatThreePassesFoundAlikeNeedsNoMoreSamples) {
  SeriesBook book;
  EXPECT_FALSE(book.is_sure("one"));
  book.settle("one", {40, 1}, true);
  book.settle("one", {40.5, 1}, false);
  EXPECT_FALSE(book.is_sure("one"));  // was it disturbed?
  book.settle("one", {40.3, 1}, true);
  EXPECT_FALSE(book.is_sure("one"));
  book.settle("one", {40.6, 1}, true);
  EXPECT_FALSE(book.is_sure("one"));  // the disturbed one is among the least three
  book.settle("one", {40.4, 1}, true);
  EXPECT_TRUE(book.is_sure("one"));
  EXPECT_FALSE(book.samples_of("one", 3).wants_more());
  EXPECT_TRUE(book.samples_of("two", 3).wants_more());
  EXPECT_EQ(book.settle("one", QuietSamples(0)).median, 40);
  EXPECT_EQ(book.settled("one").median, 40);
  book.settle("two", {40, 1}, true);
  book.settle("two", {40.5, 1}, true);
  book.settle("two", {42, 1}, true);
  EXPECT_FALSE(book.is_sure("two"));
}

TEST(SeriesBook, OfWhatIsAnotherTimeEachTimeTheMiddleCounts) {
  SeriesBook book;
  book.settle_middle("poll", {30, 2});
  book.settle_middle("poll", {16, 5});
  const Middle found = book.settle_middle("poll", {19, 4});
  EXPECT_EQ(found.median, 19);
  EXPECT_EQ(found.distance, 4);
  book.settle_middle("late", {500, 90}, false);
  EXPECT_EQ(book.settle_middle("late", {400, 90}, false).median, 450);
  EXPECT_EQ(book.settle_middle("late", {150, 20}, true).median, 150);  // the others had company
}

TEST(SeriesBook, ASeriesIsQuietThatOnePassFoundSo) {
  SeriesBook book;
  EXPECT_EQ(book.disturbed(), 0);
  book.settle("one", {40, 1}, false);
  book.settle("one", {38, 1}, true);
  book.settle("two", {40, 1}, false);
  EXPECT_EQ(book.disturbed(), 0.5);
}

TEST(SeriesBook, ItIsHandedOnAsText) {
  SeriesBook book;
  book.settle("source \"one\"\n", {40.25, 1}, true);
  Result<SeriesBook> read = SeriesBook::parse(book.text());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->text(), book.text());
  EXPECT_EQ(read->settle("source \"one\"\n", {50, 1}, false).median, 40.25);
  for (const char* bad : {"", "[", "{\"one\": 3}", "{\"one\": [[1, 2]]}", "{\"one\": [[1, \"a\", true]]}"})
    EXPECT_FALSE(SeriesBook::parse(bad)) << bad;
}

TEST(SeriesBook, WhatWasNeverQuietIsTriedMoreOftenWhileThereIsTime) {
  SeriesBook book;
  book.settle("disturbed", {40, 1}, false);
  book.settle("quiet once", {40, 1}, false);
  book.settle("quiet once", {44, 1}, true);
  // Samples that are taken if the core never becomes quiet, for each one that is wanted.
  const auto tries = [&](const char* series) {
    QuietSamples samples = book.samples_of(series, 3);
    unsigned taken = 0;
    for (; samples.wants_more(); taken++) samples.add(QuietSample{40, false});
    return taken / 3;
  };
  EXPECT_EQ(tries("disturbed"), 2u);  // there is no time left
  book.be_patient_until(UINT64_MAX);
  EXPECT_EQ(tries("disturbed"), 8u);
  EXPECT_EQ(tries("quiet once"), 2u);
  EXPECT_EQ(tries("new"), 2u);
}

}  // namespace
}  // namespace dvm::lab::noise
