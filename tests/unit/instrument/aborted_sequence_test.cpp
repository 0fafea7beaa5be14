// A stopped thread that stands in a restartable sequence.

#include "runtime/agent/aborted_sequence.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/rseq.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>

extern "C" const char test_sequence_begin, test_sequence_end, test_sequence_abort;

namespace dvm::runtime {
namespace {

uint64_t address_of(const void* at) { return reinterpret_cast<uint64_t>(at); }

// Runs for ever in a sequence, which counts its turns.
[[noreturn]] void run_sequence(volatile uint64_t* turns) {
  alignas(32) const std::array<uint64_t, 4> descriptor{0, address_of(&test_sequence_begin),
                                                       static_cast<uint64_t>(&test_sequence_end - &test_sequence_begin),
                                                       address_of(&test_sequence_abort)};
  const uint64_t area = address_of(__builtin_thread_pointer()) + static_cast<uint64_t>(__rseq_offset);
  asm volatile(R"(
  1:
    mov %[descriptor], 8(%[area])
    .globl test_sequence_begin
  test_sequence_begin:
    incq (%[turns])
    jmp test_sequence_begin
    .globl test_sequence_end
  test_sequence_end:
    .byte 0x0f, 0xb9, 0x3d
    .long 0x53053053
    .globl test_sequence_abort
  test_sequence_abort:
    jmp 1b
  )"
               :
               : [descriptor] "r"(descriptor.data()), [area] "r"(area), [turns] "r"(turns)
               : "memory", "cc");
  __builtin_unreachable();
}

class InSequence : public testing::Test {
 protected:
  InSequence() {
    turns_ = static_cast<uint64_t*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    pid_ = fork();
    if (pid_ == 0) run_sequence(turns_);
    while (*static_cast<volatile uint64_t*>(turns_) == 0) usleep(100);
    ptrace(PTRACE_SEIZE, pid_, 0, 0);
    ptrace(PTRACE_INTERRUPT, pid_, 0, 0);
    waitpid(pid_, nullptr, __WALL);
    ptrace(PTRACE_GETREGS, pid_, 0, &registers_);
  }
  ~InSequence() override {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, __WALL);
    munmap(turns_, 4096);
  }

  uint64_t* turns_;
  pid_t pid_;
  user_regs_struct registers_{};
};

TEST_F(InSequence, IsToGoOnWhereItIsAborted) {
  ASSERT_GE(registers_.rip, address_of(&test_sequence_begin));
  ASSERT_LT(registers_.rip, address_of(&test_sequence_end));
  const user_regs_struct made = out_of_sequence(pid_, registers_);
  EXPECT_EQ(made.rip, address_of(&test_sequence_abort));
  EXPECT_EQ(made.rsp, registers_.rsp);
}

TEST_F(InSequence, OtherCodeGoesOnWhereItIs) {
  registers_.rip = address_of(&test_sequence_end);
  EXPECT_EQ(out_of_sequence(pid_, registers_).rip, registers_.rip);
  registers_.rip = address_of(&test_sequence_begin) - 1;
  EXPECT_EQ(out_of_sequence(pid_, registers_).rip, registers_.rip);
}

}  // namespace
}  // namespace dvm::runtime
