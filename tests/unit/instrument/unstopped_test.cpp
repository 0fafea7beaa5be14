#include "runtime/agent/unstopped.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

namespace dvm::runtime {
namespace {

// A child that does something, and can write to the test.
class Child {
 public:
  template <class Job>
  explicit Child(const Job& job) {
    EXPECT_EQ(pipe2(ends_, O_CLOEXEC), 0);
    pid_ = fork();
    if (pid_ == 0) {
      close(ends_[0]);
      job([this](char c) { return write(ends_[1], &c, 1) == 1; });
      _exit(0);
    }
    close(ends_[1]);
  }
  ~Child() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    close(ends_[0]);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  char read_one() const {
    char c = 0;
    return read(ends_[0], &c, 1) == 1 ? c : '\0';
  }

 private:
  int ends_[2]{};
  pid_t pid_ = 0;
};

const auto kSleeps = [](const auto&) {
  for (;;) pause();
};

TEST(Unstopped, AStopTakesEffectBehindTheWork) {
  const Child target(kSleeps);
  const Child tracer([&](const auto& say) {
    work_unstopped(target.pid(), [&] { kill(tracer_pid(), SIGSTOP), say('w'); });
    say('b');
  });
  int status = 0;
  ASSERT_EQ(waitpid(tracer.pid(), &status, WUNTRACED), tracer.pid());
  EXPECT_TRUE(WIFSTOPPED(status));
  EXPECT_EQ(tracer.read_one(), 'w');
  kill(tracer.pid(), SIGCONT);
  EXPECT_EQ(tracer.read_one(), 'b');
}

TEST(Unstopped, EndsWithItsTracer) {
  const Child target(kSleeps);
  const Child tracer([&](const auto& say) { work_unstopped(target.pid(), [&] { say('w'), pause(); }); });
  EXPECT_EQ(tracer.read_one(), 'w');
  kill(tracer.pid(), SIGKILL);
  EXPECT_EQ(tracer.read_one(), '\0');  // nobody else can write
}

TEST(Unstopped, SharesMemoryAndFilesWithIt) {
  const Child target(kSleeps);
  int ends[2]{};
  const pid_t self = getpid();
  const Result<int> result = unstopped(target.pid(), [&]() -> Result<int> {
    EXPECT_NE(getpid(), self);
    EXPECT_EQ(tracer_pid(), self);
    return pipe2(ends, O_CLOEXEC);
  });
  ASSERT_TRUE(result);
  EXPECT_EQ(*result, 0);
  EXPECT_EQ(close(ends[0]) + close(ends[1]), 0);
}

TEST(Unstopped, TheTracerOfTheProcessDoesTheWorkItself) {
  const Child target(kSleeps);
  ASSERT_EQ(ptrace(PTRACE_SEIZE, target.pid(), 0, 0), 0);
  pid_t worker = 0;
  work_unstopped(target.pid(), [&] { worker = getpid(); });
  EXPECT_EQ(worker, getpid());
}

TEST(Unstopped, LeavesItsCallerAsItWas) {
  const Child target(kSleeps);
  sigset_t none, after;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
  for (int i = 0; i < 2; i++) {  // the second time as the first
    pid_t worker = 0, nested = 0, session = 0;
    work_unstopped(target.pid(), [&] {
      worker = getpid(), session = getsid(0);
      work_unstopped(target.pid(), [&] { nested = getpid(); });
    });
    if (worker == getpid()) GTEST_SKIP() << "only ancestors may trace here";
    EXPECT_EQ(nested, worker);
    EXPECT_EQ(session, worker);  // keys of a terminal do not reach it
  }
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (const int signal : {SIGINT, SIGTERM, SIGURG}) EXPECT_EQ(sigismember(&after, signal), 0);
}

TEST(Unstopped, WorkThatIsKilledHasFailed) {
  const Child target(kSleeps);
  const auto result = unstopped(target.pid(), []() -> Status {
    kill(getpid(), SIGKILL);
    return {};
  });
  EXPECT_FALSE(result);
}

}  // namespace
}  // namespace dvm::runtime
