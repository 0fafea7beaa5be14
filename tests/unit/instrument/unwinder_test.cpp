// Stacks of this very process, which keeps no frame pointers, from its registers and a copy of its stack.

#include "runtime/symbol/unwinder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string>

#include "runtime/symbol/frame_end.h"
#include "tests/support/allocations.h"

namespace dvm::runtime {
namespace {

const std::string kPrograms = DVM_BINARY_DIR "/tests/programs/";

struct Walk {
  std::vector<uint64_t> expected;  // return addresses, the innermost first
  std::vector<uint64_t> frames;
  std::vector<std::byte> bytes;
  uint64_t allocated = 0;     // by a walk whose files are known
  size_t most_bytes = 32768;  // a signal's frame holds all vector registers
};

uint64_t address_of(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

CapturedStack captured(const ucontext_t& context, Walk& walk) {
  constexpr std::pair<int, unsigned> kRegisters[] = {
      {REG_RBX, 3},  {REG_RBP, kFramePointer}, {REG_RSP, kStackPointer}, {REG_R12, 12}, {REG_R13, 13}, {REG_R14, 14},
      {REG_R15, 15}, {REG_RIP, kReturnAddress}};
  CapturedStack stack;
  for (const auto& [from, number] : kRegisters) stack.set(number, static_cast<uint64_t>(context.uc_mcontext.gregs[from]));
  stack.address = stack.registers[kStackPointer];
  walk.bytes.resize(walk.most_bytes);
  const int memory = open("/proc/self/mem", O_RDONLY);  // asks no sanitizer
  walk.bytes.resize(static_cast<size_t>(pread(memory, walk.bytes.data(), walk.most_bytes, static_cast<off_t>(stack.address))));
  close(memory);
  stack.bytes = walk.bytes;
  return stack;
}

__attribute__((noinline)) void innermost(Walk& walk) {
  ucontext_t context;
  getcontext(&context);
  walk.expected.insert(walk.expected.begin(), address_of(__builtin_return_address(0)));
  Unwinder unwinder;
  walk.frames.resize(64);
  const CapturedStack stack = captured(context, walk);
  const size_t found = unwinder.walk(getpid(), stack, walk.frames);
  const uint64_t before = dvm::test::allocations();
  EXPECT_EQ(unwinder.walk(getpid(), stack, walk.frames), found);
  walk.allocated = dvm::test::allocations() - before;
  walk.frames.resize(found);
}

__attribute__((noinline)) void realigned(Walk& walk, size_t room) {
  alignas(64) char on_line[64];
  auto* more = static_cast<volatile char*>(__builtin_alloca(room));
  more[0] = on_line[0] = 1;
  walk.expected.insert(walk.expected.begin(), address_of(__builtin_return_address(0)));
  innermost(walk);
  more[0] = on_line[0];
}

__attribute__((noinline)) void deep(Walk& walk, int calls) {
  walk.expected.insert(walk.expected.begin(), address_of(__builtin_return_address(0)));
  calls == 0 ? realigned(walk, 100) : deep(walk, calls - 1);
  __asm__ volatile("" ::: "memory");  // no tail call
}

bool begins_with(std::span<const uint64_t> frames, std::span<const uint64_t> expected) {
  return frames.size() >= expected.size() && std::equal(expected.begin(), expected.end(), frames.begin());
}

TEST(Unwinder, FindsEveryCallerWithoutFramePointers) {
  Walk walk;
  deep(walk, 10);
  ASSERT_FALSE(walk.frames.empty());
  EXPECT_TRUE(begins_with(std::span(walk.frames).subspan(1), walk.expected));
  EXPECT_GT(walk.frames.size(), walk.expected.size() + 1);  // those that called the test, too
  EXPECT_EQ(walk.allocated, 0u);
}

// How much that is depends on the compiler: one of them cuts it.
TEST(Unwinder, EndsWhereTheCapturedStackEnds) {
  int cut = 0;
  for (const size_t bytes : {1024, 2048, 4096, 8192, 16384}) {
    Walk walk;
    walk.most_bytes = bytes;
    deep(walk, 60);
    if (walk.frames.size() <= 2 || walk.frames.size() >= walk.expected.size()) continue;
    cut++;
    EXPECT_TRUE(begins_with(walk.expected, std::span(walk.frames).subspan(1)));
  }
  EXPECT_GT(cut, 0);
}

Walk* g_walk;
void on_signal(int) { innermost(*g_walk); }
__attribute__((noinline)) void interrupted(Walk& walk) {
  walk.expected.push_back(address_of(__builtin_return_address(0)));
  g_walk = &walk;
  raise(SIGUSR1);
  __asm__ volatile("" ::: "memory");
}

TEST(Unwinder, GoesThroughSignalHandlers) {
  Walk walk;
  signal(SIGUSR1, on_signal);
  interrupted(walk);
  signal(SIGUSR1, SIG_DFL);
  ASSERT_EQ(walk.expected.size(), 2u);
  EXPECT_NE(std::find(walk.frames.begin(), walk.frames.end(), walk.expected[1]), walk.frames.end());
}

TEST(Unwinder, TakesNothingForGranted) {
  Unwinder unwinder;
  std::array<uint64_t, 8> frames{};
  CapturedStack stack;
  EXPECT_EQ(unwinder.walk(getpid(), stack, frames), 0u);
  stack.set(kReturnAddress, 0x1234);
  EXPECT_EQ(unwinder.walk(INT32_MAX, stack, frames), 1u);
  stack.set(kFramePointer, UINT64_MAX - 7);
  stack.set(kStackPointer, 0);
  EXPECT_EQ(unwinder.walk(getpid(), stack, frames), 1u);
}

__attribute__((noinline)) uint64_t program_counter() { return address_of(__builtin_return_address(0)); }

TEST(Unwinder, EndsAStackThatWasFoundByFramePointersWhereNothingCanBeExecuted) {
  Unwinder unwinder;
  const uint64_t here = program_counter(), data = address_of(&unwinder);
  EXPECT_EQ(unwinder.count_executable(getpid(), std::array{here, here, data, here}, 1), 2u);
  EXPECT_EQ(unwinder.count_executable(getpid(), std::array{data, here, uint64_t{0x2f656d6f682f}}, 1), 2u);
  EXPECT_EQ(unwinder.count_executable(getpid(), std::array{here, here}, 2), 2u);
  EXPECT_EQ(unwinder.count_executable(getpid(), std::span<const uint64_t>(), 2), 0u);
  EXPECT_EQ(unwinder.count_executable(INT32_MAX, std::array{here, here}, 1), 1u);
}

// As GCC describes a function that ends with "leave; ret": where %rbp was kept is still said at the ret. And one that has its
// frame.
__asm__(R"(
  .text
  .cfi_startproc
dvm_test_left:
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  nop
  .cfi_def_cfa %rsp, 8
dvm_test_at_ret:
  ret
  .cfi_endproc
  .cfi_startproc
dvm_test_framed:
  .cfi_def_cfa %rbp, 16
  .cfi_offset %rbp, -16
  nop
dvm_test_in_frame:
  nop
  ret
  .cfi_endproc
)");
extern "C" const char dvm_test_at_ret, dvm_test_in_frame;

TEST(Unwinder, KnowsAPoppedRegisterWhoseOldPlaceWasNotCaptured) {
  Unwinder unwinder;
  const uint64_t here = program_counter(), begin = 0x9000;
  const std::array<uint64_t, 4> captured = {address_of(&dvm_test_in_frame), 0, 0xa000, here};
  CapturedStack stack;
  stack.set(kReturnAddress, address_of(&dvm_test_at_ret));
  stack.set(kStackPointer, begin);
  stack.set(kFramePointer, begin + 16);
  stack.address = begin;
  stack.bytes = std::as_bytes(std::span(captured));
  std::array<uint64_t, 3> frames{};
  EXPECT_EQ(unwinder.walk(getpid(), stack, frames), 3u);
  EXPECT_EQ(frames[1], captured[0]);
  EXPECT_EQ(frames[2], here);
}

// Functions with information, behind code without: a call that does not return, and no call.
__asm__(R"(
  .text
  call abort
  .cfi_startproc
dvm_test_behind_call:
  ret
  .cfi_endproc
  nopl 0x200(%rax,%rax,1)
  .cfi_startproc
dvm_test_behind_nop:
  ret
  .cfi_endproc
)");
extern "C" const char dvm_test_behind_call, dvm_test_behind_nop;

TEST(Unwinder, EndsBehindCodeWithoutInformationOnlyIfThatMadeNoCall) {
  Unwinder unwinder;
  const uint64_t here = program_counter(), begin = 0x9000;
  for (const auto& [returns_to, expected] : {std::pair(&dvm_test_behind_call, 3u), {&dvm_test_behind_nop, 2u}}) {
    const std::array<uint64_t, 4> captured = {begin + 16, address_of(returns_to), 0xa000, here};
    CapturedStack stack;
    stack.set(kReturnAddress, address_of(&dvm_test_in_frame));
    stack.set(kStackPointer, begin), stack.set(kFramePointer, begin);
    stack.address = begin, stack.bytes = std::as_bytes(std::span(captured));
    std::array<uint64_t, 3> frames{};
    EXPECT_EQ(unwinder.walk(getpid(), stack, frames), expected);
    EXPECT_EQ(frames[1], address_of(returns_to));
  }
}

// %rbp is still that of the caller, of which there is no information either.
CapturedStack at_generated_entry(std::span<const uint64_t> captured, uint64_t frame_pointer) {
  CapturedStack stack;
  stack.set(kReturnAddress, 0x1000), stack.set(kFramePointer, frame_pointer), stack.set(kStackPointer, 0x8000);
  stack.address = 0x8000, stack.bytes = std::as_bytes(captured), stack.return_at = 0x8008;
  return stack;
}

TEST(Unwinder, TakesTheReturnAddressOfAnEntryFromTheStack) {
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  const uint64_t generated = address_of(page), last = address_of(&dvm_test_in_frame);
  const std::array<uint64_t, 4> captured = {0, generated, 0x9000, last};
  const std::array<uint64_t, 4> framed = {0x8010, generated, 0x9000, last};  // has saved the caller's, and set its own
  Unwinder unwinder;
  for (const CapturedStack& stack : {at_generated_entry(captured, 0x8010), at_generated_entry(framed, 0x8000)}) {
    std::array<uint64_t, 3> frames{};
    EXPECT_EQ(unwinder.walk(getpid(), stack, frames), 3u);
    EXPECT_EQ(frames[1], generated);
    EXPECT_EQ(frames[2], last);
  }
  std::array<uint64_t, 3> frames{};
  EXPECT_EQ(unwinder.walk(getpid(), at_generated_entry(std::span(captured).first(1), 0x8010), frames), 1u);
  munmap(page, 4096);
}

std::optional<uint64_t> size_of_end(std::initializer_list<uint8_t> code) {
  const auto end = decode_frame_end({std::data(code), code.size()});
  return end ? std::optional(end->size) : std::nullopt;
}

TEST(Unwinder, KnowsCodeThatFreesItsFrameAndReturns) {
  EXPECT_EQ(size_of_end({0x48, 0x83, 0xc4, 0x08, 0xc3}), 8u);  // add $8, %rsp; ret
  EXPECT_EQ(size_of_end({0x48, 0x81, 0xc4, 0, 1, 0, 0, 0x5d, 0x41, 0x5c, 0xc3}),
            272u);                                                       // add $256, %rsp; pop %rbp; pop %r12; ret
  EXPECT_EQ(size_of_end({0xc3}), std::nullopt);                          // perhaps another function
  EXPECT_EQ(size_of_end({0x48, 0x83, 0xc4, 0xf8, 0xc3}), std::nullopt);  // makes room
  EXPECT_EQ(size_of_end({0x5c, 0xc3}), std::nullopt);                    // pop %rsp
  EXPECT_EQ(size_of_end({0x48, 0x83, 0xc4, 0x08}), std::nullopt);        // cut off
  EXPECT_EQ(size_of_end({0x90, 0xc3}), std::nullopt);
}

// As python3 -X perf generates it: %rbp means nothing.
TEST(Unwinder, LeavesATrampolineWithoutAFramePointer) {
  auto* page = static_cast<uint8_t*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(page, MAP_FAILED);
  constexpr std::array<uint8_t, 6> kEnd = {0x48, 0x83, 0xc4, 0x10, 0x5d, 0xc3};  // add $16, %rsp; pop %rbp; ret
  std::copy(kEnd.begin(), kEnd.end(), page + 2);
  mprotect(page, 4096, PROT_READ | PROT_EXEC);
  const uint64_t generated = address_of(page) + 2, framed = address_of(&dvm_test_in_frame), here = program_counter();
  const std::array<uint64_t, 6> captured = {0, 0, 0x8020, framed, 0x9000, here};
  CapturedStack stack;
  stack.set(kReturnAddress, generated), stack.set(kFramePointer, 0x8018), stack.set(kStackPointer, 0x8000);
  stack.address = 0x8000, stack.bytes = std::as_bytes(std::span(captured));
  std::array<uint64_t, 3> frames{};
  Unwinder unwinder;
  EXPECT_EQ(unwinder.walk(getpid(), stack, frames), 3u);
  EXPECT_EQ(frames[1], framed);
  EXPECT_EQ(frames[2], here);
  mprotect(page, 4096, PROT_READ | PROT_WRITE);
  constexpr uint8_t kNop = 0x90;
  std::fill_n(page, 4096, kNop);  // what was known is forgotten
  size_t count = 3;
  for (int i = 0; i < 1000 && count == 3; i++, usleep(10'000)) count = unwinder.walk(getpid(), stack, frames);
  EXPECT_EQ(count, 1u);
  munmap(page, 4096);
}

// As generated code has it: no information, %rbp leads to one captured frame, the chain to those behind.
TEST(Unwinder, GoesOnByTheChainBehindTheCapturedBytes) {
  Unwinder unwinder;
  const uint64_t here = program_counter(), generated = 0x1000;
  const std::array<uint64_t, 2> captured = {0x9000, here};
  const std::array<uint64_t, 4> chain = {here, here + 1, here + 2, generated};
  CapturedStack stack;
  stack.set(kReturnAddress, generated), stack.set(kFramePointer, 0x8000), stack.set(kStackPointer, 0x8000);
  stack.address = 0x8000, stack.bytes = std::as_bytes(std::span(captured)), stack.chain = std::as_bytes(std::span(chain));
  std::array<uint64_t, 8> frames{};
  const size_t count = unwinder.walk(getpid(), stack, frames);
  // `here` is in a file, whose information says whether %rbp leads on: this one has no frame pointers, unless built without
  // optimisation.
  ASSERT_GE(count, 2u);
  EXPECT_EQ(frames[0], generated);
  EXPECT_EQ(frames[1], here);
}

// As of a program that was installed anew while processes ran it.
TEST(CallFrames, AreThoseOfTheFileThatAPathLeadsToNow) {
  const std::string path = testing::TempDir() + "replaced." + std::to_string(getpid());
  const auto replace_by = [&](const char* program) {
    std::filesystem::remove(path);
    std::filesystem::copy(kPrograms + program, path);
  };
  CallFramesCache cache;
  replace_by("stacks");
  const auto kept = FileKey::of(path);
  const auto first = cache.open(path);
  ASSERT_TRUE(kept && first);
  EXPECT_EQ(cache.open(path), first);
  replace_by("stacks_bare");
  const auto second = cache.open(path);
  ASSERT_TRUE(second);
  EXPECT_TRUE(first->keeps_frame_pointers());
  EXPECT_FALSE(second->keeps_frame_pointers());
  EXPECT_EQ(cache.open(*kept, {"/no/such/file", path}), first);
  EXPECT_EQ(CallFramesCache().open(*kept, {"/no/such/file", path}), nullptr);
  std::filesystem::remove(path);
}

TEST(CallFrames, AreClosedOnceThereAreMany) {
  const std::string folder = testing::TempDir() + "many." + std::to_string(getpid());
  std::filesystem::create_directory(folder);
  CallFramesCache cache;
  for (size_t i = 0; i < CallFramesCache::kMost + 8; i++) {
    const std::string path = folder + "/" + std::to_string(i);
    std::filesystem::copy(kPrograms + "stacks", path);
    EXPECT_NE(cache.open(path), nullptr);
  }
  EXPECT_EQ(cache.size(), CallFramesCache::kMost);
  std::filesystem::remove_all(folder);
}

TEST(Unwinder, ForgetsTheProcessesThatWereUsedLongestAgo) {
  Unwinder unwinder;
  for (int32_t i = 0; i < 3 * static_cast<int32_t>(Unwinder::kMostProcesses); i++) unwinder.learn(INT32_MAX - i);
  EXPECT_EQ(unwinder.processes(), Unwinder::kMostProcesses);
}

// So that a stack does not depend on where its functions lie.
TEST(CallFrames, KeepTheRulesOfAddressesThatAreFarApart) {
  const auto frames = CallFrames::open("/proc/self/exe");
  std::vector<uint64_t> known;
  for (uint64_t offset = 0; known.size() < 6 && offset < 1 << 26; offset += 4096)
    if (const auto address = frames->address_of(offset); address && frames->at(*address).is_known) known.push_back(*address);
  ASSERT_EQ(known.size(), 6u);
  const uint64_t before = dvm::test::allocations();
  for (const uint64_t address : known) EXPECT_TRUE(frames->at(address).is_known);
  EXPECT_EQ(dvm::test::allocations(), before);
}

TEST(CallFrames, TellWhetherFunctionsKeepFramePointers) {
  EXPECT_TRUE(CallFrames::open(kPrograms + "stacks")->keeps_frame_pointers());
  EXPECT_FALSE(CallFrames::open(kPrograms + "stacks_bare")->keeps_frame_pointers());
  EXPECT_FALSE(CallFrames::open(kPrograms + "mixed")->keeps_frame_pointers());  // two functions of many do not
  EXPECT_EQ(CallFrames::open("/etc/passwd"), nullptr);
  EXPECT_EQ(CallFrames::open("/no/such/file"), nullptr);
}

}  // namespace
}  // namespace dvm::runtime
