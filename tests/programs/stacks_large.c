/* Three stacks of some 30 KB: more than is captured of one by default. */
__attribute__((noinline)) void bottom(void) { __asm__ volatile("nop; nop; nop; nop; nop; nop" ::: "memory"); }

__attribute__((noinline)) int deep(int depth) {
  volatile char room[1500];
  room[depth] = (char)depth;
  if (depth == 0)
    bottom();
  else
    deep(depth - 1);
  return room[depth];
}

int main(void) {
  int sum = 0;
  for (int i = 0; i < 3; i++) sum += deep(20);
  return sum != 60;
}
