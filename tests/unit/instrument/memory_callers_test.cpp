// The system calls of a process that take memory away, and why not all may be known.
#include "runtime/instrument/agent/memory_callers.h"

#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <initializer_list>
#include <memory>
#include <set>

#include "runtime/instrument/agent/changed_code.h"

// What a program may have in itself.
asm(".pushsection .text\n.type mct_any, @function\nmct_any: .cfi_startproc\n mov %rdi, %rax\n syscall\n ret\n.cfi_endproc\n"
    ".size mct_any, . - mct_any\n"
    ".balign 4096\nmct_changed: .skip 4096, 0x90\n.popsection");
extern "C" unsigned char mct_changed[];

namespace dvm::runtime {
namespace {

// A process that only waits.
class Waiting {
 public:
  Waiting() {
    std::string program = "sleep", time = "100";
    char* const arguments[] = {program.data(), time.data(), nullptr};
    EXPECT_EQ(posix_spawnp(&pid_, "sleep", nullptr, nullptr, arguments, environ), 0);
    for (int i = 0; i < 1000 && !has_library(); i++) usleep(5000);
    usleep(20000);
  }
  ~Waiting() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }
  std::vector<MemoryMapping> mappings() const { return *mappings_of(pid_); }

 private:
  bool has_library() const {
    for (const MemoryMapping& one : mappings())
      if (one.is_executable && one.path.find("/libc.so") != std::string::npos) return true;
    return false;
  }

  pid_t pid_ = 0;
};

class MemoryCallersTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { process_ = std::make_unique<Waiting>(); }
  static void TearDownTestSuite() { process_.reset(); }
  static MemoryCallers find(const std::vector<MemoryMapping>& mappings, std::span<const AddressRange> own = {}) {
    ModuleCodes files;
    return find_memory_callers(process_->pid(), mappings, files, own);
  }
  static std::string unproven_with(const MemoryMapping& added) {
    auto mappings = process_->mappings();
    mappings.push_back(added);
    return find(mappings).unproven;
  }
  static MemoryMapping library() {
    for (const MemoryMapping& one : process_->mappings())
      if (one.is_executable && one.path.find("/libc.so") != std::string::npos) return one;
    ADD_FAILURE() << "no C library";
    return {};
  }

  static inline std::unique_ptr<Waiting> process_;
};

TEST_F(MemoryCallersTest, FindsThoseOfTheLibraryAndTheLinker) {
  const MemoryCallers found = find(process_->mappings());
  EXPECT_EQ(found.unproven, "");
  std::set<uint32_t> numbers;
  size_t any = 0;
  for (const MemoryCaller& one : found.all) {
    EXPECT_GT(one.behind, one.begin);
    if (!one.number) any++;
    if (!one.number) continue;
    numbers.insert(*one.number);
    EXPECT_EQ(one.behind - one.begin, 7);
  }
  EXPECT_EQ(any, 1);
  for (const uint32_t number : {SYS_mmap, SYS_munmap, SYS_mprotect, SYS_mremap, SYS_brk, SYS_madvise, SYS_shmat})
    EXPECT_TRUE(numbers.contains(number)) << number;
}

TEST_F(MemoryCallersTest, TakesNoCodeThatMayChange) {
  MemoryMapping made{.range = {0x10000, 0x11000}, .is_executable = true, .path = "", .is_constant = true};
  EXPECT_EQ(unproven_with(made), "it executes code that is not mapped from a file");
  made.path = "/memfd:code (deleted)";
  EXPECT_EQ(unproven_with(made), "it executes code that is not mapped from a file");
  made.path = "/usr/lib/libgone.so (deleted)";
  EXPECT_EQ(unproven_with(made), "libgone.so has been deleted");
  MemoryMapping written = library();
  written.is_constant = false, written.is_writable = true;
  EXPECT_EQ(unproven_with(written), "the code of libc.so.6 can be changed");
  MemoryMapping shared = library();
  shared.is_shared = true;
  EXPECT_EQ(unproven_with(shared), "the code of libc.so.6 is mapped as shared");
  MemoryMapping data = library();
  data.offset = 0;
  EXPECT_EQ(unproven_with(data), "libc.so.6 is mapped as code where it has none");
  made.path = "/nowhere/libunread.so";
  EXPECT_EQ(unproven_with(made), "libunread.so cannot be read");
}

TEST_F(MemoryCallersTest, LeavesOutOwnCodeAndThatOfTheKernel) {
  MemoryMapping made{.range = {0x10000, 0x11000}, .is_executable = true, .path = "", .is_constant = true};
  auto mappings = process_->mappings();
  mappings.push_back(made);
  const AddressRange own[] = {made.range};
  EXPECT_EQ(find(mappings, own).unproven, "");
  made.path = "[uprobes]";
  EXPECT_EQ(unproven_with(made), "");
}

// This program makes system calls of any number.
TEST(MemoryCallersOfProgram, AreNotKnown) {
  ModuleCodes files;
  const auto all = mappings_of(getpid());
  std::vector<MemoryMapping> mappings;
  for (const MemoryMapping& one : *all)
    if (one.is_executable && one.path.ends_with("memory_callers_test")) mappings.push_back(one);
  ASSERT_EQ(mappings.size(), 1);
  const std::string why = find_memory_callers(getpid(), mappings, files, {}).unproven;
  EXPECT_TRUE(why.starts_with("memory_callers_test makes system call")) << why;  // that of sanitizers, too
}

// Code of this program, changed in memory.
class ChangedCodeTest : public testing::Test {
 protected:
  static bool has_new() {
    const auto mappings = mappings_of(getpid());
    const MemoryMapping* own = mapping_at(*mappings, reinterpret_cast<uint64_t>(mct_changed));
    const auto code = ModuleCode::open("/proc/self/exe");
    const auto found = has_new_system_calls(getpid(), *own, **code);
    EXPECT_TRUE(found);
    return found && *found;
  }
  static void write(size_t at, std::initializer_list<unsigned char> bytes) {
    ASSERT_EQ(mprotect(mct_changed, kPage, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
    std::ranges::copy(bytes, mct_changed + at);
    ASSERT_EQ(mprotect(mct_changed, kPage, PROT_READ | PROT_EXEC), 0);
  }
  static constexpr size_t kPage = 4096;
};

TEST_F(ChangedCodeTest, SeesSystemCallsThatWereWritten) {
  EXPECT_FALSE(has_new());
  write(100, {0x0f, 0x05});
  EXPECT_TRUE(has_new());
  write(100, {0xcc, 0x90});  // another tracer's breakpoint
  EXPECT_FALSE(has_new());
  write(100, {0xe9, 0x0f, 0x05, 0x01, 0x00});  // a jump
  EXPECT_FALSE(has_new());
  write(kPage - 2, {0xcd, 0x80});
  EXPECT_TRUE(has_new());
  write(kPage - 2, {0x90, 0x90});
  EXPECT_FALSE(has_new());
}

// A piece of code that holds a thread has a mark, its size in all, and system calls.
TEST_F(ChangedCodeTest, LeavesOutWhatDvmHasWritten) {
  write(200, {0x64, 0x76, 0x6d, 0x2d, 0x63, 0x61, 0x6c, 0x6c, 0x14, 0, 0, 0, 0, 0, 0, 0, 0x0f, 0x05, 0x0f, 0x05});
  EXPECT_FALSE(has_new());
  write(220, {0x0f, 0x05});
  EXPECT_TRUE(has_new());
  write(200, {0x65});
  write(220, {0x90, 0x90});
  EXPECT_TRUE(has_new());
  for (size_t i = 200; i < 220; i++) write(i, {0x90});
  EXPECT_FALSE(has_new());
}

TEST(MemoryEffects, AreThoseOfTheNumber) {
  EXPECT_EQ(memory_effect(SYS_munmap), MemoryEffect::takes);
  EXPECT_EQ(memory_effect(0x40000000 | SYS_munmap), MemoryEffect::takes);
  EXPECT_EQ(memory_effect(SYS_personality), MemoryEffect::takes);
  EXPECT_EQ(memory_effect(SYS_io_uring_setup), MemoryEffect::takes_any);
  EXPECT_EQ(memory_effect(SYS_read), MemoryEffect::none);
}

TEST(MemoryFunctions, AreThoseOfAllCallsThatMayTakeMemoryOfDvm) {
  using namespace inside;
  std::set<uint64_t> seen{kBrk, kPersonality};
#define DVM_MEMORY_FUNCTION(function, call, presence) \
  EXPECT_TRUE(watches_memory(Watch::function));       \
  seen.insert(k##call);
#include "runtime/agent/inside/memory_functions.def"
#define DVM_MEMORY_CALL(name, number, effect) \
  EXPECT_TRUE(seen.contains(number) || MemoryEffect::effect != MemoryEffect::takes) << #name;
#include "runtime/agent/inside/memory_calls.def"
}

}  // namespace
}  // namespace dvm::runtime
