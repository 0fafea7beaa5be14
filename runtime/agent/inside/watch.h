#pragma once
// The checks of fire.cpp before functions of the C library that change how the process may be traced.

#include <cstddef>
#include <cstdint>

#include "runtime/agent/inside/format.h"
#include "runtime/agent/inside/lanes.h"
#include "runtime/agent/inside/memory_calls.h"
#include "runtime/agent/inside/read.h"
#include "runtime/agent/inside/restoring.h"
#include "runtime/agent/inside/semaphores.h"

namespace dvm::runtime::inside {

inline constexpr long kSeccomp = 317, kSetSeccomp = 22, kSetDispatch = 59;

// True if the function is about to restrict system calls, or to have them intercepted. The arguments are in the saved registers.
[[gnu::always_inline]] inline bool restricts_calls(Watch watch, const uint64_t* saved) {
  const uint64_t first = saved[14], second = saved[13];  // %rdi, %rsi
  const auto restricts = [](uint64_t option) { return option == kSetSeccomp || option == kSetDispatch; };
  if (watch == Watch::prctl) return restricts(first);
  return watch == Watch::syscall && (first == kSeccomp || (first == kPrctl && restricts(second)));
}

// True if the call forbids the thread to read the TSC, as stubs do.
[[gnu::always_inline]] inline bool forbids_clock(Watch watch, const uint64_t* saved) {
  constexpr uint64_t kSetTsc = 26, kFault = 2;
  if (watch == Watch::prctl) return saved[14] == kSetTsc && saved[13] == kFault;
  return watch == Watch::syscall && saved[14] == kPrctl && saved[13] == kSetTsc && saved[12] == kFault;
}

// True if the program may serve page faults itself after the call, also those of system calls. If the thread that serves them
// read such memory by a system call, it would wait for itself.
[[gnu::always_inline]] inline bool serves_page_faults(Watch watch, const uint64_t* saved) {
  constexpr uint64_t kUserModeOnly = 1;
  return watch == Watch::syscall && saved[14] == kUserfaultfd && (saved[13] & kUserModeOnly) == 0;
}

// True if the call locks all memory that the process has: the kernel then loads all lanes, used or not.
[[gnu::always_inline]] inline bool locks_memory(Watch watch, const uint64_t* saved) {
  constexpr uint64_t kMlockall = 151, kCurrent = 1;
  if (watch == Watch::syscall) return saved[14] == kMlockall && (saved[13] & kCurrent) != 0;
  return watch == Watch::mlockall && (saved[14] & kCurrent) != 0;
}

// A process that had locked memory before the attach has small lanes.
[[gnu::always_inline]] inline bool has_large_lanes(const Context& context) {
  constexpr uint64_t kLarge = uint64_t{16} << 20;
  return data_bytes(context.lanes, context.ring_bytes) > kLarge;
}

// True if the call may start a task that runs at the same time as this one and has its thread pointer, and so its lane. A child
// by vfork(2) does not run at the same time; a thread gets a pointer of its own.
[[gnu::always_inline]] inline bool shares_lane(Watch watch, const uint64_t* saved) {
  constexpr uint64_t kVm = 0x100, kOfVfork = 0x4000, kThread = 0x10000, kSetTls = 0x80000;
  if (watch == Watch::syscall && saved[14] == kClone3) return true;
  if (watch != Watch::clone && (watch != Watch::syscall || saved[14] != kClone)) return false;
  const uint64_t flags = watch == Watch::clone ? saved[12] : saved[13];  // %rdx, %rsi
  return (flags & (kVm | kOfVfork)) == kVm && (flags & (kThread | kSetTls)) != (kThread | kSetTls);
}

// True if the call may start a thread whose thread pointer leads to no control block of the C library. If the process has
// restricted its system calls, this is not checked.
[[gnu::noinline]] inline bool has_other_block(const Context& context, Watch watch, const uint64_t* saved, int32_t pid) {
  constexpr uint64_t kSetTls = 0x80000, kWithSecond = 0x2d0;  // glibc's offset; its blocks hold their own address twice
  const bool is_call = watch == Watch::syscall && saved[14] == kClone;
  const uint64_t flags = is_call ? saved[13] : saved[12], pointer = saved[8];  // %rsi, %rdx, %r9
  if ((watch != Watch::clone && !is_call) || (flags & kSetTls) == 0 || is_muted(context)) return false;
  uint64_t words[3] = {};
  if (read_memory(pid, pointer, reinterpret_cast<uint64_t>(words), sizeof words) != sizeof words) return true;
  return words[0] != pointer || (context.thread_offset == kWithSecond && words[2] != pointer);
}

// For a forked child that is not followed. If a signal handler has interrupted a firing and forked, the child finishes that
// firing when the handler returns. What it writes then must go to memory of its own.
DVM_RARELY inline void part_from_parent(const Context& context, DataHeader& header) {
  constexpr long kReadWrite = 3, kFlags = 0x4032;  // MAP_PRIVATE, MAP_FIXED, MAP_ANONYMOUS, MAP_NORESERVE
  if (context.follows != 0 || load(header.restricted) != 0) return;
  lower_copied_semaphores(context);
  const auto bytes = static_cast<long>((data_bytes(context.lanes, context.ring_bytes) + kPage - 1) & ~(kPage - 1));
  if (call(static_cast<long>(kMmap), static_cast<long>(context.data), bytes, kReadWrite, kFlags, -1, 0) < 0) return;
  header.restricted = 1;  // in the new memory: part only once
}

// True if the call sets the thread pointer, after which the thread may have no control block.
[[gnu::always_inline]] inline bool sets_block(Watch watch, const uint64_t* saved) {
  constexpr uint64_t kArchPrctl = 158, kSetPointer = 0x1002;
  if (watch == Watch::syscall) return saved[14] == kArchPrctl && saved[13] == kSetPointer;
  return watch == Watch::arch_prctl && saved[14] == kSetPointer;
}

// The system call that the function is about to make. number ~0: none that changes memory.
struct MemoryCall {
  uint64_t number = ~uint64_t{0}, a = 0, b = 0, c = 0, d = 0, e = 0;
};

// What remap_file_pages() and pkey_mprotect() change is treated as unmapped: other pages are there then, or a key may forbid all
// access.
[[gnu::always_inline]] inline MemoryCall memory_call(Watch watch, const uint64_t* saved) {
  const uint64_t rdi = saved[14], rsi = saved[13], rdx = saved[12], rcx = saved[11], r8 = saved[9], r9 = saved[8];
  uint64_t number = plain_number(rdi);
  const bool is_any = watch == Watch::syscall;
  if (!is_any && !makes_memory_call(watch, number)) return {};
  if (number == kRemapFilePages || number == kPkeyMprotect) number = kMunmap;
  return is_any ? MemoryCall{number, rsi, rdx, rcx, r8, r9} : MemoryCall{number, rdi, rsi, rdx, rcx, r8};
}

[[gnu::noinline]] inline bool is_own(const Context& context, uint64_t begin, uint64_t bytes) {
  const auto& own = *reinterpret_cast<const OwnMemory*>(context.own);
  bool overlaps = false;
  for (uint64_t i = 0; i < own.count; i++)
    overlaps |= begin < own.ranges[i].end && own.ranges[i].begin < ((begin + bytes + kPage - 1) & ~(kPage - 1));
  return overlaps;
}

// True if a call makes code with jumps writable: the program may be about to change it.
[[gnu::noinline]] inline bool opens_code(const Context& context, const MemoryCall& call) {
  constexpr uint64_t kWrite = 2;
  if (call.number != kMprotect || (call.c & kWrite) == 0) return false;
  const auto& own = *reinterpret_cast<const OwnMemory*>(context.own);
  bool overlaps = false;
  for (uint64_t i = 0; i < own.code_count && i < kMostCode; i++)
    overlaps |= call.a < own.code[i].end && own.code[i].begin < call.a + call.b;
  return overlaps;
}

// True if a call unmaps, moves or protects memory of dvm.
[[gnu::always_inline]] inline bool takes_memory(const Context& context, const MemoryCall& call) {
  constexpr uint64_t kFixedMap = 0x10, kFixedMove = 2, kRemap = 0x4000;
  if (opens_code(context, call)) return true;
  if (call.number == kShmat) return (call.c & kRemap) != 0;  // only the kernel knows the size of the segment
  if (call.number == kMunmap || call.number == kMprotect || call.number == kMadvise) return is_own(context, call.a, call.b);
  if (call.number == kMmap) return (call.d & kFixedMap) != 0 && is_own(context, call.a, call.b);
  if (call.number != kMremap) return false;
  return is_own(context, call.a, call.b) || ((call.d & kFixedMove) != 0 && is_own(context, call.e, call.c));
}

[[gnu::always_inline]] inline bool overlaps(const MemoryRange& one, uint64_t begin, uint64_t bytes) {
  return begin < one.end && one.begin < begin + bytes;
}

// True if a call may unmap LastingMemory or make it unreadable, which threads read by plain loads.
[[gnu::noinline]] inline bool takes_lasting(const Context& context, const MemoryCall& call) {
  constexpr uint64_t kRead = 1, kFixedMap = 0x10, kAnonymous = 0x20, kFixedMove = 2, kPoison = 100, kNoGuard = 103;
  const bool is_readable = (call.c & kRead) != 0;
  const bool maps = call.number == kMmap && (call.d & kFixedMap) != 0 && !(is_readable && (call.d & kAnonymous) != 0);
  const bool protects = call.number == kMprotect && !is_readable, moves = call.number == kMremap;
  const bool guards = call.number == kMadvise && call.c >= kPoison && call.c != kNoGuard;
  const uint64_t onto = moves && (call.d & kFixedMove) != 0 ? call.c : 0;  // bytes that it replaces
  if (!maps && !protects && !guards && !moves && call.number != kMunmap) return false;
  const auto& lasting = *reinterpret_cast<const LastingMemory*>(context.lasting);
  const auto* ranges = reinterpret_cast<const MemoryRange*>(&lasting + 1);
  const auto is_touched = [&](const MemoryRange& one) {
    return overlaps(one, call.a, call.b) || (onto != 0 && overlaps(one, call.e, onto));
  };
  bool is_one = is_touched(lasting.stack);
  for (uint64_t i = 0; i < lasting.ranges; i++) is_one |= is_touched(ranges[i]);
  return is_one;
}

// True if a call may make an instruction under a jump fault that addresses WatchedMemory.
[[gnu::noinline]] inline bool touches_data(const Context& context, const MemoryCall& call) {
  constexpr uint64_t kFixedMap = 0x10, kFixedMove = 2, kReadWrite = 3, kPoison = 100;  // the guards are behind it
  const auto& watched = *reinterpret_cast<const WatchedMemory*>(context.own + sizeof(OwnMemory));
  const bool protects = call.number == kMprotect && (call.c & kReadWrite) != kReadWrite;
  const bool maps = call.number == kMmap && (call.d & kFixedMap) != 0, moves = call.number == kMremap;
  const bool guards = call.number == kMadvise && call.c >= kPoison;
  if (!protects && !guards && !maps && !moves && call.number != kMunmap) return false;
  bool overlaps = false;
  for (uint64_t i = 0; i < watched.count && i < kMostWatched; i++) {
    const MemoryRange& one = watched.ranges[i];
    overlaps |= call.a < one.end && one.begin < call.a + call.b + kPage;
    overlaps |= moves && (call.d & kFixedMove) != 0 && call.e < one.end && one.begin < call.e + call.c + kPage;
  }
  return overlaps;
}

// True if process_madvise(2) changes such memory, as madvise(2) may for each of its ranges. If the process has restricted its
// system calls, the ranges cannot be read, and all count. Some advice is harmless; the kernel accepts no other for other
// processes.
[[gnu::noinline]] inline bool takes_ranges(const Context& context, const MemoryCall& call, int32_t pid) {
  constexpr uint64_t kWillNeed = 3, kCold = 20, kPageOut = 21, kCollapse = 25, kMostRanges = 1024;
  const uint64_t advice = call.d;
  if (call.number != kProcessMadvise || advice == kWillNeed || advice == kCold || advice == kPageOut || advice == kCollapse)
    return false;
  if (is_muted(context)) return true;
  for (uint64_t i = 0; i < call.c && i < kMostRanges; i++) {
    Range one{};
    const uint64_t at = call.b + i * sizeof one;
    if (read_memory(pid, at, reinterpret_cast<uint64_t>(&one), sizeof one) != sizeof one) return false;
    const MemoryCall part{kMadvise, one.address, one.bytes, advice};
    if (takes_memory(context, part) || takes_lasting(context, part) || touches_data(context, part)) return true;
  }
  return false;
}

// The bit of the signal that the function is about to install a handler for; 0: none. If the process has restricted its system
// calls, the action cannot be read, and any counts as a handler.
[[gnu::noinline]] inline uint64_t handled_signal(const Context& context, Watch watch, const uint64_t* saved, int32_t pid) {
  constexpr uint64_t kSigaction = 13, kIgnore = 1, kSignals = 63;  // the last one stands for kFileDataSignal
  const bool is_call = watch == Watch::syscall && saved[14] == kSigaction;
  if (watch != Watch::sigaction && !is_call) return 0;
  const uint64_t signal = static_cast<uint32_t>(is_call ? saved[13] : saved[14]), action = is_call ? saved[12] : saved[13];
  if (action == 0 || signal - 1 >= kSignals) return 0;
  uint64_t handler = ~uint64_t{0};
  const auto to = reinterpret_cast<uint64_t>(&handler);
  if (!is_muted(context) && read_memory(pid, action, to, sizeof handler) != sizeof handler) return 0;
  return handler > kIgnore ? uint64_t{1} << (signal - 1) : 0;
}

// Limits how long a thread waits for restored code: some seconds, or longer as long as the guard keeps trying. The wait also ends
// if the TSC has gone back, for example because the machine was suspended.
class Patience {
 public:
  // The guard cannot stop a process whose child by vfork(2) waits here. A thread that may make no system calls could be one.
  [[gnu::noinline]] explicit Patience(const Context& context)
      : page_(armed_page(context)), restoring_(*reinterpret_cast<Restoring*>(restoring_at(context.armed))) {
    constexpr long kGetPid = 39;
    may_wait_long_ = !is_muted(context) && static_cast<uint64_t>(call(kGetPid)) == load(page_.pid);
  }

  uint64_t begin() const { return begin_; }

  // `restoring_.at` is read before the clock, so it is at most newer by the difference between the TSCs of two CPUs.
  [[gnu::noinline]] bool lasts(uint64_t& now) {
    constexpr uint64_t kShort = 10'000'000'000, kLong = 75'000'000'000, kDifference = 10'000'000;
    last_ = load(restoring_.at);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    now = __builtin_ia32_rdtsc();
    if (is_disarmed() && load(restoring_.given_up) == last_ + 1) return false;
    return now - begin_ < kShort || (may_wait_long_ && now - begin_ < kLong && now - last_ + kDifference < kShort);
  }

  // If dvm and its guard are both gone, no later call waits. If the guard begins anew, later calls wait again.
  void give_up() {
    if (is_disarmed()) __atomic_store_n(&restoring_.given_up, last_ + 1, __ATOMIC_RELAXED);
  }

 private:
  bool is_disarmed() const { return load(page_.armed) == kDisarmed; }

  const ArmedPage& page_;
  Restoring& restoring_;
  const uint64_t begin_ = __builtin_ia32_rdtsc();
  uint64_t last_ = 0;
  bool may_wait_long_ = false;
};

// Waits until dvm or its guard has restored the code, at the request of `ask` or for another reason. Code is restored while all
// threads are stopped; the wait then goes on until threads that were in a stub have had time to leave it. If the process has
// restricted its system calls, this is a busy loop.
template <class Ask, class IsDone>
[[gnu::noinline]] inline void wait_for_code(const Context& context, uint64_t jump, const Ask& ask, const IsDone& is_done) {
  constexpr uint64_t kToLeave = 150'000'000;  // ticks of the TSC
  constexpr unsigned char kJump = 0xe9;
  Patience patience(context);
  uint64_t now = patience.begin(), restored = 0;
  do {
    ask();
    const bool is_jump = *reinterpret_cast<const volatile unsigned char*>(jump) == kJump;
    if (restored == 0 && (!is_jump || is_done())) restored = now;
    is_muted(context) ? __builtin_ia32_pause() : wait_a_little();
  } while (patience.lasts(now) && (restored == 0 || now - restored < kToLeave));
  if (restored == 0) patience.give_up();
}

// The process is about to unmap or change memory of dvm, so all jumps must be removed first.
[[gnu::always_inline]] inline void wait_for_all_code(const Context& context, DataHeader& header, uint64_t jump) {
  wait_for_code(
      context, jump, [&] { __atomic_store_n(&header.leaving, kLeaving, __ATOMIC_SEQ_CST); }, [] { return false; });
}

// A value of ArmedPage::lanes_left: a thread is unmapping the lanes.
inline constexpr uint64_t kLanesGoing = 3;

// Unmaps the lanes once dvm or its guard says that no other thread uses them. False: they stay, because that took too long.
[[gnu::noinline]] inline bool unmap_lanes(const Context& context, ArmedPage& page, DataHeader& header, uint64_t jump) {
  constexpr int kTries = 1500;
  const auto ask = [&] {
    take(page.asked, kLeaving);
    __atomic_store_n(&header.leaving, kLeaving, __ATOMIC_SEQ_CST);
  };
  const auto may_unmap = [&] { return __atomic_load_n(&page.asked, __ATOMIC_SEQ_CST) == kAbandoned; };
  wait_for_code(context, jump, ask, [] { return false; });
  for (int i = 0; i < kTries && !is_muted(context) && !may_unmap(); i++) ask(), wait_a_little();
  if (is_muted(context) || !may_unmap() || !take(page.lanes_left, kLanesGoing)) return false;
  const uint64_t bytes = (data_bytes(context.lanes, context.ring_bytes) + kPage - 1) & ~(kPage - 1);
  return call(static_cast<long>(kMunmap), static_cast<long>(context.data), static_cast<long>(bytes)) == 0;
}

// Locking all memory would load the whole mapping of the lanes, or fail, so it is unmapped first. True: it is unmapped. Of
// several threads that are about to lock memory, the first one unmaps it, and the others wait for that.
[[gnu::noinline]] inline bool leave_lanes(const Context& context, ArmedPage& page, DataHeader& header, uint64_t jump) {
  constexpr int kMostTries = 6000;
  const auto left = [&] { return __atomic_load_n(&page.lanes_left, __ATOMIC_SEQ_CST); };
  if (__atomic_fetch_add(&page.leavers, uint64_t{1}, __ATOMIC_SEQ_CST) == 0) {
    const uint64_t done = unmap_lanes(context, page, header, jump) ? kLanesUnmapped : kLanesKept;
    __atomic_store_n(&page.lanes_left, done, __ATOMIC_SEQ_CST);
  }
  for (int i = 0; i < kMostTries && !is_muted(context) && (left() == 0 || left() == kLanesGoing); i++) wait_a_little();
  take(page.lanes_left, kLanesKept);
  return left() != kLanesKept;
}

// The process is about to handle a signal, so jumps over instructions that may raise it must be removed first.
[[gnu::always_inline]] inline void wait_for_signal(const Context& context, DataHeader& header, uint64_t jump, uint64_t signal) {
  wait_for_code(
      context, jump, [&] { __atomic_fetch_or(&header.handled, signal, __ATOMIC_SEQ_CST); },
      [&] { return (load(header.unraised) & signal) != 0; });
}

// Tells dvm that this thread is about to execute a program, so that dvm can hold that program until its probes are placed. The
// thread does not wait long for a dvm that is stopped or busy. A child by vfork does not wait, since dvm does not trace it.
[[gnu::noinline]] inline void wait_for_tracer(const Context& context, const ArmedPage& page, DataHeader& header) {
  constexpr long kGetPid = 39, kGetTid = 186;
  constexpr uint64_t kPatience = 1'000'000'000;  // ticks of the TSC
  if (is_muted(context) || static_cast<uint64_t>(call(kGetPid)) != context.own_pid) return;
  const auto tid = static_cast<uint64_t>(call(kGetTid));
  const uint64_t begin = __builtin_ia32_rdtsc();
  while (load(header.held) != tid && load(page.armed) != kDisarmed && __builtin_ia32_rdtsc() - begin < kPatience) {
    __atomic_store_n(&header.becoming, tid, __ATOMIC_RELAXED);
    wait_a_little();
  }
}

// The change that the linker has begun (r_state): in the namespace of `state`, or else in another one (dlmopen), which glibc 2.35
// and later link to each other. 0: none.
[[gnu::noinline]] inline uint64_t linker_change(const Context& context, uint64_t state, bool may_read) {
  struct Debug {  // as glibc has it
    uint64_t version, files, function, state, base, next;
  } debug;
  constexpr int kMostNamespaces = 16;
  uint64_t change = *reinterpret_cast<const volatile uint32_t*>(state), at = state - offsetof(Debug, state);
  for (int i = 0; i < kMostNamespaces && change == 0 && may_read && at != 0; i++) {
    const uint64_t read =
        read_memory(static_cast<int32_t>(context.own_pid), at, reinterpret_cast<uint64_t>(&debug), sizeof debug);
    if (read != sizeof debug) break;
    change = static_cast<uint32_t>(debug.state);
    at = static_cast<uint32_t>(debug.version) < 2 ? 0 : debug.next;
  }
  return change;
}

// Called in the dynamic linker when it has mapped files. The thread does not wait long for a dvm that is stopped or slow, and
// does not wait again until dvm has answered. A thread that may make no system calls does not wait, and its turns count as late.
[[gnu::noinline]] inline void wait_for_probes(const Context& context, const ArmedPage& page, LoadTurns& loads) {
  constexpr long kGetPid = 39;
  constexpr uint64_t kAdds = 1;                                                   // a state of the linker
  constexpr uint64_t kUntilSeen = 1'000'000'000, kUntilAnswered = 5'000'000'000;  // ticks of the TSC
  const uint64_t state = load(loads.state);
  const bool may_wait = !is_muted(context);
  if (state == 0 || (may_wait && static_cast<uint64_t>(call(kGetPid)) != context.own_pid)) return;
  const uint64_t is_adding = linker_change(context, state, may_wait) == kAdds ? 1 : 0;
  const bool has_added = __atomic_exchange_n(&loads.is_adding, is_adding, __ATOMIC_RELAXED) != 0;
  if (is_adding != 0 || !has_added) return;
  const uint64_t turn = __atomic_add_fetch(&loads.begun, uint64_t{1}, __ATOMIC_SEQ_CST);
  const uint64_t begin = __builtin_ia32_rdtsc();
  for (bool waits = may_wait && load(loads.answered) + 1 >= turn;
       waits && load(loads.answered) < turn && load(page.armed) != kDisarmed;) {
    wait_a_little();
    waits = __builtin_ia32_rdtsc() - begin < (load(loads.seen) < turn ? kUntilSeen : kUntilAnswered);
  }
  if (load(loads.answered) < turn && load(page.armed) != kDisarmed)
    __atomic_fetch_add(&loads.late, uint64_t{1}, __ATOMIC_RELAXED);
}

// True if the call needs code without jumps. The thread has then waited until the code was restored.
[[gnu::noinline]] inline bool wait_if_code_matters(const Site& site, const uint64_t* saved, const ArmedPage& page,
                                                   DataHeader& header) {
  const Watch watch = site.watch;
  const MemoryCall memory = memory_call(watch, saved);
  const auto pid = static_cast<int32_t>(page.pid);
  if (takes_memory(site.context, memory) || takes_lasting(site.context, memory) || takes_ranges(site.context, memory, pid) ||
      forbids_clock(watch, saved) || serves_page_faults(watch, saved))
    return wait_for_all_code(site.context, header, site.jump), true;
  const uint64_t handled = handled_signal(site.context, watch, saved, pid);
  const uint64_t signal = touches_data(site.context, memory) ? kFileDataSignal : handled;
  if (signal == 0 || (load(header.unraised) & signal) != 0) return false;
  return wait_for_signal(site.context, header, site.jump, signal), true;
}

// A table may be in use, or be put in use.
[[gnu::always_inline]] inline bool may_be_steady(const Context& context) {
  const SteadyMemory& steady = steady_memory(context);
  return load(steady.state) != 0 || load(steady.proposed) != 0;
}

// Runs before a watched function. True: the lanes are unmapped, and with them the header.
[[gnu::noinline]] inline bool watch_call(const Site& site, const uint64_t* saved, ArmedPage& page, DataHeader& header) {
  const Watch watch = site.watch;
  const uint64_t loads = site.context.data + loads_at(site.context.lanes, site.context.ring_bytes);
  if (watch == Watch::load) return wait_for_probes(site.context, page, *reinterpret_cast<LoadTurns*>(loads)), false;
  if (locks_memory(watch, saved) && has_large_lanes(site.context)) return leave_lanes(site.context, page, header, site.jump);
  if (wait_if_code_matters(site, saved, page, header)) return false;
  if (watch == Watch::exec) return wait_for_tracer(site.context, page, header), false;
  if (restricts_calls(watch, saved)) {
    if (may_be_steady(site.context)) end_steady(site.context);  // first, because it needs a system call
    __atomic_store_n(&header.restricted, uint64_t{1}, __ATOMIC_SEQ_CST);
    __atomic_store_n(&page.muted, uint64_t{1}, __ATOMIC_SEQ_CST);
  }
  uint16_t armed = load(page.armed);
  const bool is_other = has_other_block(site.context, watch, saved, static_cast<int32_t>(page.pid));
  while ((is_other || shares_lane(watch, saved) || sets_block(watch, saved)) && armed != kDisarmed)
    if (__atomic_compare_exchange_n(&page.armed, &armed, kAsked, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) break;
  return false;
}

// The same while the agent is disarmed, but not in a forked child: dvm or its guard disarms a process before it restores the
// code.
[[gnu::always_inline]] inline void watch_disarmed(const Site& site, const uint64_t* saved, const ArmedPage& page,
                                                  DataHeader& header) {
  if (site.watch != Watch::nothing && load(page.pid) != 0) wait_if_code_matters(site, saved, page, header);
}

}  // namespace dvm::runtime::inside
