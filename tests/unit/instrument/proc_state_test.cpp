// A process is asked for only if it existed at the firing: its id may have been another's.
#include "runtime/process/proc_state.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kBeforeAll = 1, kSystem = uint64_t{16} << 32;

TEST(ProcState, ProcessesOfTheFiringOnly) {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  ASSERT_GT(child, 0);
  const uint64_t now = read_clock(CLOCK_MONOTONIC), parent = 16 * static_cast<uint64_t>(child), name = parent;
  ProcTexts texts;
  EXPECT_EQ(proc_number(parent, now), getpid());
  EXPECT_EQ(proc_number(parent, 0), getpid());
  EXPECT_EQ(texts.find(name, now), "proc_state_test");
  EXPECT_EQ(proc_number(parent, kBeforeAll), vm::Host::kNoNumber);
  EXPECT_EQ(texts.find(name, kBeforeAll).data(), nullptr);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(proc_number(parent, now), vm::Host::kNoNumber);
  EXPECT_EQ(texts.find(name, now).data(), nullptr);
}

TEST(ProcState, TheSystemIsAskedAtAnyTime) {
  EXPECT_GT(proc_number(kSystem + 4, kBeforeAll), 0);
  EXPECT_TRUE(is_of_process(16));
  EXPECT_FALSE(is_of_process(kSystem + 4));
}

TEST(ProcState, StartsAreEqualAtEachRead) {
  const uint64_t start = 16 * static_cast<uint64_t>(getpid()) + 3;
  const int64_t first = proc_number(start, 0);
  for (int i = 0; i < 1000; i++) ASSERT_EQ(proc_number(start, 0), first);
  EXPECT_EQ(first % (1'000'000'000 / sysconf(_SC_CLK_TCK)), 0);
}

TEST(ProcState, FilesAreNoHeap) {
  constexpr size_t kSize = size_t{1} << 30;
  char path[] = "proc_state_XXXXXX [heap]";
  const int file = mkstemps(path, 7);
  ASSERT_GE(file, 0);
  ASSERT_NE(sbrk(1), reinterpret_cast<void*>(-1));  // the allocator of a sanitizer has none
  const uint64_t heap = 16 * static_cast<uint64_t>(getpid()) + 4;
  const int64_t before = proc_number(heap, 0);
  void* mapped = mmap(nullptr, kSize, PROT_READ, MAP_PRIVATE, file, 0);
  const int64_t with_file = proc_number(heap, 0);
  unlink(path);
  close(file);
  ASSERT_NE(mapped, MAP_FAILED);
  munmap(mapped, kSize);
  EXPECT_GT(before, 0);
  EXPECT_LT(with_file, before + static_cast<int64_t>(kSize));
}

}  // namespace
}  // namespace dvm::runtime
