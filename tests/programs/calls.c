// Makes system calls whose numbers, arguments and results are known, by their numbers: nothing of libc stands between.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// The page of the text that a call names is there: system call probes cannot fetch it.
static volatile char present;
static const char* here(const char* text) {
  present = *text;
  return text;
}

static void files(void) {
  const char* zero = here("/dev/zero");
  const char* none = here("/nonexistent");
  char bytes[16];
  int file = (int)syscall(SYS_open, zero, O_RDONLY);
  syscall(SYS_read, file, bytes, 16);
  syscall(SYS_pread64, file, bytes, 8, 4096);
  syscall(SYS_close, file);
  syscall(SYS_openat, AT_FDCWD, none, O_RDWR | O_CLOEXEC, 0600);
  syscall(SYS_close, -1);
}

__attribute__((noinline)) static void* map(size_t size) {
  return (void*)syscall(SYS_mmap, 0L, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L);
}
__attribute__((noinline)) static void touch(volatile char* memory) { *memory = 1; }
__attribute__((noinline)) static void unmap(void* memory, size_t size) { syscall(SYS_munmap, memory, size); }

static void memory(void) {
  void* memory = map(12288);
  touch(memory);
  unmap(memory, 12288);
}

static void allocate(void) {
  free(malloc(100));
  free(malloc(1 << 20));
}

// One that ends with a status, one that a signal ends, one that finds no program.
static void children(void) {
  int status;
  pid_t child = fork();
  if (child == 0) syscall(SYS_exit_group, 3);
  waitpid(child, &status, 0);
  child = fork();
  if (child == 0) kill(getpid(), SIGUSR1);
  waitpid(child, &status, 0);
  char* const words[] = {"none", 0};
  syscall(SYS_execve, here("/nonexistent"), words, words);
}

int main(void) {
  for (int i = 0; i < 3; i++) syscall(SYS_getppid);
  files();
  memory();
  allocate();
  children();
  return 0;
}
