// Seizes threads of a process that executes a program.

#include "runtime/process/seize.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <thread>

#include "runtime/process/thread_status.h"

namespace dvm::runtime {
namespace {

// Executes sleep(1) when it is told to, while its second thread waits.
class Executing : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(pipe(tell_), 0);
    pid_ = fork();
    ASSERT_GE(pid_, 0);
    if (pid_ == 0) run();
    ASSERT_TRUE(eventually([this] { return threads_of(pid_).size() == 2; }));
    for (const pid_t tid : threads_of(pid_))
      if (tid != pid_) second_ = tid;
  }
  void TearDown() override {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(second_, nullptr, __WALL);  // if it is traced; the first one is not gone before
    waitpid(pid_, nullptr, 0);
    for (const int end : tell_) close(end);
  }
  template <class Condition>
  static bool eventually(Condition holds) {
    for (int i = 0; i < 10'000 && !holds(); i++) usleep(1000);
    return holds();
  }
  [[noreturn]] void run() const {
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    std::thread([] { pause(); }).detach();
    char byte = 0;
    if (read(tell_[0], &byte, 1) == 1) execlp("sleep", "sleep", "100", nullptr);
    _exit(1);
  }
  // Until it waits for the end of the second thread, which is traced.
  void begin_exec() const {
    ASSERT_EQ(write(tell_[1], "x", 1), 1);
    EXPECT_TRUE(eventually([this] { return status_field(pid_, second_, "State:").starts_with('Z'); }));
  }
  bool has_executed() const {
    return std::filesystem::read_symlink("/proc/" + std::to_string(pid_) + "/exe").filename() != own_name();
  }
  static std::filesystem::path own_name() { return std::filesystem::read_symlink("/proc/self/exe").filename(); }

  int tell_[2] = {};
  pid_t pid_ = 0, second_ = 0;
};

TEST_F(Executing, SucceedsOnceDeadThreadsAreWaitedFor) {
  ASSERT_TRUE(seize_thread(second_, 0));
  begin_exec();
  EXPECT_FALSE(has_executed());
  EXPECT_TRUE(seize_thread(pid_, 0));
  EXPECT_TRUE(has_executed());
}

TEST_F(Executing, EndsIfAnotherTracerDoesNotWait) {
  const pid_t tracer = fork();
  if (tracer == 0) {
    ptrace(PTRACE_SEIZE, second_, 0, 0);
    for (;;) pause();
  }
  EXPECT_TRUE(eventually([this, tracer] { return status_field(second_, "TracerPid:") == std::to_string(tracer); }));
  begin_exec();
  EXPECT_FALSE(seize_thread(pid_, 0));
  EXPECT_EQ(errno, EINTR);
  EXPECT_EQ(seize_problem(pid_, EINTR), "it is executing another program");
  kill(tracer, SIGKILL);
  waitpid(tracer, nullptr, 0);
  EXPECT_TRUE(seize_thread(pid_, 0));
  EXPECT_TRUE(has_executed());
}

TEST_F(Executing, OfOneThatIsGoneFails) {
  kill(pid_, SIGKILL);
  ASSERT_TRUE(eventually([this] { return status_field(pid_, second_, "State:").empty(); }));
  EXPECT_FALSE(seize_thread(second_, 0));
  EXPECT_EQ(errno, ESRCH);
}

TEST_F(Executing, LeavesTheSignalAsItWas) {
  ASSERT_TRUE(seize_thread(second_, 0));
  struct sigaction after {};
  ASSERT_EQ(sigaction(SIGRTMAX - 1, nullptr, &after), 0);
  EXPECT_EQ(after.sa_handler, SIG_DFL);
}

TEST_F(Executing, LeavesTheMaskAsItWas) {
  sigset_t before, after;
  sigemptyset(&before);
  sigaddset(&before, SIGRTMAX - 1);
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &before, nullptr), 0);
  ASSERT_TRUE(seize_thread(second_, 0));
  pthread_sigmask(SIG_UNBLOCK, &before, &after);
  EXPECT_EQ(sigismember(&after, SIGRTMAX - 1), 1);
}

TEST_F(Executing, SucceedsWithTheSignalBlocked) {
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, SIGRTMAX - 1);
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &only, nullptr), 0);
  ASSERT_TRUE(seize_thread(second_, 0));
  begin_exec();
  EXPECT_TRUE(seize_thread(pid_, 0));
  pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
}

TEST_F(Executing, TakesOptions) {
  ASSERT_TRUE(seize_thread(pid_, PTRACE_O_TRACEEXEC));
  ASSERT_EQ(write(tell_[1], "x", 1), 1);
  int status = 0;
  EXPECT_TRUE(eventually([&] { return waitpid(pid_, &status, WNOHANG) == pid_ || status != 0; }));
  EXPECT_EQ(status >> 8, SIGTRAP | PTRACE_EVENT_EXEC << 8);
}

// It could wait for ever.
TEST_F(Executing, IsRefusedWithoutATimer) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_SIGPENDING, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_SIGPENDING, &none), 0);
  EXPECT_FALSE(seize_thread(second_, 0));
  EXPECT_EQ(errno, EAGAIN);
  EXPECT_NE(seize_problem(second_, EAGAIN).find("too many pending signals"), std::string::npos);
  setrlimit(RLIMIT_SIGPENDING, &before);
  EXPECT_TRUE(seize_thread(second_, 0));
}

}  // namespace
}  // namespace dvm::runtime
