// Threads that add to counters of their CPU in a restartable sequence (rseq): restarted ROUNDS prints their sum.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>

enum { kCpus = 1024, kLine = 8, kThreads = 4 };
static unsigned long counters[kCpus][kLine];
static long rounds;

// Returns 1 if the sequence was aborted. rseq: the area of the thread.
int add_one(void* rseq, void* counters);
// The sequence ends with the instruction that stores. In the five bytes before `ret` lies its end.
__asm__(
    ".text\n .balign 64\n .globl add_one\n .type add_one, @function\n add_one: .cfi_startproc\n"
    "lea .Lsequence(%rip), %rax\n mov %rax, 8(%rdi)\n .Lsequence_begin: mov 4(%rdi), %eax\n shl $6, %rax\n"
    "mov (%rsi,%rax), %rdx\n inc %rdx\n mov %rdx, (%rsi,%rax)\n .Lsequence_end: xor %eax, %eax\n ret\n"
    ".long 0x53053053\n .Lsequence_abort: mov $1, %eax\n ret\n .cfi_endproc\n .size add_one, . - add_one\n"
    ".section .data.rel.ro, \"aw\"\n .balign 32\n .Lsequence: .long 0, 0\n"
    ".quad .Lsequence_begin, .Lsequence_end - .Lsequence_begin, .Lsequence_abort\n .text\n");

static void* add(void* none) {
  void* rseq = (char*)__builtin_thread_pointer() + __rseq_offset;
  for (long i = 0; i < rounds; i++)
    while (add_one(rseq, counters) != 0) continue;
  return none;
}

int main(int count, char** words) {
  pthread_t threads[kThreads];
  rounds = count > 1 ? atol(words[1]) : 1;
  if (__rseq_size == 0) return puts("the C library has no restartable sequences here"), 0;
  for (int i = 0; i < kThreads; i++) pthread_create(&threads[i], NULL, add, NULL);
  for (int i = 0; i < kThreads; i++) pthread_join(threads[i], NULL);
  unsigned long sum = 0;
  for (int i = 0; i < kCpus; i++) sum += counters[i][0];
  printf("sum %lu\n", sum);
  return 0;
}
#else
int main(void) { return puts("the C library has no restartable sequences"), 0; }
#endif
