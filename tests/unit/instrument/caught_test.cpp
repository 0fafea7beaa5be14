// Loads that may fault (inside/caught.h), with a handler of this test in place of the agent's: the same bytes and the same ends
// as by process_vm_readv(2).

#include "runtime/agent/inside/caught.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <random>

extern "C" {
extern const dvm::runtime::inside::CaughtLoad __start_agent_loads[], __stop_agent_loads[];  // by the linker
}

namespace dvm::runtime {
namespace {

constexpr uint64_t kPage = inside::kPage, kMost = 256;
using Words = std::array<uint64_t, kMost / 8 + 2>;

void lead_on(int, siginfo_t*, void* context) {
  greg_t* registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  for (const inside::CaughtLoad* one = __start_agent_loads; one != __stop_agent_loads; one++) {
    const auto at = reinterpret_cast<greg_t>(one);
    if (registers[REG_RIP] != at + one->load) continue;
    registers[REG_RIP] = at + one->behind;
    registers[REG_RDX] = 1;
    return;
  }
  _exit(1);
}

// Two pages of characters, with few ends of strings, between pages that cannot be read.
class Caught : public testing::Test {
 protected:
  Caught() {
    struct sigaction action {};
    action.sa_sigaction = lead_on;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, &before_);
    void* all = mmap(nullptr, 4 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    begin_ = reinterpret_cast<uint64_t>(all) + kPage;
    auto* text = static_cast<std::byte*>(all) + kPage;
    mprotect(text, 2 * kPage, PROT_READ | PROT_WRITE);
    for (uint64_t i = 0; i < 2 * kPage; i++) text[i] = random_() % 90 == 0 ? std::byte{0} : static_cast<std::byte>(random_());
    page_.pid = static_cast<uint64_t>(getpid());
    context_.armed = reinterpret_cast<uint64_t>(&page_);
  }
  ~Caught() override {
    munmap(reinterpret_cast<void*>(begin_ - kPage), 4 * kPage);
    sigaction(SIGSEGV, &before_, nullptr);
  }
  // Most often near an end.
  uint64_t any_address() {
    constexpr uint64_t kPlaces[] = {0, kPage, 2 * kPage};
    return begin_ + kPlaces[random_() % 3] + random_() % 600 - 300;
  }

  std::mt19937_64 random_{7};  // NOLINT: the same each time
  uint64_t begin_ = 0;
  inside::ArmedPage page_{};
  inside::Context context_{};
  struct sigaction before_ {};
};

TEST_F(Caught, StringsAreThoseOfCalls) {
  size_t unreadable = 0;
  for (int i = 0; i < 20000; i++) {
    const uint64_t from = any_address(), most = 1 + random_() % kMost;
    Words loaded{}, called{};
    const uint32_t words = inside::text_caught(from, loaded.data(), most);
    ASSERT_EQ(words, inside::read_text_by_call(context_, from, called.data(), most)) << from - begin_ << " " << most;
    ASSERT_EQ(std::memcmp(loaded.data(), called.data(), words * sizeof(uint64_t)), 0) << from - begin_ << " " << most;
    unreadable += words == 0;
  }
  EXPECT_GT(unreadable, 1000u);
}

TEST_F(Caught, BytesAreThoseOfCalls) {
  size_t parts = 0;
  for (int i = 0; i < 20000; i++) {
    const uint64_t from = any_address(), bytes = random_() % kMost, at = random_() % 16;
    std::array<std::byte, kMost + 32> loaded{}, called{};
    const auto to = [&](auto& room) { return reinterpret_cast<uint64_t>(room.data() + at); };
    const uint64_t got = inside::copy_caught(from, to(loaded), bytes);
    ASSERT_EQ(got, inside::read_memory(getpid(), from, to(called), bytes)) << from - begin_ << " " << bytes;
    ASSERT_EQ(loaded, called) << from - begin_ << " " << bytes;
    parts += got > 0 && got < bytes;
  }
  EXPECT_GT(parts, 1000u);
}

// No canonical address, memory of the kernel, and the last word of all.
TEST_F(Caught, NoAddressIsRead) {
  for (const uint64_t from : {uint64_t{1} << 63, 0xffffffff81000000, ~uint64_t{0} - 3, uint64_t{8}}) {
    Words words{};
    EXPECT_EQ(inside::text_caught(from, words.data(), 16), 0u) << from;
    EXPECT_EQ(inside::copy_caught(from, reinterpret_cast<uint64_t>(words.data()), 16), 0u) << from;
  }
}

// Without a stack that is known, or if the process has not said that faults are caught, or must not make calls.
TEST_F(Caught, IsOnlyTriedWhereItHolds) {
  inside::LastingMemory lasting;
  const auto here = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  lasting.stack = {here - 4 * inside::kFrameRoom, here + kPage};
  context_.lasting = reinterpret_cast<uint64_t>(&lasting);
  context_.handler = reinterpret_cast<uint64_t>(&lead_on);
  page_.catching.is_on = 1;
  inside::DataHeader header;
  context_.data = reinterpret_cast<uint64_t>(&header);
  inside::Lane lane;
  const auto begins = [&] {
    const bool has_begun = inside::begin_catching(context_, &lane, here);
    EXPECT_EQ(lane.catches, has_begun ? 1u : 0u);
    inside::end_catching(&lane);
    return has_begun;
  };
  EXPECT_TRUE(begins());
  for (uint64_t* const word : {&page_.muted, &context_.handler, &lasting.stack.begin}) {
    const uint64_t before = *word;
    *word = word == &page_.muted ? 1 : before + inside::kFrameRoom * 3;
    EXPECT_FALSE(begins());
    EXPECT_EQ(header.handled, word == &context_.handler ? inside::kCaughtBits : 0) << "another handler";
    header.handled = 0;
    *word = before;
  }
  page_.catching.is_on = 0;
  EXPECT_FALSE(begins());
  page_.catching.is_on = 1;
  for (const int signal : {SIGSEGV, SIGBUS}) {
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, signal);
    sigprocmask(SIG_BLOCK, &blocked, nullptr);
    EXPECT_FALSE(begins());
    sigprocmask(SIG_UNBLOCK, &blocked, nullptr);
  }
  EXPECT_TRUE(begins());
}

}  // namespace
}  // namespace dvm::runtime
