#pragma once
// How code in a traced thread reads steady memory (steady.h).

#include <cstddef>
#include <cstdint>

#include "runtime/agent/inside/calls.h"
#include "runtime/agent/inside/steady.h"

namespace dvm::runtime::inside {

inline constexpr uint64_t kInterrupted = ~uint64_t{0}, kSteadyPart = 4;

[[gnu::always_inline]] inline SteadyMemory& steady_memory(const Context& context) {
  return *reinterpret_cast<SteadyMemory*>(steady_at(context.armed));
}

// Starts all readers in other threads again. False: the process does not let stubs do that. Those that were running have had time
// to end then, and the kernel starts those again that were preempted.
[[gnu::noinline]] inline bool restart_readers(const Context& context) {
  constexpr long kMembarrier = 324, kExpeditedRestart = 1 << 7;
  constexpr uint64_t kToEnd = 3'000'000;  // ticks of the TSC
  const bool may_call = !is_muted(context);
  if (may_call && call(kMembarrier, kExpeditedRestart) == 0) return true;
  const uint64_t begin = __builtin_ia32_rdtsc();
  while (__builtin_ia32_rdtsc() - begin < kToEnd) may_call ? wait_a_little() : __builtin_ia32_pause();
  return false;
}

// No table is in use then.
[[gnu::noinline]] inline void drop_table(const Context& context) {
  SteadyMemory& steady = steady_memory(context);
  uint64_t state = load(steady.state);
  while (!__atomic_compare_exchange_n(&steady.state, &state, (state & ~kTableBits) + kSteadyStep, false, __ATOMIC_SEQ_CST,
                                      __ATOMIC_RELAXED)) {
  }
  restart_readers(context);
}

// For good.
[[gnu::noinline]] inline void end_steady(const Context& context) {
  __atomic_store_n(&steady_memory(context).is_off, uint64_t{1}, __ATOMIC_SEQ_CST);
  drop_table(context);
}

// No reader looks at the table any more that dvm writes next.
[[gnu::always_inline]] inline void clear_proposal(SteadyMemory& steady, uint64_t proposed) {
  __atomic_compare_exchange_n(&steady.proposed, &proposed, uint64_t{0}, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

// Puts the table that dvm proposes in use, unless memory may have been taken away since dvm looked. If that is so, another thread
// may also be putting it in use.
[[gnu::noinline]] inline void adopt_proposal(const Context& context) {
  SteadyMemory& steady = steady_memory(context);
  const uint64_t proposed = load(steady.proposed);
  uint64_t state = load(steady.state);
  if (proposed == 0 || load(steady.is_off) != 0) return;
  if (!restart_readers(context)) return end_steady(context);  // nothing is in use that would need it
  if ((proposed ^ state) > kTableBits) return clear_proposal(steady, proposed);
  __atomic_fetch_add(&steady.restarting, uint64_t{1}, __ATOMIC_SEQ_CST);
  const bool is_mine =
      __atomic_compare_exchange_n(&steady.state, &state, proposed + kSteadyStep, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
  if (is_mine && !restart_readers(context)) end_steady(context);
  if (is_mine) clear_proposal(steady, proposed);
  __atomic_fetch_sub(&steady.restarting, uint64_t{1}, __ATOMIC_SEQ_CST);
}

DVM_RARELY inline void note_miss(const Context& context, uint64_t address) {
  SteadyMemory& steady = steady_memory(context);
  const uint64_t miss = __atomic_fetch_add(&steady.misses, uint64_t{1}, __ATOMIC_RELAXED);
  __atomic_store_n(&steady.wanted[miss % kMostWanted], address, __ATOMIC_RELAXED);
  if (load(steady.proposed) != 0) adopt_proposal(context);
}

// The kernel refuses to forget an area by another signature, if it is the thread's.
DVM_RARELY inline bool is_registered(const Context& context, Lane& lane, uint64_t area) {
  constexpr long kRseq = 334, kForget = 1, kNotPermitted = -1;
  if (is_muted(context)) return false;
  const long answer = call(kRseq, static_cast<long>(area), static_cast<long>(context.rseq_bytes), kForget, 0);
  if (answer != kNotPermitted) return false;
  lane.restartable_thread = lane.owner;
  lane.restartable = thread_pointer();
  return true;
}

// The rseq area of the thread; 0: it has none, or memory is not steady for it. A thread that has not registered its own yet may
// have that of one that has ended.
[[gnu::always_inline]] inline uint64_t restart_area(const Context& context, Lane& lane) {
  if (context.restart == 0 || load(armed_page(context).armed) != kAlone || load(steady_memory(context).starting) != 0) return 0;
  constexpr uint64_t kCpuAt = 4;  // negative if nothing is registered
  const uint64_t pointer = thread_pointer(), area = pointer + context.rseq;
  if (*reinterpret_cast<const volatile int32_t*>(area + kCpuAt) < 0) return 0;
  const bool is_known = load(lane.restartable) == pointer && load(lane.restartable_thread) == load(lane.owner);
  return is_known || is_registered(context, lane, area) ? area : 0;
}

// Loads at most kSteadyPart words from an address that is a multiple of 8, as far as the memory is steady. Returns how many; 0:
// it is not steady. kInterrupted: the kernel has ended the sequence. The words may be written even if none are returned.
extern "C" DVM_ONCE inline uint64_t agent_steady(const Context* context, Lane* lane, uint64_t from, uint64_t* to) {
  constexpr uint64_t kArmedAt = steady_at(0) - offsetof(ArmedPage, armed);
  constexpr uint64_t kFirstTable = offsetof(SteadyMemory, tables) - sizeof(SteadyTable);  // tables have the numbers 1 and 2
  constexpr uint64_t kBegin = offsetof(SteadyTable, ranges) + offsetof(MemoryRange, begin);
  constexpr uint64_t kEnd = offsetof(SteadyTable, ranges) + offsetof(MemoryRange, end);
  const SteadyMemory& steady = steady_memory(*context);
  const uint64_t rseq = restart_area(*context, *lane);
  if (rseq == 0) return 0;
  uint64_t words = 0, left = 0, range = 0;
  asm volatile(
      R"(
    mov %[restart], 8(%[rseq])
    .globl agent_steady_begin
  agent_steady_begin:
    xor %k[words], %k[words]
    cmpw %[alone], -%c[armed_at](%[steady])
    jne 3f
    cmpq $0, %c[off_at](%[steady])
    jne 3f
    mov (%[steady]), %[range]
    and %[table_bits], %k[range]
    jz 3f
    imul %[table_bytes], %[range], %[range]
    lea %c[first_table](%[steady],%[range]), %[range]
    mov (%[range]), %[left]
  1:
    sub $1, %[left]
    jc 3f
    mov %c[end](%[range]), %[words]
    sub %[from], %[words]
    jbe 2f
    cmp %c[begin](%[range]), %[from]
    jae 4f
  2:
    add %[range_bytes], %[range]
    xor %k[words], %k[words]
    jmp 1b
  4:
    shr $3, %[words]
    jz 3f
    cmp %[part], %[words]
    jbe 5f
    mov %[part], %k[words]
  5:
    mov %[words], %[left]
  6:
  5:
    mov -8(%[from],%[left],8), %[range]
    mov %[range], -8(%[to],%[left],8)
    sub $1, %[left]
    jnz 6b
  3:
    .globl agent_steady_end
  agent_steady_end:
    movq $0, 8(%[rseq])
    jmp 7f
    .byte 0x0f, 0xb9, 0x3d
    .long 0x53053053
    .globl agent_steady_abort
  agent_steady_abort:
    mov $-1, %[words]
  7:
  )"
      : [words] "=&r"(words), [left] "=&r"(left), [range] "=&r"(range)
      : [steady] "r"(&steady), [from] "r"(from), [to] "r"(to), [part] "i"(kSteadyPart), [rseq] "r"(rseq),
        [restart] "r"(context->restart), [armed_at] "i"(kArmedAt), [off_at] "i"(offsetof(SteadyMemory, is_off)),
        [alone] "i"(kAlone), [table_bits] "i"(kTableBits), [table_bytes] "i"(sizeof(SteadyTable)),
        [range_bytes] "i"(sizeof(MemoryRange)), [first_table] "i"(kFirstTable), [begin] "i"(kBegin), [end] "i"(kEnd)
      : "memory", "cc");
  return words;
}

// Words of steady memory, one part after the other, from any address.
class SteadyWords {
 public:
  SteadyWords(const Context& context, Lane& lane, uint64_t from)
      : context_(context), lane_(lane), next_(from & ~uint64_t{7}), shift_(static_cast<unsigned>(from & 7) * 8) {}

  // The next eight bytes. False: they are not steady.
  [[gnu::always_inline]] bool read(uint64_t& word) {
    if (at_ + (shift_ != 0 ? 1 : 0) >= count_ && !fill()) return false;
    word = shift_ == 0 ? part_[at_] : part_[at_] >> shift_ | part_[at_ + 1] << (64 - shift_);
    at_++;
    return true;
  }

 private:
  [[gnu::always_inline]] bool fill() {
    constexpr int kTries = 4;
    const uint64_t least = shift_ != 0 ? 2 : 1;
    next_ += at_ * sizeof(uint64_t);
    at_ = count_ = 0;
    for (int i = 0; i < kTries; i++) {
      const uint64_t loaded = agent_steady(&context_, &lane_, next_, part_);
      if (loaded == kInterrupted) continue;
      count_ = loaded;
      if (loaded < least) note_miss(context_, next_ + loaded * sizeof(uint64_t));
      return loaded >= least;
    }
    return false;
  }

  const Context& context_;
  Lane& lane_;
  uint64_t next_;  // address of the first word of the part
  unsigned shift_;
  uint64_t at_ = 0, count_ = 0;
  uint64_t part_[kSteadyPart];
};

}  // namespace dvm::runtime::inside
