#pragma once
// A forked child with threads that do different things, and what they share with the test.

#include <sys/types.h>

#include <atomic>
#include <cstdint>

namespace dvm::runtime::test {

inline constexpr uint64_t kOnStack = 0x5eed'0123'4567;  // a word that a thread keeps on its stack

struct Shared {
  std::atomic<uint64_t> turns{0};        // of a thread that always runs
  std::atomic<uint64_t> interrupted{0};  // calls of epoll_wait() that have ended although no signal came
  std::atomic<uint64_t> lost_flags{0};   // of the thread that runs: how often its carry flag was not what it had set
  std::atomic<bool> has_begun{false};
};

// Four threads: the first sleeps, one runs, two wait in epoll_wait().
class ThreadedChild {
 public:
  ThreadedChild();
  ~ThreadedChild();
  ThreadedChild(const ThreadedChild&) = delete;
  ThreadedChild& operator=(const ThreadedChild&) = delete;

  pid_t pid() const { return pid_; }
  Shared& shared() { return *shared_; }
  bool runs_on();  // within some seconds

 private:
  Shared* shared_;
  pid_t pid_;
};

}  // namespace dvm::runtime::test
