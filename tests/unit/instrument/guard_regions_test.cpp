// Guard regions, which a kernel may have, and may show.

#include "runtime/agent/guard_regions.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <string>
#include <utility>

#include "tests/unit/instrument/traced_child.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kPageOfGuards = 4096, kPages = 2048;
constexpr int kInstall = 102;  // MADV_GUARD_INSTALL

// A child with guard regions at pages 0, 3, 4, 1500 and the last.
class GuardRegions : public testing::Test {
 protected:
  GuardRegions()
      : child_({[this] {
          auto* const at = static_cast<char*>(memory_);
          for (const uint64_t page : {uint64_t{0}, uint64_t{3}, uint64_t{4}, uint64_t{1500}, kPages - 1})
            madvise(at + page * kPageOfGuards, kPageOfGuards, kInstall);
          at[kPageOfGuards] = at[1501 * kPageOfGuards] = 1;
        }}) {
    child_.call(0);
  }
  ~GuardRegions() override { munmap(memory_, kPages * kPageOfGuards); }

  std::vector<std::pair<uint64_t, uint64_t>> left(GuardsShown shown, uint64_t first, uint64_t last) {
    std::vector<AddressRange> ranges{{begin_ + first * kPageOfGuards, begin_ + last * kPageOfGuards}};
    EXPECT_TRUE(leave_out_guards("/proc/" + std::to_string(child_.pid()), shown, ranges));
    std::vector<std::pair<uint64_t, uint64_t>> pages;
    for (const AddressRange& one : ranges)
      pages.emplace_back((one.begin - begin_) / kPageOfGuards, (one.end - begin_) / kPageOfGuards);
    return pages;
  }
  void expect_found(GuardsShown shown) {
    using Pages = std::vector<std::pair<uint64_t, uint64_t>>;
    EXPECT_EQ(left(shown, 0, kPages), (Pages{{1, 3}, {5, 1500}, {1501, kPages - 1}}));
    EXPECT_EQ(left(shown, 3, 5), Pages{});
    EXPECT_EQ(left(shown, 4, 6), (Pages{{5, 6}}));
  }

  void* memory_ = mmap(nullptr, kPages* kPageOfGuards, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  uint64_t begin_ = reinterpret_cast<uint64_t>(memory_);
  test::TracedChild child_;
};

TEST_F(GuardRegions, AreFoundAsTheKernelShowsThem) {
  switch (guards_shown()) {
    case GuardsShown::none:
      EXPECT_EQ(left(GuardsShown::none, 0, kPages).size(), 1);
      break;
    case GuardsShown::hidden:
      break;
    case GuardsShown::scan:
      expect_found(GuardsShown::scan);
      [[fallthrough]];
    case GuardsShown::pagemap:
      expect_found(GuardsShown::pagemap);
  }
}

TEST_F(GuardRegions, ThatAreHiddenLeaveNothing) {
  std::vector<AddressRange> ranges{{begin_, begin_ + kPageOfGuards}};
  EXPECT_FALSE(leave_out_guards("/proc/self", GuardsShown::hidden, ranges));
  EXPECT_FALSE(leave_out_guards("/proc/0", GuardsShown::pagemap, ranges));
  EXPECT_FALSE(leave_out_guards("/proc/0", GuardsShown::scan, ranges));
}

}  // namespace
}  // namespace dvm::runtime
