// Passes values in registers that hold more than the value, and small structures in one register.
#include <stdbool.h>

#define KEPT __attribute__((noinline))

KEPT int answer(bool yes) { return yes ? 1 : 0; }

int main(void) {
  int (*pass_register)(unsigned long) = (int (*)(unsigned long))answer;
  return pass_register(0xff00) + pass_register(0xff01) != 1;
}
