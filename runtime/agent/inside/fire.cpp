// The code that runs inside of a traced process, in the thread that fires. It is compiled and linked by itself
// (runtime/agent.cmake), may lie at any address, and has no data of its own. A stub calls agent_enter with a Site in %rdi, its
// own %rdi pushed before, and 128 bytes, which a leaf function may use, left free below that.
//
// It must not harm the thread that it runs in:
// - no call of anything in the process, no lock, no vector register (-mgeneral-regs-only), less than a KiB of stack;
// - memory at addresses that come from the process is read by process_vm_readv(2), which cannot fault;
// - a signal handler may interrupt it anywhere and fire itself, or never come back; another task may share its memory.

#include "runtime/agent/inside/aggregate.h"
#include "runtime/agent/inside/format.h"

namespace dvm::runtime::inside {
namespace {

constexpr long kGetTid = 186, kPrctl = 157, kSeccomp = 317, kSetSeccomp = 22, kClockGetTime = 228, kReadProcess = 310;
constexpr uint64_t kPage = 4096;
constexpr uint64_t kAbsent = ~uint64_t{0};
constexpr uint32_t kProbes = 16;  // lanes that are tried for a thread
constexpr uint64_t kFirstPart = 256;
constexpr unsigned kStackWord = 19;

[[gnu::always_inline]] inline long call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  long result;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

struct Range {
  uint64_t address, bytes;
};

// Bytes that could be read.
[[gnu::noinline]] uint64_t read_memory(int32_t pid, uint64_t from, uint64_t to, uint64_t bytes) {
  uint64_t done = 0;
  while (done < bytes) {
    const uint64_t in_page = kPage - ((from + done) & (kPage - 1));
    const uint64_t left = bytes - done;
    const Range local{to + done, left < in_page ? left : in_page}, remote{from + done, local.bytes};
    const long read = call(kReadProcess, pid, reinterpret_cast<long>(&local), 1, reinterpret_cast<long>(&remote), 1, 0);
    if (read <= 0) break;
    done += static_cast<uint64_t>(read);
    if (static_cast<uint64_t>(read) < local.bytes) break;
  }
  return done;
}

[[gnu::always_inline]] inline uint64_t& word(uint64_t address) { return *reinterpret_cast<uint64_t*>(address); }

[[gnu::always_inline]] inline uint64_t widen(uint64_t value, const Step& step) {
  const unsigned spare = 64 - 8U * step.size;
  value <<= spare;
  return step.is_signed ? static_cast<uint64_t>(static_cast<int64_t>(value) >> spare) : value >> spare;
}

struct Firing {
  int32_t pid;
  uint32_t tid;
  const uint64_t* saved;
  uint64_t record;  // the address where it is written
};

[[gnu::noinline]] uint64_t read_operand(const Firing& firing, const Step& step) {
  const auto saved = [&](uint8_t n) { return n < kSavedWords ? firing.saved[n] : 0; };
  const uint64_t address = saved(step.base) + saved(step.index) * step.scale + static_cast<uint64_t>(step.value);
  uint64_t value = 0;
  const uint64_t bytes = step.size <= 8 ? step.size : 8;
  return read_memory(firing.pid, address, reinterpret_cast<uint64_t>(&value), bytes) == bytes ? widen(value, step) : 0;
}

// Bytes up to and with the NUL; 0: there is none.
[[gnu::always_inline]] inline uint64_t length_of(uint64_t text, uint64_t begin, uint64_t end) {
  for (uint64_t i = begin; i < end; i++)
    if (*reinterpret_cast<const volatile char*>(text + i) == 0) return i + 1;
  return 0;
}

// Returns the end of what was written.
[[gnu::noinline]] uint32_t read_slot(const Firing& firing, const Step& step) {
  const uint64_t to = firing.record + step.at;
  const uint64_t base = word(firing.record + step.from), from = base + static_cast<uint64_t>(step.value);
  uint64_t most = step.most;
  if (step.by != 0 && word(firing.record + step.by) < most) most = word(firing.record + step.by);
  uint64_t length = kAbsent;
  if (base >= kPage && from >= kPage)
    length = step.is_string ? read_string(firing.pid, from, to + 8, most)
                            : (read_memory(firing.pid, from, to + 8, most) == most ? most : kAbsent);
  word(to) = length;
  if (length != kAbsent) return static_cast<uint32_t>(step.at + 8 + ((length + 7) & ~uint64_t{7}));
  if (step.by == 0 && !step.is_string)
    for (uint32_t i = 0; i < step.most; i += 8) word(to + 8 + i) = 0;
  return step.at + 8;
}

[[gnu::noinline]] void read_stack(const Firing& firing, const Step& step) {
  const uint64_t begin = firing.saved[kStackWord] & ~uint64_t{511};
  word(firing.record + static_cast<uint64_t>(step.value)) = read_memory(firing.pid, begin, firing.record + step.at, step.most);
}

[[gnu::noinline]] void name_thread(uint64_t to) {
  word(to) = word(to + 8) = 0;
  call(kPrctl, 16 /* PR_GET_NAME */, static_cast<long>(to));
}

[[gnu::noinline]] uint64_t time_of_thread() {
  uint64_t time[2] = {0, 0};
  call(kClockGetTime, 3 /* CLOCK_THREAD_CPUTIME_ID */, reinterpret_cast<long>(time));
  return time[0] * 1'000'000'000 + time[1];
}

// The first bytes of the code. Words of struct pt_regs are left on the stack; above them are the return address into the stub,
// its %rdi, and the 128 bytes.
asm(R"(
  .section .text.agent_enter, "ax", @progbits
  .globl agent_enter
agent_enter:
  lea -168(%rsp), %rsp
  mov %r15, (%rsp)
  mov %r14, 8(%rsp)
  mov %r13, 16(%rsp)
  mov %r12, 24(%rsp)
  mov %rbp, 32(%rsp)
  mov %rbx, 40(%rsp)
  mov %r11, 48(%rsp)
  mov %r10, 56(%rsp)
  mov %r9, 64(%rsp)
  mov %r8, 72(%rsp)
  mov %rax, 80(%rsp)
  mov %rcx, 88(%rsp)
  mov %rdx, 96(%rsp)
  mov %rsi, 104(%rsp)
  mov 176(%rsp), %rax
  mov %rax, 112(%rsp)
  movq $-1, 120(%rsp)
  movq $0x33, 136(%rsp)
  pushfq
  popq 144(%rsp)
  cld
  lea 312(%rsp), %rax
  mov %rax, 152(%rsp)
  movq $0x2b, 160(%rsp)
  mov %rsp, %rsi
  mov %rsp, %rbp
  and $-16, %rsp
  call agent_fire
  mov %rbp, %rsp
  andq $~0x100, 144(%rsp)
  pushq 144(%rsp)
  popfq
  mov 32(%rsp), %rbp
  mov 48(%rsp), %r11
  mov 56(%rsp), %r10
  mov 64(%rsp), %r9
  mov 72(%rsp), %r8
  mov 80(%rsp), %rax
  mov 88(%rsp), %rcx
  mov 96(%rsp), %rdx
  mov 104(%rsp), %rsi
  lea 168(%rsp), %rsp
  ret
  .text
)");
