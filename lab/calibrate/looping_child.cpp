// Covered by tests/unit/lab/calibrate_test.cpp.

#include "lab/calibrate/looping_child.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <string>

#include "common/clock.h"
#include "common/sleep_until.h"
#include "lab/noise/interrupt_time.h"
#include "runtime/symbol/maps.h"

// What is called: a push and nops, which the kernel emulates, and a mov, which it steps over; behind one, a push. Each returns
// its argument. The one for an agent also counts to twelve, because a function with less work hides less of a jump at its entry
// than functions do. And a way there through functions that have frame pointers and call frame information, up to one that has
// neither. A callee lies in one page.
extern "C" {
using Callee = uint64_t(uint64_t argument);
Callee dvm_callee_emulated, dvm_callee_stepped, dvm_callee_nop, dvm_callee_nop5, dvm_callee_moved, dvm_callee_framed;
extern const char dvm_callee_framed_end;
void dvm_callee_deep(uint64_t argument, uint64_t depth, Callee* function, uint64_t times);
}
#define DVM_CALLEE(name, first, rest)                                                                 \
  ".balign 16\n.type dvm_callee_" #name ", @function\n.globl dvm_callee_" #name "\ndvm_callee_" #name \
  ":\n"                                                                                               \
  ".cfi_startproc\n" first "\n" rest                                                                  \
  "mov %rdi, %rax\nret\n.cfi_endproc\n"                                                               \
  ".globl dvm_callee_" #name "_end\ndvm_callee_" #name "_end:\n.size dvm_callee_" #name ", . - dvm_callee_" #name "\n"
asm(".pushsection .text\n"
    // clang-format off
    DVM_CALLEE(emulated, "push %rbp", "pop %rbp\n")
    DVM_CALLEE(stepped, "mov %edi, %eax", "")
    DVM_CALLEE(nop, "nop", "")
    DVM_CALLEE(nop5, ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00", "")
    DVM_CALLEE(moved, ".byte 0x89, 0xf8", "push %rbp\npop %rbp\n")
    DVM_CALLEE(framed, "push %rbp", "mov %rsp, %rbp\nxor %eax, %eax\n1: inc %eax\ncmp $12, %eax\njne 1b\npop %rbp\n")
    // clang-format on
    ".type dvm_callee_deeper, @function\ndvm_callee_deeper:\n.cfi_startproc\n"
    "push %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset 6, -16\nmov %rsp, %rbp\n.cfi_def_cfa_register 6\n"
    "dec %rsi\nje 1f\ncall dvm_callee_deeper\njmp 3f\n1: mov %rdi, %rbx\nmov %rdx, %r12\nmov %rcx, %r13\n"
    "2: mov %rbx, %rdi\ncall *%r12\ndec %r13\njne 2b\n3: pop %rbp\n.cfi_def_cfa 7, 8\nret\n"
    ".cfi_endproc\n.size dvm_callee_deeper, . - dvm_callee_deeper\n"
    ".type dvm_callee_deep, @function\n.globl dvm_callee_deep\ndvm_callee_deep:\n.cfi_startproc\n.cfi_undefined 16\n"
    "push %rbp\npush %rbx\npush %r12\npush %r13\nsub $8, %rsp\n.cfi_def_cfa_offset 48\nxor %ebp, %ebp\ncall dvm_callee_deeper\n"
    "add $8, %rsp\npop %r13\npop %r12\npop %rbx\npop %rbp\n.cfi_def_cfa_offset 8\nret\n"
    ".cfi_endproc\n.size dvm_callee_deep, . - dvm_callee_deep\n"
    ".popsection");

namespace dvm::lab {

using namespace runtime;
namespace {

uint64_t system_call(uint64_t argument) { return static_cast<uint64_t>(syscall(SYS_getppid, argument)); }
uint64_t signal_itself(uint64_t) { return static_cast<uint64_t>(kill(getpid(), SIGURG)); }

// By CalleeKind; there is none of the loop.
constexpr Callee* kFunctions[] = {dvm_callee_emulated, dvm_callee_stepped, dvm_callee_nop, dvm_callee_nop5, dvm_callee_moved,
                                  dvm_callee_framed,   system_call,        signal_itself,  nullptr};
static_assert(std::size(kFunctions) == static_cast<size_t>(CalleeKind::loop) + 1);

Callee* function_of(CalleeKind callee) { return kFunctions[static_cast<size_t>(callee)]; }

// Where nothing is ever unmapped.
constexpr std::array kText = [] {
  std::array<char, kMostLetters + 1> text{};
  std::fill_n(text.begin(), kMostLetters, 'x');
  return text;
}();

// The last byte of a string of kMostLetters. Null: there is no memory.
const char* end_of_text(TextPlace place) {
  static const std::string on_heap(kMostLetters, 'x');
  static const char* const shared = [] {
    void* mapped = mmap(nullptr, kText.size(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return mapped == MAP_FAILED ? nullptr : static_cast<const char*>(std::memcpy(mapped, kText.data(), kText.size()));
  }();
  if (place == TextPlace::shared) return shared == nullptr ? nullptr : shared + kMostLetters;
  return (place == TextPlace::heap ? on_heap.c_str() : kText.data()) + kMostLetters;
}

constexpr uint64_t kMillisecond = 1'000'000;

// Some 40 us, where they are traced: a stepped call takes ten times as long as another.
uint64_t calls_of_piece(CalleeKind callee) { return callee == CalleeKind::stepped ? 5 : 50; }

noise::QuietSample called(const CalleeCalls& calls) {
  Callee* volatile function = function_of(calls.callee);
  const auto fixed = reinterpret_cast<uintptr_t>(end_of_text(calls.text)) - std::min(calls.letters, kMostLetters);
  const uint64_t most = calls.burst > 0 ? calls.burst : calls_of_piece(calls.callee);
  uint64_t next = read_clock(CLOCK_MONOTONIC);
  noise::QuietTime time;
  calls.hurries ? time.begin_at_once() : time.begin(true);
  for (uint64_t done = 0; done < calls.times; done += most) {
    const uint64_t times = std::min(most, calls.times - done), begin = read_clock(CLOCK_THREAD_CPUTIME_ID);
    const uint64_t each = calls.stays ? times : 1;
    for (uint64_t i = 0; i < times; i += each) {
      const uint64_t argument = calls.is_stamped ? read_clock(CLOCK_MONOTONIC) : fixed;
      if (calls.depth > 0)
        dvm_callee_deep(argument, calls.depth, function, each);
      else
        function(argument);
    }
    time.end(static_cast<double>(read_clock(CLOCK_THREAD_CPUTIME_ID) - begin), static_cast<double>(times));
    if (calls.sleeps)
      sleep_until(next += kMillisecond), time.begin_at_once();
    else if (!calls.hurries && !time.starts_quietly())
      time.begin(true);
  }
  return {time.usual(), time.quiet_share() >= noise::kQuietEnough};
}

noise::QuietSample carry_out(const CalleeCalls& calls) {
  if (calls.callee != CalleeKind::loop) return called(calls);
  const noise::InterruptTime usual = noise::interrupt_time(calls.times);
  return {usual.ns, usual.quiet_share >= noise::kQuietEnough};
}

}  // namespace

Result<LoopingChild> start_looping_child() { return LoopingChild::start(carry_out); }

Result<uint64_t> offset_of(CalleeKind callee) {
  constexpr uint64_t kMov = 2;  // bytes before the push
  const auto address = reinterpret_cast<uintptr_t>(function_of(callee)) + (callee == CalleeKind::moved ? kMov : 0);
  const auto objects = mapped_objects(getpid());
  if (!objects) return objects.error();
  const MappedObject* program = object_at(*objects, address);
  if (program == nullptr) return Error{"the program does not find itself among what it has mapped"};
  return address - program->address + program->offset;
}

uint64_t size_of_framed() {
  return static_cast<uint64_t>(&dvm_callee_framed_end - reinterpret_cast<const char*>(dvm_callee_framed));
}

}  // namespace dvm::lab
