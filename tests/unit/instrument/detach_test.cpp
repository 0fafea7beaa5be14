// Removes jumps and memory that an agent has left in a process, and nothing else.

#include "runtime/agent/detach.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <limits>
#include <set>
#include <string>

#include "common/file_descriptor.h"
#include "runtime/agent/disturbed_jumps.h"
#include "runtime/agent/guard.h"
#include "tests/unit/instrument/threaded_child.h"

namespace dvm::runtime {
namespace {

constexpr size_t kPage = 4096, kPatches = 3, kBytes = 5;
constexpr uint64_t kArmedWord = 1;
constexpr unsigned char kTrap = 0xcc, kOther = 0x90;

// What earlier calls have left on the stack, the child would inherit as words that may lead to a patch.
__attribute__((noinline, no_sanitize("address"))) void wipe_stack() {
  volatile unsigned char left[64 * 1024];
  for (volatile unsigned char& one : left) one = 0;
}

// Pages that a child inherits: a code mapping with its table, and behind it code with jumps.
class DetachTest : public testing::Test {
 protected:
  void SetUp() override {
    make_pages();
    wipe_stack();
  }
  void make_pages() {
    void* memory = mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    header_ = static_cast<inside::CodeHeader*>(memory);
    table_ = reinterpret_cast<inside::Patch*>(header_ + 1);
    code_ = static_cast<unsigned char*>(memory) + kPage;
    *header_ = {.armed = reinterpret_cast<uint64_t>(code_ + kPage - sizeof(uint64_t)),
                .tracer = getpid(),
                .patches = kPatches,
                .tracer_began = start_time(getpid()),
                .table = reinterpret_cast<uint64_t>(table_)};
    for (size_t i = 0; i < kPatches; i++) {
      table_[i] = {reinterpret_cast<uint64_t>(code_ + 16 * i), {1, 2, 3, 4, 5}, kBytes, {0xe9, 6, 7, 8, static_cast<uint8_t>(i)}};
      std::memcpy(code_ + 16 * i, table_[i].after, kBytes);
    }
    std::memcpy(code_ + kPage - sizeof kArmedWord, &kArmedWord, sizeof kArmedWord);
  }
  void TearDown() override { munmap(header_, 2 * kPage); }

  // The child executes no such code.
  void start() {
    mprotect(header_, kPage, PROT_READ | PROT_EXEC);
    child_.emplace();
    auto memory = AgentMemory::open(child_->pid());
    ASSERT_TRUE(memory);
    memory_.emplace(*std::move(memory));
  }
  bool is_restored(size_t patch) const {
    unsigned char now[kBytes];
    return memory_->read(table_[patch].address, std::as_writable_bytes(std::span(now))) &&
           std::memcmp(now, table_[patch].before, kBytes) == 0;
  }
  bool is_header_mapped() const {
    inside::CodeHeader header;
    return memory_->read_object(reinterpret_cast<uint64_t>(header_), header);
  }
  uint64_t armed() const {
    uint64_t armed = 0;
    EXPECT_TRUE(memory_->read_object(header_->armed, armed));
    return armed;
  }
  bool eventually_restored() const {
    for (int i = 0; i < 10'000 && !is_restored(0); i++) usleep(1000);
    return is_restored(0);
  }

  inside::CodeHeader* header_ = nullptr;
  inside::Patch* table_ = nullptr;
  unsigned char* code_ = nullptr;
  std::optional<test::ThreadedChild> child_;
  std::optional<AgentMemory> memory_;
};

TEST_F(DetachTest, RestoresEachPatchOnce) {
  start();
  const auto detached = detach_agents(child_->pid(), *memory_, WhichAgents::of_this_tracer, getpid());
  ASSERT_TRUE(detached);
  EXPECT_EQ(detached->agents, 1);
  EXPECT_EQ(detached->restored, kPatches);
  EXPECT_EQ(armed(), inside::kDisarmed);
  for (size_t i = 0; i < kPatches; i++) EXPECT_TRUE(is_restored(i)) << i;
  const auto again = detach_agents(child_->pid(), *memory_, WhichAgents::all);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->agents, 0);
  EXPECT_TRUE(child_->runs_on());
}

TEST_F(DetachTest, RestoresOneThatASignalHasStopped) {
  start();
  kill(child_->pid(), SIGSTOP);
  ASSERT_EQ(waitpid(child_->pid(), nullptr, WUNTRACED), child_->pid());
  const auto detached = detach_agents(child_->pid(), *memory_, WhichAgents::all);
  ASSERT_TRUE(detached) << detached.error().message;
  for (size_t i = 0; i < kPatches; i++) EXPECT_TRUE(is_restored(i)) << i;
  kill(child_->pid(), SIGCONT);
  EXPECT_TRUE(child_->runs_on());
}

// A thread of the child may return to one, which stays.
TEST_F(DetachTest, RestoresRelaysThatNoThreadIsIn) {
  void* page = mmap(reinterpret_cast<void*>(test::kOnStack & ~(kPage - 1)), kPage, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  for (const size_t relay : {0, 1}) table_[relay].kind = inside::PatchKind::relay;
  table_[1].address = test::kOnStack;
  std::memcpy(reinterpret_cast<void*>(test::kOnStack), table_[1].after, kBytes);
  start();
  const auto detached = detach_agents(child_->pid(), *memory_, WhichAgents::all);
  munmap(page, kPage);
  ASSERT_TRUE(detached);
  EXPECT_EQ(detached->restored, 1);
  EXPECT_TRUE(is_restored(0));
  EXPECT_FALSE(is_restored(1));
}

TEST_F(DetachTest, RestoresNoMoreThanWasReplaced) {
  table_[0].length = 2;
  table_[1].length = sizeof table_[1].before + 1;  // which the process may write
  code_[2] = 99;
  start();
  const auto detached = detach_agents(child_->pid(), *memory_, WhichAgents::all);
  ASSERT_TRUE(detached);
  EXPECT_EQ(detached->restored, kPatches - 1);
  unsigned char now[kBytes];
  ASSERT_TRUE(memory_->read(table_[0].address, std::as_writable_bytes(std::span(now))));
  EXPECT_EQ(now[1], 2);
  EXPECT_EQ(now[2], 99);
}

// As dvm wrote them before there were relays.
TEST_F(DetachTest, RestoresJumpsWhoseLengthIsNotSaid) {
  for (size_t i = 0; i < kPatches; i++) table_[i].length = 0;
  start();
  const auto detached = detach_agents(child_->pid(), *memory_, WhichAgents::all);
  ASSERT_TRUE(detached);
  EXPECT_EQ(detached->restored, kPatches);
  for (size_t i = 0; i < kPatches; i++) EXPECT_TRUE(is_restored(i)) << i;
}

TEST_F(DetachTest, LeavesWhatSomethingElseHasChanged) {
  code_[16] = kOther;
  start();
  const auto detached = detach_agents(child_->pid(), *memory_, WhichAgents::all);
  ASSERT_TRUE(detached);
  EXPECT_EQ(detached->restored, kPatches - 1);
  EXPECT_FALSE(is_restored(1));
}

// By a uprobe of another tool, which is there or is gone.
TEST_F(DetachTest, RestoresTheRestOfHalfReplacedJumps) {
  header_->bytes = kPage, header_->table_size = kPatches;
  code_[0] = kTrap, code_[16] = table_[1].before[0];
  start();
  const auto detached = detach_agents(child_->pid(), *memory_, WhichAgents::all);
  ASSERT_TRUE(detached);
  EXPECT_EQ(detached->restored, kPatches);
  EXPECT_FALSE(is_header_mapped());
  EXPECT_FALSE(is_restored(0));
  ASSERT_TRUE(memory_->write(table_[0].address, std::as_bytes(std::span(table_[0].before).first(1))));
  for (size_t i = 0; i < kPatches; i++) EXPECT_TRUE(is_restored(i)) << i;
}

// A uprobe on the second instruction under a jump.
TEST_F(DetachTest, RestoresTheRestOfJumpsThatAreReplacedInside) {
  code_[2] = kTrap, code_[18] = table_[1].before[2], code_[35] = kOther;
  start();
  const auto detached = detach_agents(child_->pid(), *memory_, WhichAgents::all);
  ASSERT_TRUE(detached);
  EXPECT_EQ(detached->restored, 2);
  ASSERT_TRUE(memory_->write(table_[0].address + 2, std::as_bytes(std::span(table_[0].before).subspan(2, 1))));
  EXPECT_TRUE(is_restored(0) && is_restored(1));
  EXPECT_FALSE(is_restored(2));
}

TEST_F(DetachTest, FindsJumpsThatUprobesDisturb) {
  const auto found = [&] {
    auto memory = AgentMemory::open(getpid());
    DisturbedJumps jumps;
    AgentSite site;
    for (size_t i = 0; i < kPatches; i++) {
      site.watch = i == 0 ? inside::Watch::munmap : inside::Watch::nothing;
      jumps.add(table_[i], site);
    }
    std::vector<uint64_t> all = jumps.find(*memory);
    EXPECT_EQ(jumps.must_leave(all), !all.empty() && all[0] == table_[0].address);
    return all;
  };
  EXPECT_EQ(found(), std::vector<uint64_t>());
  code_[16] = kTrap;
  EXPECT_EQ(found(), std::vector<uint64_t>{table_[1].address});
  code_[16] = table_[1].before[0], code_[0] = kTrap;
  EXPECT_EQ(found(), (std::vector<uint64_t>{table_[0].address, table_[1].address}));
  std::memcpy(code_, table_[0].before, kBytes);  // somebody has taken it off
  code_[16] = kOther;
  EXPECT_EQ(found(), std::vector<uint64_t>());
}

TEST_F(DetachTest, FindsDisturbedJumpsOfManyPagesInTurn) {
  constexpr size_t kPages = 300;
  void* const begin = mmap(nullptr, kPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  auto memory = AgentMemory::open(getpid());
  DisturbedJumps jumps;
  inside::Patch patch = table_[0];
  for (size_t i = 0; i < kPages; i++) {
    patch.address = reinterpret_cast<uint64_t>(begin) + i * kPage;
    std::memcpy(static_cast<char*>(begin) + i * kPage, patch.after, kBytes);
    jumps.add(patch, AgentSite());
  }
  static_cast<unsigned char*>(begin)[(kPages - 1) * kPage] = kTrap;
  size_t turns = 1;
  while (turns < kPages && jumps.find(*memory).empty()) turns++;
  EXPECT_GT(turns, 1);
  EXPECT_LT(turns, 10);
  jumps.remove(std::vector<uint64_t>{patch.address});
  for (size_t i = 0; i < 2 * turns; i++) EXPECT_TRUE(jumps.find(*memory).empty());
  munmap(begin, kPages * kPage);
}

TEST_F(DetachTest, UnmapsWhatNoJumpLeadsTo) {
  header_->bytes = kPage, header_->table_size = kPatches;
  start();
  ASSERT_TRUE(detach_agents(child_->pid(), *memory_, WhichAgents::all));
  EXPECT_FALSE(is_header_mapped());
  EXPECT_TRUE(is_restored(0));
  EXPECT_TRUE(child_->runs_on());
}

TEST_F(DetachTest, UnmapsNothingThatHasAnotherSize) {
  header_->bytes = 2 * kPage, header_->table_size = kPatches;
  start();
  ASSERT_TRUE(detach_agents(child_->pid(), *memory_, WhichAgents::all));
  EXPECT_TRUE(is_header_mapped());
}

TEST_F(DetachTest, KeepsMappingsIfItIsToldTo) {
  header_->bytes = kPage, header_->table_size = kPatches;
  start();
  ASSERT_TRUE(detach_agents(child_->pid(), *memory_, WhichAgents::all, 0, Mappings::keep));
  EXPECT_TRUE(is_header_mapped());
  EXPECT_TRUE(is_restored(0));
  ASSERT_TRUE(detach_agents(child_->pid(), *memory_, WhichAgents::all));
  EXPECT_FALSE(is_header_mapped());
}

// Its first byte may be put back, by a tracer that has put a breakpoint there.
TEST_F(DetachTest, KeepsMappingsThatAJumpMayLeadTo) {
  header_->bytes = kPage, header_->table_size = kPatches;
  code_[16] = kOther;
  start();
  ASSERT_TRUE(detach_agents(child_->pid(), *memory_, WhichAgents::all));
  EXPECT_TRUE(is_header_mapped());
  ASSERT_TRUE(memory_->write(table_[1].address, std::as_bytes(std::span(table_[1].before).first(kBytes))));
  ASSERT_TRUE(detach_agents(child_->pid(), *memory_, WhichAgents::all));
  EXPECT_FALSE(is_header_mapped());
}

// The bytes behind the opcode are those of the instruction that it has replaced.
TEST_F(DetachTest, UnmapsWhatIsRestoredThoughItResemblesTheJump) {
  header_->bytes = kPage, header_->table_size = kPatches;
  std::memcpy(table_[1].before + 1, table_[1].after + 1, kBytes - 1);
  start();
  ASSERT_TRUE(detach_agents(child_->pid(), *memory_, WhichAgents::all));
  EXPECT_TRUE(is_restored(1));
  EXPECT_FALSE(is_header_mapped());
}

// A dvm that was killed before it could write a header.
TEST_F(DetachTest, UnmapsTheLanesOfADeadTracerThatNoCodeRefersTo) {
  for (const pid_t tracer : {getpid(), std::numeric_limits<pid_t>::max()}) {
    const FileDescriptor file(memfd_create(("dvm-agent-" + std::to_string(tracer)).c_str(), MFD_CLOEXEC));
    ASSERT_EQ(ftruncate(file.get(), kPage), 0);
    void* lanes = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    ASSERT_NE(lanes, MAP_FAILED);
    start();
    const auto memory = AgentMemory::open(child_->pid());
    ASSERT_TRUE(memory && detach_agents(child_->pid(), *memory, WhichAgents::of_dead_tracers));
    uint64_t word = 0;
    EXPECT_EQ(memory->read_object(reinterpret_cast<uint64_t>(lanes), word), tracer == getpid());
    EXPECT_TRUE(child_->runs_on());
    munmap(lanes, kPage);
  }
}

// Of a thread that lives.
TEST_F(DetachTest, KeepsMappingsWhileALaneIsTaken) {
  struct {
    inside::DataHeader header;
    inside::Lane lanes[2];
    uint64_t saved[inside::kSavedWords]{};
  } data;
  const auto detach = [&] {
    ASSERT_TRUE(memory_->write_object(reinterpret_cast<uint64_t>(&data), data));
    ASSERT_TRUE(detach_agents(child_->pid(), *memory_, WhichAgents::all));
  };
  header_->bytes = kPage, header_->table_size = kPatches, header_->lanes = 2;
  header_->data = reinterpret_cast<uint64_t>(&data);
  data.lanes[1].turns = 1;
  table_[0].kind = inside::PatchKind::unwinder;
  start();
  data.lanes[1].owner = static_cast<uint64_t>(child_->pid());
  detach();
  EXPECT_TRUE(is_header_mapped());
  data.lanes[1].frame = reinterpret_cast<uint64_t>(data.saved);
  data.saved[inside::kGuardWord] = inside::kGuard;
  detach();
  EXPECT_TRUE(is_header_mapped());
  EXPECT_FALSE(is_restored(0));
  EXPECT_TRUE(is_restored(1));
  data.saved[inside::kGuardWord]++;  // the frame was left, and overwritten
  detach();
  EXPECT_FALSE(is_header_mapped());
  EXPECT_TRUE(is_restored(0));
}

TEST_F(DetachTest, LeavesAgentsOfLivingTracers) {
  start();
  const auto detached = detach_agents(child_->pid(), *memory_, WhichAgents::of_dead_tracers);
  ASSERT_TRUE(detached);
  EXPECT_EQ(detached->agents, 0);
  EXPECT_EQ(armed(), kArmedWord);
  EXPECT_FALSE(is_restored(0));
}

// Another process may have the number of a tracer that is dead.
TEST_F(DetachTest, KnowsATracerByTheTimeOfItsStart) {
  header_->tracer_began++;
  start();
  const auto detached = detach_agents(child_->pid(), *memory_, WhichAgents::of_dead_tracers);
  ASSERT_TRUE(detached);
  EXPECT_EQ(detached->restored, kPatches);
}

// In another PID namespace.
TEST_F(DetachTest, LeavesTheAgentOfATracerWithTheSameNumber) {
  header_->tracer_began++;
  start();
  const auto detached = detach_agents(child_->pid(), *memory_, WhichAgents::of_this_tracer, getpid());
  ASSERT_TRUE(detached);
  EXPECT_EQ(detached->agents, 0);
  EXPECT_FALSE(is_restored(0));
}

TEST_F(DetachTest, SurvivesATableThatIsNone) {
  header_->patches = UINT64_MAX, header_->table = 16, header_->armed = 8;
  start();
  const auto detached = detach_agents(child_->pid(), *memory_, WhichAgents::all);
  ASSERT_TRUE(detached);
  EXPECT_EQ(detached->restored, 0);
  EXPECT_TRUE(child_->runs_on());
}

TEST_F(DetachTest, TellsJumpsThatLieThere) {
  code_[0] = 0xcc;
  start();
  const auto agents = find_agents(child_->pid(), *memory_);
  ASSERT_EQ(agents.size(), 1);
  EXPECT_TRUE(is_traced(agents[0]));
  EXPECT_EQ(jumps_of(*memory_, agents[0]), (std::vector<uint64_t>{table_[1].address, table_[2].address}));
  EXPECT_EQ(held_jumps_of(*memory_, agents[0]).size(), kPatches);
  ASSERT_TRUE(memory_->write(table_[2].address, std::as_bytes(std::span(table_[2].before).first(kBytes))));
  EXPECT_EQ(held_jumps_of(*memory_, agents[0]), (std::vector<uint64_t>{table_[0].address, table_[1].address}));
}

std::set<pid_t> children_named(const std::string& name) {
  std::set<pid_t> found;
  std::ifstream children(fmt::format("/proc/{0}/task/{0}/children", getpid()));
  for (pid_t child = 0; children >> child;) {
    std::string read;
    std::getline(std::ifstream(fmt::format("/proc/{}/comm", child)), read);
    if (read == name) found.insert(child);
  }
  return found;
}

// In another process, which is the tracer, and ends without dismissing the guard.
void trace(const AgentMemory& memory, uint64_t at, inside::CodeHeader header, pid_t pid) {
  const pid_t tracer = fork();
  if (tracer == 0) {
    header.tracer = getpid(), header.tracer_began = start_time(getpid());
    memory.write_object(at, header);
    const auto guard = AgentGuard::start(pid, false);
    _exit(guard ? 0 : 1);
  }
  int status = 0;
  waitpid(tracer, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(DetachTest, TheGuardRestoresWhenItsTracerIsGone) {
  start();
  trace(*memory_, reinterpret_cast<uint64_t>(header_), *header_, child_->pid());
  EXPECT_TRUE(eventually_restored());
  EXPECT_TRUE(child_->runs_on());
}

TEST_F(DetachTest, TheGuardRestoresWhatALivingTracerHandsOver) {
  header_->tracer = getpid();
  start();
  auto guard = AgentGuard::start(child_->pid(), false);
  ASSERT_TRUE(guard);
  usleep(20'000);
  EXPECT_FALSE(is_restored(0));
  guard->hand_over();
  EXPECT_TRUE(eventually_restored());
  EXPECT_TRUE(child_->runs_on());
}

// Otherwise signals to the process group of dvm might still reach it.
TEST(Guard, HasLeftItsSessionOnceItIsMade) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  for (int i = 0; i < 100; i++) {
    auto guard = AgentGuard::start(getpid(), true);
    ASSERT_TRUE(guard);
    const std::set<pid_t> guards = children_named("dvm-guard");
    ASSERT_EQ(guards.size(), 1) << i;
    EXPECT_NE(getsid(*guards.begin()), getsid(0));
    { const AgentGuard dismissed = *std::move(guard); }
    EXPECT_EQ(wait(nullptr), *guards.begin());
  }
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

// A user who may have two processes: this one, and the one that would make the guard.
TEST_F(DetachTest, TheGuardIsMissedWhereItCannotBeMade) {
  if (geteuid() != 0) GTEST_SKIP() << "only root may become another user";
  constexpr uid_t kNobodyElse = 54'321;
  constexpr rlimit kTwo = {2, 2};
  const pid_t tracer = fork();
  if (tracer == 0) {
    if (setrlimit(RLIMIT_NPROC, &kTwo) != 0 || setuid(kNobodyElse) != 0) _exit(2);
    _exit(AgentGuard::start(getpid(), false) ? 1 : 0);
  }
  int status = 0;
  waitpid(tracer, &status, 0);
  EXPECT_EQ(status, 0);
}

// The tracer lives: what it has left otherwise, any other dvm may restore.
TEST_F(DetachTest, TheGuardDoesNothingOnceItIsDismissed) {
  start();
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  {
    const auto guard = AgentGuard::start(child_->pid(), false);
    ASSERT_TRUE(guard);
  }
  int status = 0;
  EXPECT_NE(wait(&status), child_->pid());
  prctl(PR_SET_CHILD_SUBREAPER, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_FALSE(is_restored(0));
  EXPECT_EQ(armed(), kArmedWord);
}

// As if the traced process ended while dvm attached: SIGPIPE would end dvm.
TEST(Guard, ThatHasEndedIsDismissed) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t traced = fork();
  if (traced == 0) {
    pause();
    _exit(0);
  }
  {
    const auto guard = AgentGuard::start(traced, false);
    ASSERT_TRUE(guard);
    kill(traced, SIGKILL);
    EXPECT_GT(wait(nullptr), 0);
    EXPECT_GT(wait(nullptr), 0);
  }
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

}  // namespace
}  // namespace dvm::runtime
