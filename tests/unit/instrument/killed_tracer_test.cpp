// Removes what a tracer has left in a process that was killed before it had written anything there.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "common/file_descriptor.h"
#include "runtime/agent/detach.h"
#include "runtime/agent/mapping_plan.h"
#include "runtime/agent/remote_calls.h"
#include "runtime/agent/remote_room.h"
#include "runtime/agent/stopped_process.h"
#include "tests/unit/instrument/threaded_child.h"

namespace dvm::runtime {
namespace {

constexpr size_t kPage = 4096;

// It inherits all mappings.
class Child {
 public:
  test::ThreadedChild* operator->() { return &child_; }
  const AgentMemory& memory() { return *memory_; }

 private:
  test::ThreadedChild child_;
  Result<AgentMemory> memory_ = AgentMemory::open(child_.pid());
};

// As a dvm leaves mappings that is killed before it writes to them, with pages around that keep them apart.
class Unwritten {
 public:
  static constexpr size_t kAround = inside::semaphores_at(0) + inside::kSemaphoreBytes;
  explicit Unwritten(uint64_t began) {
    const FileDescriptor file(memfd_create(("dvm-agent-" + std::to_string(getpid())).c_str(), MFD_CLOEXEC));
    pages_ = static_cast<std::byte*>(mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    code_ = pages_ + kPage, armed_ = code_ + 3 * kPage, data_ = armed_ + kAround;
    mprotect(code_, 2 * kPage, PROT_READ | PROT_WRITE | PROT_EXEC);
    mprotect(armed_, kAround, PROT_READ | PROT_WRITE);
    madvise(armed_, kPage, MADV_WIPEONFORK);
    if (ftruncate(file.get(), kPage) == 0) mmap(data_, kPage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file.get(), 0);
    const AddressRange code{address(code_), address(code_ + 2 * kPage)};
    plan() = plan_of(std::span(&code, 1));
    plan().tracer_began = began;
  }
  ~Unwritten() { munmap(pages_, kBytes); }
  Unwritten(const Unwritten&) = delete;
  Unwritten& operator=(const Unwritten&) = delete;

  MappingPlan& plan() const { return *reinterpret_cast<MappingPlan*>(data_ + kPage - sizeof(MappingPlan)); }
  void write_code(size_t at) const { code_[at] = std::byte{1}; }
  // How many of the four are mapped in the child after an attempt to remove them.
  size_t left(pid_t pid, const AgentMemory& memory, WhichAgents which = WhichAgents::of_dead_tracers) const {
    EXPECT_TRUE(detach_agents(pid, memory, which, getpid()));
    const auto mappings = mappings_of(pid);
    const std::byte* all[] = {code_, armed_, armed_ + kPage, data_};
    return static_cast<size_t>(std::count_if(std::begin(all), std::end(all), [&](const std::byte* one) {
      const MemoryMapping* its = mappings ? mapping_at(*mappings, address(one)) : nullptr;
      return its != nullptr;
    }));
  }
  void begin() const { mprotect(code_, 2 * kPage, PROT_READ | PROT_EXEC); }

 private:
  static constexpr size_t kBytes = kAround + 6 * kPage;
  static uint64_t address(const std::byte* at) { return reinterpret_cast<uint64_t>(at); }
  std::byte *pages_, *code_, *armed_, *data_;
};

TEST(KilledTracer, UnmapsWhatADeadTracerHasPlannedAndNotWritten) {
  const Unwritten all(start_time(getpid()) + 1);
  all.write_code(kPage);  // the header is written last
  all.begin();
  Child child;
  EXPECT_EQ(all.left(child->pid(), child.memory()), 0);
  EXPECT_TRUE(child->runs_on());
}

TEST(KilledTracer, KeepsThePlannedMappingsOfALivingTracer) {
  const Unwritten all(start_time(getpid()));
  all.begin();
  Child child;
  EXPECT_EQ(all.left(child->pid(), child.memory()), 4);
}

TEST(KilledTracer, UnmapsWhatThisTracerHasPlannedAndNotWrittenOnceItTakesItsAgentOff) {
  const Unwritten all(start_time(getpid()));
  all.begin();
  Child child;
  EXPECT_EQ(all.left(child->pid(), child.memory(), WhichAgents::of_this_tracer), 0);
  EXPECT_TRUE(child->runs_on());
}

TEST(KilledTracer, KeepsCodeThatHasBeenWrittenThoughItIsPlanned) {
  const Unwritten all(start_time(getpid()) + 1);
  all.write_code(8);
  all.plan().count = UINT64_MAX;
  all.begin();
  Child child;
  EXPECT_EQ(all.left(child->pid(), child.memory()), 1);
  EXPECT_TRUE(child->runs_on());
}

using CodeOfFiles = std::vector<std::vector<std::byte>>;
CodeOfFiles code_of_files(pid_t pid, const AgentMemory& memory) {
  CodeOfFiles found;
  const auto mappings = mappings_of(pid);
  if (!mappings) return found;
  for (const MemoryMapping& one : *mappings) {
    if (!one.is_executable || !one.path.starts_with('/')) continue;
    std::vector<std::byte>& bytes = found.emplace_back(one.range.end - one.range.begin);
    EXPECT_TRUE(memory.read(one.range.begin, bytes));
  }
  return found;
}

// Stops must not prolong the waits of a thread in such code.
TEST(KilledTracer, RestoresThePaddingInWhichAKilledTracerMadeCalls) {
  Child child;
  const CodeOfFiles before = code_of_files(child->pid(), child.memory());
  const pid_t tracer = fork();
  if (tracer == 0) {
    auto stopped = StoppedProcess::stop(child->pid());
    if (stopped)
      (void)make_remote_calls(*stopped, child.memory(), std::vector<RemoteCall>{kRemoteWait, kRemoteWait},
                              [] { return raise(SIGKILL) == 0; });
    _exit(1);
  }
  ASSERT_EQ(waitpid(tracer, nullptr, 0), tracer);
  EXPECT_NE(code_of_files(child->pid(), child.memory()), before);
  constexpr int kAttempts = 20;  // on a busy machine
  for (int i = 0; i < kAttempts && !remote_pieces(child->pid(), child.memory()).empty(); i++)
    ASSERT_TRUE(detach_agents(child->pid(), child.memory(), WhichAgents::of_dead_tracers));
  EXPECT_EQ(code_of_files(child->pid(), child.memory()), before);
  EXPECT_TRUE(child->runs_on());
}

}  // namespace
}  // namespace dvm::runtime
