// Coroutines that suspend themselves in calls, on stacks that lie above each other. By swapcontext(), and by code of its own with
// the argument "own". Prints how often their functions have returned, and a sum of their results.
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { kCount = 8, kStackBytes = 65536, kRounds = 40, kDepth = 5 };

static struct Coroutine {
  ucontext_t context;
  void* stack_pointer;
  int is_done;
} all[kCount];
static ucontext_t loop_context;
static void* loop_pointer;
static int running, is_own;
static long returns;
static uint64_t sum;

void switch_stack(void** save, void* load);
__asm__(
    ".text\n.globl switch_stack\n.type switch_stack, @function\nswitch_stack:\n"
    " push %rbp\n push %rbx\n push %r12\n push %r13\n push %r14\n push %r15\n"
    " mov %rsp, (%rdi)\n mov %rsi, %rsp\n"
    " pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbx\n pop %rbp\n ret\n.size switch_stack, . - switch_stack");

void suspend(void) {
  struct Coroutine* own = &all[running];
  is_own ? switch_stack(&own->stack_pointer, loop_pointer) : (void)swapcontext(&own->context, &loop_context);
}

void resume(int one) {
  running = one;
  is_own ? switch_stack(&loop_pointer, all[one].stack_pointer) : (void)swapcontext(&loop_context, &all[one].context);
}

uint64_t descend(int depth, uint64_t value) {
  const uint64_t result = depth == 0 ? value * 31 : descend(depth - 1, value + (uint64_t)depth);
  suspend();
  returns++;
  return result + (uint64_t)depth;
}

void work(void) {
  for (int i = 0; i < kRounds; i++) sum += descend(i % kDepth, (uint64_t)(running * kRounds + i));
  all[running].is_done = 1;
  for (;;) suspend();
}

static void prepare(struct Coroutine* one) {
  char* stack = mmap(NULL, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  getcontext(&one->context);
  one->context.uc_stack.ss_sp = stack;
  one->context.uc_stack.ss_size = kStackBytes;
  makecontext(&one->context, work, 0);
  void** top = (void**)(stack + kStackBytes) - 2;  // as if work() had been called: its return address is above
  top[0] = (void*)work;
  one->stack_pointer = top - 6;
}

int main(int argc, char** argv) {
  is_own = argc > 1 && strcmp(argv[1], "own") == 0;
  for (int i = 0; i < kCount; i++) prepare(&all[i]);
  for (int left = kCount; left != 0;) {
    left = 0;
    for (int i = 0; i < kCount; i++) {
      if (all[i].is_done) continue;
      left++;
      resume(i);
    }
  }
  printf("%ld %lu\n", returns, (unsigned long)sum);
  return 0;
}
