/* Measures a string as often as its argument says, through the indirect function strlen. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 1;
  size_t sum = 0;
  for (int i = 0; i < rounds; i++) sum += strlen("to be measured");
  return sum == 14 * (size_t)rounds ? 0 : 1;
}
