// Calls follow() with strings of all kinds, and with N addresses at which there is none (standard 10,000). Another thread maps
// and unmaps a page, and follow() gets strings that lie there. The program has a handler of SIGSEGV and SIGBUS, which it never
// needs; it prints how often that was called, and whether it is still in place.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, ROUNDS = 3000 };
static volatile sig_atomic_t handled;
static volatile int is_over;

__attribute__((noinline)) int follow(const char* text, int kind) {
  const int is_known = text != NULL && kind != 0;
  __asm__ volatile("" ::: "memory");
  return is_known;  // no branch leads into the last five bytes
}

__attribute__((noinline)) int chase(const char* text) {
  __asm__ volatile("" ::: "memory");
  return text != NULL;
}

static void handle(int number) {
  handled++;
  (void)number;
  _exit(3);
}

static char* map(int protection) { return mmap(NULL, PAGE, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }

static void* come_and_go(void* at) {
  while (!is_over) {
    strcpy(at, "here for a moment");
    munmap(at, PAGE);
    mmap(at, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  }
  return NULL;
}

static void follow_strings(void) {
  char local[] = "a string on the stack", lengthy[400];
  memset(lengthy, 'x', sizeof lengthy);
  lengthy[sizeof lengthy - 1] = 0;
  char* heap = strdup("a string in the heap");
  char* pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(pages, 'y', PAGE);
  munmap(pages + PAGE, PAGE);
  strcpy(pages + PAGE - 20, "ends with the page.");
  follow("a literal", 1);
  follow("", 2);
  follow("12345678", 3);
  follow("a literal that is longer than one of the words by which it is read", 4);
  follow(local, 5);
  follow(heap, 6);
  follow(lengthy, 7);
  follow(pages + PAGE - 20, 8);
  follow(pages + PAGE - 300, 9);
  pages[PAGE - 1] = 'z';
  follow(pages + PAGE - 10, 10);   // has no end
  follow(pages + PAGE - 255, 11);  // as long as the longest
  follow(map(PROT_NONE), 12);
  follow(NULL, 13);
  follow((char*)1, 14);
  follow((char*)-1, 15);
  follow((char*)0x8000000000000000, 16);
  for (int i = 0; i < 9; i++) follow("a literal at all distances" + i, 17);
  free(heap);
}

static void follow_nothing(long count) {
  uint64_t random = 88172645463325252;
  while (count > 0) {
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    const uint64_t address = count % 4 == 0 ? random : random & 0x7fffffffffff;
    unsigned char resident;
    if (mincore((void*)(address & -(uint64_t)PAGE), PAGE, &resident) == 0 || errno == EAGAIN) continue;
    if (mincore((void*)((address + 256) & -(uint64_t)PAGE), PAGE, &resident) == 0) continue;
    follow((char*)address, 20);
    count--;
  }
}

int main(int argc, char** argv) {
  const struct sigaction action = {.sa_handler = handle};
  sigaction(SIGSEGV, &action, NULL);
  sigaction(SIGBUS, &action, NULL);
  follow_strings();
  follow_nothing(argc > 1 ? atol(argv[1]) : 10000);
  pthread_t thread;
  char* page = map(PROT_READ | PROT_WRITE);
  pthread_create(&thread, NULL, come_and_go, page);
  for (int i = 0; i < ROUNDS; i++) chase(page);
  is_over = 1;
  pthread_join(thread, NULL);
  struct sigaction now;
  sigaction(SIGSEGV, NULL, &now);
  printf("%d faults, %s\n", (int)handled, now.sa_handler == handle ? "same handler" : "another handler");
  return 0;
}
