/* What dvm cost validate traces: small jobs, each a loop, done on order. A line on standard input names the job, how many rounds,
 * after how many of them to rest, and when to go on, in ns from the beginning of these; 0: no rest. The answer is a line of what
 * they took:
 *
 *   JOB ROUNDS BURST PERIOD THREADS KEYS  ->  user ns, system ns, CPU ns, wall ns, calls, quiet share, slowdown
 *   interrupted NS 0 0 1 1                ->  likewise, but as CPU time that of an interrupt
 *   paced RATE 0 MS THREADS KEYS          ->  likewise, of the calls alone: workload_paced.h
 *   sizes 0 0 0 1 1                       ->  bytes of a nop marker, of a load-test-branch, of the semaphore
 *
 * CPU time is that of the rounds as they are on a core that is the workload's own (workload_pieces.h) and has the speed that the
 * argument says, in cycles a tick of its counter (0: the one it has); the quiet share is the part of them that was done on one, 0 to
 * 1. The slowdown says how many times as long the rounds took as that. user, system and wall are of all that was done, as it was.
 *
 * Started and ended by lab/validate/workload_child.cpp. Functions that are traced begin with a push, which the kernel
 * emulates, and keep a frame pointer. */
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "lab/noise/interrupt_time.h"
#include "workload_probes.h"

#define TRACED __attribute__((noinline, noclone))
#define BARRIER() __asm__ volatile("" ::: "memory")
#define KEEP_FRAME() __asm__ volatile("" ::"r"(__builtin_frame_address(0)) : "memory")

typedef void job_fn(long rounds);

static long long now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec * 1000000000ll + time.tv_nsec;
}

/* The paper's loops. */
static int zeros = -1;
static void job_read(long rounds) {
  char byte;
  for (long i = 0; i < rounds; i++) {
    if (read(zeros, &byte, 1) != 1) return;
  }
}

TRACED void workload_function(void) { KEEP_FRAME(); }
static void job_function(long rounds) {
  for (long i = 0; i < rounds; i++) {
    workload_function();
  }
}

static void rest_until(long long ns) {
  const struct timespec time = {ns / 1000000000, ns % 1000000000};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

#include "workload_pieces.h"
#include "workload_paced.h"

/* Gregg's looper. */
static size_t (*volatile length_of)(const char *) = strlen;
static volatile long total;
TRACED int workload_looper(const char *text) {
  BARRIER();
  return (int)length_of(text) + 1;
}
static void job_looper(long rounds) {
  for (long i = 0; i < rounds; i++) {
    total += workload_looper("hello DTrace");
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
static void job_stack(long rounds) {
  for (long i = 0; i < rounds; i++) {
    total += workload_deeper(8);
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
  static void job_##name(long rounds) { \
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

static void job_on_empty(long rounds) { on_nothing = empty, job_on_nothing(rounds); }
static void job_on_arguments(long rounds) { on_two = two_unused, job_on_two(rounds); }
static void job_on_copied(long rounds) { on_two = two_copied, job_on_two(rounds); }
static void job_on_varargs(long rounds) { on_any = any_unused, job_on_any(rounds); }
static void job_on_varargs_copied(long rounds) { on_any = any_copied, job_on_any(rounds); }
static void job_on_decoded(long rounds) { on_any = any_decoded, job_on_any(rounds); }

/* A load, a test and a branch as the compiler makes them, between two labels. */
__asm__(".pushsection .text\n.globl workload_branch\nworkload_branch: cmpw $0, dvm_workload_marker_semaphore(%rip)\njne 1f\n"
        ".globl workload_branch_end\nworkload_branch_end: ret\n1: ret\n.popsection");
extern const char workload_branch[], workload_branch_end[];
enum { NOP_BYTES = 1 };  /* as in the header that dvm makes */

static const struct {
  const char *name;
  job_fn *run;
} jobs[] = {
    {"interrupted", NULL},
    {"read", job_read},
    {"function", job_function},
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

static void run(job_fn *job, long rounds, long burst, long period) {
  struct rusage before, after;
  getrusage(RUSAGE_SELF, &before);
  paced.calls = rounds;
  piece_count = 0;
  const long long wall = now(CLOCK_MONOTONIC);
  double taken = 0, quiet = 1, slowdown = 1;
  if (job == NULL) {
    taken = dvm_interrupt_time(&gauge, core_speed, rounds, &quiet);
  } else if (job == job_paced) {
    job(rounds);
  } else if (burst > 0) {
    run_in_bursts(job, rounds, burst, period);
  } else {
    run_in_pieces(job, rounds);
  }
  const long long walled = now(CLOCK_MONOTONIC) - wall;
  getrusage(RUSAGE_SELF, &after);
  if (piece_count > 0) {
    quiet = quiet_share();
    const double each = job == job_paced ? mean_of_pieces(quiet >= enough) : middle_of_pieces(quiet >= enough);
    taken = each * (double)paced.calls;
    slowdown = each > 0 ? time_as_it_was() / rounds_of_pieces(false) / each : 1;
  }
  printf("%lld %lld %.0f %lld %ld %.4f %.4f\n", nanoseconds(after.ru_utime) - nanoseconds(before.ru_utime),
         nanoseconds(after.ru_stime) - nanoseconds(before.ru_stime), taken, walled, paced.calls, quiet, slowdown);
}

/* Bytes of stack between what runs and where the stack ends, as larger programs have them. Without them a copy of 4 KB met the end
   in each third process, by where its stack was put, and that is a fault in the kernel: another half of a microsecond. */
enum { STACK_ABOVE = 8192 };

int main(int count, char **arguments) {
  char name[32], above[STACK_ABOVE];
  long rounds, burst;
  memset(above, 0, sizeof above);
  __asm__ volatile("" : : "r"(above) : "memory"); /* so there are pages */
  if (count > 1) core_speed = atof(arguments[1]);
  const double near = count > 3 ? atof(arguments[2]) : 0, far = count > 3 ? atof(arguments[3]) : 0;
  gauge = dvm_first_gauge(near, far, 100000000);
  zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC);
  memset(source, 1, sizeof source);
  while (scanf("%31s %ld %ld %ld %ld %ld", name, &rounds, &burst, &paced.period, &paced.threads, &paced.keys) == 6) {
    if (strcmp(name, "sizes") == 0)
      printf("%d %d %d 0 0 1 1\n", NOP_BYTES, (int)(workload_branch_end - workload_branch), (int)sizeof(unsigned short));
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++)
      if (strcmp(name, jobs[i].name) == 0) run(jobs[i].run, rounds, burst, paced.period);
    fflush(stdout);
  }
  return 0;
}
