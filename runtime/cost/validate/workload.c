/* What dvm cost validate traces: small jobs, each a loop, done on order. A line on standard input names the job, how many rounds,
 * and how long to be busy after each; the answer is a line of what they took:
 *
 *   JOB ROUNDS PAUSE  ->  user ns, system ns, CPU ns, wall ns, ticks of the cycle counter, rounds
 *   paced RATE MS THREADS KEYS  ->  the same: workload_paced.h
 *   sizes 0 0         ->  bytes of a nop marker, of a load-test-branch, of the semaphore
 *
 * Started and ended by runtime/cost/validate/workload_child.cpp. Functions that are traced begin with a push, which the kernel
 * emulates, and keep a frame pointer. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include "workload_probes.h"

#define TRACED __attribute__((noinline, noclone))
#define BARRIER() __asm__ volatile("" ::: "memory")
#define KEEP_FRAME() __asm__ volatile("" ::"r"(__builtin_frame_address(0)) : "memory")

typedef void job_fn(long rounds, long pause);

static long long now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec * 1000000000ll + time.tv_nsec;
}

static void be_busy(long pause) {
  for (long i = 0; i < pause; i++) BARRIER();
}

/* The paper's loops. */
static int zeros = -1;
static void job_read(long rounds, long pause) {
  char byte;
  for (long i = 0; i < rounds; i++) {
    if (read(zeros, &byte, 1) != 1) return;
    be_busy(pause);
  }
}

TRACED void workload_function(void) { KEEP_FRAME(); }
static void job_function(long rounds, long pause) {
  for (long i = 0; i < rounds; i++) {
    workload_function();
    be_busy(pause);
  }
}

static void job_sleep(long rounds, long pause) {
  const struct timespec time = {rounds / 1000, rounds % 1000 * 1000000};
  (void)pause;
  nanosleep(&time, NULL);
}

#include "workload_paced.h"

/* Gregg's looper. */
static size_t (*volatile length_of)(const char *) = strlen;
static volatile long total;
TRACED int workload_looper(const char *text) {
  BARRIER();
  return (int)length_of(text) + 1;
}
static void job_looper(long rounds, long pause) {
  for (long i = 0; i < rounds; i++) {
    total += workload_looper("hello DTrace");
    be_busy(pause);
  }
}

/* A stack of some depth. */
TRACED int workload_leaf(void) {
  KEEP_FRAME();
  return 1;
}
TRACED int workload_deeper(int depth) {
  const int below = depth == 0 ? workload_leaf() : workload_deeper(depth - 1);
  BARRIER();
  return below + 1;
}
static void job_stack(long rounds, long pause) {
  for (long i = 0; i < rounds; i++) {
    total += workload_deeper(8);
    be_busy(pause);
  }
}

/* LTTng's markers. */
static volatile int value;
static void *volatile pointer;
static char source[4096], target[4096];
static void (*volatile on_nothing)(void);
static void (*volatile on_two)(int, void *);
static void (*volatile on_any)(const char *, ...);

static void empty(void) { BARRIER(); }
static void two_unused(int first, void *second) {
  (void)first, (void)second;
  BARRIER();
}
static void any_unused(const char *format, ...) {
  (void)format;
  BARRIER();
}
static void two_copied(int first, void *second) { value = first, pointer = second; }
static void any_copied(const char *format, ...) {
  va_list all;
  (void)format;
  va_start(all, format);
  value = va_arg(all, int);
  pointer = va_arg(all, void *);
  va_end(all);
}
static void any_decoded(const char *format, ...) {
  va_list all;
  va_start(all, format);
  for (const char *at = format; *at; at++) {
    if (*at != '%') continue;
    at++;
    if (*at == 'd') value = va_arg(all, int);
    if (*at == 'p') pointer = va_arg(all, void *);
  }
  va_end(all);
}

#define LOOP_JOB(name, body)                      \
  static void job_##name(long rounds, long pause) { \
    (void)pause;                                  \
    for (long i = 0; i < rounds; i++) {           \
      body;                                       \
      BARRIER();                                  \
    }                                             \
  }
#define COPY()                               \
  do {                                       \
    memcpy(target, source, sizeof target);   \
    __asm__ volatile("" ::"r"(target) : "memory"); \
  } while (0)
#define GUARDED(call)                         \
  do {                                        \
    if (WORKLOAD_MARKER_ENABLED()) call;      \
  } while (0)

LOOP_JOB(empty, )
LOOP_JOB(nop, WORKLOAD_MARKER(1, NULL))
LOOP_JOB(branch, GUARDED(on_two(1, NULL)))
LOOP_JOB(copy, COPY())
LOOP_JOB(copy_nop, COPY(); WORKLOAD_MARKER(1, NULL))
LOOP_JOB(copy_branch, COPY(); GUARDED(on_two(1, NULL)))
LOOP_JOB(on_nothing, on_nothing())
LOOP_JOB(on_two, on_two(1, NULL))
LOOP_JOB(on_any, on_any("%d %p", 1, NULL))

static void job_on_empty(long rounds, long pause) { on_nothing = empty, job_on_nothing(rounds, pause); }
static void job_on_arguments(long rounds, long pause) { on_two = two_unused, job_on_two(rounds, pause); }
static void job_on_copied(long rounds, long pause) { on_two = two_copied, job_on_two(rounds, pause); }
static void job_on_varargs(long rounds, long pause) { on_any = any_unused, job_on_any(rounds, pause); }
static void job_on_varargs_copied(long rounds, long pause) { on_any = any_copied, job_on_any(rounds, pause); }
static void job_on_decoded(long rounds, long pause) { on_any = any_decoded, job_on_any(rounds, pause); }

/* A load, a test and a branch as the compiler makes them, between two labels. */
__asm__(".pushsection .text\n.globl workload_branch\nworkload_branch: cmpw $0, dvm_workload_marker_semaphore(%rip)\njne 1f\n"
        ".globl workload_branch_end\nworkload_branch_end: ret\n1: ret\n.popsection");
extern const char workload_branch[], workload_branch_end[];
enum { NOP_BYTES = 5 };

static const struct {
  const char *name;
  job_fn *run;
} jobs[] = {
    {"read", job_read},
    {"function", job_function},
    {"sleep", job_sleep},
    {"paced", job_paced},
    {"looper", job_looper},
    {"stack", job_stack},
    {"empty", job_empty},
    {"nop", job_nop},
    {"branch", job_branch},
    {"copy", job_copy},
    {"copy_nop", job_copy_nop},
    {"copy_branch", job_copy_branch},
    {"on_empty", job_on_empty},
    {"on_arguments", job_on_arguments},
    {"on_copied", job_on_copied},
    {"on_varargs", job_on_varargs},
    {"on_varargs_copied", job_on_varargs_copied},
    {"on_decoded", job_on_decoded},
};

static long long nanoseconds(struct timeval time) { return (time.tv_sec * 1000000ll + time.tv_usec) * 1000; }

static void run(job_fn *job, long rounds, long pause) {
  struct rusage before, after;
  getrusage(RUSAGE_SELF, &before);
  paced.calls = rounds;
  const long long cpu = now(CLOCK_PROCESS_CPUTIME_ID), wall = now(CLOCK_MONOTONIC), ticks = (long long)__rdtsc();
  job(rounds, pause);
  const long long ticked = (long long)__rdtsc() - ticks, walled = now(CLOCK_MONOTONIC) - wall;
  const long long taken = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
  getrusage(RUSAGE_SELF, &after);
  printf("%lld %lld %lld %lld %lld %ld\n", nanoseconds(after.ru_utime) - nanoseconds(before.ru_utime),
         nanoseconds(after.ru_stime) - nanoseconds(before.ru_stime), taken, walled, ticked, paced.calls);
}

int main(void) {
  char line[128], name[32];
  long rounds, pause;
  zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC);
  memset(source, 1, sizeof source);
  while (fgets(line, sizeof line, stdin) != NULL) {
    if (sscanf(line, "%31s %ld %ld %ld %ld", name, &rounds, &pause, &paced.threads, &paced.keys) < 3) return 1;
    if (strcmp(name, "sizes") == 0)
      printf("%d %d %d 0 0\n", NOP_BYTES, (int)(workload_branch_end - workload_branch), (int)sizeof(unsigned short));
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++)
      if (strcmp(name, jobs[i].name) == 0) run(jobs[i].run, rounds, pause);
    fflush(stdout);
  }
  return 0;
}
