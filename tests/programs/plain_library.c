// A library that needs no relocation.
__attribute__((noinline)) int plain_function(int n) {
  __asm__ volatile("" ::: "memory");
  return n + 1;
}
