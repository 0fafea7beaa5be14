// The simulated machine: what it must do whatever the prices are.

#include "runtime/cost/simulate.h"

#include <gtest/gtest.h>

namespace dvm::runtime {
namespace {

// As it is about here: 600 ns in the thread, 60 in dvm.
FiringModel counting() {
  FiringModel model;
  model.thread_ns = 600, model.dvm_ns = 60, model.ring_bytes = 24;
  model.read_ns = 5000, model.look_ns = 5000;
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
    EXPECT_EQ(result.drops(), 0) << rate;
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
    EXPECT_LE(result.share(), 4.001) << threads;
    EXPECT_GT(result.thread_share, std::min(threads, 3u) * 0.9) << threads;
  }
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

// What dvm cannot keep up with fills the ring; a larger one only later.
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
  slow.dvm_ns = 3000, slow.look_ns = slow.read_ns = 0, slow.thread_ns = 10;
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
    EXPECT_EQ(result.key_drops, 0);
    before = result.consumer_share;
  }
  SimulatedBuffers small;
  small.aggregation = 1000;
  EXPECT_GT(simulate(keyed, {1e6, 1, 2, 10'000}, small, 1).key_drops, 0);
}

TEST(Simulate, RecordsThatFindNoRoomAreDrops) {
  FiringModel recorded = counting();
  recorded.record_bytes = 24, recorded.print_ns = 200;
  EXPECT_EQ(simulate(recorded, {1e5, 1, 2, 1}, {}, 2).record_drops, 0);
  SimulatedBuffers small;
  small.principal = 1000;
  EXPECT_GT(simulate(recorded, {1e5, 1, 2, 1}, small, 2).record_drops, 0);
}

}  // namespace
}  // namespace dvm::runtime
