// Recovers from faults of its functions, a thousand times, in the way that its argument says:
//
//   fetch     the handler goes on behind the load if it knows its address
//   barrier   the handler makes the page writable, and the store is made again
//   divide    the handler goes on behind the division if it knows its address
//   protect   the same as fetch, of a page of the program that is made inaccessible before
//   leap      the handler leaves the function by siglongjmp()
//
// A second argument says when the handler is installed: "first"; or once a line is read: "late", by "syscall", or by a system
// call instruction of its own ("own"), after which it waits until no jump lies in the function; or "second", behind one for
// SIGSEGV; or "tenth", behind nine for SIGSEGV. It prints "ready" before.

#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { kTimes = 1000, kPage = 4096 };

// The instruction that faults is among the first five bytes. Only a distance says where: an address would keep agents away.
enum { kLoad, kBehindLoad, kDivision, kBehindDivision };
extern const volatile unsigned char distances[];
long fetch(const long* from, long otherwise);
long divide(long by, long otherwise);
void store(long* to, long value);
long leap(const long* from);
extern const char static_at[], static_behind[];
extern long static_page[];
long protect(long otherwise);
asm(".text\n.globl distances, fetch, divide, store, leap\n"
    ".type fetch, @function\nfetch: mov %rsi, %rax\n"
    "load_at: mov (%rdi), %rax\nload_behind: ret\n.size fetch, . - fetch\n"
    ".type divide, @function\ndivide: mov %esi, %eax\n cltd\n"
    "divide_at: idiv %edi\n ret\n divide_behind: mov %rsi, %rax\n ret\n.size divide, . - divide\n"
    ".type store, @function\nstore: mov %rsi, (%rdi)\n xor %eax, %eax\n ret\n.size store, . - store\n"
    ".type leap, @function\nleap: mov (%rdi), %rax\n xor %edx, %edx\n ret\n.size leap, . - leap\n"
    ".globl protect, static_at, static_behind, static_page\n.type protect, @function\nprotect:\n"
    "static_at: mov static_page(%rip), %rax\n ret\nstatic_behind: mov %rdi, %rax\n ret\n.size protect, . - protect\n"
    ".section .rodata\ndistances: .byte load_at - fetch, load_behind - fetch, divide_at - divide, divide_behind - divide\n"
    ".data\n.balign 4096\nstatic_page: .skip 4096\n.text\n");

static sigjmp_buf back;
static long *page, faults;
static const char* way;

static void handle(int signal, siginfo_t* info, void* context) {
  greg_t* counter = &((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP];
  faults++;
  if (strcmp(way, "leap") == 0) siglongjmp(back, 1);
  if (signal == SIGFPE && *counter == (greg_t)divide + distances[kDivision]) {
    *counter = (greg_t)divide + distances[kBehindDivision];
  } else if (strcmp(way, "barrier") == 0) {
    mprotect(page, kPage, PROT_READ | PROT_WRITE);
  } else if (info->si_addr == static_page && *counter == (greg_t)static_at) {
    *counter = (greg_t)static_behind;
  } else if (info->si_addr == page && *counter == (greg_t)fetch + distances[kLoad]) {
    *counter = (greg_t)fetch + distances[kBehindLoad];
  } else {
    static const char text[] = "a fault elsewhere\n";
    if (write(1, text, sizeof text - 1) < 0) _exit(2);
    _exit(1);
  }
}

static int is_replaced(void) {
  const unsigned char jump = 0xe9;
  const void* code[] = {(void*)fetch, (void*)store, (void*)divide, (void*)leap};
  for (int i = 0; i < 4; i++)
    if (*(const volatile unsigned char*)code[i] == jump) return 1;
  return 0;
}

static void install(const char* how, int signal) {
  struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};
  struct {
    void* handler;
    unsigned long flags;
    void* restorer;
    unsigned long mask;
  } raw;
  if (sigaction(signal, NULL, &action) != 0) return;
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO;
  if (strcmp(how, "syscall") != 0 && strcmp(how, "own") != 0) {
    sigaction(signal, &action, NULL);
    return;
  }
  // The C library's way back from a handler is that of a signal which has a handler already.
  syscall(SYS_rt_sigaction, SIGUSR1, NULL, &raw, 8);
  raw.handler = (void*)handle;
  raw.flags |= SA_SIGINFO;
  if (strcmp(how, "syscall") == 0) {
    syscall(SYS_rt_sigaction, signal, &raw, NULL, 8);
    return;
  }
  long result;
  register long size asm("r10") = 8;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(SYS_rt_sigaction), "D"(signal), "S"(&raw), "d"(NULL), "r"(size)
               : "rcx", "r11", "memory");
  while (is_replaced()) usleep(1000);
}

static void ignore(int signal) { (void)signal; }

static long once(int i) {
  if (strcmp(way, "fetch") == 0) return fetch(page, i);
  if (strcmp(way, "divide") == 0) return divide(0, i);
  if (strcmp(way, "leap") == 0) return sigsetjmp(back, 1) == 0 ? leap(page) : i;
  if (strcmp(way, "protect") == 0 || strcmp(way, "guard") == 0 || strcmp(way, "key") == 0) {
    enum { kInstallGuards = 102, kRemoveGuards = 103 };  // of madvise(2), since Linux 6.13
    const int is_guarded = strcmp(way, "guard") == 0 && madvise(static_page, kPage, kInstallGuards) == 0;
    const int has_key = strcmp(way, "key") == 0 && pkey_mprotect(static_page, kPage, PROT_NONE, 0) == 0;
    if (!is_guarded && !has_key) mprotect(static_page, kPage, PROT_NONE);
    const long got = protect(i);
    if (is_guarded) madvise(static_page, kPage, kRemoveGuards);
    mprotect(static_page, kPage, PROT_READ | PROT_WRITE);
    return got;
  }
  mprotect(page, kPage, PROT_READ);
  store(page, i);
  return *page;
}

int main(int count, char** arguments) {
  way = arguments[1];
  const char* how = count > 2 ? arguments[2] : "first";
  page = mmap(NULL, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  signal(SIGUSR1, ignore);
  const int caught = strcmp(way, "divide") == 0 ? SIGFPE : SIGSEGV;
  if (strcmp(how, "first") == 0) install(how, caught);
  puts("ready");
  fflush(stdout);
  if (count > 2 && getchar() == EOF) return 1;
  const int before = strcmp(how, "second") == 0 ? 1 : strcmp(how, "tenth") == 0 ? 9 : 0;
  for (int i = 0; i < before; i++) install(how, SIGSEGV);
  if (strcmp(how, "first") != 0) install(how, caught);
  long right = 0;
  for (int i = 0; i < kTimes; i++) right += once(i) == i;
  printf("right %ld, faults %ld\n", right, faults);
  return right == kTimes && faults == kTimes ? 0 : 1;
}
