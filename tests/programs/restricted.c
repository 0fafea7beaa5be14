// Calls func("hello DTrace") 1000 times, forbids itself all system calls but those that it needs to end, and calls it 1000 times
// more. A tracer that makes it do any other system call ends it. With an argument it does something else instead:
//
//   dispatch   has all its system calls intercepted by a handler meanwhile, and says how many were
//   clock      forbids itself to read the TSC
//   wait       as dispatch, but waits for a byte in between
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((noinline)) int func(const char* text) {
  int length = 0;
  while (text[length]) length++;
  __asm__ volatile("" ::: "memory");
  return length;
}

static int restrict_calls(void) {
  struct sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof rules / sizeof rules[0], rules};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static char selector = SYSCALL_DISPATCH_FILTER_ALLOW;
static volatile int intercepted;

static void intercept(int number) {
  (void)number;
  selector = SYSCALL_DISPATCH_FILTER_ALLOW;
  intercepted++;
}

static int do_otherwise(const char* mode, const char* text) {
  const int is_clock = strcmp(mode, "clock") == 0;
  int total = 0;
  signal(SIGSYS, intercept);
  const int done =
      is_clock ? prctl(PR_SET_TSC, PR_TSC_SIGSEGV) : prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, &selector);
  if (done != 0) return 2;
  if (strcmp(mode, "wait") == 0 && getchar() < 0) return 3;
  for (int i = 0; i < 1000; i++) {
    selector = is_clock ? SYSCALL_DISPATCH_FILTER_ALLOW : SYSCALL_DISPATCH_FILTER_BLOCK;
    total += func(text);
    selector = SYSCALL_DISPATCH_FILTER_ALLOW;
  }
  printf("%s, %d intercepted\n", total == 12000 ? "right" : "wrong", intercepted);
  return 0;
}

int main(int count, char** arguments) {
  int total = 0;
  char* text = strdup("hello DTrace");  // neither a literal nor on the stack, which can be read without a system call
  for (int i = 0; i < 1000; i++) total += func(text);
  if (count > 1) return do_otherwise(arguments[1], text);
  if (!restrict_calls()) return 2;
  for (int i = 0; i < 1000; i++) total += func(text);
  const char* message = total == 24000 ? "right\n" : "wrong\n";
  if (write(1, message, strlen(message)) < 0) return 3;
  _exit(0);
}
