// What makes mapped memory fault.

#include "runtime/agent/hidden_faults.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/agent/guard_regions.h"
#include "tests/unit/instrument/traced_child.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

class HiddenFaultsTest : public testing::Test {
 protected:
  HiddenFaultsTest()
      : child_({[] {
                  for (int i = 0; i < 700; i++) dup(1);
                },
                [] { syscall(SYS_userfaultfd, 1); }}),
        faults_(child_.pid()) {}  // UFFD_USER_MODE_ONLY

  // The number of calls until all files are seen, at one time; 0: they are too many.
  int look_at_all(uint64_t now) {
    for (int calls = 1; calls < 10; calls++)
      if (faults_.look(now)) return calls;
    return 0;
  }

  test::TracedChild child_;
  HiddenFaults faults_;
};

TEST_F(HiddenFaultsTest, AreNotFoundInAPlainProcess) {
  EXPECT_EQ(look_at_all(kSecond), 1);
  EXPECT_EQ(faults_.found().empty(), guards_shown() != GuardsShown::hidden);
  EXPECT_EQ(faults_.folder(), "/proc/" + std::to_string(child_.pid()));
}

TEST_F(HiddenFaultsTest, AreSoughtInPartsAmongManyFiles) {
  child_.call(0);
  EXPECT_GE(look_at_all(kSecond), 4);
  child_.call(1);
  for (int i = 0; i < 9; i++) EXPECT_TRUE(faults_.look(2 * kSecond - 1));
  EXPECT_EQ(faults_.found(), "");
  for (int i = 0; i < 9; i++) EXPECT_TRUE(faults_.look(2 * kSecond));
  EXPECT_NE(faults_.found().find("userfaultfd"), std::string::npos);
}

TEST_F(HiddenFaultsTest, OfAProcessThatIsGoneAreUnknown) {
  HiddenFaults gone(0);
  EXPECT_FALSE(gone.look(kSecond));
}

}  // namespace
}  // namespace dvm::runtime
