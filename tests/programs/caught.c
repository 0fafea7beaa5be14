// Passes strings to take() that lie anywhere: on the heap, at the end of a page behind which nothing is mapped, and where there
// are none. Each call of take() gets the number of the string. Prints what becomes of its signals. It waits for a line before it
// begins and before it ends. Its arguments:
//
//   rounds  how often it passes all strings before it goes on, and once more at the end
//   way     what it does with SIGSEGV before that:
//             default, or ignore
//             handle, once, stack   installs a handler: with siginfo, with SA_RESETHAND, with SA_ONSTACK
//             block                 blocks the signal
//             thread                passes the strings in three threads
//             device                passes, in a thread, bytes that only loads can read, for a second
//             small                 passes the strings on a stack of 8 KiB
//             alternate             passes the strings in a handler of SIGUSR1, on an alternate stack within that of main()
//             alarm                 passes one string until handlers of SIGALRM have reset the action of SIGSEGV three times
//             fork, spawn           passes the strings in a child, or executes "true"
//   change  what it does then: nothing, ask, install, renew or reset an action; by the C library, or by system calls of its own
//           ("raw")
//   end     return, fault, kill or queue: how it ends

#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum { kPage = 4096, kStrings = 10 };

long take(const char* text, long number);
long take(const char* text, long number) { return (text != 0) + number; }

static const char* strings[kStrings];
static sigjmp_buf back;
static volatile long faults, rounds, is_ending, alarms;
static ucontext_t here, there;

static char* page_without_next(void) {
  char* pages = mmap(0, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(pages + kPage, kPage);
  return memset(pages, 'x', kPage);
}

static void make_strings(void) {
  strings[0] = strdup("on the heap");
  strings[1] = strcpy(page_without_next() + kPage - 12, "at the end.");
  strings[2] = page_without_next() + kPage - 20;  // has no end
  strings[3] = strcpy((char*)malloc(400) + 3, "twelve chars");
  strings[4] = (const char*)(uintptr_t)0x5555000012345;      // not mapped
  strings[5] = (const char*)(uintptr_t)0x8000000000000000u;  // no address
  strings[6] = (const char*)(uintptr_t)0xffffffff81000000u;  // of the kernel
  strings[7] = mmap(0, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  FILE* file = tmpfile();
  if (file == 0 || ftruncate(fileno(file), kPage) != 0) exit(2);
  strings[8] = mmap(0, 2 * kPage, PROT_READ, MAP_SHARED, fileno(file), 0) + kPage;  // behind the end of its file
  strings[9] = memset(calloc(1, 3000), 'y', 2000);
}

static void pass_all(void) {
  for (long i = 0; i < rounds; i++)
    for (long number = 0; number < kStrings; number++) take(strings[number], number);
}

// The clock of the vDSO. System calls do not read such memory.
static void* pass_device(void* argument) {
  char line[256];
  unsigned long begin = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps) != 0)
    if (strstr(line, "[vvar]") != 0) begin = strtoul(line, 0, 16);
  fclose(maps);
  for (int i = 0; begin != 0 && i < 100; i++) take((const char*)begin + kPage - 8, kStrings), usleep(10000);
  return argument;
}
static void* pass_in_thread(void* argument) { return pass_all(), argument; }

static void handle(int signal) {
  faults++;
  take(strings[0], kStrings);
  if (is_ending) _exit(9);
  siglongjmp(back, signal);
}
static void handle_with(int signal, siginfo_t* info, void* context) {
  const ucontext_t* its = context;
  if (info->si_signo != signal || its->uc_mcontext.gregs[REG_RSP] == 0) _exit(3);
  handle(signal);
}

static void fault(void) {
  if (sigsetjmp(back, 1) == 0) *(volatile char*)strings[7] = 1;
}

static void install(int flags) {
  struct sigaction action = {.sa_flags = flags};
  flags& SA_SIGINFO ? (void)(action.sa_sigaction = handle_with) : (void)(action.sa_handler = handle);
  sigaddset(&action.sa_mask, SIGUSR1);
  sigaction(SIGSEGV, &action, 0);
}

static void on_small_stack(void) {
  enum { kBytes = 8192 };
  char* memory = malloc(3 * kBytes);
  memset(memory, 'g', 3 * kBytes);
  getcontext(&there);
  there.uc_stack.ss_sp = memory + kBytes;
  there.uc_stack.ss_size = kBytes;
  there.uc_link = &here;
  makecontext(&there, pass_all, 0);
  swapcontext(&here, &there);
  for (long i = 0; i < kBytes; i++)
    if (memory[i] != 'g') puts("overwritten"), exit(4);
}

static void pass_in_handler(int signal) { (void)signal, pass_all(); }
static void on_alternate_stack(void) {
  enum { kMost = 64 * 1024 };
  char memory[kMost];
  memset(memory, 'g', kMost);
  const unsigned long frame = getauxval(AT_MINSIGSTKSZ), bytes = (frame != 0 ? frame : 2048) + 3072;  // not for two frames
  const stack_t stack = {.ss_sp = memory + kMost - bytes, .ss_size = bytes}, none = {.ss_flags = SS_DISABLE};
  const struct sigaction action = {.sa_handler = pass_in_handler, .sa_flags = SA_ONSTACK};
  sigaltstack(&stack, 0);
  sigaction(SIGUSR1, &action, 0);
  raise(SIGUSR1);
  sigaltstack(&none, 0);
  for (unsigned long i = 0; i < kMost - bytes; i++)
    if (memory[i] != 'g') puts("overwritten"), exit(4);
}

static void reset(int number) {
  (void)number, alarms++;
  signal(SIGSEGV, SIG_DFL);
}
static void until_alarms(void) {
  const struct itimerval often = {{0, 20000}, {0, 20000}}, never = {{0, 0}, {0, 0}};
  signal(SIGALRM, reset);
  setitimer(ITIMER_REAL, &often, 0);
  while (alarms < 3) take(strings[4], 4);
  setitimer(ITIMER_REAL, &never, 0);
}

static void in_child(int is_spawned) {
  char* arguments[] = {"true", 0};
  pid_t child = 0;
  int status = 0;
  if (is_spawned)
    posix_spawnp(&child, "true", 0, 0, arguments, 0);
  else if ((child = fork()) == 0)
    pass_all(), _exit(0);
  waitpid(child, &status, 0);
  printf("child: %d\n", status);
}

static void begin(const char* way) {
  static char stack[64 * 1024];
  const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
  sigset_t faults_only;
  sigemptyset(&faults_only);
  sigaddset(&faults_only, SIGSEGV);
  if (strcmp(way, "ignore") == 0) signal(SIGSEGV, SIG_IGN);
  if (strcmp(way, "handle") == 0) install(SA_SIGINFO);
  if (strcmp(way, "once") == 0) install(SA_RESETHAND | SA_NODEFER);
  if (strcmp(way, "stack") == 0) sigaltstack(&alternate, 0), install(SA_ONSTACK);
  if (strcmp(way, "block") == 0) sigprocmask(SIG_BLOCK, &faults_only, 0);
}

static void run(const char* way) {
  pthread_t threads[3];
  if (strcmp(way, "thread") == 0) {
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, pass_in_thread, 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
  } else if (strcmp(way, "device") == 0) {
    pthread_create(&threads[0], 0, pass_device, 0);
    pthread_join(threads[0], 0);
  } else if (strcmp(way, "small") == 0) {
    on_small_stack();
  } else if (strcmp(way, "alternate") == 0) {
    on_alternate_stack();
  } else if (strcmp(way, "alarm") == 0) {
    until_alarms();
  } else if (strcmp(way, "fork") == 0 || strcmp(way, "spawn") == 0) {
    in_child(way[0] == 's');
  }
  pass_all();
}

static const char* name_of(uintptr_t handler) {
  if (handler == (uintptr_t)SIG_DFL) return "default";
  if (handler == (uintptr_t)SIG_IGN) return "ignored";
  return handler == (uintptr_t)handle || handler == (uintptr_t)handle_with ? "own" : "another";
}

static void change(const char* how, int is_raw) {
  struct {
    uintptr_t handler, flags, restorer, mask;
  } kernel = {0, 0, 0, 0};
  struct sigaction before;
  if (strcmp(how, "nothing") == 0) return;
  if (is_raw) {
    long result;  // not by syscall(), which is watched
    asm volatile("xor %%r10d, %%r10d\nmov $8, %%r10d\nsyscall" : "=a"(result) : "0"(SYS_rt_sigaction), "D"(SIGSEGV), "S"(&kernel), "d"(0) : "rcx", "r10", "r11", "memory");
    printf("reset: %ld\n", result);
  } else if (strcmp(how, "install") == 0) {
    install(SA_SIGINFO);
  } else if (strcmp(how, "renew") == 0) {
    sigaction(SIGSEGV, 0, &before), sigaction(SIGSEGV, &before, 0);
  } else if (strcmp(how, "reset") == 0) {
    printf("before: %s\n", name_of((uintptr_t)signal(SIGSEGV, SIG_DFL)));
  }
  sigaction(SIGSEGV, 0, &before);
  printf("action: %s, flags %x, mask %d, %d\n", name_of((uintptr_t)before.sa_handler), before.sa_flags & ~0x04000000, sigismember(&before.sa_mask, SIGUSR1),
         sigismember(&before.sa_mask, SIGUSR2));
}

int main(int count, char** arguments) {
  if (count < 5) return 2;
  setvbuf(stdout, 0, _IOLBF, 0);
  rounds = atol(arguments[1]);
  make_strings();
  begin(arguments[2]);
  puts("ready"), getchar();
  run(arguments[2]);
  if (strcmp(arguments[2], "handle") == 0 || strcmp(arguments[2], "stack") == 0 || strcmp(arguments[2], "once") == 0) fault();
  change(arguments[3], strcmp(arguments[3], "raw") == 0);
  run("");
  printf("faults: %ld\n", faults), getchar();
  is_ending = 1;
  if (strcmp(arguments[4], "fault") == 0) *(volatile char*)strings[4] = 1;
  if (strcmp(arguments[4], "kill") == 0) kill(getpid(), SIGSEGV);
  if (strcmp(arguments[4], "queue") == 0) sigqueue(getpid(), SIGBUS, (union sigval){.sival_int = 7});
  return 0;
}
