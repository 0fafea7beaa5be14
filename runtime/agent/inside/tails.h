#pragma once
// Notes of functions that a thread has left by a jump to another one. Part of fire.cpp. At the jump, the return address is on top
// of the stack, and so it is at the `ret` by which the other function returns. A note holds this place and address, and changes
// neither.
//
// If an exception or longjmp() skips the return, dvm is not told. The note then stays, without effect, until a call with another
// return address at that place replaces it.

#include "runtime/agent/inside/format.h"
#include "runtime/agent/inside/read.h"

namespace dvm::runtime::inside {

[[gnu::always_inline]] inline uint64_t return_address_at(uint64_t stack_pointer) {
  return *reinterpret_cast<const volatile uint64_t*>(stack_pointer);
}

// A uretprobe on the target of the jump replaces the return address by the kernel's trampoline, at the beginning of a page. A
// real return address is hardly ever at the beginning of a page.
[[gnu::always_inline]] inline bool is_same_return(uint64_t noted, uint64_t now) { return noted == now || now % kPage == 0; }

[[gnu::always_inline]] inline uint64_t count_of(const TailCalls& all) {
  const uint64_t count = all.count;  // the process may have written anything there
  return count < kMostTailCalls ? count : kMostTailCalls;
}

[[gnu::always_inline]] inline void put_tail(TailCalls& all, uint64_t at, const TailCall& one) {
  auto* to = const_cast<volatile TailCall*>(&all.calls[at]);  // no call of memcpy
  to->function = one.function;
  to->stack_pointer = one.stack_pointer;
  to->return_address = one.return_address;
}

// The order of notes does not matter.
[[gnu::always_inline]] inline void remove_tail(TailCalls& all, uint64_t& count, uint64_t at) {
  count--;
  put_tail(all, at, all.calls[count]);
}

// Removes notes below the stack pointer whose return address has been overwritten, so that they cannot belong to a suspended
// coroutine. If there are none, removes another one, whose return may be lost. Returns how many may be lost.
DVM_RARELY inline uint64_t make_room(TailCalls& all, uint64_t& count, int32_t pid, uint64_t stack_pointer, bool may_call) {
  for (uint64_t i = count; may_call && i-- != 0;) {
    uint64_t word = 0;
    const uint64_t at = all.calls[i].stack_pointer;
    const bool is_read =
        at < stack_pointer && read_memory(pid, at, reinterpret_cast<uint64_t>(&word), sizeof word) == sizeof word;
    if (is_read && !is_same_return(all.calls[i].return_address, word)) remove_tail(all, count, i);
  }
  if (count < kMostTailCalls) return 0;
  uint64_t lowest = 0;
  for (uint64_t i = 1; i < count; i++)
    if (all.calls[i].stack_pointer < all.calls[lowest].stack_pointer) lowest = i;
  remove_tail(all, count, lowest);
  return 1;
}

// Notes that the function is left. Returns how many returns of others may be lost for that.
[[gnu::always_inline]] inline uint64_t note_tail(const Context& context, TailCalls& all, uint64_t function,
                                                 uint64_t stack_pointer) {
  const uint64_t address = return_address_at(stack_pointer);
  uint64_t count = count_of(all), lost = 0;
  for (uint64_t i = count; i-- != 0;) {
    const TailCall& one = all.calls[i];
    if (one.stack_pointer != stack_pointer) continue;
    if (!is_same_return(one.return_address, address) || one.function == function) remove_tail(all, count, i);
  }
  if (count == kMostTailCalls)
    lost = make_room(all, count, static_cast<int32_t>(armed_page(context).pid), stack_pointer, !is_muted(context));
  put_tail(all, count, {function, stack_pointer, address});
  all.count = count + 1;
  return lost;
}

[[gnu::always_inline]] inline bool has_tail(const TailCalls& all, uint64_t function, uint64_t stack_pointer) {
  for (uint64_t i = count_of(all); i-- != 0;) {
    const TailCall& one = all.calls[i];
    if (one.stack_pointer == stack_pointer && one.function == function &&
        is_same_return(one.return_address, return_address_at(stack_pointer)))
      return true;
  }
  return false;
}

// Removes the notes of all functions that return there.
[[gnu::always_inline]] inline void forget_tails(TailCalls& all, uint64_t stack_pointer) {
  uint64_t count = count_of(all);
  for (uint64_t i = count; i-- != 0;)
    if (all.calls[i].stack_pointer == stack_pointer) remove_tail(all, count, i);
  all.count = count;
}

}  // namespace dvm::runtime::inside
