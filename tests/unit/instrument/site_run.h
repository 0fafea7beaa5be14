#pragma once
// Firings of a stub in this process: those that its own code takes leave what agent_enter leaves of the same firings, and keep
// all registers, the flags and the 128 bytes below the stack pointer.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <vector>

#include "placed_stub.h"
#include "runtime/agent/site_ability.h"

namespace dvm::runtime {

class SiteRun : public PlacedStubTest {
 protected:
  // The same firings by the code of the site, and by agent_enter alone: the lane must be locked there.
  void compare(
      const std::vector<AgentFirer>& firers, int count = 2000, const std::function<void(Registers&)>& change = [](Registers&) {},
      bool may_record = false) {
    Agent here(inside::kAlone), there(inside::kShared);
    here.place(firers), there.place(firers);
    for (int i = 0; i < count; i++) {
      Registers registers = some_registers(random_);
      registers.words[saved::rdi] %= 50;
      change(registers);
      here.fire(registers);
      there.fire(registers);
      if (random_() % 500 == 0)
        for (Agent* one : {&here, &there}) one->lane().tail = one->lane().head;
      if (random_() % 100 == 0)
        for (Agent* one : {&here, &there}) one->lane().arena ^= 1;
    }
    EXPECT_GT(site_code_bytes(firers, here.context()), 0);
    EXPECT_EQ(here.lane().turns % 2, 0);  // where a key cannot be read, the lane is taken twice
    EXPECT_TRUE(only_counts(firers) || here.lane().turns >= there.lane().turns);
    EXPECT_EQ(here.lane().head, there.lane().head);
    EXPECT_EQ(here.lane().nested, 0);
    EXPECT_TRUE(here.arena() == there.arena());
    EXPECT_EQ(counts_of(here), counts_of(there));
    EXPECT_TRUE(here.variables() == there.variables());
    EXPECT_EQ(here.lane().full, there.lane().full);
    EXPECT_EQ(here.ring(), there.ring());
    lost_ += here.lane().full;
    if (may_record) return;
    const std::vector<std::byte> arena = here.arena();
    const bool has_entries = std::any_of(arena.begin(), arena.end(), [](std::byte one) { return one != std::byte{0}; });
    EXPECT_TRUE(has_entries || counts_of(here) != std::vector<uint64_t>(2 * inside::kPlainCounts));
  }
  static std::vector<uint64_t> counts_of(Agent& agent) {
    const auto& counts = agent.lane().counts;
    return {&counts[0][0], &counts[0][0] + 2 * inside::kPlainCounts};
  }

  std::mt19937_64 random_{11};
  uint64_t lost_ = 0;  // of the records, since the ring was full
};

}  // namespace dvm::runtime
