// Reads strings on its heap before, while and after the memory is gone, and prints what a tracer must have seen.
//
//   vanishing WAY...   passes strings to work() for some time; then takes each string's memory away, passes its address again,
//   maps the memory again, writes another string, and passes that. All ways from `unmap` to `guard` if none is given:
//     unmap protect move shrink cover     munmap(2), mprotect(2), mremap(2) to elsewhere and to fewer pages, mmap(2) over it
//     seal                                mprotect(2), so that it can still be read
//     replace discard                     other memory over it, by mmap(2) and madvise(2): the string is empty
//     number break free                   munmap(2) by syscall(3), sbrk(2), free(3) of a large chunk
//     guard                               guard pages, by madvise(2), where the kernel has them
//     attach                              other memory over it, by shmat(2)
//     unload                              dlclose(3) of the library in LIBRARY, whose data has the string
//     copied keyed lent implied           munmap(2) by code that is copied to memory at run time, which becomes executable by
//                                         mmap(2), pkey_mprotect(2), shmat(2), or all that can be read (personality(2))
//     own                                 munmap(2) by a system call instruction of its own, if it is built with one
//   Lines that begin with "= " have a string and how often it was passed; the last one has the number of addresses without one.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { kPage = 4096, kArea = 4 * kPage, kChunk = 1 << 20, kMostTexts = 64, kCut = 255, kTimes = 3, kRounds = 3 };
enum { kHoldFor = 120 };  // milliseconds

__attribute__((noinline)) int work(const char* text, int a) {
  __asm__ volatile("" : : "r"(text) : "memory");
  return a + 1;
}

static struct expected {
  char text[kCut + 1];
  long times;
} expected[kMostTexts];
static long faults;

static void expect(const char* text, long times) {
  struct expected* at = expected;
  while (at->times != 0 && strncmp(at->text, text, kCut) != 0) at++;
  strncpy(at->text, text, kCut);
  at->times += times;
}

// With memory that has this string, or is gone.
static void pass(const char* text, const char* shown) {
  for (int i = 0; i < kTimes; i++) work(text, i);
  if (shown)
    expect(shown, kTimes);
  else
    faults += kTimes;
}

static void* map_at(void* at, size_t bytes, int protection) {
  const int fixed = at ? MAP_FIXED : 0;
  void* area = mmap(at, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0);
  if (area == MAP_FAILED) exit(2);
  return area;
}

// Between inaccessible pages, so that it is a mapping by itself.
static char* new_area(void) {
  char* around = map_at(NULL, kArea + 2 * kPage, PROT_NONE);
  return map_at(around + kPage, kArea, PROT_READ | PROT_WRITE);
}

struct way {
  const char* name;
  char* area;
  void* handle;
  int lacks;
};

static int is(const struct way* way, const char* name) { return strcmp(way->name, name) == 0; }

static void attach(struct way* way) {
  const int id = shmget(IPC_PRIVATE, kArea, IPC_CREAT | 0600);
  way->lacks = id < 0 || shmat(id, way->area, SHM_REMAP) == (void*)-1;
  shmctl(id, IPC_RMID, NULL);
}

static void* lend(const void* code, size_t bytes) {
  const int id = shmget(IPC_PRIVATE, kPage, IPC_CREAT | 0700);
  memcpy(shmat(id, NULL, 0), code, bytes);
  void* lent = shmat(id, NULL, SHM_EXEC | SHM_RDONLY);
  shmctl(id, IPC_RMID, NULL);
  return lent;
}

static void run_copy(const struct way* way) {
  static const unsigned char kCode[] = {0xb8, SYS_munmap, 0, 0, 0, 0x0f, 0x05, 0xc3};  // mov, syscall, ret
  if (is(way, "implied")) personality(READ_IMPLIES_EXEC);
  void* code = map_at(NULL, kPage, PROT_READ | PROT_WRITE | (is(way, "copied") ? PROT_EXEC : 0));
  memcpy(code, kCode, sizeof kCode);
  if (is(way, "keyed")) syscall(SYS_pkey_mprotect, code, (size_t)kPage, PROT_READ | PROT_EXEC, -1);
  if (is(way, "lent")) code = lend(kCode, sizeof kCode);
  int (*unmap)(void*, size_t) = NULL;
  memcpy(&unmap, &code, sizeof unmap);
  unmap(way->area, kArea);
}

static void own(struct way* way) {
#ifdef HAS_OWN_CALL
  long result = SYS_munmap;
  __asm__ volatile("syscall" : "+a"(result) : "D"(way->area), "S"((long)kArea) : "rcx", "r11", "memory");
#else
  way->lacks = 1;
#endif
}

static char* open_library(struct way* way) {
  way->handle = dlopen(getenv("LIBRARY"), RTLD_NOW);
  return way->handle ? dlsym(way->handle, "data_of_library") : NULL;
}

static void begin(struct way* way) {
  way->lacks = 0;
  if (is(way, "break"))
    sbrk((kPage - ((intptr_t)sbrk(0) & (kPage - 1))) & (kPage - 1)), way->area = sbrk(kArea);
  else if (is(way, "free"))
    way->area = malloc(kChunk);
  else if (is(way, "unload"))
    way->area = open_library(way), way->lacks = !way->area;
  else
    way->area = new_area();
}

static void take_away(struct way* way) {
  if (is(way, "unmap")) munmap(way->area, kArea);
  if (is(way, "number")) syscall(SYS_munmap, way->area, (size_t)kArea);
  if (is(way, "protect")) mprotect(way->area, kArea, PROT_NONE);
  if (is(way, "seal")) mprotect(way->area, kArea, PROT_READ);
  if (is(way, "move")) mremap(way->area, kArea, kArea, MREMAP_MAYMOVE | MREMAP_FIXED, map_at(NULL, kArea, PROT_NONE));
  if (is(way, "shrink")) mremap(way->area, kArea, kPage, 0);
  if (is(way, "cover")) map_at(way->area, kArea, PROT_NONE);
  if (is(way, "replace")) map_at(way->area, kArea, PROT_READ | PROT_WRITE);
  if (is(way, "discard")) madvise(way->area, kArea, MADV_DONTNEED);
  if (is(way, "guard")) way->lacks = madvise(way->area, kArea, 102) != 0;
  if (is(way, "attach")) attach(way);
  if (is(way, "break")) sbrk(-kArea);
  if (is(way, "free")) free(way->area);
  if (is(way, "unload")) dlclose(way->handle);
  if (is(way, "copied") || is(way, "keyed") || is(way, "lent") || is(way, "implied")) run_copy(way);
  if (is(way, "own")) own(way);
}

static void give_back(struct way* way) {
  if (is(way, "protect") || is(way, "seal"))
    mprotect(way->area, kArea, PROT_READ | PROT_WRITE);
  else if (is(way, "guard"))
    madvise(way->area, kArea, 103);
  else if (is(way, "break") || is(way, "free") || is(way, "unload"))
    begin(way);
  else if (!is(way, "discard") && !is(way, "replace"))
    map_at(way->area, kArea, PROT_READ | PROT_WRITE);
}

static void end(struct way* way) {
  if (is(way, "break"))
    sbrk(-kArea);
  else if (is(way, "free"))
    free(way->area);
  else if (is(way, "unload"))
    dlclose(way->handle);
  else
    munmap(way->area - kPage, kArea + 2 * kPage);
}

static char* text_of(const struct way* way) { return way->area + 2 * kPage + 16 + way->name[0] % 8; }

static void change(struct way* way) {
  char again[64];
  const int is_empty = is(way, "replace") || is(way, "discard") || is(way, "attach");
  const char* before = text_of(way);
  take_away(way);
  if (way->lacks) return;
  pass(before, is_empty ? "" : is(way, "seal") ? way->name : NULL);
  give_back(way);
  snprintf(again, sizeof again, "%s again", way->name);
  strcpy(text_of(way), again);
  pass(text_of(way), again);
}

// Strings that stay, in memory of all kinds: with pages behind them, at the end of a mapping, and without a NUL up to there.
struct stay {
  const char* text;
  const char* shown;
};
static struct stay stays[32];
static int stay_count;

static void keep(const char* text, const char* shown) { stays[stay_count++] = (struct stay){text, shown}; }

static void keep_edges(void) {
  char* area = new_area();
  memset(area, 'y', kArea);
  char* last = area + kArea;
  keep(area + kPage - 100, area);
  keep(area + kArea - kCut, area);
  keep(area + kArea - kCut + 1, NULL);
  keep(last - 1, NULL);
  keep(last, NULL);
  char* ends = new_area() + kArea;
  memcpy(ends - 14, "one\0two\0three", 14);
  for (int i = 1; i <= 14; i++) keep(ends - i, ends - i);
  char* half = new_area() + 2 * kPage;
  mmap(half, kPage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  strcpy(half - 5, "into shared memory");
  strcpy(half + kPage - 6, "out of shared memory");
  keep(half - 5, half - 5);
  keep(half + kPage - 6, half + kPage - 6);
}

static void* keep_of_thread(void* unused) {
  (void)unused;
  char* small = strdup("in an arena of a thread");
  char* large = strdup(small);
  memmove(large, "IN", 2);
  keep(small, small);
  keep(large, large);
  return NULL;
}

static void hold(struct way* ways, int count) {
  const struct timespec pause = {.tv_nsec = 200000};
  struct timespec from, now;
  clock_gettime(CLOCK_MONOTONIC, &from);
  do {
    for (int i = 0; i < stay_count; i++) pass(stays[i].text, stays[i].shown);
    for (int i = 0; i < count; i++)
      if (!ways[i].lacks) pass(text_of(&ways[i]), text_of(&ways[i]));
    nanosleep(&pause, NULL);
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((now.tv_sec - from.tv_sec) * 1000 + (now.tv_nsec - from.tv_nsec) / 1000000 < kHoldFor);
}

static void change_all(struct way* ways, int count) {
  for (int i = 0; i < count; i++) begin(&ways[i]);
  for (int i = 0; i < count; i++)
    if (!ways[i].lacks) strcpy(text_of(&ways[i]), ways[i].name);
  hold(ways, count);
  for (int i = 0; i < count; i++)
    if (!ways[i].lacks) change(&ways[i]);
  for (int i = count; i-- > 0;)
    if (!ways[i].lacks) end(&ways[i]);
}

int main(int argc, char** argv) {
  static const char* all[] = {"unmap",   "protect", "seal",   "move",  "shrink", "cover",
                              "replace", "discard", "number", "break", "free",   "guard"};
  struct way ways[16] = {{0}};
  int count = 0;
  if (argc > 1)
    for (; count < argc - 1; count++) ways[count].name = argv[count + 1];
  else
    for (; count < (int)(sizeof all / sizeof *all); count++) ways[count].name = all[count];
  mallopt(M_MMAP_THRESHOLD, kChunk / 2);
  setvbuf(stdout, malloc(BUFSIZ), _IOFBF, BUFSIZ);
  pthread_t thread;
  pthread_create(&thread, NULL, keep_of_thread, NULL);
  pthread_join(thread, NULL);
  keep_edges();
  for (int i = 0; i < kRounds; i++) change_all(ways, count);
  for (const struct expected* at = expected; at->times != 0; at++) printf("= %ld %s|\n", at->times, at->text);
  printf("= %ld faults\n", faults);
  return 0;
}
