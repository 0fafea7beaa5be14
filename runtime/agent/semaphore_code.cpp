// Tested by tests/unit/instrument/semaphores_test.cpp.

#include "runtime/agent/semaphore_code.h"

#include <cstddef>

#include "runtime/agent/inside/format.h"

namespace dvm::runtime {
namespace {

using inside::SemaphoreState;

constexpr unsigned char kState = offsetof(inside::Semaphore, state);
static_assert(offsetof(inside::Semaphore, counter) == 0);

struct ChangeRow {
  SemaphoreState from, by, to;
  uint32_t limit;
  unsigned char is_at_limit, step;  // the condition, and the displacement of lea
};
constexpr ChangeRow kRaise{SemaphoreState::off, SemaphoreState::raising, SemaphoreState::raised, kMostRaised, 0x83, 1};
constexpr ChangeRow kLower{SemaphoreState::wanted, SemaphoreState::lowering, SemaphoreState::off, 0, 0x86, 0xff};

size_t number(SemaphoreState state) { return static_cast<size_t>(state); }

// movl $state, kState(%rsi)
void set_state(CodeWriter& code, SemaphoreState state) { code.add({0xc7, 0x46, kState}, number(state)); }

// The entry at %rsi.
void add_change(CodeWriter& code, const ChangeRow& row) {
  code.load(GeneralRegister::rax, number(row.from));
  code.load(GeneralRegister::rdx, number(row.by));
  code.add({0xf0, 0x0f, 0xb1, 0x56, kState});  // lock cmpxchg %edx, kState(%rsi)
  const size_t is_other = code.jump_ahead({0x0f, 0x85});
  code.add({0x48, 0x8b, 0x0e});  // mov (%rsi), %rcx
  code.add({0x0f, 0xb7, 0x01});  // movzwl (%rcx), %eax
  const uint64_t again = code.here();
  code.add({0x3d}, row.limit);  // cmp $limit, %eax
  const size_t is_at_limit = code.jump_ahead({0x0f, row.is_at_limit});
  code.add({0x8d, 0x50, row.step});                   // lea step(%rax), %edx
  code.add({0x66, 0xf0, 0x0f, 0xb1, 0x11});           // lock cmpxchg %dx, (%rcx)
  code.add({0x0f, 0x85}, again - (code.here() + 6));  // jne again
  set_state(code, row.to);
  const size_t is_done = code.jump_ahead({0xe9});
  code.land(is_at_limit);
  set_state(code, SemaphoreState::off);
  code.land(is_done);
  code.land(is_other);
}

}  // namespace

void add_semaphore_loop(CodeWriter& code, SemaphoreChange change, uint64_t begin, uint64_t end) {
  code.add({0x9f, 0x0f, 0x90, 0xc0, 0x41, 0x89, 0xc0});  // lahf; seto %al; mov %eax, %r8d
  code.load(GeneralRegister::rsi, begin);
  code.load(GeneralRegister::rdi, end);
  const uint64_t next = code.here();
  code.add({0x48, 0x39, 0xfe});  // cmp %rdi, %rsi
  const size_t is_end = code.jump_ahead({0x0f, 0x83});
  add_change(code, change == SemaphoreChange::raise ? kRaise : kLower);
  code.add({0x48, 0x83, 0xc6, sizeof(inside::Semaphore)});  // add $bytes, %rsi
  code.jump(next);
  code.land(is_end);
  code.add({0x44, 0x89, 0xc0, 0x04, 0x7f, 0x9e});  // mov %r8d, %eax; add $0x7f, %al; sahf
}

}  // namespace dvm::runtime
