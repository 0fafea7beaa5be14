// Fires markers with semaphores on demand, and prints the semaphores. A line of input is a command; each prints a line.
#define _SDT_HAS_SEMAPHORES 1
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sdt.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((section(".probes"), used)) volatile unsigned short counted_turn_semaphore;
__asm__(".pushsection .rodata\n.globl counted_fixed_semaphore\ncounted_fixed_semaphore: .2byte 0\n.popsection\n");

// Behind each marker lies an instruction of five bytes that cannot fault. Uprobes are not placed near the jump of an agent.
__attribute__((noinline, aligned(64))) static int first_turn(void) {
  STAP_PROBE(counted, turn);
  return 1;
}

__attribute__((noinline, aligned(64))) static int second_turn(void) {
  STAP_PROBE(counted, turn);
  return 1;
}

// Written out, because STAP_PROBE declares the semaphore as writable.
__attribute__((noinline, aligned(64))) static int fixed_turn(void) {
  __asm__ __volatile__(STAP_PROBE_ASM(counted, fixed, ));
  return 1;
}

static void *library;

static int library_turn(void) {
  int (*turn)(void) = library == NULL ? NULL : (int (*)(void))dlsym(library, "library_turn");
  return turn == NULL ? -1 : turn();
}

// The child prints its semaphore, after it has called a probed function.
static void print_of_child(pid_t child) {
  if (child != 0) {
    waitpid(child, NULL, 0);
    return;
  }
  first_turn();
  printf("%d\n", counted_turn_semaphore);
  fflush(stdout);
  _exit(0);
}

static void answer(char **argv, const char *command, const char *word) {
  if (strcmp(command, "exec") == 0) execv("/proc/self/exe", argv);
  if (strcmp(command, "fork") == 0) return print_of_child(fork());
  if (strcmp(command, "syscall-fork") == 0) return print_of_child((pid_t)syscall(SYS_fork));
  if (strcmp(command, "set") == 0) counted_turn_semaphore = (unsigned short)atoi(word);
  if (strcmp(command, "open") == 0) library = dlopen(word, RTLD_NOW);
  if (strcmp(command, "close") == 0) dlclose(library), library = NULL;
  if (strcmp(command, "library") == 0) {
    printf("%d\n", library_turn());
    return;
  }
  first_turn();
  second_turn();
  fixed_turn();
  printf("%d\n", counted_turn_semaphore);
}

int main(int argc, char **argv) {
  char line[256], command[256], word[256];
  printf("ready\n");
  fflush(stdout);
  while (argc > 0 && fgets(line, sizeof line, stdin)) {
    if (sscanf(line, "%255s %255s", command, word) > 0) answer(argv, command, word);
    fflush(stdout);
  }
  return 0;
}
