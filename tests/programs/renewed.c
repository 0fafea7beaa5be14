// Maps code anew that was there before.
//
//   renewed exec N         calls func(N) N + 1 times, then executes itself with N - 1, until that is 0
//   renewed exec N PATH    the same, but executes the program at PATH in place of itself
//   renewed lines N        calls func(N) ten times for each line of its input; then executes itself with N - 1 if N is above 0
//   renewed open LIBRARY   opens it; after each line of its input it calls late_function(1) ten times, and opens it anew
//   renewed heir           its first thread ends at a line of its input; another calls func(0) ten times for each further line
//   renewed heir LIBRARY   the same, but the other thread does what "renewed open" does
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int calls;

__attribute__((noinline)) int func(int n) {
  __asm__ volatile("" ::: "memory");
  return n + 1;
}

static int say_and_wait(void) {
  printf("%d\n", calls);
  fflush(stdout);
  return getchar() != EOF;
}

static void become(const char* program, const char* mode, int n) {
  char next[16];
  snprintf(next, sizeof next, "%d", n);
  execl(program, program, mode, next, (char*)0);
  exit(1);
}

static int call_and_execute(const char* program, int n) {
  for (int i = 0; i <= n; i++) func(n);
  if (n > 0) become(program, "exec", n - 1);
  return 0;
}

static int call_for_lines(const char* program, int n) {
  while (say_and_wait()) {
    for (int i = 0; i < 10; i++) func(n), calls++;
    if (n > 0) become(program, "lines", n - 1);
  }
  return 0;
}

static int open_anew(const char* library) {
  for (;;) {
    void* handle = dlopen(library, RTLD_NOW);
    int (*function)(int) = handle ? (int (*)(int))dlsym(handle, "late_function") : 0;
    if (!function) return 1;
    if (!say_and_wait()) return 0;
    for (int i = 0; i < 10; i++) calls += function(1) > 0;
    dlclose(handle);
  }
}

static const char* to_open;

static void* inherit(void* first) {
  pthread_join(*(pthread_t*)first, 0);
  exit(to_open ? open_anew(to_open) : call_for_lines("", 0));
}

static int end_first_thread(void) {
  static pthread_t first;
  pthread_t other;
  first = pthread_self();
  if (pthread_create(&other, 0, inherit, &first) != 0 || !say_and_wait()) return 1;
  pthread_exit(0);
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  if (strcmp(argv[1], "heir") == 0) return to_open = argv[2], end_first_thread();
  if (argc < 3) return 2;
  if (strcmp(argv[1], "exec") == 0) return call_and_execute(argc > 3 ? argv[3] : argv[0], atoi(argv[2]));
  return strcmp(argv[1], "lines") == 0 ? call_for_lines(argv[0], atoi(argv[2])) : open_anew(argv[2]);
}
