// Makes a string inaccessible that it has passed to a function.
//
//   withdrawn PLACE   waits for a line, then passes the string to func() 1000 times before and after it has done this:
//     stack     a page of the stack of main, by mprotect(2)
//     literal   constants of the program, by mprotect(2)
//     removed   constants of the program, by munmap(2)
//     moved     the same, by mremap(2) of inaccessible memory onto them
//     keyed     the same, by pkey_mprotect(2) with a key that forbids all access, where the machine has keys
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { kCalls = 1000, kPage = 4096 };

static const char kText[2 * kPage] __attribute__((aligned(4096), used)) = "a constant";

__attribute__((noinline)) int func(const char* text, int a) {
  __asm__ volatile("" : : "r"(text) : "memory");
  return a + 1;
}

static int call(const char* text) {
  int calls = 0;
  for (int i = 0; i < kCalls; i++) calls = func(text, calls);
  return calls;
}

static void withdraw(const char* way, char* text) {
  if (way[0] == 'r')
    munmap(text, kPage);
  else if (way[0] == 'm')
    mremap(mmap(NULL, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), kPage, kPage, MREMAP_MAYMOVE | MREMAP_FIXED, text);
  else if (way[0] == 'k')
    pkey_mprotect(text, kPage, PROT_READ, pkey_alloc(0, PKEY_DISABLE_ACCESS));
  else
    mprotect(text, kPage, PROT_NONE);
}

int main(int argc, char** argv) {
  char room[3 * kPage];
  const char* way = argc > 1 ? argv[1] : "stack";
  char* text = way[0] == 's' ? (char*)(((uintptr_t)room + kPage - 1) & -(uintptr_t)kPage) : (char*)(uintptr_t)kText;
  if (way[0] == 's') strcpy(text, "on the stack");
  puts("ready");
  fflush(stdout);
  getchar();
  int calls = call(text);
  withdraw(way, text);
  calls += call(text);
  if (way[0] == 's') mprotect(text, kPage, PROT_READ | PROT_WRITE);
  printf("calls %d\n", calls);
  return 0;
}
