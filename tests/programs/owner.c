// Calls mark(n) as one user after another: after each call it sets its real user to 1000 + n and its group to 2000 + n, the nice
// value of the thread to 1 + n, and the working directory. The program starts a session of its own. With a number as argument, so
// many children do this one after another; with "thread", a thread does.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) int mark(int n) {
  __asm__ volatile("" ::: "memory");
  return n + 1;
}

static int work(void) {
  static const char* const places[] = {"/proc/sys", "/proc", "/"};
  for (int n = 0; n < 3; n++) {
    mark(n);
    if (syscall(SYS_setresgid, 2000 + n, -1, 0) != 0 || syscall(SYS_setresuid, 1000 + n, -1, 0) != 0) return 1;
    if (setpriority(PRIO_PROCESS, 0, 1 + n) != 0 || chdir(places[n]) != 0) return 1;
  }
  return 0;
}

static void* work_in_thread(void* unused) {
  (void)unused;
  return work() == 0 ? NULL : "failed";
}

// The system calls change the users of one thread.
static int work_beside_the_first_thread(void) {
  pthread_t thread;
  void* failure = NULL;
  if (pthread_create(&thread, NULL, work_in_thread, NULL) != 0) return 1;
  return pthread_join(thread, &failure) != 0 || failure != NULL;
}

int main(int argc, char** argv) {
  if (setsid() < 0 && getsid(0) != getpid()) return 1;
  if (argc < 2) return work();
  if (strcmp(argv[1], "thread") == 0) return work_beside_the_first_thread();
  for (int left = atoi(argv[1]); left > 0; left--) {
    const pid_t child = fork();
    if (child == 0) _exit(work());
    if (child < 0 || waitpid(child, 0, 0) != child) return 1;
  }
  return 0;
}
