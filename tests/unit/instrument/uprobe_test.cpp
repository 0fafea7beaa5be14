// The uprobe instrument on a live process: a forked child that calls the functions below on demand. Needs root (or CAP_BPF and
// CAP_PERFMON) and a kernel with uprobe_multi; elsewhere these tests are skipped.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <thread>

#include "tests/unit/instrument/uprobe_fixture.h"

namespace dvm::runtime {
namespace {

using test::memory_of;

TEST_F(Uprobe, EveryCallFiresOnce) {
  constexpr long kCalls = 100'000;
  TracedChild child({[] {
    for (long i = 0; i < kCalls; i++) traced_plain(i);
  }});
  const Probe probe = probe_on(child.pid(), &traced_plain, 7);
  auto instrument = make_uprobe_instrument();
  ASSERT_TRUE(instrument->takes(probe));
  ASSERT_TRUE(instrument->enable(std::array{EnabledProbe{&probe, {}}}, refused_));
  ASSERT_TRUE(child.call(0));
  Counter counter;
  const auto polled = instrument->poll(counter);
  ASSERT_TRUE(polled);
  EXPECT_EQ(*polled, kCalls);
  EXPECT_EQ(counter.count[7], kCalls);
  EXPECT_EQ(instrument->drops(), 0u);
  EXPECT_TRUE(refused_.empty());

  instrument->disable();
  ASSERT_TRUE(child.call(0));
  EXPECT_EQ(*instrument->poll(counter), 0u);
  ASSERT_TRUE(instrument->enable(std::array{EnabledProbe{&probe, {}}}, refused_));  // and on again
  ASSERT_TRUE(child.call(0));
  EXPECT_EQ(*instrument->poll(counter), kCalls);
}

TEST_F(Uprobe, TenArgumentsAndTheReturnValue) {
  TracedChild child({[] { traced_ten(1, -2, 3, 4, 5, 6, 70, 80, 90, 1'000'000'007); }});
  const Probe entry = probe_on(child.pid(), &traced_ten, 1), leave = probe_on(child.pid(), &traced_ten, 2, true);
  CaptureNeeds all;
  all.args = 0x3ff;
  const auto seen = trace(child, {{&entry, all}, {&leave, all}});
  ASSERT_EQ(seen.size(), 2u);
  const decltype(vm::Firing::args) expected = {1, static_cast<uint64_t>(-2), 3, 4, 5, 6, 70, 80, 90, 1'000'000'007};
  EXPECT_EQ(seen[0].firing.probe_id, 1u);
  EXPECT_EQ(seen[0].firing.args, expected);
  EXPECT_EQ(seen[1].firing.probe_id, 2u);
  EXPECT_EQ(seen[1].firing.args[0], 0u);
  EXPECT_EQ(seen[1].firing.args[1], 1'000'000'007u + 257);
  EXPECT_EQ(seen[1].firing.args[2], 0u);
}

constexpr std::array<int, 5> kNumbers = {1, 2, 3, 4, -5};

TEST_F(Uprobe, OperandsInsideAFunction) {
  TracedChild child({[] { traced_inside(kNumbers.data(), 1, 2, 3, 4, 5, 6, 7); }});
  Operands operands;
  operands[0] = Operand::constant(-7);
  operands[1] = {.kind = Operand::Kind::saved, .base = saved::rax, .size = 1, .shift = 8};  // %ah
  operands[2] = {.kind = Operand::Kind::saved, .base = saved::rax, .size = 2, .is_signed = true};
  operands[3] = {.kind = Operand::Kind::saved, .base = saved::rax, .size = 4};
  operands[4] = {.kind = Operand::Kind::memory,  // -4(%rdi,%rcx,4)
                 .base = saved::rdi,
                 .index = saved::rcx,
                 .scale = 4,
                 .size = 4,
                 .value = -4};
  operands[5] = {.kind = Operand::Kind::memory, .base = saved::rdi, .size = 4, .is_signed = true, .value = 16};
  operands[6] = {.kind = Operand::Kind::memory, .size = 4, .value = reinterpret_cast<int64_t>(&kNumbers[2])};
  Probe probe = probe_on(child.pid(), &traced_inside_here, 1);
  std::get<UprobeSite>(probe.site).inside = operands;
  CaptureNeeds all;
  all.args = 0x3ff;
  const auto seen = trace(child, {{&probe, all}});
  ASSERT_EQ(seen.size(), 1u);
  const decltype(vm::Firing::args) expected = {
      static_cast<uint64_t>(-7), 0xde, 0xffffffffffffdef0, 0x9abcdef0, 2, static_cast<uint64_t>(-5), 3, 0, 0, 0};
  EXPECT_EQ(seen[0].firing.args, expected);
}

TEST_F(Uprobe, AnEntryAfterTheStackHasMoved) {
  TracedChild child({[] { traced_inside(kNumbers.data(), 1, 2, 3, 4, 5, 60, 70); }});
  const Probe entry = probe_on(child.pid(), &traced_inside, 1);
  Probe moved = probe_on(child.pid(), &traced_inside_here, 2);
  std::get<UprobeSite>(moved.site).stack_moved = 16;
  CaptureNeeds needs;
  needs.args = 0b11000011;
  needs.frames = 4;
  const auto seen = trace(child, {{&entry, needs}, {&moved, needs}});
  ASSERT_EQ(seen.size(), 2u);
  for (const Seen& each : seen) {
    EXPECT_EQ(each.firing.args[1], 1u);
    EXPECT_EQ(each.firing.args[6], 60u);
    EXPECT_EQ(each.firing.args[7], 70u);
  }
  const auto caller = [](const Seen& at) { return at.callers.size() > 1 ? at.callers[1] : 0; };
  EXPECT_EQ(caller(seen[0]), caller(seen[1]));
  EXPECT_NE(caller(seen[0]), 0u);
}

TEST_F(Uprobe, ContextOfTheThread) {
  TracedChild child({[] { traced_plain(1); }});
  const Probe probe = probe_on(child.pid(), &traced_plain, 3);
  CaptureNeeds needs;
  needs.time = needs.thread = needs.cpu = needs.comm = true;
  timespec before, wall;
  clock_gettime(CLOCK_MONOTONIC, &before);
  clock_gettime(CLOCK_REALTIME, &wall);
  const auto seen = trace(child, {{&probe, needs}});
  ASSERT_EQ(seen.size(), 1u);
  const vm::Firing& firing = seen[0].firing;
  EXPECT_EQ(firing.pid, child.pid());
  EXPECT_EQ(firing.tid, child.pid());
  EXPECT_GE(firing.cpu, 0);
  EXPECT_LT(firing.cpu, sysconf(_SC_NPROCESSORS_CONF));
  EXPECT_EQ(seen[0].execname, std::string(program_invocation_short_name).substr(0, 15));
  const uint64_t start = static_cast<uint64_t>(before.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(before.tv_nsec);
  EXPECT_GE(firing.timestamp, start);
  EXPECT_LT(firing.timestamp, start + 10'000'000'000);
  EXPECT_NEAR(static_cast<double>(firing.walltimestamp) / 1e9, static_cast<double>(wall.tv_sec), 10);
}

TEST_F(Uprobe, TheProcessIsKnownEvenIfItWasNotCaptured) {
  TracedChild child({[] { traced_plain(1); }});
  const Probe probe = probe_on(child.pid(), &traced_plain, 3);
  const auto seen = trace(child, {{&probe, {}}});
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].firing.pid, child.pid());
}

// What the child and the test both see.
struct Shared {
  std::atomic<int> ready, go;
};

TEST_F(Uprobe, ThreadsThatRanBeforeAreTracedToo) {
  constexpr int kThreads = 4, kCalls = 5'000;
  void* page = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  auto* shared = new (page) Shared{};
  TracedChild child({[shared] {
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; i++)
      threads.emplace_back([shared] {
        shared->ready++;
        while (!shared->go) usleep(100);
        for (int call = 0; call < kCalls; call++) traced_plain(call);
      });
    for (std::thread& thread : threads) thread.join();
  }});
  const Probe probe = probe_on(child.pid(), &traced_plain, 1);
  CaptureNeeds needs;
  needs.thread = true;
  auto instrument = make_uprobe_instrument();
  ASSERT_TRUE(child.start(0));
  while (shared->ready < kThreads) usleep(100);
  ASSERT_TRUE(instrument->enable(std::array{EnabledProbe{&probe, needs}}, refused_));
  shared->go = 1;
  ASSERT_TRUE(child.finish());
  munmap(page, sizeof(Shared));
  Collector collector;
  ASSERT_TRUE(instrument->poll(collector));
  std::map<int32_t, int> by_thread;
  for (const Seen& seen : collector.all) by_thread[seen.firing.tid]++;
  EXPECT_EQ(by_thread.size(), static_cast<size_t>(kThreads));
  for (const auto& [tid, count] : by_thread) EXPECT_EQ(count, kCalls) << tid;
}

TEST_F(Uprobe, SeveralProcessesAndProbesAtOnce) {
  const auto job = [] {
    for (int i = 0; i < 10; i++) traced_plain(i);
    traced_second(1);
  };
  TracedChild one({job}), two({job}), untraced({job});
  const Probe a = probe_on(one.pid(), &traced_plain, 1), b = probe_on(two.pid(), &traced_plain, 2),
              c = probe_on(two.pid(), &traced_second, 3), d = probe_on(two.pid(), &traced_second, 4, true);
  CaptureNeeds first;
  first.args = 1;
  auto instrument = make_uprobe_instrument();
  ASSERT_TRUE(instrument->enable(std::vector<EnabledProbe>{{&a, first}, {&b, {}}, {&c, first}, {&d, {}}}, refused_));
  for (TracedChild* child : {&one, &two, &untraced}) ASSERT_TRUE(child->call(0));
  Counter counter;
  ASSERT_TRUE(instrument->poll(counter));
  EXPECT_EQ(counter.count, (std::map<uint32_t, uint64_t>{{1, 10}, {2, 10}, {3, 1}, {4, 1}}));
}

TEST_F(Uprobe, WhatFindsNoRoomIsCounted) {
  constexpr int kCalls = 10'000;
  TracedChild child({[] {
    for (int i = 0; i < kCalls; i++) traced_plain(i);
  }});
  const Probe probe = probe_on(child.pid(), &traced_plain, 1);
  UprobeOptions small;
  small.ring_bytes = 4096;
  auto instrument = make_uprobe_instrument(small);
  ASSERT_TRUE(instrument->enable(std::array{EnabledProbe{&probe, {}}}, refused_));
  Counter counter;
  for (uint64_t round = 1; round <= 3; round++) {
    ASSERT_TRUE(child.call(0));
    ASSERT_TRUE(instrument->poll(counter));
    EXPECT_GT(instrument->drops(), 0u);
    EXPECT_EQ(counter.count[1] + instrument->drops(), round * kCalls);
    uint64_t drops = 0;
    for (uint32_t cpu = 0; cpu < 1024; cpu++) drops += instrument->abilities().losses->drops_on(cpu);
    EXPECT_EQ(drops, instrument->drops());
  }
}

TEST_F(Uprobe, FunctionsThatCannotBeProbedAreLeftOutAlone) {
  TracedChild child({[] {
    traced_plain(1);
    traced_locked();
    traced_second(1);
    traced_text("");
  }});
  const Probe good = probe_on(child.pid(), &traced_plain, 1), locked = probe_on(child.pid(), &traced_locked, 2),
              invalid = probe_on(child.pid(), &traced_invalid, 3), second = probe_on(child.pid(), &traced_second, 4),
              text = probe_on(child.pid(), &traced_text, 5);
  auto instrument = make_uprobe_instrument();
  const Status status = instrument->enable(
      std::vector<EnabledProbe>{{&good, {}}, {&locked, {}}, {&invalid, {}}, {&second, {}}, {&text, {}}}, refused_);
  ASSERT_TRUE(status) << status.error().message;
  std::set<const Probe*> refused;
  for (const Refused& one : refused_) {
    refused.insert(one.probe);
    const char* why =
        one.probe == &locked ? "cannot put a probe on this instruction" : "no instruction that dvm knows begins there";
    EXPECT_NE(one.reason.find(why), std::string::npos) << one.reason;
  }
  EXPECT_EQ(refused, (std::set<const Probe*>{&locked, &invalid}));
  ASSERT_TRUE(child.call(0));
  Counter counter;
  ASSERT_TRUE(instrument->poll(counter));
  EXPECT_EQ(counter.count, (std::map<uint32_t, uint64_t>{{1, 1}, {4, 1}, {5, 1}}));
}

// As a marker that was inlined at several places.
TEST_F(Uprobe, AProbeWithOnePlaceThatCannotBeProbedIsLeftOutAtAll) {
  TracedChild child({[] { traced_plain(1), traced_second(1); }});
  const auto sites = [&](auto... functions) {
    return std::vector<UprobeSite>{std::get<UprobeSite>(probe_on(child.pid(), functions, 9).site)...};
  };
  Probe several = probe_on(child.pid(), &traced_plain, 1);
  several.more_sites = sites(&traced_locked, &traced_second, &traced_invalid);
  const Probe plain = probe_on(child.pid(), &traced_plain, 2), back = probe_on(child.pid(), &traced_second, 3, true);
  CaptureNeeds needs;
  needs.args = 1;  // another program
  auto instrument = make_uprobe_instrument();
  ASSERT_TRUE(instrument->enable(std::vector<EnabledProbe>{{&several, {}}, {&plain, {}}, {&back, needs}}, refused_));
  ASSERT_EQ(refused_.size(), 1u);
  EXPECT_EQ(refused_[0].probe, &several);
  ASSERT_TRUE(child.call(0));
  Counter counter;
  ASSERT_TRUE(instrument->poll(counter));
  EXPECT_EQ(counter.count, (std::map<uint32_t, uint64_t>{{2, 1}, {3, 1}}));
}

TEST_F(Uprobe, AProbeWithOneArgumentInAVectorRegisterIsLeftOutAtAllPlaces) {
  TracedChild child({[] { traced_plain(1), traced_second(1); }});
  Probe probe = probe_on(child.pid(), &traced_plain, 1);
  UprobeSite other = std::get<UprobeSite>(probe_on(child.pid(), &traced_second, 1).site);
  std::get<UprobeSite>(probe.site).inside.emplace()[0] = Operand::constant(7);
  other.inside.emplace()[0].kind = Operand::Kind::vector;
  probe.more_sites = {other, other};
  CaptureNeeds needs;
  needs.args = 1;
  EXPECT_TRUE(trace(child, {{&probe, needs}}).empty());
  EXPECT_EQ(refused_.size(), 1u);
  EXPECT_EQ(trace(child, {{&probe, {}}}).size(), 3u);  // no clause reads it
}

constexpr unsigned kRax = 10, kRdi = 14, kRip = 16, kCs = 17, kRsp = 19;

TEST_F(Uprobe, RegistersAreThoseOfTheThread) {
  TracedChild child({[] { traced_plain(77); }});
  const Probe entry = probe_on(child.pid(), &traced_plain, 1), leave = probe_on(child.pid(), &traced_plain, 2, true);
  CaptureNeeds needs;
  needs.registers = 1u << kRdi | 1u << kRip | 1u << kCs | 1u << kRsp;
  CaptureNeeds result;
  result.registers = 1u << kRax;
  std::vector<std::vector<uint64_t>> values;
  struct Registers final : EventSink {
    explicit Registers(std::vector<std::vector<uint64_t>>& to) : all(to) {}
    bool fire(vm::Firing& f) noexcept override {
      all.emplace_back(f.registers.values.begin(), f.registers.values.end());
      return true;
    }
    std::vector<std::vector<uint64_t>>& all;
  } sink(values);
  auto instrument = make_uprobe_instrument();
  ASSERT_TRUE(instrument->enable(std::vector<EnabledProbe>{{&entry, needs}, {&leave, result}}, refused_));
  ASSERT_TRUE(child.call(0));
  ASSERT_TRUE(instrument->poll(sink));
  ASSERT_EQ(values.size(), 2u);
  ASSERT_EQ(values[0].size(), 4u);  // in the order of struct pt_regs
  EXPECT_EQ(values[0][0], 77u);
  EXPECT_EQ(values[0][1], reinterpret_cast<uint64_t>(address_of(&traced_plain)));  // a fork lies where its parent does
  EXPECT_EQ(values[0][2] & 3, 3u);                                                 // in user mode
  EXPECT_NE(values[0][3], 0u);
  EXPECT_EQ(values[1], std::vector<uint64_t>{154});
}

// In a container's pid namespace a process has another number than the kernel's own.
TEST_F(Uprobe, PidsAreThoseOfTheTracersNamespace) {
  const pid_t outer = fork();
  if (outer == 0) {
    if (unshare(CLONE_NEWPID) != 0) _exit(77);
    const pid_t inner = fork();
    if (inner == 0) {
      TracedChild child({[] { traced_plain(1); }});
      Probe probe = probe_on(child.pid(), &traced_plain, 1);
      std::get<UprobeSite>(probe.site).path = "/proc/self/exe";  // this /proc has the other numbers
      CaptureNeeds needs;
      needs.thread = true;
      const auto seen = trace(child, {{&probe, needs}});
      const bool right = seen.size() == 1 && seen[0].firing.pid == child.pid() && seen[0].firing.tid == child.pid();
      _exit(right && child.pid() < 10 ? 0 : 1);
    }
    int status = 0;
    waitpid(inner, &status, 0);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(outer, &status, 0), outer);
  if (status == 77 << 8) DVM_SKIP("no pid namespace can be made here");
  EXPECT_EQ(status, 0);
}

TEST_F(Uprobe, ProbesOfAProcessThatIsGoneAreLeftOutAlone) {
  TracedChild child({[] { traced_plain(1); }});
  const Probe probe = probe_on(child.pid(), &traced_plain, 1);
  Probe gone;
  {
    TracedChild other({});
    gone = probe_on(other.pid(), &traced_plain, 2);
    std::get<UprobeSite>(gone.site).path = "/proc/self/exe";
  }
  auto instrument = make_uprobe_instrument();
  ASSERT_TRUE(instrument->enable(std::vector<EnabledProbe>{{&gone, {}}, {&probe, {}}}, refused_));
  ASSERT_EQ(refused_.size(), 1u);
  EXPECT_EQ(refused_[0].probe, &gone);
  EXPECT_EQ(refused_[0].reason, "its process has ended");
  ASSERT_TRUE(child.call(0));
  Counter counter;
  EXPECT_EQ(*instrument->poll(counter), 1u);
}

TEST_F(Uprobe, WithoutPrivilegesTheErrorSaysWhatToDo) {
  if (geteuid() != 0) DVM_SKIP("only root can give its privileges up");
  const pid_t pid = fork();
  if (pid == 0) {
    if (setuid(65534) != 0) _exit(2);
    const Probe probe = probe_on(getpid(), &traced_plain, 1);
    auto instrument = make_uprobe_instrument();
    const Status status = instrument->enable(std::array{EnabledProbe{&probe, {}}}, refused_);
    const auto says = [&](const char* words) { return status.error().message.find(words) != std::string::npos; };
    _exit(!status && says("CAP_BPF and CAP_PERFMON") && says("run with sudo") ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
}

// What SIGKILL leaves behind: nothing.
TEST_F(Uprobe, TheTargetSurvivesTheDeathOfItsTracer) {
  TracedChild child({[] { traced_plain(1); }});
  const std::string before = memory_of(child.pid(), address_of(&traced_plain), 16);
  ASSERT_EQ(before.size(), 16u);
  const Probe probe = probe_on(child.pid(), &traced_plain, 1);
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t tracer = fork();
  if (tracer == 0) {
    auto instrument = make_uprobe_instrument();
    const char ok = instrument->enable(std::array{EnabledProbe{&probe, {}}}, refused_) ? 1 : 0;
    if (write(ready[1], &ok, 1) == 1) pause();
    _exit(0);
  }
  char ok = 0;
  ASSERT_EQ(read(ready[0], &ok, 1), 1);
  ASSERT_EQ(ok, 1);
  EXPECT_TRUE(child.call(0));
  EXPECT_NE(memory_of(child.pid(), address_of(&traced_plain), 16), before);
  kill(tracer, SIGKILL);
  ASSERT_EQ(waitpid(tracer, nullptr, 0), tracer);
  EXPECT_EQ(memory_of(child.pid(), address_of(&traced_plain), 16), before);
  EXPECT_TRUE(child.call(0));
  close(ready[0]);
  close(ready[1]);
}

TEST_F(Uprobe, FiringsCanBeCountedWithoutRecords) {
  TracedChild child({[] {
    for (int i = 0; i < 1000; i++) traced_plain(i);
    for (int i = 0; i < 10; i++) traced_second(i);
  }});
  const Probe plain = probe_on(child.pid(), &traced_plain, 7), second = probe_on(child.pid(), &traced_second, 8);
  const Probe left = probe_on(child.pid(), &traced_plain, 9, true);
  auto instrument = make_counting_instrument();
  ASSERT_TRUE(
      instrument->enable(std::array{EnabledProbe{&plain, {}}, EnabledProbe{&second, {}}, EnabledProbe{&left, {}}}, refused_));
  ASSERT_TRUE(child.call(0));
  instrument->disable();
  EXPECT_EQ(instrument->count_of(plain), 1000u);
  EXPECT_EQ(instrument->count_of(second), 10u);
  EXPECT_EQ(instrument->count_of(left), 1000u);
  Collector collector;
  EXPECT_EQ(*instrument->poll(collector), 0u);
}

TEST_F(Uprobe, ProfileFiresOnEveryCpu) {
  TracedChild child({[] {
    const clock_t end = clock() + CLOCKS_PER_SEC / 5;  // of CPU time
    while (clock() < end)
      for (long i = 0; i < 100'000; i++) traced_sink = i;
  }});
  Probe probe;
  probe.id = 9;
  probe.site = TimerSite{1'000'000, true};
  CaptureNeeds needs;
  needs.args = 3;
  needs.cpu = true;
  const auto every_cpu = static_cast<size_t>(sysconf(_SC_NPROCESSORS_ONLN));
  std::set<int32_t> cpus;
  size_t in_child = 0, user = 0;
  // A virtual CPU that its host does not run has no clock; so it gets some rounds to show itself.
  for (int round = 0; round < 20 && cpus.size() < every_cpu; round++) {
    for (const Seen& one : trace(child, {{&probe, needs}})) {
      EXPECT_EQ(one.firing.probe_id, 9u);
      EXPECT_NE(one.firing.args[0] == 0, one.firing.args[1] == 0);
      cpus.insert(one.firing.cpu);
      in_child += one.firing.pid == child.pid();
      user += one.firing.pid == child.pid() && one.firing.args[1] != 0;
    }
  }
  EXPECT_EQ(cpus.size(), every_cpu);
  EXPECT_GT(in_child, 20u);
  EXPECT_GT(user, in_child / 2);
}

}  // namespace
}  // namespace dvm::runtime
