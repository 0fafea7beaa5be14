// Opens a library while it runs. "late LIBRARY CALLS [TIMES] [WAY]" opens it TIMES times and calls its function CALLS times each;
// WAY is "apart": each time in a namespace of its own; or "moved": each time at another address.
// "late LIBRARY patient" calls it once a millisecond until it is killed, and "late LIBRARY text" with a string on the heap. "late exec PROGRAM ARGUMENTS" executes another
// program.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef int (*function)(int);

__attribute__((noinline)) static int call(function late, int times) {
  int sum = 0;
  for (int i = 0; i < times; i++) sum = late(1);
  return sum;
}

// As "moved" asks for: the next mapping of the library cannot begin there.
static void take_place_of(const struct link_map *map) {
  void *at = (void *)map->l_addr;
  dlclose((void *)map);
  mmap(at, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
}

static int open_and_call(const char *library, int times, const char *way) {
  void *handle = dlmopen(strcmp(way, "apart") == 0 ? LM_ID_NEWLM : LM_ID_BASE, library, RTLD_NOW);
  function late = handle ? (function)dlsym(handle, "late_function") : NULL;
  if (!late) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  const int sum = call(late, times);
  if (strcmp(way, "moved") == 0)
    take_place_of(handle);
  else
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

static void pass_text(const char *library) {
  const char *text = strdup("on the heap");
  int (*late)(const char *) = (int (*)(const char *))dlsym(dlopen(library, RTLD_NOW), "late_function");
  for (int i = 0; i < 60000; i++) {
    late(text);
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
  if (strcmp(argv[2], "text") == 0) {
    pass_text(argv[1]);
    return 1;
  }
  const int times = argc > 3 ? atoi(argv[3]) : 1;
  for (int i = 0; i < times; i++) printf("%d\n", open_and_call(argv[1], atoi(argv[2]), argc > 4 ? argv[4] : ""));
  return 0;
}
