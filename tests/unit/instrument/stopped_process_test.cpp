// Processes that are stopped, looked at, and led through code go on as if nothing had been.

#include "runtime/agent/stopped_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/file_descriptor.h"
#include "runtime/agent/remote_calls.h"
#include "runtime/agent/remote_room.h"
#include "runtime/agent/suspects.h"
#include "runtime/process/interrupted_call.h"
#include "runtime/process/thread_status.h"
#include "tests/unit/instrument/threaded_child.h"

namespace dvm::runtime {
namespace {

using test::ThreadedChild;

constexpr size_t kThreads = 4;

bool is_in_call(const HeldThread& thread) { return static_cast<int64_t>(thread.registers.orig_rax) >= 0; }
const HeldThread& running_thread(const StoppedProcess& process) {
  return *std::find_if_not(process.threads().begin(), process.threads().end(), is_in_call);
}

// Threads in epoll_wait().
std::vector<pid_t> waiting(pid_t pid) {
  std::vector<pid_t> found;
  std::error_code error;
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task", error)) {
    std::string call;
    if (std::ifstream(task.path() / "syscall") >> call && call == "232") found.push_back(std::stoi(task.path().filename()));
  }
  return found;
}

TEST(StoppedProcess, AllThreadsStandStillUntilItsEnd) {
  ThreadedChild child;
  {
    auto stopped = StoppedProcess::stop(child.pid());
    ASSERT_TRUE(stopped) << stopped.error().message;
    EXPECT_EQ(stopped->threads().size(), kThreads);
    const uint64_t turns = child.shared().turns;
    usleep(20'000);
    EXPECT_EQ(child.shared().turns, turns);
  }
  EXPECT_TRUE(child.runs_on());
}

TEST(StoppedProcess, CallsThatWaitAreNotInterrupted) {
  ThreadedChild child;
  for (int i = 0; i < 30; i++) {
    ASSERT_TRUE(StoppedProcess::stop(child.pid()));
    usleep(1000);
  }
  EXPECT_EQ(child.shared().interrupted, 0);
  EXPECT_TRUE(child.runs_on());
}

// The last thread of which another process traces, so that the others are asked to stop in vain.
TEST(StoppedProcess, CallsOfOneThatIsRefusedAreNotInterruptedEither) {
  ThreadedChild child;
  pid_t last = 0;
  if (const auto stopped = StoppedProcess::stop(child.pid())) last = stopped->threads().back().tid;
  const pid_t tracer = fork();
  if (tracer == 0) {
    ptrace(PTRACE_SEIZE, last, 0, 0);
    for (;;) pause();
  }
  for (int i = 0; i < 10'000 && status_field(last, "TracerPid:") == "0"; i++) usleep(1000);
  for (int i = 0; i < 30; i++) {
    ASSERT_FALSE(StoppedProcess::stop(child.pid()));
    for (int wait = 0; wait < 5; wait++) release_stragglers(), usleep(500);
  }
  EXPECT_EQ(child.shared().interrupted, 0);
  EXPECT_TRUE(child.runs_on());
  kill(tracer, SIGKILL);
  waitpid(tracer, nullptr, 0);
}

TEST(StoppedProcess, CallsOfStragglersAreNotInterrupted) {
  ThreadedChild child;
  for (int i = 0; i < 10'000 && waiting(child.pid()).size() != 2; i++) usleep(1000);
  for (const pid_t task : waiting(child.pid()))
    for (int i = 0; i < 5; i++) {
      ASSERT_EQ(ptrace(PTRACE_SEIZE, task, 0, 0), 0);
      ptrace(PTRACE_INTERRUPT, task, 0, 0);
      release_later(task);
      for (int wait = 0; wait < 10'000 && status_field(task, "TracerPid:") != "0"; wait++) release_stragglers(), usleep(1000);
      ASSERT_EQ(status_field(task, "TracerPid:"), "0");
    }
  EXPECT_EQ(child.shared().interrupted, 0);
}

volatile sig_atomic_t g_is_told = 0;

// A process that waits in a system call until a signal handler has run. Its calls are not restarted after handlers.
class WaitsForSignal {
 public:
  explicit WaitsForSignal(void (*way)()) : pid_(fork()) {
    if (pid_ == 0) {
      struct sigaction action {};
      action.sa_handler = [](int) { g_is_told = 1; };
      sigaction(SIGUSR1, &action, nullptr);
      while (g_is_told == 0) way();
      _exit(0);
    }
    for (int i = 0; i < 10'000 && !is_waiting(); i++) usleep(1000);
  }
  ~WaitsForSignal() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  WaitsForSignal(const WaitsForSignal&) = delete;
  WaitsForSignal& operator=(const WaitsForSignal&) = delete;

  pid_t pid() const { return pid_; }
  bool ends() const {  // within some seconds
    siginfo_t info{};
    for (int i = 0; i < 5000 && info.si_pid == 0; i++) {
      waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
      usleep(1000);
    }
    return info.si_pid == pid_;
  }

 private:
  bool is_waiting() const {
    std::string call;
    std::ifstream("/proc/" + std::to_string(pid_) + "/syscall") >> call;
    return call == "232" || call == "34" || call == "130";
  }

  pid_t pid_;
};

void wait_for_event() {
  static const int poll = epoll_create1(0);
  epoll_event event{};
  epoll_wait(poll, &event, 1, -1);
}
void wait_for_any_signal() { pause(); }
void wait_with_mask() {
  sigset_t blocked, none;
  sigemptyset(&none), sigemptyset(&blocked), sigaddset(&blocked, SIGUSR1);
  sigprocmask(SIG_BLOCK, &blocked, nullptr);
  sigsuspend(&none);
}
constexpr void (*kWaysToWait[])() = {wait_for_event, wait_for_any_signal, wait_with_mask};

TEST(StoppedProcess, ASignalThatComesMeanwhileEndsTheCall) {
  for (const auto way : kWaysToWait) {
    const WaitsForSignal child(way);
    {
      const auto stopped = StoppedProcess::stop(child.pid());
      ASSERT_TRUE(stopped) << stopped.error().message;
      kill(child.pid(), SIGUSR1);
    }
    EXPECT_TRUE(child.ends());
  }
}

TEST(InterruptedCall, IsMadeAgainAlsoIfAnIgnoredSignalWaits) {
  ThreadedChild child;
  while (waiting(child.pid()).empty()) usleep(1000);
  const pid_t tid = waiting(child.pid()).front();
  ASSERT_EQ(ptrace(PTRACE_SEIZE, tid, 0, 0), 0);
  ptrace(PTRACE_INTERRUPT, tid, 0, 0);
  ASSERT_EQ(waitpid(tid, nullptr, __WALL), tid);
  tgkill(child.pid(), tid, SIGWINCH);
  make_call_again(tid);
  ptrace(PTRACE_DETACH, tid, 0, 0);
  const auto waits = [&] {
    const bool is_taken = std::stoull(status_field(tid, "SigPnd:"), nullptr, 16) == 0;
    return is_taken && status_field(tid, "State:").starts_with('S');
  };
  while (!waits()) usleep(1000);
  EXPECT_EQ(child.shared().interrupted, 0);
}

TEST(StoppedProcess, LetsAllGoButOneThatWaits) {
  ThreadedChild child;
  auto stopped = StoppedProcess::stop(child.pid());
  ASSERT_TRUE(stopped);
  stopped->let_go_but_one();
  ASSERT_EQ(stopped->threads().size(), 1);
  EXPECT_TRUE(is_in_call(stopped->threads().front()));
  EXPECT_TRUE(child.runs_on());
}

TEST(StoppedProcess, OneThatASignalHasStoppedIsRefusedAndStaysSo) {
  ThreadedChild child;
  kill(child.pid(), SIGSTOP);
  ASSERT_EQ(waitpid(child.pid(), nullptr, WUNTRACED), child.pid());
  const auto stopped = StoppedProcess::stop(child.pid());
  ASSERT_FALSE(stopped);
  EXPECT_NE(stopped.error().message.find("continue it first"), std::string::npos) << stopped.error().message;
  for (int i = 0; i < 100; i++) release_stragglers(), usleep(1000);
  const uint64_t turns = child.shared().turns;
  usleep(20'000);
  EXPECT_EQ(child.shared().turns, turns);
  kill(child.pid(), SIGCONT);
  EXPECT_TRUE(child.runs_on());
}

// Its calls end as they do without dvm: once each, by SIGCONT.
TEST(StoppedProcess, JoinsTheStopOfASignalWhichGoesOn) {
  ThreadedChild child;
  for (int i = 0; i < 10'000 && waiting(child.pid()).size() != 2; i++) usleep(1000);
  kill(child.pid(), SIGSTOP);
  ASSERT_EQ(waitpid(child.pid(), nullptr, WUNTRACED), child.pid());
  const uint64_t turns = child.shared().turns;
  for (int i = 0; i < 10; i++) {
    const auto joined = StoppedProcess::stop_or_join(child.pid());
    ASSERT_TRUE(joined) << joined.error().message;
    EXPECT_EQ(joined->threads().size(), kThreads);
    EXPECT_NE(joined->threads().front().registers.rip, 0);
  }
  usleep(20'000);
  EXPECT_EQ(child.shared().turns, turns);
  EXPECT_EQ(status_field(child.pid(), "State:"), "T (stopped)");
  kill(child.pid(), SIGCONT);
  EXPECT_TRUE(child.runs_on());
  for (int i = 0; i < 1000 && child.shared().interrupted < 2; i++) usleep(1000);
  EXPECT_EQ(child.shared().interrupted, 2);
}

TEST(StoppedProcess, OneThatWaitsForAChildOfVforkIsRefusedAndGoesOn) {
  const pid_t child = fork();
  if (child == 0) {
    constexpr unsigned kWaits = 1'500'000;
    if (vfork() == 0) usleep(kWaits), _exit(0);
    _exit(7);
  }
  usleep(200'000);
  const auto stopped = StoppedProcess::stop(child);
  ASSERT_FALSE(stopped);
  EXPECT_NE(stopped.error().message.find("does not stop"), std::string::npos) << stopped.error().message;
  for (int i = 0; i < 10'000 && kill(child, 0) == 0; i++) {
    release_stragglers();
    waitpid(child, nullptr, WNOHANG);
    usleep(1000);
  }
  EXPECT_NE(kill(child, 0), 0);
}

TEST(StoppedProcess, OneThatHasEndedIsRefused) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  siginfo_t info{};
  waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  EXPECT_FALSE(StoppedProcess::stop(child));  // a zombie
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(StoppedProcess::stop(child));
}

TEST(Resumed, MakesACallAgainThatTheKernelWouldMakeAgain) {
  user_regs_struct registers{};
  registers.orig_rax = 35, registers.rip = 100;
  for (const int error : {512, 513, 514}) {
    registers.rax = static_cast<uint64_t>(-int64_t{error});
    const user_regs_struct resumed = dvm::runtime::resumed(registers);
    EXPECT_EQ(resumed.rax, 35);
    EXPECT_EQ(resumed.rip, 98);
    EXPECT_EQ(resumed.orig_rax, UINT64_MAX);
  }
  registers.rax = static_cast<uint64_t>(-int64_t{516});
  EXPECT_EQ(dvm::runtime::resumed(registers).rax, 219);  // restart_syscall
  registers.rax = 5;
  EXPECT_EQ(dvm::runtime::resumed(registers).rip, 100);
}

TEST(Suspects, AreWordsBehindTheBeginningOfAWindow) {
  ThreadedChild child;
  const auto memory = AgentMemory::open(child.pid());
  const auto stopped = StoppedProcess::stop(child.pid());
  ASSERT_TRUE(memory && stopped);
  const auto may_return = [&](uint64_t begin, uint64_t end) {
    return Suspects(*stopped, *memory, {{begin, end}}).may_return_into({begin, end});
  };
  EXPECT_TRUE(may_return(test::kOnStack - 2, test::kOnStack + 3));
  EXPECT_FALSE(may_return(test::kOnStack, test::kOnStack + 5));
  EXPECT_FALSE(may_return(test::kOnStack - 5, test::kOnStack));
}

TEST(Suspects, AreThreadsBehindTheBeginningOfAWindow) {
  ThreadedChild child;
  const auto memory = AgentMemory::open(child.pid());
  auto stopped = StoppedProcess::stop(child.pid());
  ASSERT_TRUE(memory && stopped);
  const uint64_t at = running_thread(*stopped).registers.rip;
  const AddressRange hit{at - 2, at + 3}, begun{at, at + 5};
  const Suspects suspects(*stopped, *memory, {hit});
  EXPECT_TRUE(suspects.stands_in(hit));
  EXPECT_FALSE(suspects.stands_in(begun));
  EXPECT_FALSE(suspects.stands_in({at - 5, at}));
  const std::vector<MovedInstruction> at_it = {{0, 10}, {2, 12}}, not_at_it = {{0, 10}, {1, 11}};
  EXPECT_TRUE(can_move_threads(*stopped, hit, at_it));
  EXPECT_FALSE(can_move_threads(*stopped, hit, not_at_it));
  EXPECT_TRUE(can_move_threads(*stopped, begun, {}));
  EXPECT_FALSE(move_threads(*stopped, hit, not_at_it, 0));
  EXPECT_TRUE(move_threads(*stopped, hit, at_it, at - 12));  // to where they are
  EXPECT_EQ(running_thread(*stopped).registers.rip, at);
}

bool has_file(pid_t pid, const std::string& name) {
  std::error_code error;
  const std::filesystem::directory_iterator files("/proc/" + std::to_string(pid) + "/fd", error);
  return std::any_of(begin(files), end(files), [&](const auto& file) {
    std::error_code unread;
    return std::filesystem::read_symlink(file.path(), unread).string().starts_with(name);
  });
}

TEST(RemoteCalls, AreMadeAndLeaveTheThreadAsItWas) {
  constexpr uint64_t kMemfdCreate = 319, kClose = 3;
  const std::string name = "/memfd:" + std::string(kRemoteTextBegins) + std::to_string(getpid());
  ThreadedChild child;
  const auto memory = AgentMemory::open(child.pid());
  auto stopped = StoppedProcess::stop(child.pid());
  ASSERT_TRUE(memory && stopped);
  const user_regs_struct before = stopped->threads().front().registers;
  const std::string mask = status_field(child.pid(), stopped->threads().front().tid, "SigBlk:");
  const std::vector<RemoteCall> calls = {
      {kMemfdCreate, {kRemoteText, 1, 0, 0, 0, 0}, true}, kRemoteWait, {kClose, {kFirstResult, 0, 0, 0, 0, 0}}};
  bool was_there = false;
  const Status made = make_remote_calls(*stopped, *memory, calls, [&] { return was_there |= has_file(child.pid(), name); });
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_TRUE(was_there);
  EXPECT_FALSE(has_file(child.pid(), name));
  const user_regs_struct after = stopped->threads().front().registers;
  EXPECT_EQ(after.rip, before.rip);
  EXPECT_EQ(after.rax, before.rax);
  EXPECT_EQ(after.orig_rax, before.orig_rax);
  EXPECT_EQ(after.rbx, before.rbx);
  EXPECT_EQ(after.rsp, before.rsp);
  EXPECT_EQ(status_field(child.pid(), stopped->threads().front().tid, "SigBlk:"), mask);
}

TEST(RemoteCalls, AreMadeByOneThreadWhileTheOthersRun) {
  constexpr uint64_t kGetPid = 39;
  ThreadedChild child;
  const auto memory = AgentMemory::open(child.pid());
  for (int i = 0; i < 10; i++) {
    auto stopped = StoppedProcess::stop(child.pid());
    ASSERT_TRUE(memory && stopped);
    stopped->let_go_but_one();
    const Status made = make_remote_calls(*stopped, *memory, std::vector<RemoteCall>{{kGetPid, {}}}, [] { return true; });
    ASSERT_TRUE(made) << made.error().message;
  }
  EXPECT_TRUE(child.runs_on());
  EXPECT_EQ(child.shared().interrupted, 0);
}

TEST(RemoteCalls, ASignalThatComesMeanwhileEndsTheCallOfTheThread) {
  constexpr uint64_t kGetPid = 39;
  for (const auto way : kWaysToWait) {
    const WaitsForSignal child(way);
    const auto memory = AgentMemory::open(child.pid());
    {
      auto stopped = StoppedProcess::stop(child.pid());
      ASSERT_TRUE(memory && stopped);
      const Status made = make_remote_calls(*stopped, *memory, std::vector<RemoteCall>{{kGetPid, {}}}, [] { return true; });
      ASSERT_TRUE(made) << made.error().message;
      kill(child.pid(), SIGUSR1);
    }
    EXPECT_TRUE(child.ends());
  }
}

// One thread waits while dvm stops the others again, and makes the rest of the calls, or none of them.
TEST(RemoteCalls, GoOnOnceAllOthersStandStill) {
  constexpr uint64_t kMemfdCreate = 319;
  ThreadedChild child;
  const auto memory = AgentMemory::open(child.pid());
  for (const bool goes_on : {false, true}) {
    auto stopped = StoppedProcess::stop(child.pid());
    ASSERT_TRUE(memory && stopped);
    stopped->let_go_but_one();
    const std::vector<RemoteCall> calls = {kRemoteWait, {kMemfdCreate, {kRemoteText, 1, 0, 0, 0, 0}}};
    const Status made = make_remote_calls(*stopped, *memory, calls, [&] { return stopped->hold_all() && goes_on; });
    EXPECT_EQ(static_cast<bool>(made), goes_on);
    EXPECT_EQ(stopped->threads().size(), kThreads);
    const uint64_t turns = child.shared().turns;
    usleep(20'000);
    EXPECT_EQ(child.shared().turns, turns);
    EXPECT_EQ(has_file(child.pid(), "/memfd:"), goes_on);
  }
  EXPECT_TRUE(child.runs_on());
  EXPECT_EQ(child.shared().interrupted, 0);
}

// The thread that always runs.
std::optional<RemoteHold> hold_running(pid_t pid) {
  auto stopped = StoppedProcess::stop(pid);
  if (!stopped) return std::nullopt;
  for (const HeldThread& one : stopped->threads())
    if (static_cast<int64_t>(one.registers.orig_rax) < 0) return hold_inside(pid, one.tid);
  return std::nullopt;
}

TEST(RemoteHold, EndsWhenItIsReleased) {
  ThreadedChild child;
  const auto hold = hold_running(child.pid());
  ASSERT_TRUE(hold);
  const uint64_t turns = child.shared().turns;
  usleep(20'000);
  EXPECT_EQ(child.shared().turns, turns);
  EXPECT_TRUE(release_inside(child.pid(), *hold));
  EXPECT_TRUE(child.runs_on());
  EXPECT_EQ(child.shared().lost_flags, 0);
}

// It has not run on before, so nothing was missed.
TEST(RemoteHold, LastsUntilItsThreadIsKilled) {
  ThreadedChild child;
  const auto hold = hold_running(child.pid());
  ASSERT_TRUE(hold);
  kill(child.pid(), SIGKILL);
  for (int i = 0; i < 10'000 && !status_field(child.pid(), "State:").starts_with('Z'); i++) usleep(1000);
  EXPECT_TRUE(release_inside(child.pid(), *hold));
}

// By a tracer that is killed.
void expect_end_of_hold(ThreadedChild& child) {
  const pid_t tracer = fork();
  if (tracer == 0) {
    const auto hold = hold_running(child.pid());
    if (hold) raise(SIGKILL);
    _exit(1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(tracer, &status, 0), tracer);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(child.runs_on());
  EXPECT_EQ(child.shared().lost_flags, 0);
}

TEST(RemoteHold, EndsWithItsTracer) {
  ThreadedChild child;
  expect_end_of_hold(child);
}

// It cannot see the tracer, and would wait for 5 seconds.
TEST(RemoteHold, OfAProcessInAContainerEndsWithItsTracer) {
  const FileDescriptor ids(open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC));
  if (unshare(CLONE_NEWPID) != 0) GTEST_SKIP() << "no PID namespace can be made here";
  ThreadedChild child;
  ASSERT_EQ(setns(ids.get(), CLONE_NEWPID), 0);
  ASSERT_TRUE(has_own_ids(child.pid()));
  const uint64_t began = read_clock(CLOCK_MONOTONIC);
  expect_end_of_hold(child);
  EXPECT_LT(read_clock(CLOCK_MONOTONIC) - began, 4'000'000'000u);
}

TEST(RemoteCode, SaysWhereItEnds) {
  const RemoteCode code = make_remote_code({}, 0x1000, {}, 0);
  EXPECT_GT(code.last_wait, 0x1000 + kRemoteEntry);
  EXPECT_LT(code.last_wait, 0x1000 + code.bytes.size());
}

}  // namespace
}  // namespace dvm::runtime
