// Code that a thread executes, or that a handler has interrupted, is found; other code is not.

#include "runtime/agent/signal_frames.h"

#include <gtest/gtest.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <string>

namespace dvm::runtime {
namespace {

constexpr size_t kPage = 4096;
constexpr int kOnItsStack = SIGUSR1, kOnAnotherStack = SIGUSR2, kLeaves = SIGALRM;

std::atomic<int>* entered;  // the handler; shared with the child
sigjmp_buf way_out;

void handle(int signal) {
  entered->store(signal);
  if (signal == kLeaves) siglongjmp(way_out, 1);
  for (;;) pause();
}

void set_handler(int signal, int flags) {
  struct sigaction action {};
  action.sa_handler = handle;
  action.sa_flags = flags;
  sigaction(signal, &action, nullptr);
}

// It executes `jmp .` in a page of its own until a signal comes.
class SignalFramesTest : public testing::Test {
 protected:
  void SetUp() override {
    void* memory = mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    entered = new (static_cast<char*>(memory) + kPage) std::atomic<int>(0);
    std::memcpy(memory, "\xeb\xfe", 2);
    code_ = {reinterpret_cast<uint64_t>(memory), reinterpret_cast<uint64_t>(memory) + kPage};
    child_ = fork();
    if (child_ == 0) live(memory);
    while (*entered == 0) usleep(1000);
    for (int i = 0; i < 10'000 && !executes(); i++) usleep(1000);
  }
  void TearDown() override {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    munmap(reinterpret_cast<void*>(code_.begin), 2 * kPage);
  }
  [[noreturn]] static void live(void* code) {
    static char other_stack[64 * 1024];
    const stack_t stack{other_stack, 0, sizeof other_stack};
    sigaltstack(&stack, nullptr);
    set_handler(kOnItsStack, 0);
    set_handler(kOnAnotherStack, SA_ONSTACK);
    set_handler(kLeaves, 0);
    *entered = -1;
    if (sigsetjmp(way_out, 1) == 0) reinterpret_cast<void (*)()>(code)();
    for (;;) pause();
  }
  void send(int signal) const {
    kill(child_, signal);
    for (int i = 0; i < 10'000 && (*entered != signal || !pauses()); i++) usleep(1000);
    ASSERT_EQ(*entered, signal);
    ASSERT_TRUE(pauses());
  }
  // It waits in pause(2), behind whatever it has entered.
  bool pauses() const {
    std::string call;
    std::ifstream("/proc/" + std::to_string(child_) + "/syscall") >> call;
    return call == "34";
  }
  bool executes() const { return executes(code_); }
  bool executes(const AddressRange& code, size_t but = 0) const {
    const auto memory = AgentMemory::open(child_);
    const auto stopped = StoppedProcess::stop(child_);
    EXPECT_TRUE(memory && stopped);
    return may_execute(*stopped, *memory, std::span(&code, 1), but);
  }

  AddressRange code_{};
  pid_t child_ = 0;
};

TEST_F(SignalFramesTest, AThreadExecutesTheCode) {
  EXPECT_TRUE(executes());
  EXPECT_FALSE(executes({code_.begin + 2, code_.end}));
  EXPECT_FALSE(executes(code_, 1));
}

TEST_F(SignalFramesTest, AHandlerHasInterruptedTheCode) {
  send(kOnItsStack);
  EXPECT_TRUE(executes());
  EXPECT_FALSE(executes({code_.begin + 2, code_.end}));
}

TEST_F(SignalFramesTest, AHandlerOnAnotherStackHasInterruptedThatHandler) {
  send(kOnItsStack);
  send(kOnAnotherStack);
  EXPECT_TRUE(executes());
}

TEST_F(SignalFramesTest, AHandlerHasLeftTheCodeForGood) {
  send(kLeaves);
  EXPECT_FALSE(executes());
}

}  // namespace
}  // namespace dvm::runtime
