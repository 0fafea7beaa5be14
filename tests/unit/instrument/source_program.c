// A program whose functions the tests look up: built as PIE, at a fixed address and static.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

volatile int sink;
const char text_of_target[] = "a string of the target";

__attribute__((noinline)) int sp_first(int x) {
  sink += x;
  return x + 1;
}
__attribute__((noinline)) int sp_second(int x) {
  sink -= x;
  return x - 1;
}
// source_program_twin.c has another of this name.
__attribute__((noinline)) static int sp_twin(int x) {
  sink ^= x;
  return x;
}
int sp_call_other_twin(int x);
// Two names of one address.
int sp_alias_of_first(int x) __attribute__((alias("sp_first")));
int _sf(int x) __attribute__((alias("sp_first")));

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "exit") == 0) return argc > 2 ? argv[2][0] - '0' : 0;
  if (argc > 1 && strcmp(argv[1], "echo") == 0) {
    for (int i = 2; i < argc; i++) printf("[%s]", argv[i]);
    printf("\n");
    return 0;
  }
  printf("%d\n", sp_second(sp_first(sp_twin(argc) + sp_call_other_twin(argc))));
  fflush(stdout);
  if (argc > 1 && strcmp(argv[1], "wait") == 0) pause();
  return 0;
}
