// Functions that leave by jumps to others: always, or by a branch; over several functions; with recursion, exceptions and
// longjmp() in between; in several threads, and with signal handlers that do the same. "tails COUNT" prints what must be printed
// if a tracer changes nothing.
#include <pthread.h>
#include <sys/time.h>

#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace {
std::jmp_buf place;
constexpr int kThreads = 4;
}  // namespace

extern "C" {
long by_jump(long n);
long by_branch(long n);
long outer(long n);
long shared(long n);
long recurs(long n);
long throws_by_jump(long n);
long leaps_by_jump(long n);
long elsewhere(long n);

__attribute__((noinline)) long rest_of_recurs(long n) {
  volatile long below = recurs(n - 1);
  return below + 1;
}
__attribute__((noinline)) long thrower(long n) {
  volatile long kept = n;
  if (n % 2 != 0) throw n;
  return kept;
}
__attribute__((noinline)) long leaper(long n) {
  volatile long kept = n;
  if (n % 2 != 0) std::longjmp(place, 1);
  return kept;
}
}

// The longer ones have room for an entry probe before a branch.
#define FUNCTION(name, body)                                                                                                     \
  ".globl " #name "\n.type " #name ", @function\n.balign 64\n" #name ":\n .cfi_startproc\n" body "\n .cfi_endproc\n.size " #name \
  ", . - " #name "\n"
asm(".text\n"                                                                                   //
    FUNCTION(shared, " lea 1(%rdi), %rax\n nopl 64(%rax,%rax,1)\n nopl 64(%rax,%rax,1)\n ret")  //
    FUNCTION(by_jump, " lea 1(%rdi), %rdi\n nop\n .byte 0xe9\n .long shared - . - 4")           //
    FUNCTION(by_branch,
             " nopl 64(%rax,%rax,1)\n test %rdi, %rdi\n .byte 0x0f, 0x85\n .long shared - . - 4\n mov $-1, %rax\n ret")  //
    FUNCTION(outer, " lea 1(%rdi), %rdi\n nop\n .byte 0xe9\n .long by_jump - . - 4")                                     //
    FUNCTION(recurs,
             " nopl 64(%rax,%rax,1)\n test %rdi, %rdi\n .byte 0x0f, 0x85\n .long rest_of_recurs - . - 4\n mov $0, %eax\n ret")  //
    FUNCTION(throws_by_jump, " lea 1(%rdi), %rdi\n nop\n .byte 0xe9\n .long thrower - . - 4")                                   //
    FUNCTION(leaps_by_jump, " lea 1(%rdi), %rdi\n nop\n .byte 0xe9\n .long leaper - . - 4")                                     //
    FUNCTION(elsewhere,
             " nopl 64(%rax,%rax,1)\n test %rdi, %rdi\n .byte 0x74, 1f - . - 1\n jmp labs@PLT\n 1: mov $-1, %rax\n ret"));

namespace {

long catches(long n) {
  try {
    return throws_by_jump(n);
  } catch (long what) {
    return -what;
  }
}

long lands(long n) { return setjmp(place) == 0 ? leaps_by_jump(n) : -1; }

void* work(void* count) {
  long sum = 0;
  for (long i = 0; i < reinterpret_cast<long>(count); i++)
    sum += by_jump(i) + by_branch(i % 2) + outer(i) + shared(i) + recurs(i % 8) + elsewhere(i % 2);
  return reinterpret_cast<void*>(sum);
}

}  // namespace

int main(int argc, char** argv) {
  const long count = argc > 1 ? std::atol(argv[1]) : 100;
  if (argc > 2) {  // signals
    struct sigaction action {};
    action.sa_handler = [](int) { by_jump(outer(by_branch(1))); };
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, nullptr);
    const itimerval often{{0, 500}, {0, 500}};
    setitimer(ITIMER_REAL, &often, nullptr);
  }
  pthread_t threads[kThreads];
  long sum = 0;
  for (pthread_t& one : threads) pthread_create(&one, nullptr, work, reinterpret_cast<void*>(count));
  for (pthread_t& one : threads) {
    void* its = nullptr;
    pthread_join(one, &its);
    sum += reinterpret_cast<long>(its);
  }
  long caught = 0, landed = 0;
  for (long i = 0; i < count; i++) caught += catches(i) + shared(i), landed += lands(i) + shared(i);
  std::printf("%ld %ld %ld\n", sum, caught, landed);
}
