// Semaphores of markers are raised and lowered exactly once.

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <vector>

#include "runtime/agent/inside/format.h"
#include "runtime/agent/semaphore_code.h"

namespace dvm::runtime {
namespace {

using inside::Semaphore;
using inside::SemaphoreState;

void run(SemaphoreChange change, std::vector<Semaphore>& all) {
  constexpr size_t kPage = 4096;
  void* page = mmap(nullptr, kPage, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  CodeWriter code(reinterpret_cast<uint64_t>(page));
  add_semaphore_loop(code, change, reinterpret_cast<uint64_t>(all.data()), reinterpret_cast<uint64_t>(all.data() + all.size()));
  code.add({0xc3});
  std::memcpy(page, code.bytes().data(), code.bytes().size());
  reinterpret_cast<void (*)()>(page)();
  munmap(page, kPage);
}

Semaphore of(const uint16_t& counter, SemaphoreState state) { return {reinterpret_cast<uint64_t>(&counter), 0, 0, state, 0}; }

TEST(SemaphoreCode, RaisesThoseThatAreOff) {
  uint16_t shared = 7, other = 3;
  std::vector<Semaphore> all = {of(shared, SemaphoreState::off), of(shared, SemaphoreState::off),
                                of(other, SemaphoreState::raised), of(other, SemaphoreState::raising)};
  run(SemaphoreChange::raise, all);
  EXPECT_EQ(shared, 9);
  EXPECT_EQ(other, 3);
  EXPECT_EQ(all[0].state, SemaphoreState::raised);
  run(SemaphoreChange::raise, all);
  EXPECT_EQ(shared, 9);
}

TEST(SemaphoreCode, LowersThoseThatAreWanted) {
  uint16_t one = 2, other = 5;
  std::vector<Semaphore> all = {of(one, SemaphoreState::wanted), of(other, SemaphoreState::raised),
                                of(other, SemaphoreState::lowering)};
  run(SemaphoreChange::lower, all);
  run(SemaphoreChange::lower, all);
  EXPECT_EQ(one, 1);
  EXPECT_EQ(other, 5);
  EXPECT_EQ(all[0].state, SemaphoreState::off);
  EXPECT_EQ(all[1].state, SemaphoreState::raised);
}

TEST(SemaphoreCode, LeavesThoseAtTheirLimits) {
  uint16_t most = kMostRaised, least = 0;
  std::vector<Semaphore> all = {of(most, SemaphoreState::off), of(least, SemaphoreState::wanted)};
  run(SemaphoreChange::raise, all);
  run(SemaphoreChange::lower, all);
  EXPECT_EQ(most, kMostRaised);
  EXPECT_EQ(least, 0);
  EXPECT_EQ(all[0].state, SemaphoreState::off);
  EXPECT_EQ(all[1].state, SemaphoreState::off);
}

}  // namespace
}  // namespace dvm::runtime
