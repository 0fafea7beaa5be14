// Unwinds its stack from signal handlers that interrupt a function which it calls again and again.
//
//   faults N      the function faults every second time; the handler throws, and the caller catches that
//   samples N     the handler of a timer takes so many backtraces, and counts those that lack a caller
//   cancelled N   so many threads are cancelled at any instruction; each has an object to destroy

#include <execinfo.h>
#include <pthread.h>
#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

extern "C" char __executable_start, etext;

namespace {

volatile long sink, taken, cut, begun, cleaned;

void fail(int) {
  sigset_t all;
  sigemptyset(&all);
  sigaddset(&all, SIGSEGV);
  sigprocmask(SIG_UNBLOCK, &all, nullptr);
  throw std::runtime_error("fault");
}

void sample(int) {
  void* frames[32];
  const int count = backtrace(frames, 32);
  int own = 0;
  for (int i = 0; i < count; i++) own += frames[i] > &__executable_start && frames[i] < &etext;
  taken = taken + 1;
  cut = cut + (own < 3);  // this one, called(), main()
}

struct Cleaned {
  ~Cleaned() { __atomic_fetch_add(&cleaned, 1, __ATOMIC_RELAXED); }
};

}  // namespace

// Its first instruction faults.
extern "C" long loaded(const long* from);
asm(R"(
  .text
  .globl loaded
  .type loaded, @function
loaded:
  .cfi_startproc
  mov (%rdi), %rax
  add $1, %rax
  ret
  .cfi_endproc
  .size loaded, . - loaded
)");

// Calls called() for ever. Compilers take some instructions of a loop for ones that throw nothing, and end the program there.
extern "C" void spin();
asm(R"(
  .globl spin
  .type spin, @function
spin:
  .cfi_startproc
  sub $8, %rsp
  .cfi_adjust_cfa_offset 8
  call begin
1:
  call called
  jmp 1b
  .cfi_endproc
  .size spin, . - spin
)");

extern "C" [[gnu::noinline]] void called(long value) {
  sink = value;
  sink = sink + 1;
}
extern "C" void begin() {
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr);
  begun = 1;
}

static void* call(void*) {
  const Cleaned cleaned_up;
  spin();
  return nullptr;
}

static void fault(int count) {
  signal(SIGSEGV, fail);
  const long here = 4;
  int caught = 0;
  for (volatile int i = 0; i < count; i = i + 1) {
    try {
      loaded(i % 2 != 0 ? &here : nullptr);
    } catch (const std::exception&) {
      caught++;
    }
  }
  printf("caught %d\n", caught);
}

static void take_samples(int count) {
  void* first[2];
  backtrace(first, 2);  // loads what it needs
  signal(SIGPROF, sample);
  const itimerval every = {{0, 1000}, {0, 1000}};
  setitimer(ITIMER_PROF, &every, nullptr);
  while (taken < count) called(1);
  printf("cut %ld\n", cut);
}

static void cancel(int count) {
  for (int i = 0; i < count; i++) {
    pthread_t thread;
    begun = 0;
    pthread_create(&thread, nullptr, call, nullptr);
    while (begun == 0) usleep(100);
    usleep(1000);
    pthread_cancel(thread);
    pthread_join(thread, nullptr);
  }
  printf("cleaned %ld\n", cleaned);
}

int main(int count, char** arguments) {
  if (count < 3) return 1;
  const int number = atoi(arguments[2]);
  if (strcmp(arguments[1], "faults") == 0) fault(number);
  if (strcmp(arguments[1], "samples") == 0) take_samples(number);
  if (strcmp(arguments[1], "cancelled") == 0) cancel(number);
}
