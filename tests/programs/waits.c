// Threads that wait in different system calls, which end only if they are told of something. Prints "ready" once all wait. After
// a line of input it prints each call that has ended, with the error and how often, and then "over". With the name of a call in
// the command line, only the first thread waits, in this call, with a signal mask of the call's own that blocks SIGUSR1.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kSeconds = 100000 };
static const struct timespec kLong = {kSeconds, 0};
static const struct timeval kLongToo = {kSeconds, 0};

__attribute__((noinline)) void begins(void) { __asm__ volatile("" ::: "memory"); }

static long by_nanosleep(int fd) { return (void)fd, nanosleep(&kLong, NULL); }
static long by_clock(int fd) { return (void)fd, errno = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &kLong, NULL), -1; }
static long by_pause(int fd) { return (void)fd, pause(); }
static long by_epoll(int fd) {
  struct epoll_event event;
  return epoll_wait(fd, &event, 1, -1);
}
static long by_epoll_for(int fd) {
  struct epoll_event event;
  return epoll_wait(fd, &event, 1, kSeconds);
}
static long by_poll(int fd) { return poll(&(struct pollfd){fd, POLLIN, 0}, 1, -1); }
static long by_poll_for(int fd) { return poll(&(struct pollfd){fd, POLLIN, 0}, 1, kSeconds); }
static long by_ppoll(int fd) {
  sigset_t none;
  sigemptyset(&none);
  return ppoll(&(struct pollfd){fd, POLLIN, 0}, 1, &kLong, &none);
}
static long by_select(int fd) {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(fd, &set);
  struct timeval wait = kLongToo;
  return select(fd + 1, &set, NULL, NULL, &wait);
}
static long by_futex(int fd) {
  static int word;
  return (void)fd, syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
}
static long by_futex_for(int fd) {
  static int word;
  return (void)fd, syscall(SYS_futex, &word, FUTEX_WAIT, 0, &kLong, NULL, 0);
}
static long by_read(int fd) {
  char bytes[64];
  return read(fd, bytes, sizeof bytes);
}
static long by_accept(int fd) { return accept(fd, NULL, NULL); }
static long by_signal(int fd) {
  sigset_t one;
  sigemptyset(&one), sigaddset(&one, SIGUSR2);
  return (void)fd, sigtimedwait(&one, NULL, &kLong);
}
static long by_suspend(int fd) {
  sigset_t none;
  sigemptyset(&none);
  return (void)fd, sigsuspend(&none);
}
static long by_semaphore(int id) { return semop(id, &(struct sembuf){0, -1, 0}, 1); }
static long by_semaphore_for(int id) { return semtimedop(id, &(struct sembuf){0, -1, 0}, 1, &kLong); }
static long by_message(int id) {
  struct {
    long type;
    char text[8];
  } message;
  return msgrcv(id, &message, sizeof message.text, 0, 0);
}
static long by_child(int pid) { return waitpid(pid, NULL, 0); }
static long by_lock(int fd) { return flock(fd, LOCK_EX); }
static long by_record_lock(int fd) {
  struct flock lock = {.l_type = F_WRLCK};
  return fcntl(fd, F_SETLKW, &lock);
}
static long by_events(int fd) {
  aio_context_t context = 0;
  struct io_event event;
  (void)fd;
  if (syscall(SYS_io_setup, 1, &context) != 0) return pause();
  return syscall(SYS_io_getevents, context, 1, 1, &event, NULL);
}

static sigset_t first_signal(void) {
  sigset_t set;
  sigemptyset(&set), sigaddset(&set, SIGUSR1);
  return set;
}
static long by_masked_suspend(int fd) {
  const sigset_t own = first_signal();
  return (void)fd, sigsuspend(&own);
}
static long by_masked_ppoll(int fd) {
  const sigset_t own = first_signal();
  return ppoll(&(struct pollfd){fd, POLLIN, 0}, 1, NULL, &own);
}
static long by_masked_select(int fd) {
  const sigset_t own = first_signal();
  fd_set set;
  FD_ZERO(&set);
  FD_SET(fd, &set);
  return pselect(fd + 1, &set, NULL, NULL, NULL, &own);
}
static long by_masked_epoll(int fd) {
  const sigset_t own = first_signal();
  struct epoll_event event;
  return (void)fd, epoll_pwait(epoll_create1(0), &event, 1, -1, &own);
}

static int silent_pipe(void) {
  int ends[2];
  return pipe(ends) == 0 ? ends[0] : -1;
}
static int silent_socket(void) {
  int ends[2];
  return socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0 ? ends[0] : -1;
}
static int listening_socket(void) {
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  bind(fd, (struct sockaddr*)&(struct sockaddr_un){.sun_family = AF_UNIX}, sizeof(sa_family_t));
  listen(fd, 1);
  return fd;
}
static int within_limits(int fd) {
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &kLongToo, sizeof kLongToo);
  return fd;
}
static int watched_folder(void) {
  const int fd = inotify_init();
  inotify_add_watch(fd, "/proc/self", IN_DELETE);
  return fd;
}

struct waiting {
  const char* name;
  long (*call)(int);
  int on;
  volatile int ended, error;
};

static void* wait_in(void* its) {
  struct waiting* one = its;
  for (;;) {
    begins();
    errno = 0;
    one->call(one->on);
    one->error = errno, one->ended++;
  }
  return NULL;
}

// It holds locks, and lives as long as this process.
static int child_with_locks(int file) {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  const int parent = getpid(), pid = fork();
  if (pid != 0) return read(ends[0], &(char){0}, 1) == 1 ? pid : -1;
  char path[32];
  snprintf(path, sizeof path, "/proc/%d/fd/%d", parent, file);
  const int own = open(path, O_RDWR);
  struct flock lock = {.l_type = F_WRLCK};
  const int are_held = flock(own, LOCK_EX) == 0 && fcntl(own, F_SETLK, &lock) == 0;
  if (write(ends[1], "x", (size_t)are_held) < 0) return -1;
  while (getppid() == parent) usleep(10000);
  _exit(0);
}

static void answer(const struct waiting* all, int count) {
  char line[8];
  while (fgets(line, sizeof line, stdin)) {
    for (int i = 0; i < count; i++)
      if (all[i].ended != 0) printf("%s %s %d\n", all[i].name, strerrorname_np(all[i].error), all[i].ended);
    printf("over\n");
    fflush(stdout);
  }
}

static void* answer_for(void* one) {
  answer(one, 1);
  _exit(0);
}

static void handle(int number) { (void)number; }

static void wait_in_first_thread(const char* name) {
  struct waiting all[] = {
      {"sigsuspend", by_masked_suspend, 0, 0, 0},
      {"ppoll", by_masked_ppoll, silent_pipe(), 0, 0},
      {"pselect", by_masked_select, silent_pipe(), 0, 0},
      {"epoll_pwait", by_masked_epoll, 0, 0, 0},
  };
  struct waiting* one = all;
  while (strcmp(one->name, name) != 0) one++;
  signal(SIGUSR1, handle), signal(SIGUSR2, handle);
  pthread_create(&(pthread_t){0}, NULL, answer_for, one);
  printf("ready\n");
  fflush(stdout);
  wait_in(one);
}

int main(int argc, char** argv) {
  if (argc > 1) wait_in_first_thread(argv[1]);
  char name[] = "/tmp/waits-XXXXXX";
  const int file = mkstemp(name);
  unlink(name);
  const int child = child_with_locks(file);
  const int semaphores = semget(IPC_PRIVATE, 1, 0600), messages = msgget(IPC_PRIVATE, 0600);
  struct waiting all[] = {
      {"nanosleep", by_nanosleep, 0, 0, 0},
      {"clock_nanosleep", by_clock, 0, 0, 0},
      {"pause", by_pause, 0, 0, 0},
      {"epoll_wait", by_epoll, epoll_create1(0), 0, 0},
      {"epoll_wait-for", by_epoll_for, epoll_create1(0), 0, 0},
      {"poll", by_poll, silent_pipe(), 0, 0},
      {"poll-for", by_poll_for, silent_pipe(), 0, 0},
      {"ppoll", by_ppoll, silent_pipe(), 0, 0},
      {"select", by_select, silent_pipe(), 0, 0},
      {"futex", by_futex, 0, 0, 0},
      {"futex-for", by_futex_for, 0, 0, 0},
      {"read-pipe", by_read, silent_pipe(), 0, 0},
      {"read-eventfd", by_read, eventfd(0, 0), 0, 0},
      {"read-inotify", by_read, watched_folder(), 0, 0},
      {"recv", by_read, silent_socket(), 0, 0},
      {"recv-for", by_read, within_limits(silent_socket()), 0, 0},
      {"accept", by_accept, listening_socket(), 0, 0},
      {"accept-for", by_accept, within_limits(listening_socket()), 0, 0},
      {"sigtimedwait", by_signal, 0, 0, 0},
      {"sigsuspend", by_suspend, 0, 0, 0},
      {"semop", by_semaphore, semaphores, 0, 0},
      {"semtimedop", by_semaphore_for, semaphores, 0, 0},
      {"msgrcv", by_message, messages, 0, 0},
      {"waitpid", by_child, child, 0, 0},
      {"flock", by_lock, file, 0, 0},
      {"fcntl", by_record_lock, file, 0, 0},
      {"io_getevents", by_events, 0, 0, 0},
  };
  enum { kCount = sizeof all / sizeof *all };
  sigset_t usual;
  sigemptyset(&usual), sigaddset(&usual, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &usual, NULL);
  for (int i = 0; i < kCount; i++) pthread_create(&(pthread_t){0}, NULL, wait_in, &all[i]);
  usleep(300000);
  printf("ready\n");
  fflush(stdout);
  answer(all, kCount);
  semctl(semaphores, 0, IPC_RMID), msgctl(messages, IPC_RMID, NULL);
  _exit(0);
}
