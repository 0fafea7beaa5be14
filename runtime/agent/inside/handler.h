#pragma once
// The handler for faults of loads (caught.h), and how a thread gives the process back the action that it had before. Part of
// fire.cpp.
//
// The action that dvm places has the flags and the mask of the one before, so that the kernel does with a signal of the program
// what it would have done. A handler of the program is left by a jump and finds the registers and the stack as the kernel made
// them. SA_RESETHAND is the exception: dvm's handler does what it means. A signal by default ends the process where it was
// raised.

#include "runtime/agent/inside/caught.h"
#include "runtime/agent/inside/format.h"
#include "runtime/agent/inside/watch.h"

namespace dvm::runtime::inside {

// Words of ucontext_t.
inline constexpr int kContextRdx = 17, kContextRip = 21;

// By fire.ld. Hidden, so that they are found by their distance from the code.
extern "C" {
[[gnu::visibility("hidden")]] extern const CaughtLoad agent_loads_begin[], agent_loads_end[];
[[gnu::visibility("hidden")]] extern const char agent_begins[];
}

// What the first code mapping has before this code. The handler is always the one there.
[[gnu::always_inline]] inline uint64_t own_header() { return reinterpret_cast<uint64_t>(agent_begins) - kPage; }

[[gnu::always_inline]] inline const CaughtActions& own_actions() {
  return *reinterpret_cast<const CaughtActions*>(own_header() + kActionsAt);
}

// Distance of the address from the beginning of the code that it lies in, which each code mapping has.
inline uint64_t place_in_code(uint64_t address) {
  const auto& own = *reinterpret_cast<const OwnMemory*>(own_header() + kOwnAt);
  for (uint64_t i = 0; i < own.count && i < kMostOwn; i++)
    if (is_in(own.ranges[i], address)) return address - own.ranges[i].begin - kPage;
  return ~uint64_t{0};
}

// Leads the thread behind the load that has faulted. False: it is none.
inline bool lead_on(uint64_t* context) {
  const uint64_t place = place_in_code(context[kContextRip]);
  for (const CaughtLoad* one = agent_loads_begin; one != agent_loads_end; one++) {
    const auto at = reinterpret_cast<uint64_t>(one) - reinterpret_cast<uint64_t>(agent_begins);
    if (place != at + static_cast<uint64_t>(int64_t{one->load})) continue;
    context[kContextRip] += static_cast<uint64_t>(int64_t{one->behind} - one->load);
    context[kContextRdx] = 1;
    return true;
  }
  return false;
}

// False: another task has sent the signal, or the kernel because of memory that failed elsewhere.
[[gnu::always_inline]] inline bool is_raised_here(uint64_t signal, int32_t code) {
  constexpr int32_t kFailedElsewhere = 5;  // BUS_MCEERR_AO
  return code > 0 && (signal != kBusError || code != kFailedElsewhere);
}

// The thread then raises the signal again, or gets it once more when it leaves the handler, and the process ends by it.
[[gnu::always_inline]] inline void act_by_default(uint64_t signal, const int32_t* info, bool is_raised) {
  constexpr long kGetPid = 39, kGetTid = 186, kQueueInfo = 297;
  const KernelAction none{kDefault, kActionRestorer, 0, 0};
  call(kSigaction, static_cast<long>(signal), reinterpret_cast<long>(&none), 0, kMaskBytes);
  if (is_raised) return;
  call(kQueueInfo, call(kGetPid), call(kGetTid), static_cast<long>(signal), reinterpret_cast<long>(info));
}

// Returns the handler of the program that shall have the signal; 0: none.
extern "C" [[gnu::used]] uint64_t agent_caught(uint64_t signal, const int32_t* info, uint64_t* context) {
  const bool is_raised = is_raised_here(signal, info[2]);
  if (is_raised && lead_on(context)) return 0;
  const KernelAction before = own_actions().before[signal == kSegmentFault ? 0 : 1];
  if (before.handler == kDefault) return act_by_default(signal, info, is_raised), 0;
  return before.handler;
}

// Of this process; a child by vfork(2) has its own.
[[gnu::noinline]] inline void give_actions_back(const Context& context) {
  const auto& actions = *reinterpret_cast<const CaughtActions*>(context.own + sizeof(OwnMemory) + sizeof(WatchedMemory));
  for (uint64_t i = 0; i < kCaughtCount; i++) {
    KernelAction now{};
    const auto signal = static_cast<long>(kCaughtSignals[i]);
    const bool is_known = call(kSigaction, signal, 0, reinterpret_cast<long>(&now), kMaskBytes) == 0;
    if (is_known && now.handler == context.handler)
      call(kSigaction, signal, reinterpret_cast<long>(&actions.before[i]), 0, kMaskBytes);
  }
}

// Threads that load are waited for, but not for long: one may be stopped, or have left its firing by siglongjmp(). The firing
// that this handler of a signal has interrupted makes its other reads by calls.
[[gnu::noinline]] inline void stop_catching(const Context& context, ArmedPage& page) {
  constexpr long kGetPid = 39, kGetTid = 186;
  constexpr int kTries = 500;
  if (static_cast<uint64_t>(call(kGetPid)) != load(page.pid)) return;
  __atomic_store_n(&page.catching.is_on, uint64_t{0}, __ATOMIC_SEQ_CST);
  Lane* lanes = lanes_of(context);
  const auto own = static_cast<uint64_t>(call(kGetTid));
  for (uint32_t i = 0, tries = 0; i < context.lanes; i++) {
    if (load(lanes[i].owner) == own) lanes[i].catches = 0;
    for (; tries < kTries && __atomic_load_n(&lanes[i].catches, __ATOMIC_SEQ_CST) != 0; tries++) wait_a_little();
    lanes[i].catches = 0;
  }
}

// The program is about to set or to ask for such an action.
[[gnu::always_inline]] inline bool asks_for_action(Watch watch, const uint64_t* saved) {
  const bool is_call = watch == Watch::syscall && saved[14] == static_cast<uint64_t>(kSigaction);
  if (watch != Watch::sigaction && !is_call) return false;
  const auto signal = static_cast<uint32_t>(is_call ? saved[13] : saved[14]);
  return signal == kSegmentFault || signal == kBusError;
}

[[gnu::always_inline]] inline void watch_actions(const Site& site, const uint64_t* saved, ArmedPage& page) {
  const bool may_load = !restricts_calls(site.watch, saved) && !serves_loads(site.watch, saved);
  if (may_load && !asks_for_action(site.watch, saved)) return;
  if (is_muted(site.context) || site.context.handler == 0) return;
  stop_catching(site.context, page);
  give_actions_back(site.context);
}

}  // namespace dvm::runtime::inside

// Entered as a signal handler. The kernel has made the stack; %rax is 0 for a handler with a variable number of arguments.
asm(R"(
  .section .text.agent_handler, "ax", @progbits
agent_handler:
  .cfi_startproc
  .cfi_signal_frame
  push %rdi
  .cfi_adjust_cfa_offset 8
  push %rsi
  .cfi_adjust_cfa_offset 8
  push %rdx
  .cfi_adjust_cfa_offset 8
  call agent_caught
  pop %rdx
  .cfi_adjust_cfa_offset -8
  pop %rsi
  .cfi_adjust_cfa_offset -8
  pop %rdi
  .cfi_adjust_cfa_offset -8
  mov %rax, %r11
  xor %eax, %eax
  test %r11, %r11
  jz 1f
  jmp *%r11
1:
  ret
  .cfi_endproc
agent_restorer:
  mov $15, %eax
  syscall
  .text
)");
