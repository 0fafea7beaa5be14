// Opens a library while it runs. "late LIBRARY CALLS [TIMES]" opens it TIMES times and calls its function CALLS times each;
// "late LIBRARY patient" calls it once a millisecond until it is killed. "late exec PROGRAM ARGUMENTS" executes another
// program.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int (*function)(int);

__attribute__((noinline)) static int call(function late, int times) {
  int sum = 0;
  for (int i = 0; i < times; i++) sum = late(1);
  return sum;
}

static int open_and_call(const char *library, int times) {
  void *handle = dlopen(library, RTLD_NOW);
  function late = handle ? (function)dlsym(handle, "late_function") : NULL;
  if (!late) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  const int sum = call(late, times);
  dlclose(handle);
  return sum;
}

static void call_patiently(const char *library) {
  function late = (function)dlsym(dlopen(library, RTLD_NOW), "late_function");
  for (int i = 0; i < 60000; i++) {
    late(1);
    usleep(1000);
  }
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  if (strcmp(argv[1], "exec") == 0) {
    execv(argv[2], argv + 2);
    perror(argv[2]);
    return 1;
  }
  if (strcmp(argv[2], "patient") == 0) {
    call_patiently(argv[1]);
    return 1;
  }
  const int times = argc > 3 ? atoi(argv[3]) : 1;
  for (int i = 0; i < times; i++) printf("%d\n", open_and_call(argv[1], atoi(argv[2])));
  return 0;
}
