// The stacks of threads that ask for them in their lanes: those that the C library has made, and no other memory.

#include "runtime/instrument/agent/stack_finder.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <future>
#include <thread>

namespace dvm::runtime {
namespace {

constexpr uint32_t kLanes = 4;

struct Place {
  uint64_t number, block, pointer;
};

Place place_of_thread() {
  uint64_t block = 0;
  asm("mov %%fs:0, %0" : "=r"(block));
  return {static_cast<uint64_t>(syscall(SYS_gettid)), block,
          reinterpret_cast<uint64_t>(__builtin_frame_address(0)) & ~uint64_t{7}};
}

class Stacks : public testing::Test {
 protected:
  Stacks() : file_(memfd_create("lanes", 0)) {
    if (ftruncate(file_, sizeof(inside::DataHeader) + kLanes * sizeof(inside::Lane)) != 0) ADD_FAILURE();
    thread_ = std::thread([this] {
      place_.set_value(place_of_thread());
      ended_.get_future().wait();
    });
    here_ = place_.get_future().get();
  }
  ~Stacks() override {
    ended_.set_value();
    thread_.join();
    close(file_);
  }
  // The answer of a new finder.
  inside::MemoryRange answer(const Place& place) {
    inside::Lane lane;
    lane.owner = place.number, lane.asked_thread = place.block, lane.asked_pointer = place.pointer;
    const auto at = static_cast<off_t>(sizeof(inside::DataHeader) + 2 * sizeof lane);
    if (pwrite(file_, &lane, sizeof lane, at) != sizeof lane) ADD_FAILURE();
    ThreadIds ids(getpid());
    StackFinder(file_, kLanes, ids).answer();
    if (pread(file_, &lane, sizeof lane, at) != sizeof lane) ADD_FAILURE();
    return lane.stack;
  }
  Place with_pointer(uint64_t pointer) const { return {here_.number, here_.block, pointer}; }

  int file_;
  std::promise<Place> place_;
  std::promise<void> ended_;
  std::thread thread_;
  Place here_{};
};

TEST_F(Stacks, EndWithTheControlBlockOfTheirThread) {
  const inside::MemoryRange stack = answer(here_);
  EXPECT_EQ(stack.end, here_.block);
  EXPECT_LT(stack.begin, here_.pointer);
  EXPECT_EQ(stack.begin % 4096, 0);
}

TEST_F(Stacks, AreNotThoseOfAnotherThread) {
  const Place main = place_of_thread();
  EXPECT_EQ(answer(with_pointer(main.pointer)).end, 0);
  EXPECT_EQ(answer({here_.number, main.block, here_.pointer}).end, 0);
  EXPECT_EQ(answer({1, here_.block, here_.pointer}).end, 0);  // no thread of this process
}

TEST_F(Stacks, HaveNothingReadableBelow) {
  constexpr size_t kPage = 4096;
  auto* pages = static_cast<char*>(mmap(nullptr, 4 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  mprotect(pages, kPage, PROT_NONE);
  const auto at = [&](size_t offset) { return reinterpret_cast<uint64_t>(pages) + offset; };
  EXPECT_EQ(answer({here_.number, at(4 * kPage - 8), at(2 * kPage)}).end, at(4 * kPage - 8));
  EXPECT_EQ(answer({here_.number, at(4 * kPage - 8), at(8)}).end, 0);
  EXPECT_EQ(answer({here_.number, at(4 * kPage - 4), at(2 * kPage)}).end, 0);
  mprotect(pages, kPage, PROT_READ);
  EXPECT_EQ(answer({here_.number, at(4 * kPage - 8), at(2 * kPage)}).end, 0);
  mprotect(pages + 2 * kPage, kPage, PROT_NONE);
  EXPECT_EQ(answer({here_.number, at(4 * kPage - 8), at(kPage + 8)}).end, 0);  // with a hole
  munmap(pages, 4 * kPage);
}

}  // namespace
}  // namespace dvm::runtime
