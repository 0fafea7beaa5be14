// Threads that dvm traces already when it stops their process, as breakpoints do, and those that come to their stop late.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "runtime/agent/memory.h"
#include "runtime/agent/remote_calls.h"
#include "runtime/agent/stopped_process.h"
#include "runtime/process/thread_status.h"
#include "tests/unit/instrument/threaded_child.h"

namespace dvm::runtime {
namespace {

// All threads of the child, which a signal has stopped while this process traces them.
bool stop_traced(const test::ThreadedChild& child) {
  std::vector<pid_t> threads;
  if (const auto stopped = StoppedProcess::stop(child.pid()))
    for (const HeldThread& one : stopped->threads()) threads.push_back(one.tid);
  if (threads.empty()) return false;
  for (const pid_t tid : threads) ptrace(PTRACE_SEIZE, tid, 0, 0);
  kill(child.pid(), SIGSTOP);
  const auto listens = [](pid_t tid) {  // the thread that takes the signal stops for that first
    siginfo_t info{};
    if (waitid(P_PID, static_cast<id_t>(tid), &info, WSTOPPED | WNOHANG | __WALL) != 0 || info.si_pid != tid) return false;
    const bool is_signal = info.si_status == SIGSTOP;
    return ptrace(is_signal ? PTRACE_CONT : PTRACE_LISTEN, tid, 0, is_signal ? SIGSTOP : 0) == 0 && !is_signal;
  };
  for (int i = 0; i < 10'000 && !threads.empty(); i++) std::erase_if(threads, listens), usleep(1000);
  return threads.empty();
}

// A process ends only once its tracer has waited for its threads.
struct EndOf {
  ~EndOf() {
    for (const pid_t pid : {one, other}) kill(pid, SIGKILL);
    while (waitpid(-1, nullptr, __WALL) > 0) continue;
  }
  pid_t one, other;
};

TEST(TracedThreads, ThatASignalHasStoppedAreRefusedOrJoinedAsOthersAre) {
  const test::ThreadedChild child, other;
  const EndOf ends{child.pid(), other.pid()};
  ASSERT_TRUE(stop_traced(child) && stop_traced(other));
  const auto refused = StoppedProcess::stop(child.pid());
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("continue it first"), std::string::npos) << refused.error().message;
  const auto joined = StoppedProcess::stop_or_join(other.pid());
  ASSERT_TRUE(joined) << joined.error().message;
  EXPECT_TRUE(joined->has_joined());
}

// One of them stands in a stop that its tracer has not seen yet, as at a breakpoint.
TEST(TracedThreads, AreHeldAndStayTracedButMakeNoCalls) {
  constexpr uint64_t kGetPid = 39;
  const test::ThreadedChild child;
  const EndOf ends{child.pid(), child.pid()};
  std::vector<pid_t> threads;
  if (const auto stopped = StoppedProcess::stop(child.pid()))
    for (const HeldThread& one : stopped->threads()) threads.push_back(one.tid);
  ASSERT_FALSE(threads.empty());
  for (const pid_t tid : threads) ASSERT_EQ(ptrace(PTRACE_SEIZE, tid, 0, 0), 0);
  tgkill(child.pid(), threads.back(), SIGTRAP);
  for (int i = 0; i < 10'000 && !status_field(threads.back(), "State:").starts_with('t'); i++) usleep(1000);
  {
    auto stopped = StoppedProcess::stop(child.pid());
    ASSERT_TRUE(stopped) << stopped.error().message;
    EXPECT_EQ(stopped->threads().size(), threads.size());
    const auto memory = AgentMemory::open(child.pid());
    ASSERT_TRUE(memory);
    EXPECT_FALSE(make_remote_calls(*stopped, *memory, std::vector<RemoteCall>{{kGetPid, {}}}, [] { return true; }));
  }
  for (const pid_t tid : threads) EXPECT_EQ(status_field(tid, "TracerPid:"), std::to_string(getpid()));
}

// Of the test and its child.
struct Flags {
  std::atomic<bool> go{false}, done{false};
};

TEST(TracedThreads, ThatAStragglerStartsAreReleasedWithIt) {
  void* page = mmap(nullptr, sizeof(Flags), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  auto* shared = new (page) Flags;
  const pid_t child = fork();
  if (child == 0) {
    while (!shared->go) usleep(1000);
    std::thread([&] { shared->done = true; }).join();
    _exit(0);
  }
  ASSERT_EQ(ptrace(PTRACE_SEIZE, child, 0, PTRACE_O_TRACECLONE), 0);
  release_later(child);
  shared->go = true;
  for (int i = 0; i < 10'000 && !shared->done; i++) release_stragglers(), usleep(1000);
  EXPECT_TRUE(shared->done);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  munmap(page, sizeof(Flags));
}

}  // namespace
}  // namespace dvm::runtime
