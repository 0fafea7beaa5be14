// Calls one function before main, in a constructor, and another in main.
static volatile int calls;
__attribute__((noinline)) void early(void) { calls++; }
__attribute__((noinline)) void usual(void) { calls++; }
__attribute__((constructor)) static void construct(void) { early(); }

int main(void) {
  usual();
  return calls == 2 ? 0 : 1;
}
