// Three ways down to one function, with frame pointers: stacks that a tracer can tell apart.
__attribute__((noinline)) int bottom(int n) {
  __asm__ volatile("" ::: "memory");
  return n + 1;
}
__attribute__((noinline)) int middle(int n) { return bottom(n) + 1; }
__attribute__((noinline)) int top(int n) { return middle(n) + 1; }
__attribute__((noinline)) int deep(int n) { return n == 0 ? bottom(n) + 1 : deep(n - 1) + 1; }

int main(void) {
  int sum = 0;
  for (int i = 0; i < 3; i++) sum += top(i);
  sum += middle(7);
  sum += deep(5);
  return sum == 0;
}
