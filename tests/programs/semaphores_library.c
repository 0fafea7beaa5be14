// A library with a marker that has a semaphore.
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

__attribute__((section(".probes"), used)) volatile unsigned short counted_library_semaphore;

__attribute__((noinline, aligned(256))) static int turn(void) {
  STAP_PROBE(counted, library);
  return 1;
}

int library_turn(void) { return turn() * counted_library_semaphore; }
