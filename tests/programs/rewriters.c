// Threads that change their memory as soon as a probed call has returned.
//   rewriters keys N    four threads, each N times with each of 50 keys: named(key)
//   rewriters sizes N   filled(buffer, size, byte) with sizes from 257 to 100,000, N times each, then a wait, so that what is
//   read late is there
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kThreads = 4, kKeys = 50, kLargest = 100000 };

__attribute__((noinline)) void named(const char* name) { __asm__ volatile("" ::"r"(name) : "memory"); }
__attribute__((noinline)) void filled(const char* buffer, long size, long byte) {
  __asm__ volatile("" ::"r"(buffer), "r"(size), "r"(byte) : "memory");
}

int g_rounds;

static void* name_keys(void* buffer) {
  for (int call = 0; call < g_rounds; call++)
    for (int key = 0; key < kKeys; key++) {
      sprintf(buffer, "key%02d", key);
      named(buffer);
    }
  strcpy(buffer, "none");
  return NULL;
}

static void keys(void) {
  static char buffers[kThreads][64];
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; i++) pthread_create(&threads[i], NULL, name_keys, buffers[i]);
  for (int i = 0; i < kThreads; i++) pthread_join(threads[i], NULL);
}

static void sizes(void) {
  static const long all[] = {257, 1000, 4095, 4096, 4097, 16384, 16385, 65536, kLargest};
  static char buffer[kLargest];
  for (int round = 0; round < g_rounds; round++)
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
      const char byte = (char)(1 + (round * 9 + (int)i) % 100);
      memset(buffer, byte, sizeof buffer);
      filled(buffer, all[i], byte);
      memset(buffer, 127, sizeof buffer);
    }
  sleep(1);
}

int main(int argc, char** argv) {
  if (argc < 3) return 1;
  g_rounds = atoi(argv[2]);
  if (strcmp(argv[1], "sizes") == 0)
    sizes();
  else
    keys();
  return 0;
}
