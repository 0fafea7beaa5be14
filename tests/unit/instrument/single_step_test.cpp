#include "runtime/process/single_step.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string_view>

#include "runtime/agent/stopped_process.h"
#include "runtime/process/thread_status.h"

namespace dvm::runtime {
namespace {

constexpr int kExits = 3;

// Waits in read(2), and exits.
class Reader {
 public:
  Reader() {
    if (pipe(ends_) != 0) return;
    pid_ = fork();
    if (pid_ == 0) {
      char byte = 0;
      _exit(read(ends_[0], &byte, 1) == 1 ? kExits : 1);
    }
    await("S");
  }

  ~Reader() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    close(ends_[0]), close(ends_[1]);
  }

  pid_t pid() const { return pid_; }

  void await(std::string_view state) const {
    for (int i = 0; i < 10'000 && !status_field(pid_, "State:").starts_with(state); i++) usleep(1000);
  }

  // Its next stop, as waitpid() tells it without the lowest byte.
  int interrupt() const {
    ptrace(PTRACE_INTERRUPT, pid_, 0, 0);
    return next();
  }

  int next() const {
    int status = 0;
    return waitpid(pid_, &status, 0) == pid_ ? status >> 8 : -1;
  }

  // Executes the call that it was stopped in, again.
  void step() const {
    ptrace(PTRACE_SEIZE, pid_, 0, 0);
    interrupt();
    ptrace(PTRACE_SINGLESTEP, pid_, 0, 0);
    await("S");
  }

  // Until nobody traces it.
  void await_release() const {
    for (int i = 0; i < 10'000 && status_field(pid_, "TracerPid:") != "0"; i++) release_stragglers(), usleep(1000);
  }

  void give() const { EXPECT_EQ(write(ends_[1], "x", 1), 1); }

  // It is not traced any more, and exits as it should.
  bool ends_well() const {
    int status = 0;
    await_release();
    if (status_field(pid_, "TracerPid:") != "0") return false;
    return waitpid(pid_, &status, 0) == pid_ && WIFEXITED(status) && WEXITSTATUS(status) == kExits;
  }

 private:
  int ends_[2] = {-1, -1};
  pid_t pid_ = -1;
};

TEST(SingleStep, OfACallThatWaitsIsToldAfterARequestedStop) {
  const Reader reader;
  reader.step();
  ASSERT_EQ(reader.interrupt(), PTRACE_EVENT_STOP << 8 | SIGTRAP);
  ASSERT_EQ(single_step_at(reader.pid(), 0), SingleStep::queued);
  ptrace(PTRACE_CONT, reader.pid(), 0, 0);
  ASSERT_EQ(reader.next(), SIGTRAP);
  EXPECT_EQ(single_step_at(reader.pid(), SIGTRAP), SingleStep::done);
  ptrace(PTRACE_DETACH, reader.pid(), 0, 0);
  reader.give();
  EXPECT_TRUE(reader.ends_well());
}

TEST(SingleStep, IsNotWhatTheProgramSends) {
  const Reader reader;
  ptrace(PTRACE_SEIZE, reader.pid(), 0, 0);
  kill(reader.pid(), SIGTRAP);
  ASSERT_EQ(reader.next(), SIGTRAP);
  EXPECT_EQ(single_step_at(reader.pid(), SIGTRAP), SingleStep::cut);
}

TEST(SingleStep, OfAStragglerKillsNoProcess) {
  const Reader reader;
  reader.step();
  ptrace(PTRACE_INTERRUPT, reader.pid(), 0, 0);
  release_later(reader.pid(), Straggler::steps);
  reader.await_release();
  reader.give();
  EXPECT_TRUE(reader.ends_well());
}

TEST(SingleStep, OfAStragglerWhoseStopSomebodyElseSeesKillsNoProcess) {
  const Reader reader;
  reader.step();
  release_later(reader.pid(), Straggler::steps);
  release_at(reader.pid(), reader.interrupt() << 8 | 0x7f);
  reader.await_release();
  reader.give();
  EXPECT_TRUE(reader.ends_well());
}

TEST(Stragglers, AreReleasedAtTheEndOfASystemCall) {
  const Reader reader;
  ptrace(PTRACE_SEIZE, reader.pid(), 0, PTRACE_O_TRACESYSGOOD);
  reader.interrupt();
  ptrace(PTRACE_SYSCALL, reader.pid(), 0, 0);
  ASSERT_EQ(reader.next(), SIGTRAP | 0x80);
  ptrace(PTRACE_SYSCALL, reader.pid(), 0, 0);
  release_later(reader.pid(), Straggler::has_breakpoints);
  reader.give();
  EXPECT_TRUE(reader.ends_well());
}

}  // namespace
}  // namespace dvm::runtime
