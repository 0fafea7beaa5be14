// A thread opens and closes a file all the time, which always has the same number.
//
//   descriptors [limit]   waits for a line, then prints how often it was another one, or none. limit: no higher number is allowed
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

static atomic_int ends;
static int usual, others;

__attribute__((noinline)) int func(int a) {
  __asm__ volatile("" ::: "memory");
  return a + 1;
}

static void* open_files(void* unused) {
  for (int i = 0; !ends; i = func(i)) {
    const int file = open("/dev/null", O_RDONLY);
    others += file != usual;
    if (file >= 0) close(file);
  }
  return unused;
}

int main(int argc, char** argv) {
  (void)argv;
  usual = open("/dev/null", O_RDONLY);
  close(usual);
  const struct rlimit most = {(rlim_t)usual + 1, (rlim_t)usual + 1};
  if (argc > 1) setrlimit(RLIMIT_NOFILE, &most);
  pthread_t thread;
  pthread_create(&thread, 0, open_files, 0);
  puts("ready");
  fflush(stdout);
  getchar();
  ends = 1;
  pthread_join(thread, 0);
  printf("others %d\n", others);
  return 0;
}
