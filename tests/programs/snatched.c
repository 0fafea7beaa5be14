// Takes away memory, and gives it back, while other threads pass strings in it to a function, as fast as they can.
//
//   snatched WAY [MILLISECONDS (300)]
//     unmap protect move cover discard          munmap(2), mprotect(2), mremap(2), mmap(2), madvise(2)
//     break free resize                         sbrk(2), free(3), realloc(3)
//     load                                      dlopen(3) and dlclose(3) of LIBRARY, whose data has a string
//     threads                                   munmap(2), and the threads that read come and go
//     signals leaps                             munmap(2) in signal handlers of the threads that read, which return, or leave it
//                                               by siglongjmp(3), also in the middle of munmap(2)
//     tasks shares                              munmap(2), and tasks read that share the memory: clone(2), vfork(2)
//     forks                                     munmap(2), also in children, which read, too
//     bare                                      munmap(2), and threads read that have no restartable sequences
//     filtered                                  munmap(2), once filters allow nothing that is not needed for it (prctl(2))
//     own                                       munmap(2) by a system call instruction of its own, if it is built with one
//   SIGTERM ends it before. Quiet spans alternate with bursts. Prints how many calls of work() were begun. Each string is "slot
//   NN", is empty where memory is new, or is a number of "y"; its address may be gone.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kPage = 4096, kSlots = 24, kArea = 2 * kPage, kGap = 4 * kPage, kChunk = 1 << 20, kReaders = 2, kLong = 300 };
enum { kQuiet = 70, kBurst = 30, kSlice = 2000, kStack = 1 << 16 };  // milliseconds, calls, bytes

__attribute__((noinline)) int work(const char* text, int a) {
  __asm__ volatile("" : : "r"(text) : "memory");
  return a + 1;
}

static char* texts[kSlots];
static char* areas[kSlots];
static void* handle;
static volatile int current, is_done;
static long calls, calls_left;
static const char* way;
static long span = 300;
static int is(const char* name) { return strcmp(way, name) == 0; }

static long milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void* map_at(void* at, size_t bytes, int protection) {
  void* area = mmap(at, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);
  if (area == MAP_FAILED) _exit(2);
  return area;
}

// Last word first, so that a reader sees nothing or all. Every fourth string is long, and goes over to a second page.
static void write_text(int slot) {
  volatile uint64_t* to = (volatile uint64_t*)texts[slot];
  char name[9];
  snprintf(name, sizeof name, "slot %02d", slot);
  uint64_t word = 0x7979797979797979;
  if (slot % 4 == 3)
    for (int i = kLong / 8; i-- > 0;) to[i] = word;
  else
    memcpy(&word, name, sizeof word), to[0] = word;
}

static void place(int slot, char* area) {
  areas[slot] = area;
  __atomic_store_n(&texts[slot], area + (slot % 4 == 3 ? kPage - 128 : slot % 4 == 2 ? kArea - 8 : 16), __ATOMIC_RELEASE);
}

static void unmap_by_own_call(char* area) {
#ifdef HAS_OWN_CALL
  long result = SYS_munmap;
  __asm__ volatile("syscall" : "+a"(result) : "D"(area), "S"((long)kArea) : "rcx", "r11", "memory");
#else
  munmap(area, kArea);
#endif
}

static void snatch(int slot) {
  char* area = areas[slot];
  if (is("protect"))
    mprotect(area, kArea, PROT_NONE);
  else if (is("move"))
    mremap(area, kArea, kArea, MREMAP_MAYMOVE | MREMAP_FIXED, area + kArea);
  else if (is("cover"))
    map_at(area, kArea, PROT_NONE);
  else if (is("discard"))
    madvise(area, kArea, MADV_DONTNEED);
  else if (is("break"))
    sbrk(-kArea * (kSlots - slot));
  else if (is("free"))
    free(area);
  else if (is("resize"))
    place(slot, realloc(area, 4 * kChunk));
  else if (is("load"))
    slot == 0 ? dlclose(handle) : 0;
  else if (is("own"))
    unmap_by_own_call(area);
  else
    munmap(area, kArea);
}

static void open_library(void) {
  handle = dlopen(getenv("LIBRARY"), RTLD_NOW);
  char* data = handle ? dlsym(handle, "data_of_library") : NULL;
  if (!data) _exit(3);
  for (int i = 0; i < kSlots; i++) place(i, (char*)(((uintptr_t)data + 2 * kPage - 1) & -(uintptr_t)kPage));
}

static void give(int slot) {
  char* area = areas[slot];
  if (is("protect"))
    mprotect(area, kArea, PROT_READ | PROT_WRITE);
  else if (is("break"))
    sbrk(kArea * (kSlots - slot));
  else if (is("free"))
    place(slot, malloc(kChunk));
  else if (is("resize"))
    place(slot, realloc(area, kChunk));
  else if (is("load"))
    slot == 0 ? open_library() : (void)0;
  else if (!is("discard"))
    map_at(area, kArea, PROT_READ | PROT_WRITE);
  if (is("break"))
    for (int i = slot; i < kSlots; i++) write_text(i);
  if (!is("load") || slot == 0) write_text(slot);
}

static void prepare(void) {
  char* region = map_at(NULL, kSlots * kGap, PROT_NONE);
  free(malloc(kStack));  // the first memory of malloc(3) lies before what sbrk(2) adds
  if (is("break")) sbrk((kPage - ((intptr_t)sbrk(0) & (kPage - 1))) & (kPage - 1)), region = sbrk(kSlots * kArea);
  for (int i = 0; i < kSlots && !is("load"); i++) {
    place(i, is("break") ? region + i * kArea : is("free") || is("resize") ? malloc(kChunk) : region + i * kGap);
    if (!is("break") && !is("free") && !is("resize")) map_at(areas[i], kArea, PROT_READ | PROT_WRITE);
    write_text(i);
  }
  if (is("load")) open_library(), write_text(0);
}

static int is_quiet(void) { return milliseconds() % (kQuiet + kBurst) < kQuiet; }

static void pass(int i) {
  const int slot = i % 8 == 7 ? i / 8 % kSlots : current;
  work(__atomic_load_n(&texts[slot], __ATOMIC_ACQUIRE) + i / 64 % 3, i);
}

// Calls that are begun count, also those that a signal handler leaves.
static __thread volatile long begun, passed;
static __thread sigjmp_buf back;
static __thread volatile int may_leap;
static __thread volatile unsigned turn, leaps, own_half;

static void snatch_of_thread(void) {
  const int slot = (int)(turn++ % (kSlots / 2) * 2 + own_half);
  current = slot;
  snatch(slot), give(slot);
}

static void on_signal(int signal) {
  (void)signal;
  if (is("signals") && !is_quiet()) snatch_of_thread();
  if (is("leaps") && may_leap && leaps++ % 4 == 0) siglongjmp(back, 1);
}

static void on_end(int signal) {
  (void)signal;
  is_done = 1;
}

static timer_t start_timer(void) {
  struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};
  *(pid_t*)((char*)&event + offsetof(struct sigevent, _sigev_un)) = gettid();
  timer_t timer;
  timer_create(CLOCK_MONOTONIC, &event, &timer);
  const struct timespec often = {.tv_nsec = 50000};
  timer_settime(timer, 0, &(struct itimerspec){often, often}, NULL);
  return timer;
}

static void read_often(long most) {
  begun = passed = 0;
  while (!is_done && begun < most) {
    if (is("leaps")) sigsetjmp(back, 1), may_leap = 1;
    for (int i = 0; i < 200 && !is_done; i++) begun++, pass((int)begun), passed++;
    if (is("leaps") && !is_quiet()) snatch_of_thread();
    may_leap = 0;
  }
  __atomic_fetch_add(&calls, begun, __ATOMIC_RELAXED);
  __atomic_fetch_add(&calls_left, begun - passed, __ATOMIC_RELAXED);
}

// The offset of the area from the thread pointer, and its size, as glibc 2.35 and later have them.
extern const ptrdiff_t __rseq_offset __attribute__((weak));
static void leave_sequences(void) {
  if (&__rseq_offset == NULL) return;
  syscall(334, (char*)__builtin_thread_pointer() + __rseq_offset, 32, 1, 0x53053053);
}

static void* read_in_thread(void* most) {
  static unsigned threads;
  own_half = __atomic_fetch_add(&threads, 1, __ATOMIC_RELAXED) % kReaders;
  if (is("bare")) leave_sequences();
  const int has_timer = is("signals") || is("leaps");
  timer_t timer = has_timer ? start_timer() : (timer_t)0;
  read_often((long)most);
  if (has_timer) timer_delete(timer);
  return NULL;
}

static void* start_readers(void* unused) {
  (void)unused;
  while (!is_done) {
    pthread_t thread;
    pthread_create(&thread, NULL, read_in_thread, (void*)(long)kSlice);
    pthread_join(thread, NULL);
  }
  return NULL;
}

static int read_in_task(void* unused) {
  (void)unused;
  for (int i = 0; i < kSlice; i++) {
    pass(i);
    if (is("forks") && i % 100 == 0) snatch_of_thread();
  }
  _exit(0);
}

// Tasks of their own, most with the memory and thread pointer of this thread. It counts for them.
static void* start_tasks(void* unused) {
  (void)unused;
  char* stack = map_at(NULL, kStack, PROT_READ | PROT_WRITE);
  while (!is_done) {
    const pid_t task = is("tasks")   ? clone(read_in_task, stack + kStack, CLONE_VM | SIGCHLD, NULL)
                       : is("forks") ? fork()
                                     : vfork();
    if (task == 0) read_in_task(NULL);
    for (int i = 0; i < kSlice && is("tasks"); i++) pass(i);
    int status = 0;
    while (waitpid(task, &status, 0) < 0)
      ;
    if (status != 0) _exit(4);
    __atomic_fetch_add(&calls, is("tasks") ? 2 * kSlice : kSlice, __ATOMIC_RELAXED);
  }
  return NULL;
}

// membarrier(2) and process_vm_readv(2) fail.
static void filter_calls(void) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = {sizeof code / sizeof *code, code};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0) _exit(5);
}

static void snatch_in_bursts(void) {
  const struct timespec pause = {.tv_nsec = 1000000};
  for (const long until = milliseconds() + span; !is_done && milliseconds() < until;) {
    if (is("signals") || is("leaps") || is_quiet()) {
      nanosleep(&pause, NULL);
      continue;
    }
    for (int slot = 0; slot < kSlots; slot++) {
      current = slot;
      for (volatile int i = 0; i < 3000; i++)
        ;
      snatch(slot), give(slot);
    }
  }
}

int main(int argc, char** argv) {
  way = argc > 1 ? argv[1] : "unmap";
  if (argc > 2) span = atol(argv[2]);
  mallopt(M_MMAP_THRESHOLD, kChunk / 2);
  signal(SIGUSR1, on_signal);
  signal(SIGTERM, on_end);
  prepare();
  pthread_t threads[kReaders];
  void* (*start)(void*) = is("threads")                                ? start_readers
                          : is("tasks") || is("shares") || is("forks") ? start_tasks
                                                                       : read_in_thread;
  for (int i = 0; i < kReaders; i++) pthread_create(&threads[i], NULL, start, (void*)(long)INT64_MAX);
  if (is("filtered")) usleep(100000), filter_calls();
  snatch_in_bursts();
  is_done = 1;
  for (int i = 0; i < kReaders; i++) pthread_join(threads[i], NULL);
  printf("= calls %ld, left %ld\n", calls, calls_left);
  return 0;
}
