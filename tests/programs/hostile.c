// Does what an agent must survive. Every mode prints results that do not depend on a tracer.
//   pointers N   take(pointer) with N pointers of all kinds: not canonical, of the kernel, not mapped, before the end of a page
//   faults N     faults on purpose, N times, in a handler on a stack of its own and out again by siglongjmp(); every second
//                time with the pointer of the fault in a call of take()
//   threads N M  N threads that come and go, M (50; at most 400) at a time, each with all signals blocked, and take() 100 times
//   checks N     checks the bytes of take() N times: "same", or "changed" as long as somebody traces it
//   vforks N     waits for a line while a thread looks how much memory the process has. As soon as that is more, the thread waits
//                for a child by vfork(2), N ms. A further argument: as soon as the first thread leaves its read(2)
//   shares N     N children that share its memory (vfork), each calls take() and ends
//   clones N     calls take() N times beside a child that shares its memory and thread pointer, and does the same
//   forks N      calls take() until a signal handler that interrupts it has forked N times; the children return from the handler
//                and end behind the call. Prints how often the parent has called it
//   quits N      exits after N microseconds, while three threads start others all the time
//   serves N      serves N page faults of its own by userfaultfd(2), with the page in a call of take(); a further argument:
//                 once it has read a line
//   little N     calls take() where N bytes of stack are left above an unmapped page
//   deep N       calls itself N deep, three times, in a thread with room for that
//   leaderless N calls take() and tiny() N times in a thread, while the first one ends
//   blocks N     calls take() N times, twice in threads whose thread pointer leads to the last bytes of a page
//   blockless N  calls take() N times while its thread pointer is 0, twice
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kMostAtOnce = 400, kCalls = 100, kPage = 4096, kCodeBytes = 16, kStackBytes = 65536 };

__attribute__((noinline)) uint64_t take(const char* pointer, uint64_t sum) {
  __asm__ volatile("" : : "r"(pointer) : "memory");
  return sum * 31 + (uintptr_t)pointer % 1000;
}

static uint64_t next_random(void) {
  static uint64_t state = 88172645463325252u;
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return state;
}

static char* page_with_hole(void) {
  char* pages = mmap(NULL, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) exit(2);
  memset(pages, 'x', kPage);
  munmap(pages + kPage, kPage);
  return pages;
}

static void pointers(long count) {
  const char* page = page_with_hole();
  uint64_t sum = 0, any = 0;
  for (long i = 0; i < count; i++) {
    any = next_random();
    const uint64_t kinds[] = {any, any >> 17, any | (uint64_t)0xffff << 47, any % 70000, (uintptr_t)page + kPage - any % 64};
    take((const char*)(uintptr_t)kinds[i % 5], 0);
    sum = sum * 31 + kinds[i % 4] % 1000;
  }
  printf("%llx\n", (unsigned long long)sum);
}

static sigjmp_buf back;
static volatile uint64_t faults_seen;
static void on_fault(int signal, siginfo_t* info, void* context) {
  (void)signal, (void)context;
  if (faults_seen++ % 2 == 0) take(info->si_addr, faults_seen);
  siglongjmp(back, 1);
}

static void faults(long count) {
  const stack_t other = {.ss_sp = malloc(kStackBytes), .ss_size = kStackBytes};
  sigaltstack(&other, NULL);
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigaction(SIGSEGV, &action, NULL);
  sigaction(SIGBUS, &action, NULL);
  char* hole = page_with_hole() + kPage;
  for (volatile long i = 0; i < count; i++)
    if (sigsetjmp(back, 1) == 0) *(volatile char*)hole = 1;
  printf("%llu faults\n", (unsigned long long)faults_seen);
}

static void* work(void* result) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, NULL);
  uint64_t sum = 0;
  for (uint64_t i = 0; i < kCalls; i++) sum = take((const char*)(uintptr_t)(i * 4096), sum);
  *(uint64_t*)result = sum;
  return NULL;
}

static void threads(long count, int at_once) {
  uint64_t sum = 0;
  for (long done = 0; done < count; done += at_once) {
    pthread_t ids[kMostAtOnce];
    uint64_t results[kMostAtOnce] = {0};
    for (int i = 0; i < at_once; i++) pthread_create(&ids[i], NULL, work, &results[i]);
    for (int i = 0; i < at_once; i++) pthread_join(ids[i], NULL), sum += results[i];
  }
  printf("%llx\n", (unsigned long long)sum);
}

static void checks(long count) {
  char first[kCodeBytes];
  memcpy(first, (const void*)(uintptr_t)take, sizeof first);
  long changed = 0;
  for (long i = 0; i < count; i++) {
    usleep(1000);
    changed += memcmp(first, (const void*)(uintptr_t)take, sizeof first) != 0;
    take("checks", (uint64_t)i);
  }
  puts(changed ? "changed" : "same");
}

static void shares(long count) {
  long ended = 0;
  for (long i = 0; i < count; i++) {
    const pid_t child = vfork();
    if (child == 0) {
      take("child", 1);
      _exit(3);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ended += WIFEXITED(status) && WEXITSTATUS(status) == 3;
  }
  printf("%ld ended\n", ended);
}

// As the kernel says it, in pages.
static long mapped_pages(int statm) {
  char text[64] = "";
  return pread(statm, text, sizeof text - 1, 0) > 0 ? atol(text) : 0;
}

static void wait_for_more(void) {
  enum { kMore = 60 };  // than a heap that begins
  const int statm = open("/proc/self/statm", O_RDONLY);
  const long before = mapped_pages(statm);
  while (mapped_pages(statm) < before + kMore) continue;
}

// The number of the system call that the first thread is in; 0 also while it runs.
static int call_of_first_thread(void) {
  static int calls = -1;
  if (calls < 0) calls = open("/proc/self/syscall", O_RDONLY);
  char call[8] = "";
  if (pread(calls, call, sizeof call - 1, 0) <= 0) exit(2);
  return atoi(call);
}

static volatile int is_reading;
static void wait_for_led_thread(void) {
  while (!is_reading) continue;
  while (call_of_first_thread() == SYS_read) continue;
}

static void (*wait_for_tracer)(void) = wait_for_more;
static void* share_then(void* milliseconds) {
  wait_for_tracer();
  if (vfork() == 0) {
    usleep((useconds_t)((uintptr_t)milliseconds * 1000));
    _exit(0);
  }
  wait(NULL);
  return NULL;
}

static void vforks(long milliseconds, int by_call) {
  pthread_t thread;
  if (by_call) wait_for_tracer = wait_for_led_thread;
  pthread_create(&thread, NULL, share_then, (void*)milliseconds);
  usleep(100000);
  puts("ready"), fflush(stdout);
  is_reading = 1;
  char line;
  if (read(STDIN_FILENO, &line, sizeof line) < 0) exit(2);
  take("vforks", 0);
  puts("done");
}

static int call_often(void* count) {
  uint64_t sum = 0;
  for (long i = 0; i < (long)count; i++) sum = take("task", sum);
  return sum == 0;
}

static void clones(long count) {
  static char stack[kStackBytes];
  const int child = clone(call_often, stack + sizeof stack, CLONE_VM | SIGCHLD, (void*)count);
  call_often((void*)count);
  int status = 0;
  waitpid(child, &status, 0);
  printf("%d\n", child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static volatile sig_atomic_t forked, is_child;
static void fork_here(int signal) {
  (void)signal;
  const pid_t child = fork();
  is_child = child == 0;
  if (child > 0 && forked++ % 2 == 0) waitpid(child, NULL, 0);
}

static void forks(long count) {
  const struct sigaction action = {.sa_handler = fork_here};
  const struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &often, NULL);
  uint64_t sum = 0;
  long calls = 0;
  for (; forked < count; calls++) {
    sum = take((const char*)(uintptr_t)(calls % 8), sum);
    if (is_child) _exit(0);
  }
  setitimer(ITIMER_REAL, &never, NULL);
  while (wait(NULL) > 0) {
  }
  printf("%ld calls\n", calls);
}

static volatile int g_is_over;
static int call_without_library(void* count) {
  uint64_t sum = 0;
  for (long i = 0; i < (long)count; i++) sum = take("thread", sum);
  g_is_over = 1;
  for (;;) __asm__ volatile("syscall" : : "a"(SYS_exit), "D"(0) : "rcx", "r11", "memory");
  return sum == 0;
}

static void blocks(long count) {
  enum { kBytes = 64, kFlags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS };
  static char stacks[2][kStackBytes];
  char* block = page_with_hole() + kPage - kBytes;
  memcpy(block, &block, sizeof block);
  for (int i = 0; i < 2; i++, g_is_over = 0) {
    clone(call_without_library, stacks[i] + kStackBytes, kFlags, (void*)count, NULL, block);
    while (!g_is_over) usleep(100);
  }
  puts("over");
}

static int g_faults;
static void serve(char* page) {
  static char content[kPage] __attribute__((aligned(kPage)));
  take(page, 0);
  struct uffdio_copy copy = {.dst = (uintptr_t)page, .src = (uintptr_t)memset(content, 'y', kPage - 1), .len = kPage};
  ioctl(g_faults, UFFDIO_COPY, &copy);
}

static void* serve_all(void* unused) {
  struct uffd_msg fault;
  while (read(g_faults, &fault, sizeof fault) == sizeof fault) serve((char*)(uintptr_t)(fault.arg.pagefault.address & -kPage));
  return unused;
}

// With a pause after the descriptor is there, if it is to be traced then.
static void serves(long count, int waits) {
  g_faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
  struct uffdio_api api = {.api = UFFD_API};
  ioctl(g_faults, UFFDIO_API, &api);
  if (waits) puts("ready"), fflush(stdout), getchar();
  char* pages = mmap(NULL, (size_t)count * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  struct uffdio_register missing = {.range = {(uintptr_t)pages, (uint64_t)count * kPage}, .mode = UFFDIO_REGISTER_MODE_MISSING};
  if (ioctl(g_faults, UFFDIO_REGISTER, &missing) != 0) puts("no page faults to serve");
  pthread_t server;
  pthread_create(&server, NULL, serve_all, NULL);
  for (long i = 0; i < count; i++) take(pages, (uint64_t)pages[i * kPage]);
  printf("%ld served\n", count);
}

__attribute__((noinline)) uint64_t descend(uint64_t depth, uint64_t sum) {
  volatile char room[32];
  room[depth % sizeof room] = (char)depth;
  if (depth > 0) sum = descend(depth - 1, sum * 31 + depth);
  return sum + (uint64_t)room[depth % sizeof room];
}

static void* descend_often(void* depth) {
  uint64_t sum = 0;
  for (int i = 0; i < 3; i++) sum = descend((uintptr_t)depth, sum);
  printf("%llx\n", (unsigned long long)sum);
  return NULL;
}

static uint64_t take_on(char* top, const char* pointer, uint64_t sum) {
  uint64_t result;
  __asm__ volatile("mov %%rsp, %%rbx\n mov %3, %%rsp\n call take\n mov %%rbx, %%rsp"
                   : "=a"(result), "+D"(pointer), "+S"(sum)
                   : "r"(top)
                   : "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "cc", "memory");
  return result;
}

static void little(long bytes) {
  char* pages = mmap(NULL, kPage + kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED || mprotect(pages, kPage, PROT_NONE) != 0) exit(2);
  uint64_t sum = 0, expected = 0;
  for (int i = 0; i < kCalls; i++) {
    sum = take_on(pages + kPage + bytes / 16 * 16, "little", sum);
    expected = take("little", expected);
  }
  printf("%s\n", sum == expected ? "same" : "different");
}

static void deep(long count) {
  enum { kFrameBytes = 256 };
  pthread_attr_t large;
  pthread_attr_init(&large);
  pthread_attr_setstacksize(&large, (size_t)count * kFrameBytes + kStackBytes);
  pthread_t thread;
  pthread_create(&thread, &large, descend_often, (void*)count);
  pthread_join(thread, NULL);
}

static void* end_at_once(void* unused) { return unused; }

static void* start_threads(void* unused) {
  pthread_attr_t detached;
  pthread_attr_init(&detached);
  pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  for (pthread_t id;;) {
    pthread_create(&id, &detached, end_at_once, NULL);
    take("thread", 0);
  }
  return unused;
}

static void quits(long microseconds) {
  pthread_t id;
  for (int i = 0; i < 3; i++) pthread_create(&id, NULL, start_threads, NULL);
  usleep((useconds_t)microseconds);
  _exit(0);
}

__attribute__((naked, noinline)) void tiny(void) { __asm__("ret"); }

static void* outlive(void* count) {
  uint64_t sum = 0;
  for (long i = 0; i < (long)count; i++, tiny()) sum = take("alone", sum);
  printf("%llx\n", (unsigned long long)sum);
  return NULL;
}

static void leaderless(long count) {
  pthread_t thread;
  pthread_create(&thread, NULL, outlive, (void*)count);
  pthread_exit(NULL);
}

extern int arch_prctl(int code, unsigned long address);

// What is called meanwhile uses no memory of the thread.
static void blockless(long count) {
  enum { kSetPointer = 0x1002, kGetPointer = 0x1003 };
  unsigned long block = 0, same = 0;
  arch_prctl(kGetPointer, (unsigned long)&block);
  syscall(SYS_arch_prctl, kGetPointer, &same);
  arch_prctl(kSetPointer, 0);
  call_often((void*)count);
  arch_prctl(kSetPointer, block);
  syscall(SYS_arch_prctl, kSetPointer, 0);
  call_often((void*)count);
  syscall(SYS_arch_prctl, kSetPointer, block);
  printf("%d\n", block == same);
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const long count = atol(argv[2]);
  if (strcmp(argv[1], "pointers") == 0) pointers(count);
  if (strcmp(argv[1], "faults") == 0) faults(count);
  if (strcmp(argv[1], "threads") == 0) threads(count, argc > 3 ? atoi(argv[3]) : 50);
  if (strcmp(argv[1], "checks") == 0) checks(count);
  if (strcmp(argv[1], "shares") == 0) shares(count);
  if (strcmp(argv[1], "vforks") == 0) vforks(count, argc > 3);
  if (strcmp(argv[1], "clones") == 0) clones(count);
  if (strcmp(argv[1], "forks") == 0) forks(count);
  if (strcmp(argv[1], "quits") == 0) quits(count);
  if (strcmp(argv[1], "serves") == 0) serves(count, argc > 3);
  if (strcmp(argv[1], "little") == 0) little(count);
  if (strcmp(argv[1], "deep") == 0) deep(count);
  if (strcmp(argv[1], "leaderless") == 0) leaderless(count);
  if (strcmp(argv[1], "blocks") == 0) blocks(count);
  if (strcmp(argv[1], "blockless") == 0) blockless(count);
  return 0;
}
