// Maps a library by itself, and its code as shared.
//
//   shared_code FILE r|w|p   maps it read-only, writable, or read-only and once more as private; calls its plain_function() once,
//   and then after each line of its input. With p that is the private one's
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kPageBytes = 4096, kRoom = 1 << 20 };

// Where the function lies in the file, which is closed again.
static long find(const char* path) {
  void* library = dlopen(path, RTLD_NOW);
  Dl_info info;
  if (!library || !dladdr(dlsym(library, "plain_function"), &info)) exit(1);
  const long offset = (char*)info.dli_saddr - (char*)info.dli_fbase;
  dlclose(library);
  return offset;
}

static char* map(int file, int writable, int share) {
  char* base = mmap(0, kRoom, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  Elf64_Ehdr header;
  if (pread(file, &header, sizeof header, 0) != sizeof header) exit(1);
  for (int i = 0; i < header.e_phnum; i++) {
    Elf64_Phdr one;
    if (pread(file, &one, sizeof one, (off_t)header.e_phoff + i * (off_t)sizeof one) != sizeof one) exit(1);
    if (one.p_type != PT_LOAD) continue;
    const unsigned long before = one.p_vaddr % kPageBytes;
    const int is_code = one.p_flags & PF_X;
    const int access = is_code ? PROT_READ | PROT_EXEC | (writable ? PROT_WRITE : 0) : PROT_READ | PROT_WRITE;
    char* at = base + one.p_vaddr - before;
    if (mmap(at, one.p_filesz + before, access, (is_code ? share : MAP_PRIVATE) | MAP_FIXED, file,
             (off_t)(one.p_offset - before)) != at)
      exit(1);
  }
  return base;
}

int main(int argc, char** argv) {
  if (argc != 3) return 1;
  const int writable = argv[2][0] == 'w', file = open(argv[1], writable ? O_RDWR : O_RDONLY);
  char* base = map(file, writable, MAP_SHARED);
  if (argv[2][0] == 'p') base = map(file, 0, MAP_PRIVATE);
  int (*function)(int) = (int (*)(int))(base + find(argv[1]));
  for (int calls = function(0); printf("%d\n", calls), fflush(stdout), getchar() != EOF;) calls = function(calls);
  return 0;
}
