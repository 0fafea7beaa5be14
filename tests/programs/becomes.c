// Executes the program that its arguments name.
#include <unistd.h>

int main(int argc, char **argv) {
  if (argc > 1) execv(argv[1], argv + 1);
  return 1;
}
