// The simulated machine: what it must do whatever the prices are.

#include "runtime/cost/simulate.h"

#include <gtest/gtest.h>

namespace dvm::runtime {
namespace {

constexpr double kPollSeconds = 0.0042;  // seconds from one poll to the next, and a step

// Roughly the figures of this machine: 600 ns in the thread, 60 ns in dvm.
FiringModel counting() {
  FiringModel model;
  model.thread_ns = 600, model.dvm_ns = 60, model.ring_bytes = 24;
  model.read_records_ns = 2000, model.read_keys_ns = 3000, model.poll_ns = 5000;
  return model;
}

TEST(Simulate, CostGrowsWithTheRateUntilTheThreadIsFull) {
  const SimulatedBuffers buffers;
  double before = 0;
  for (const double rate : {1e3, 1e4, 1e5, 1e6}) {
    const SimulationResult result = simulate(counting(), {rate, 1, 2, 1}, buffers, 1);
    EXPECT_NEAR(result.fired, rate, rate * 1e-6);
    EXPECT_NEAR(result.thread_share, rate * 600e-9, 1e-6);
    EXPECT_GT(result.share(), before);
    EXPECT_EQ(result.ring_drops, 0) << rate;
    before = result.share();
  }
  const SimulationResult full = simulate(counting(), {1e9, 1, 2, 1}, buffers, 1);
  EXPECT_NEAR(full.thread_share, 1, 0.001);
  EXPECT_NEAR(full.fired, 1e9 / 600, 1e9 / 600 * 0.001);
}

TEST(Simulate, ThreadsFireOnTheCpusThatTheyHave) {
  const SimulatedBuffers buffers;
  for (const unsigned threads : {1u, 2u, 4u, 8u}) {
    const SimulationResult result = simulate(counting(), {1e9, threads, 4, 1}, buffers, 1);
    EXPECT_LE(result.share(), 4.01) << threads;  // polling and reading come on top
    EXPECT_GT(result.thread_share, std::min(threads, 3u) * 0.9) << threads;
  }
}

// dvm takes no more than it needs for what they fire, however much they would like to fire.
TEST(Simulate, ThreadsHaveWhatDvmLeaves) {
  const SimulationResult result = simulate(counting(), {1e9, 2, 2, 1}, {}, 1);
  EXPECT_NEAR(result.thread_share, 2 * 600.0 / 660, 0.001);
  EXPECT_NEAR(result.share(), 2, 0.02);
  EXPECT_EQ(result.ring_drops, 0);
}

// It sleeps a millisecond, and the timer's slack, after all that waited is handled, and what fired meanwhile.
TEST(Simulate, SlowCpusTakeAsManyTimesAsLong) {
  const SimulatedMachine quick{.rate = 1e5, .threads = 1, .cpus = 4};
  SimulatedMachine slow = quick;
  slow.slowdown = 1.5;
  const SimulationResult one = simulate(counting(), quick, {}, 1), other = simulate(counting(), slow, {}, 1);
  EXPECT_NEAR(other.fired, one.fired, 1);
  EXPECT_NEAR(other.thread_share, 1.5 * one.thread_share, 1e-6);
  EXPECT_NEAR(other.dvm_share, 1.5 * one.dvm_share, 0.01 * other.dvm_share);
  // At full speed they fire less often instead.
  SimulatedMachine full = slow;
  full.rate = 1e9;
  EXPECT_NEAR(simulate(counting(), full, {}, 1).fired, 1e9 / (1.5 * counting().thread_ns), 1e-3 * 1e9 / counting().thread_ns);
}

// The thread is idle once per millisecond by default; a thread that fires all the time is never idle.
TEST(Simulate, TheFirstFiringBehindARestTakesLonger) {
  FiringModel model = counting();
  model.woken_ns = 2000;
  SimulatedMachine machine{.rate = 1e4, .threads = 2, .cpus = 4};
  EXPECT_NEAR(simulate(model, machine, {}, 1).thread_share, 2 * (1e4 * 600e-9 + 1000 * 2e-6), 1e-6);
  machine.wakes = 1e5;
  EXPECT_NEAR(simulate(model, machine, {}, 1).thread_share, 2 * 1e4 * 2600e-9, 1e-6);
  machine.rate = 1e9;
  EXPECT_EQ(simulate(model, machine, {}, 1).fired, simulate(counting(), machine, {}, 1).fired);
}

TEST(Simulate, DvmThatDoesNotSleepIsNeitherLateNorWokenUp) {
  FiringModel awake = counting();
  awake.late_ns = 1e6;
  SimulatedBuffers buffers;
  buffers.ring = 1 << 14;
  // So much comes that it sleeps after every second poll only.
  const SimulatedMachine machine{.rate = 1.5e6, .threads = 1, .cpus = 4};
  const SimulationResult found = simulate(awake, machine, buffers, 1);
  EXPECT_NEAR(found.consumer_share, 490 * 5e-6, 0.1 * 490 * 5e-6);  // it wakes up each 2.05 ms
  // What begins to be dropped at one rate may not be at a higher one; the least rate is said.
  const double some = rate_of_first_drop(awake, {0, 1, 4, 1}, buffers, 1, 1e9),
               more = rate_of_first_drop(awake, {0, 1, 4, 1}, buffers, 1, 1e9, 0.1);
  EXPECT_GT(some, 0);
  EXPECT_GT(more, some);
  EXPECT_LT(more, 1.2 * some);
}

TEST(Simulate, ARingHoldsWhatFiresBetweenTwoLooks) {
  SimulatedBuffers buffers;
  buffers.ring = 1000 * 24;
  const SimulationResult result = simulate(counting(), {1.5e6, 1, 2, 1}, buffers, 2);
  const double handling = 1000 * 60e-9 / (1 - 1.5e6 * 60e-9);
  EXPECT_NEAR(result.handled, (1000 + 1.5e6 * handling) / (1.05e-3 + handling), 0.06 * result.handled);
  const double rate = rate_of_first_drop(counting(), {0, 1, 2, 1}, buffers, 1, 1e9);
  EXPECT_NEAR(rate, 1000 / 1.05e-3, 0.06 * rate);
}

TEST(Simulate, NothingIsLostUncounted) {
  FiringModel slow = counting();
  slow.dvm_ns = 3000;
  const SimulationResult result = simulate(slow, {1e6, 2, 4, 1}, {}, 5);
  EXPECT_GT(result.ring_drops, 0);
  EXPECT_GT(result.first_drop, 0);
  const double in_ring = (8 << 20) / 24.0 / 5;  // a second
  EXPECT_NEAR(result.fired, result.handled + result.ring_drops + in_ring, 0.01 * result.fired);
}

// Firings that dvm cannot keep up with fill the ring; a larger ring fills later.
TEST(Simulate, ALargerRingDropsLater) {
  FiringModel slow = counting();
  slow.dvm_ns = 3000;
  double before = 0;
  for (const double ring : {64e3, 1e6, 8e6}) {
    SimulatedBuffers buffers;
    buffers.ring = ring;
    const SimulationResult result = simulate(slow, {1e6, 1, 4, 1}, buffers, 5);
    EXPECT_GT(result.first_drop, before) << ring;
    before = result.first_drop;
  }
}

TEST(Simulate, DropsBeginWhereDvmIsFull) {
  FiringModel slow = counting();
  slow.dvm_ns = 3000, slow.poll_ns = slow.read_records_ns = slow.read_keys_ns = 0, slow.thread_ns = 10;
  SimulatedBuffers buffers;
  buffers.ring = 64e3;
  const double rate = rate_of_first_drop(slow, {0, 1, 4, 1}, buffers, 10, 1e8);
  EXPECT_NEAR(rate, 1e9 / 3000, 0.02 * 1e9 / 3000);
  EXPECT_LT(rate_of_first_drop(counting(), {0, 1, 2, 1}, {}, 1, 1e5), 0);
}

TEST(Simulate, MoreKeysCostMoreUntilAllHaveBeenSeen) {
  FiringModel keyed = counting();
  keyed.key_bytes = 43, keyed.key_ns = 100;
  double before = 0;
  for (const double keys : {1.0, 100.0, 10'000.0}) {
    const SimulationResult result = simulate(keyed, {1e5, 1, 2, keys}, {}, 3);
    EXPECT_GT(result.consumer_share, before) << keys;
    before = result.consumer_share;
  }
}

// A buffer that is half full is read between two firings: a small one costs more, and nothing is lost.
TEST(Simulate, SmallBuffersAreReadMoreOften) {
  FiringModel recorded = counting();
  recorded.record_bytes = 24, recorded.print_ns = 200;
  SimulatedBuffers small;
  small.principal = 1000;
  const SimulationResult large = simulate(recorded, {1e5, 1, 2, 1}, {}, 2), often = simulate(recorded, {1e5, 1, 2, 1}, small, 2);
  EXPECT_NEAR(often.reads, 2 * 1e5 / (500.0 / 24), 0.1 * often.reads);  // of both buffers
  EXPECT_GT(often.consumer_share, large.consumer_share + 1e5 / 21 * 2000e-9);
  EXPECT_EQ(often.ring_drops, 0);
  EXPECT_NEAR(often.handled, 1e5, 500);

  FiringModel keyed = counting();
  keyed.key_bytes = 43, keyed.key_ns = 100;
  small.aggregation = 4096;
  EXPECT_GT(simulate(keyed, {1e5, 1, 2, 10'000}, small, 1).reads, 1e5 / (2048.0 / 43) * 0.9);
}

FiringModel recording() {
  FiringModel model = counting();
  model.record_bytes = 24, model.print_ns = 200;
  return model;
}

SimulatedBuffers of_policy(BufferPolicy policy, double bytes) {
  SimulatedBuffers buffers;
  buffers.policy = policy, buffers.principal = bytes;
  return buffers;
}

// It is noticed at a poll; what fired meanwhile is handled, and its records are not kept.
TEST(Simulate, AFullBufferOfPolicyFillEndsTracing) {
  const SimulatedBuffers buffers = of_policy(BufferPolicy::fill, 24'100);
  const SimulationResult result = simulate(recording(), {1e4, 1, 2, 1}, buffers, 2);
  EXPECT_TRUE(result.is_filled);
  EXPECT_NEAR(result.full_after, 0.1004, 0.0002);
  EXPECT_GE(result.seconds, result.full_after);
  EXPECT_NEAR(result.fired, 1e4, 1);
  EXPECT_EQ(result.kept, 1004);
  EXPECT_GT(result.handled * result.seconds, 1004);
  EXPECT_EQ(result.ring_drops, 0);
  EXPECT_NEAR(result.report_seconds, (2000 + 1004 * 200) / 1e9, 1e-12);
  // Nothing is printed before.
  EXPECT_LT(result.consumer_share, simulate(recording(), {1e4, 1, 2, 1}, {}, 2).consumer_share);
}

TEST(Simulate, WhatEndMayRecordIsSetApart) {
  FiringModel model = recording();
  model.end_bytes = 24'096 - 480;
  EXPECT_EQ(simulate(model, {1e4, 1, 2, 1}, of_policy(BufferPolicy::fill, 24'100), 2).kept, 20);
  EXPECT_EQ(simulate(model, {1e4, 1, 2, 1}, of_policy(BufferPolicy::ring, 24'100), 2).kept, 1004);
}

// Of two threads on two CPUs each has its own; the fuller one ends it for both.
TEST(Simulate, TheFirstFullBufferEndsTracing) {
  const SimulatedBuffers buffers = of_policy(BufferPolicy::fill, 24'000);
  EXPECT_NEAR(simulate(recording(), {1e4, 2, 2, 1}, buffers, 2).full_after, 0.1, 0.0002);
  EXPECT_NEAR(simulate(recording(), {1e4, 2, 1, 1}, buffers, 2).full_after, 0.05, 0.0002);
  EXPECT_NEAR(simulate(recording(), {1e4, 3, 2, 1}, buffers, 2).full_after, 0.05, 0.0002);
}

TEST(Simulate, WhenABufferWillBeFullIsKnownBefore) {
  const SimulatedBuffers buffers = of_policy(BufferPolicy::fill, 24e6);
  const SimulationResult result = simulate(recording(), {1e4, 1, 2, 1}, buffers, 2);
  EXPECT_FALSE(result.is_filled);
  EXPECT_DOUBLE_EQ(result.seconds, 2);
  EXPECT_NEAR(result.full_after, 100, 100 * kPollSeconds / 2);
  EXPECT_NEAR(result.kept, 2e4, 1e4 * kPollSeconds);
  EXPECT_LT(simulate(counting(), {1e4, 1, 2, 1}, buffers, 2).full_after, 0);
}

TEST(Simulate, ARingKeepsTheNewestRecords) {
  const SimulatedBuffers buffers = of_policy(BufferPolicy::ring, 24'000);
  const SimulationResult result = simulate(recording(), {1e4, 2, 2, 1}, buffers, 2);
  EXPECT_FALSE(result.is_filled);
  EXPECT_DOUBLE_EQ(result.seconds, 2);
  EXPECT_NEAR(result.full_after, 0.1, 0.0002);
  EXPECT_EQ(result.kept, 2000);
  EXPECT_EQ(result.ring_drops, 0);
  EXPECT_NEAR(result.handled, 2e4, 2e4 * kPollSeconds);
  EXPECT_NEAR(simulate(recording(), {1e4, 2, 2, 1}, of_policy(BufferPolicy::switch_, 24'000), 2).kept, 0, 0);
}

// Nodes of 52 bytes in half of it.
constexpr double kTenVariables = 2 * 10 * 52;

FiringModel storing(const DynamicUse& use) {
  FiringModel model = counting();
  model.dynamic = {use};
  return model;
}

TEST(Simulate, MoreLiveKeysThanHaveRoomAreDropped) {
  const FiringModel model = storing({{}, false, true, 1});
  SimulatedBuffers buffers;
  buffers.dynamic = 1000 * kTenVariables;
  const SimulationResult few = simulate(model, {1e5, 1, 2, 10'000}, buffers, 2);
  EXPECT_EQ(few.most_live, 10'000);
  EXPECT_EQ(few.dynamic_drops, 0);
  EXPECT_LT(few.first_dynamic_drop, 0);
  const SimulationResult many = simulate(model, {1e5, 1, 2, 40'000}, buffers, 10);
  // A quarter of the keys has been seen after -ln(3 / 4) of their number.
  EXPECT_NEAR(many.first_dynamic_drop, 0.2877 * 40'000 / 1e5, kPollSeconds);
  EXPECT_NEAR(many.dynamic_drops, 0.75 * 1e5 * (10 - many.first_dynamic_drop) / 10, 100);
  EXPECT_LT(simulate(counting(), {1e5, 1, 2, 40'000}, buffers, 1).most_live, 0);
}

TEST(Simulate, ManyKeysOfAVariableTakeDvmLonger) {
  FiringModel model = storing({{}, false, true, 1});
  const auto share = [&](double keys, double room) {
    SimulatedBuffers buffers;
    buffers.dynamic = room * 2 * 52;
    return simulate(model, {1e5, 1, 2, keys}, buffers, 2).dvm_share;
  };
  const double without = share(10'000, 20'000);
  model.tables.tuples = {.most = kMostTuples, .many = 1000, .found = 1};
  EXPECT_NEAR(share(kSomeKeys, 20'000), without, 1e-4);
  EXPECT_NEAR(share(10'000, 20'000) - without, 0.1, 0.001);
  EXPECT_NEAR(share(10'000, kSomeKeys) - without, 0, 1e-4);  // of those that find room
  model.dynamic = {{{}, true, false, 1}};
  EXPECT_NEAR(share(10'000, 20'000), without, 1e-4);  // of a thread's variable there is one
}

TEST(Tables, WhatIsFarCountsBetweenWhatWasMeasured) {
  const TableUse table{.most = 32'000, .few = 4, .some = 6, .many = 40, .found = 1};
  EXPECT_EQ(table.among(0), 0);
  EXPECT_EQ(table.among(1), 0);
  EXPECT_EQ(table.among(kFewKeys), 4);
  EXPECT_DOUBLE_EQ(table.among(100), 5);
  EXPECT_EQ(table.among(kSomeKeys), 6);
  EXPECT_EQ(table.among(32'000), 40);
  EXPECT_GT(table.among(64'000), 40);
}

TEST(Tables, DifferentKeysAreNoMoreThanThereAreNorThanFirings) {
  EXPECT_NEAR(different(10, 1e6), 10, 1e-9);
  EXPECT_NEAR(different(1e9, 100), 100, 1e-3);
  EXPECT_NEAR(different(1000, 1000), 1000 * (1 - std::exp(-1)), 1e-6);
}

TEST(Simulate, DynamicVariablesOfThreadsAreAsManyAsThese) {
  SimulatedBuffers buffers;
  buffers.dynamic = kTenVariables;
  const FiringModel model = storing({{}, true, false, 0.5});
  EXPECT_EQ(simulate(model, {100, 10, 2, 1000}, buffers, 1).dynamic_drops, 0);
  const SimulationResult many = simulate(model, {100, 20, 2, 1000}, buffers, 10);
  EXPECT_EQ(many.most_live, 10);
  EXPECT_NEAR(many.dynamic_drops, 20 * 100 * 0.5 * 0.5, 20);
}

TEST(Simulate, EachKeyHasAllOfItsVariables) {
  const DynamicUse array{{16, 0}, false, true, 1}, own{{}, true, false, 1}, own_array{{16, 0}, true, true, 1};
  EXPECT_EQ(most_live(std::vector{array}, 10 * kTenVariables, 4), 100);
  EXPECT_EQ(most_live(std::vector{array, array}, 10 * kTenVariables, 4), 50);
  EXPECT_EQ(most_live(std::vector{own_array}, 10 * kTenVariables, 4), 25);
  EXPECT_EQ(most_live(std::vector{own, array}, 10 * kTenVariables, 4), 96);
  EXPECT_EQ(most_live(std::vector{own, own}, 10 * kTenVariables, 4), 50);
}

}  // namespace
}  // namespace dvm::runtime
