// Signals to a process that lives, to one that is gone, and those that must not be sent.

#include "runtime/process/target_signals.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace dvm::runtime {
namespace {

class Signals : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    child_ = fork();
    if (child_ == 0)
      for (;;) pause();
    if (GetParam()) signals_.learn(child_);
  }
  void TearDown() override {
    if (child_ <= 0) return;
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }

  pid_t child_ = 0;
  TargetSignals signals_;
};

TEST_P(Signals, StopAProcessThatCanBeContinued) {
  ASSERT_TRUE(signals_.send(child_, SIGSTOP));
  int status = 0;
  ASSERT_EQ(waitpid(child_, &status, WUNTRACED), child_);
  EXPECT_TRUE(WIFSTOPPED(status));
  ASSERT_TRUE(signals_.send(child_, SIGCONT));
  ASSERT_EQ(waitpid(child_, &status, WCONTINUED), child_);
  EXPECT_TRUE(WIFCONTINUED(status));
}

TEST_P(Signals, EndAProcessOnce) {
  ASSERT_TRUE(signals_.send(child_, SIGTERM));
  int status = 0;
  ASSERT_EQ(waitpid(child_, &status, 0), child_);
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
  EXPECT_FALSE(signals_.send(child_, SIGTERM));
  child_ = 0;
}

TEST_P(Signals, ThatDoNotExistAreNotSent) {
  for (const int64_t number : {int64_t{0}, int64_t{-1}, int64_t{65}, int64_t{1} << 32 | SIGKILL})
    EXPECT_FALSE(signals_.send(child_, number));
  EXPECT_EQ(waitpid(child_, nullptr, WNOHANG), 0);  // it lives
}

INSTANTIATE_TEST_SUITE_P(Learned, Signals, testing::Bool());

TEST(SignalsToOneself, AreNotSent) {
  TargetSignals signals;
  signals.learn(getpid());
  EXPECT_FALSE(signals.send(getpid(), SIGKILL));
  EXPECT_FALSE(signals.send(0, SIGKILL));   // would be the own process group
  EXPECT_FALSE(signals.send(-1, SIGKILL));  // would be everybody
}

}  // namespace
}  // namespace dvm::runtime
