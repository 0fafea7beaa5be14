#pragma once
// Reads memory that may vanish by plain loads, some of which may fault. Part of fire.cpp.
//
// In a process where dvm has placed agent_handler (handler.h) for SIGSEGV and SIGBUS, a load that faults goes on behind itself
// and says so. This holds only if the thread does not block these signals, and if its stack has room for the frame of a signal.
// Before the first load of a read, the thread asks the kernel for its mask, for its alternate stack, and for the action, by three
// system calls. A read by process_vm_readv(2) takes 2.6 times as long, and is made wherever one of these conditions is not met.
//
// A program that changes an action by the C library is watched: it waits until no lane `catches` (handler.h).

#include <cstdint>

#include "runtime/agent/inside/format.h"
#include "runtime/agent/inside/frames.h"
#include "runtime/agent/inside/read.h"

namespace dvm::runtime::inside {

inline constexpr long kSigaction = 13, kSigprocmask = 14, kSigaltstack = 131;
inline constexpr long kMaskBytes = 8;
inline constexpr uint64_t kFrameRoom = 32 * 1024;  // of a signal and its handler, below the stack pointer of the program

constexpr uint64_t signal_bit(uint64_t signal) { return uint64_t{1} << (signal - 1); }
inline constexpr uint64_t kCaughtBits = signal_bit(kSegmentFault) | signal_bit(kBusError);

// One load that may fault, and where it then goes on, with 1 in %rdx: distances from the entry itself.
struct CaughtLoad {
  int32_t load, behind;
};

// The address is a multiple of 8.
[[gnu::always_inline]] inline uint64_t load_caught(uint64_t address, uint64_t& has_failed) {
  uint64_t word;
  asm volatile(
      "1: mov (%2), %0\n"
      "2:\n"
      ".pushsection agent_loads, \"a\", @progbits\n"
      "3: .long 1b - 3b, 2b - 3b\n"
      ".popsection"
      : "=a"(word), "+d"(has_failed)
      : "r"(address));
  return word;
}

// False also if the stack of the thread is not known.
[[gnu::always_inline]] inline bool has_frame_room(const Context& context, Lane* lane, uint64_t stack_pointer) {
  const MemoryRange& first = reinterpret_cast<const LastingMemory*>(context.lasting)->stack;
  const uint64_t end = end_of_stack(context, lane, stack_pointer);
  if (end == 0) return false;
  const uint64_t begin = is_in(first, stack_pointer) ? first.begin : load(lane->stack.begin);
  return stack_pointer - begin > kFrameRoom;
}

// A handler that the program has installed by a system call of its own is told to dvm.
[[gnu::always_inline]] inline bool has_handler(const Context& context) {
  KernelAction action{};
  call(kSigaction, kSegmentFault, 0, reinterpret_cast<long>(&action), kMaskBytes);
  const bool is_own = action.handler > kIgnored && action.handler != context.handler;
  if (is_own) __atomic_fetch_or(&reinterpret_cast<DataHeader*>(context.data)->handled, kCaughtBits, __ATOMIC_SEQ_CST);
  return action.handler == context.handler;
}

[[gnu::always_inline]] inline bool blocks_faults() {
  uint64_t mask = ~uint64_t{0};
  call(kSigprocmask, 0, 0, reinterpret_cast<long>(&mask), kMaskBytes);
  return (mask & kCaughtBits) != 0;
}

// The alternate stack may be memory of the thread's stack, and the process ends if a frame has no room there.
[[gnu::always_inline]] inline bool is_on_alternate_stack() {
  constexpr uint32_t kOnStack = 1;
  struct {
    uint64_t begin;
    uint32_t flags;
    uint64_t bytes;
  } stack{0, kOnStack, 0};
  call(kSigaltstack, 0, reinterpret_cast<long>(&stack));
  return (stack.flags & kOnStack) != 0;
}

// Loads of the thread are caught until end_catching(). False: they are not. A watch clears the word and then looks at the lanes.
DVM_RARELY inline bool begin_catching(const Context& context, Lane* lane, uint64_t stack_pointer) {
  const ArmedPage& page = armed_page(context);
  if (load(page.catching.is_on) == 0 || context.handler == 0 || is_muted(context)) return false;
  if (!has_frame_room(context, lane, stack_pointer)) return false;
  if (blocks_faults() || is_on_alternate_stack() || !has_handler(context)) return false;
  __atomic_exchange_n(&lane->catches, uint64_t{1}, __ATOMIC_SEQ_CST);
  if (load(page.catching.is_on) != 0) return true;
  lane->catches = 0;
  return false;
}

[[gnu::always_inline]] inline void end_catching(Lane* lane) { __atomic_store_n(&lane->catches, uint64_t{0}, __ATOMIC_RELEASE); }

// Stores one byte after the other: neither of the addresses needs to be a multiple of 8, which the program may insist on.
[[gnu::always_inline]] inline void store_bytes(uint64_t to, uint64_t word, uint64_t begin, uint64_t end) {
  for (uint64_t i = begin; i < end; i++) reinterpret_cast<volatile char*>(to)[i - begin] = static_cast<char>(word >> 8 * i);
}

// Returns the bytes that could be read, as read_memory() does.
[[gnu::noinline]] inline uint64_t copy_caught(uint64_t from, uint64_t to, uint64_t bytes) {
  uint64_t has_failed = 0, done = 0;
  while (done < bytes) {
    const uint64_t begin = (from + done) & 7, left = begin + bytes - done, end = left < 8 ? left : 8;
    const uint64_t word = load_caught((from + done) & ~uint64_t{7}, has_failed);
    if (has_failed != 0) break;
    if (end - begin == 8 && ((to + done) & 7) == 0)
      *reinterpret_cast<volatile uint64_t*>(to + done) = word;
    else
      store_bytes(to + done, word, begin, end);
    done += end - begin;
  }
  return done;
}

// Whether a string ends, or is cut, in the first bytes of a word; the other bytes are 0.
[[gnu::always_inline]] inline bool ends_before(uint64_t word, uint64_t bytes, uint64_t most) {
  word |= ~uint64_t{0} << 8 * bytes;
  return most <= bytes || end_text(word, 8);
}

// A string as read_text() makes it. 0: it cannot be read.
[[gnu::noinline]] inline uint32_t text_caught(uint64_t from, uint64_t* to, uint64_t most) {
  const unsigned shift = static_cast<unsigned>(from & 7) * 8;
  uint64_t has_failed = 0, at = from & ~uint64_t{7};
  uint64_t next = load_caught(at, has_failed);
  for (uint64_t done = 0; has_failed == 0; done += 8) {
    uint64_t word = next >> shift;
    if (shift != 0) {
      next = load_caught(at += 8, has_failed);
      if (has_failed != 0 && !ends_before(word, 8 - shift / 8, most - done)) return 0;
      word |= has_failed != 0 ? 0 : next << (64 - shift);
    }
    const bool is_end = end_text(word, most - done);
    to[done / 8] = word;
    if (is_end) return static_cast<uint32_t>(done / 8 + 1);
    if (done + 8 == most) return to[most / 8] = 0, static_cast<uint32_t>(most / 8 + 1);
    if (shift == 0) next = load_caught(at += 8, has_failed);
  }
  return 0;
}

DVM_RARELY inline uint32_t read_vanishing_text(const Context& context, Lane* lane, uint64_t stack_pointer, uint64_t from,
                                               uint64_t* to, uint64_t most) {
  if (!begin_catching(context, lane, stack_pointer)) return read_text_by_call(context, from, to, most);
  const uint32_t words = text_caught(from, to, most);
  end_catching(lane);
  return words;
}

// A string of the process as words of a key, cut at so many characters. Returns how many words; 0: it cannot be read.
inline uint32_t read_text(const Context& context, Lane* lane, uint64_t stack_pointer, uint64_t from, uint64_t* to,
                          uint64_t most) {
  if (from < kPage) return 0;
  const uint64_t lasting = lasting_bytes(context, from, stack_pointer);
  const unsigned shift = static_cast<unsigned>(from & 7) * 8;
  uint64_t next = shift != 0 && lasting >= 8 ? load_word(from & ~uint64_t{7}) : 0;
  for (uint64_t done = 0; done + 8 <= lasting; done += 8) {
    uint64_t word = next >> shift;
    next = load_word((from + done + 7) & ~uint64_t{7});
    word = shift == 0 ? next : word | next << (64 - shift);
    const bool is_end = end_text(word, most - done);
    to[done / 8] = word;
    if (is_end) return static_cast<uint32_t>(done / 8 + 1);
  }
  return read_vanishing_text(context, lane, stack_pointer, from, to, most);
}

}  // namespace dvm::runtime::inside
