// Executes a program at its second try.
//
//   retrying MILLISECONDS call PROGRAM ARGUMENT...      tries to execute a file that does not exist, waits, then executes PROGRAM
//   retrying MILLISECONDS syscall PROGRAM ARGUMENT...   the same, by a system call instruction of its own
//   retrying MILLISECONDS late PROGRAM ARGUMENT...      likewise
//
// Meanwhile a child stops its parent's parent, and continues it some time after the second try: `late` stops it shortly before
// that try, for two seconds.
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

extern char** environ;

static long call(long number, long a, long b, long c, long d, long e) {
  long result = number;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  __asm__ volatile("syscall" : "+a"(result) : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8) : "rcx", "r11", "memory");
  return result;
}

static struct timespec milliseconds(long count) { return (struct timespec){count / 1000, count % 1000 * 1000000}; }

// By the only call that dvm expects between two tries.
static void wait_for(long count) {
  struct timespec time = milliseconds(count);
  call(SYS_ppoll, 0, 0, (long)&time, 0, 8);
}

static void stop_meanwhile(volatile int* has_failed, pid_t tracer, long before, long count) {
  while (!*has_failed) wait_for(1);
  wait_for(before);
  kill(tracer, SIGSTOP);
  wait_for(count);
  kill(tracer, SIGCONT);
  _exit(0);
}

int main(int argc, char** argv) {
  volatile int* has_failed = mmap(0, sizeof *has_failed, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  const pid_t tracer = getppid();
  if (argc < 5) return 1;
  const long count = atol(argv[1]);
  const int calls = strcmp(argv[2], "call") == 0, is_late = strcmp(argv[2], "late") == 0;
  if (fork() == 0) stop_meanwhile(has_failed, tracer, is_late ? count - 300 : 0, is_late ? 2000 : count + 150);
  execve("./nothing", argv + 3, environ);
  *has_failed = 1;
  wait_for(count);
  if (calls)
    execve(argv[3], argv + 3, environ);
  else
    call(SYS_execve, (long)argv[3], (long)(argv + 3), (long)environ, 0, 0);
  return 1;
}
