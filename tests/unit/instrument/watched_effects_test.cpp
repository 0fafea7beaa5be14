// What threads do at watched functions (runtime/agent/inside/watch.h): in this process, of which dvm knows nothing.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

#include "runtime/agent/inside/taking.h"

namespace dvm::runtime::inside {
namespace {

constexpr uint32_t kLanes = 4, kSmallRing = 64 * 1024, kLargeRing = 8 << 20;
constexpr uint64_t kArmedBytes = kPage + kSemaphoreBytes;

// No thread waits for code: dvm and its guard are gone, and another one has waited in vain.
class WatchEffects : public testing::Test {
 protected:
  WatchEffects() {
    armed_ = mmap(nullptr, kArmedBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memory_ = memfd_create("lanes", 0);
    if (ftruncate(memory_, static_cast<off_t>(data_bytes(kLanes, kLargeRing))) == 0) data_ = map(data_bytes(kLanes, kLargeRing));
    context_.armed = address_of(armed_), context_.data = address_of(data_), context_.own = address_of(&own_);
    context_.lasting = address_of(&lasting_), context_.own_pid = static_cast<uint64_t>(getpid());
    context_.lanes = kLanes, context_.ring_bytes = kSmallRing;
    page().pid = context_.own_pid;
    restoring().given_up = 1;
    header() = {};
  }
  ~WatchEffects() override {
    munmap(armed_, kArmedBytes);
    munmap(data_, data_bytes(kLanes, kLargeRing));
    close(memory_);
  }

  static uint64_t address_of(const void* at) { return reinterpret_cast<uint64_t>(at); }
  void* map(uint64_t bytes) const { return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory_, 0); }
  ArmedPage& page() { return *static_cast<ArmedPage*>(armed_); }
  Restoring& restoring() const { return *reinterpret_cast<Restoring*>(restoring_at(context_.armed)); }
  DataHeader& header() { return *static_cast<DataHeader*>(data_); }
  bool calls(Watch watch, uint64_t first, uint64_t second = 0, uint64_t third = 0) {
    uint64_t saved[kSavedWords] = {};
    saved[14] = first, saved[13] = second, saved[12] = third;
    Site site{};
    site.context = context_, site.watch = watch, site.jump = address_of(&jump_);
    return watch_call(site, saved, page(), header());
  }

  const unsigned char jump_ = 0xe9;
  int memory_ = -1;
  void* armed_;
  void* data_ = nullptr;
  struct {
    OwnMemory own;
    WatchedMemory watched;
  } own_;
  LastingMemory lasting_;
  Context context_;
};

TEST_F(WatchEffects, StubsOfARestrictedProcessAreMuted) {
  header().restricted = 0;
  EXPECT_FALSE(calls(Watch::prctl, 15));
  EXPECT_EQ(header().restricted, 0);
  EXPECT_FALSE(calls(Watch::prctl, 22));
  EXPECT_EQ(header().restricted, 1);
  EXPECT_EQ(page().muted, 1);
  EXPECT_EQ(steady_memory(context_).is_off, 0);
  for (uint64_t SteadyMemory::*used : {&SteadyMemory::state, &SteadyMemory::proposed}) {
    steady_memory(context_) = {};
    steady_memory(context_).*used = kSteadyStep;
    EXPECT_FALSE(calls(Watch::prctl, 22));
    EXPECT_EQ(steady_memory(context_).is_off, 1);
  }
  EXPECT_EQ(header().leaving, 0);
}

TEST_F(WatchEffects, ThreadsThatShareALaneAreAsked) {
  constexpr uint64_t kVm = 0x100, kSetPointer = 0x1002, kSetTls = 0x80000, kThread = 0x10000;
  const auto armed_after = [&](uint16_t armed, Watch watch, uint64_t first, uint64_t third) {
    page().armed = armed;
    EXPECT_FALSE(calls(watch, first, 0, third));
    return page().armed;
  };
  EXPECT_EQ(armed_after(kAlone, Watch::clone, 1, kVm), kAsked);
  EXPECT_EQ(armed_after(kShared, Watch::clone, 1, kVm), kAsked);
  EXPECT_EQ(armed_after(kDisarmed, Watch::clone, 1, kVm), kDisarmed);
  EXPECT_EQ(armed_after(kAlone, Watch::clone, 1, 0), kAlone);
  EXPECT_EQ(armed_after(kAlone, Watch::arch_prctl, kSetPointer, 0), kAsked);
  EXPECT_EQ(armed_after(kAlone, Watch::clone, 1, kVm | kThread | kSetTls), kAsked);  // its block cannot be read
}

TEST_F(WatchEffects, CodeIsRestoredBeforeMemoryOfDvmGoes) {
  own_.own.count = 1, own_.own.ranges[0] = {kPage, 2 * kPage};
  EXPECT_FALSE(calls(Watch::munmap, 2 * kPage, kPage));
  EXPECT_EQ(header().leaving, 0);
  EXPECT_FALSE(calls(Watch::munmap, kPage, kPage));
  EXPECT_EQ(header().leaving, kLeaving);
  header().leaving = 0;
  EXPECT_FALSE(calls(Watch::prctl, 26, 2));  // no clock
  EXPECT_EQ(header().leaving, kLeaving);
  header().leaving = 0;
  EXPECT_FALSE(calls(Watch::syscall, 323, 0));  // faults of pages
  EXPECT_EQ(header().leaving, kLeaving);
}

TEST_F(WatchEffects, CodeIsRestoredBeforeASignalIsHandled) {
  const uint64_t handler = 0x1234, signal = uint64_t{1} << 10;
  header().unraised = ~uint64_t{0};
  EXPECT_FALSE(calls(Watch::sigaction, 11, address_of(&handler)));
  EXPECT_EQ(header().handled, 0);  // no instruction raises it
  header().unraised = ~signal;
  EXPECT_FALSE(calls(Watch::sigaction, 11, address_of(&handler)));
  EXPECT_EQ(header().handled, signal);
  own_.watched.count = 1, own_.watched.ranges[0] = {kPage, 2 * kPage};
  header().unraised = 0;
  EXPECT_FALSE(calls(Watch::munmap, kPage, kPage));
  EXPECT_EQ(header().handled, signal | kFileDataSignal);
  EXPECT_EQ(header().leaving, 0);
}

TEST_F(WatchEffects, ThreadsAreAsPatientAsTheOneBefore) {
  const auto lasts = [&] {
    uint64_t now = 0;
    const bool does_last = Patience(context_).lasts(now);
    EXPECT_NE(now, 0);
    return does_last;
  };
  EXPECT_FALSE(lasts());
  restoring().given_up = 0;
  EXPECT_TRUE(lasts());
  restoring().at = __builtin_ia32_rdtsc();  // the guard has begun again
  EXPECT_TRUE(lasts());
  restoring().given_up = restoring().at + 1;
  EXPECT_FALSE(lasts());
  page().armed = kAlone;
  EXPECT_TRUE(lasts());
}

TEST_F(WatchEffects, NoThreadGivesUpOnceCodeIsRestored) {
  restoring().given_up = 0;
  wait_for_all_code(context_, header(), address_of("\x90"));
  EXPECT_EQ(header().leaving, kLeaving);
  header().unraised = 4;
  wait_for_signal(context_, header(), address_of(&jump_), 4);
  EXPECT_EQ(restoring().given_up, 0);
  uint64_t now = 0;
  Patience patience(context_);
  patience.lasts(now), patience.give_up();
  EXPECT_EQ(restoring().given_up, 1);
}

// The first thread unmaps them, and the others see what has become of them.
TEST_F(WatchEffects, LargeLanesGoBeforeMemoryIsLocked) {
  EXPECT_FALSE(calls(Watch::mlockall, 1));
  EXPECT_EQ(page().leavers, 0);  // they are small
  context_.ring_bytes = kLargeRing;
  page().asked = kAbandoned;
  EXPECT_TRUE(calls(Watch::mlockall, 1));
  EXPECT_EQ(page().lanes_left, kLanesUnmapped);
  EXPECT_EQ(page().leavers, 1);
  const auto is_mapped = [&](uint64_t at) {
    unsigned char is_there = 0;
    return mincore(static_cast<char*>(data_) + at / kPage * kPage, kPage, &is_there) == 0;
  };
  EXPECT_FALSE(is_mapped(0));
  EXPECT_FALSE(is_mapped(data_bytes(kLanes, kLargeRing) - 1));
  data_ = map(data_bytes(kLanes, kLargeRing));
  EXPECT_TRUE(calls(Watch::mlockall, 1));
  EXPECT_EQ(page().leavers, 2);
  EXPECT_TRUE(is_mapped(0));
}

TEST_F(WatchEffects, LanesStayWhereTheyCannotBeUnmapped) {
  context_.ring_bytes = kLargeRing;
  page().asked = kAbandoned, page().muted = 1;
  for (int i = 0; i < 2; i++) {
    EXPECT_FALSE(calls(Watch::mlockall, 1));
    EXPECT_EQ(page().lanes_left, kLanesKept);
  }
}

// As the dynamic linker of glibc describes its state.
struct LinkerState {
  uint64_t version = 2, files = 0, function = 0, state = 0, base = 0;
  const LinkerState* next = nullptr;
};

TEST_F(WatchEffects, FilesThatAreMappedAreATurn) {
  const LinkerState added, adding{.state = 1};
  auto& loads = *reinterpret_cast<LoadTurns*>(context_.data + loads_at(kLanes, kSmallRing));
  const auto load_with = [&](const LinkerState& linker) {
    loads.state = address_of(&linker.state);
    EXPECT_FALSE(calls(Watch::load, 0));
  };
  page().armed = kAlone, page().muted = 1;  // so it does not wait
  load_with(added);
  EXPECT_EQ(loads.begun, 0);
  for (int i = 0; i < 2; i++) load_with(adding);
  EXPECT_EQ(loads.begun, 0);
  for (int i = 0; i < 2; i++) load_with(added);
  EXPECT_EQ(loads.begun, 1);
  EXPECT_EQ(loads.late, 1);
  loads.answered = 2;
  load_with(adding), load_with(added);
  EXPECT_EQ(loads.begun, 2);
  EXPECT_EQ(loads.late, 1);
  page().muted = 0;
  load_with(adding);
  std::thread dvm([&] {
    while (load(loads.begun) < 3) std::this_thread::yield();
    __atomic_store_n(&loads.answered, 3, __ATOMIC_RELEASE);
  });
  load_with(added);
  EXPECT_EQ(load(loads.answered), 3);
  dvm.join();
  EXPECT_EQ(loads.late, 1);
  load_with(adding);
  page().armed = kDisarmed;
  load_with(added);
  EXPECT_EQ(loads.begun, 4);
  EXPECT_EQ(loads.late, 1);  // nobody is there to be late for
  context_.own_pid++;        // a child by vfork
  load_with(adding);
  EXPECT_EQ(loads.is_adding, 0);
}

TEST_F(WatchEffects, AnyNamespaceOfTheLinkerMayChange) {
  const LinkerState last{.state = 1}, middle{.next = &last};
  LinkerState first{.next = &middle};
  const auto change = [&](bool may_read) { return linker_change(context_, address_of(&first.state), may_read); };
  EXPECT_EQ(change(true), 1);
  EXPECT_EQ(change(false), 0);
  first.state = 2;
  EXPECT_EQ(change(true), 2);
  EXPECT_EQ(change(false), 2);
  first.state = 0, first.version = 1;  // they are not linked to each other
  EXPECT_EQ(change(true), 0);
  first.version = 2, first.next = &first;
  EXPECT_EQ(change(true), 0);
}

TEST_F(WatchEffects, AThreadWaitsToBeHeld) {
  const auto tid = static_cast<uint64_t>(syscall(SYS_gettid));
  page().armed = kAlone;
  std::thread dvm([&] {
    while (load(header().becoming) == 0) std::this_thread::yield();
    __atomic_store_n(&header().held, load(header().becoming), __ATOMIC_RELEASE);
  });
  EXPECT_FALSE(calls(Watch::exec, 0));
  EXPECT_EQ(load(header().held), tid);
  dvm.join();
  header().becoming = header().held = 0;
  page().armed = kDisarmed;
  calls(Watch::exec, 0);
  page().armed = kAlone, page().muted = 1;
  calls(Watch::exec, 0);
  page().muted = 0, context_.own_pid++;  // a child by vfork
  calls(Watch::exec, 0);
  EXPECT_EQ(header().becoming, 0);
}

TEST_F(WatchEffects, AForkedChildHasLanesOfItsOwn) {
  const auto& shared = *static_cast<const DataHeader*>(map(kPage));
  const auto part = [&] { part_from_parent(context_, header()); };
  header().restricted = 0;
  context_.follows = 1;
  part();
  EXPECT_EQ(header().restricted, 0);
  context_.follows = 0;
  header().restricted = 1;
  part();
  header().homeless = 5;
  EXPECT_EQ(shared.homeless, 5);
  header().restricted = 0;
  part();
  EXPECT_EQ(header().restricted, 1);
  EXPECT_EQ(header().homeless, 0);
  EXPECT_EQ(shared.restricted, 0);
  auto* last = reinterpret_cast<unsigned char*>(context_.data + data_bytes(kLanes, kSmallRing) - 1);
  *last = 9;
  unsigned char of_parent = 9;
  EXPECT_EQ(pread(memory_, &of_parent, 1, static_cast<off_t>(data_bytes(kLanes, kSmallRing) - 1)), 1);
  EXPECT_EQ(of_parent, 0);
  munmap(const_cast<DataHeader*>(&shared), kPage);
}

// Those that dvm has raised, if their jumps still lie there.
TEST_F(WatchEffects, AForkedChildLowersItsSemaphores) {
  auto& table = *reinterpret_cast<Semaphores*>(semaphores_at(context_.armed));
  const unsigned char jump[] = {0xe9, 1, 2, 3, 4}, with_prefix[] = {0x36, 0xeb, 7}, short_jump[] = {0xeb, 7}, other[] = {0x90, 7};
  uint16_t counters[8] = {5, 5, 5, 5, 5, 5, 5, 0};
  const auto add = [&](const unsigned char* at, uint32_t distance, SemaphoreState state, uint64_t bytes) {
    const uint64_t i = table.count++;
    table.all[i] = {address_of(&counters[i]), address_of(at), distance, state, bytes};
  };
  add(jump, 0x04030201, SemaphoreState::raised, 4);
  add(jump, 0x04030201, SemaphoreState::wanted, 4);
  add(jump, 0x04030200, SemaphoreState::raised, 4);
  add(jump, 0x04030201, SemaphoreState::raising, 4);
  add(short_jump, 7, SemaphoreState::raised, 1);
  add(other, 7, SemaphoreState::raised, 1);
  add(with_prefix, 7, SemaphoreState::raised, 1);
  add(jump, 0x04030201, SemaphoreState::raised, 4);
  lower_copied_semaphores(context_);
  constexpr uint16_t kLeft[] = {4, 4, 5, 5, 4, 5, 5, 0};
  constexpr SemaphoreState kOff = SemaphoreState::off, kRaised = SemaphoreState::raised;
  constexpr SemaphoreState kStates[] = {kOff, kOff, kRaised, SemaphoreState::raising, kOff, kRaised, kRaised, kOff};
  for (uint64_t i = 0; i < table.count; i++) {
    EXPECT_EQ(counters[i], kLeft[i]) << i;
    EXPECT_EQ(table.all[i].state, kStates[i]) << i;
  }
}

}  // namespace
}  // namespace dvm::runtime::inside
