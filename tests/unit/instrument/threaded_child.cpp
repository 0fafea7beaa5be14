#include "tests/unit/instrument/threaded_child.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <new>
#include <thread>

namespace dvm::runtime::test {
namespace {

void wait_for_events(Shared& shared) {
  const int poll = epoll_create1(0);
  epoll_event event{};
  for (;;)
    if (epoll_wait(poll, &event, 1, -1) < 0) shared.interrupted++;
}

// Of several words, some lie above the stack pointer, also in a function that calls none. Nearly all of the time is spent in a
// loop that leaves the carry flag as it is.
__attribute__((no_sanitize("address"))) void run(Shared& shared) {
  volatile uint64_t words[64];
  for (volatile uint64_t& word : words) word = kOnStack;
  for (; words[63] == kOnStack; shared.turns++) {
    bool has_carry = false;
    asm volatile("mov $1000, %%ecx\n stc\n 1: lea -1(%%rcx), %%rcx\n jrcxz 2f\n jmp 1b\n 2: setc %0"
                 : "=r"(has_carry)
                 :
                 : "rcx", "cc");
    if (!has_carry) shared.lost_flags++;
  }
}

[[noreturn]] void live(Shared& shared) {
  std::thread running([&] { run(shared); });
  std::thread first([&] { wait_for_events(shared); }), second([&] { wait_for_events(shared); });
  shared.has_begun = true;
  for (;;) pause();
}

}  // namespace

ThreadedChild::ThreadedChild() {
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  shared_ = new (memory) Shared;
  pid_ = fork();
  if (pid_ == 0) live(*shared_);
  while (!shared_->has_begun || shared_->turns == 0) usleep(1000);
}

ThreadedChild::~ThreadedChild() {
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  munmap(shared_, sizeof(Shared));
}

bool ThreadedChild::runs_on() {
  const uint64_t before = shared_->turns;
  for (int i = 0; i < 10'000 && shared_->turns == before; i++) usleep(1000);
  return shared_->turns != before;
}

}  // namespace dvm::runtime::test
