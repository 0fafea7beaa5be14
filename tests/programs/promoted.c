// A function that the compiler changes, as clang does at -O3: it is called from here only, so it is passed what it reads of the
// structure in place of the pointer. What it prints is what a tracer must find.
#include <stdio.h>

struct order {
  long id, price;
  long rest[6];
};

__attribute__((noinline)) static long cost(const struct order* order, long times, unsigned char tax) {
  return order->id * times + order->price + tax;
}

__attribute__((noinline)) static long unused(long first, long second) { return second * 3; }

__attribute__((noinline)) long kept(const struct order* order, _Bool twice, long times) {
  return order->id * (twice ? 2 : 1) + times;
}

int main(int count, char** words) {
  struct order order = {.id = 7000 + count, .price = 5};
  long sum = 0;
  for (long i = 0; i < 3; i++) {
    order.rest[i] = i;
    __asm__ volatile("" : : "r"(&order) : "memory");
    sum += cost(&order, 100 + i, 40) + unused(order.id, 200 + i) + kept(&order, i == 1, 300 + i);
  }
  printf("%ld %p\n", sum, (void*)words);
  return 0;
}
