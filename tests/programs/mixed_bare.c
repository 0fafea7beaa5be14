// The part of mixed.c that keeps no frame pointers.
int kept_inner(int n);

__attribute__((noinline)) int bare_inner(int n) { return kept_inner(n) + 1; }
__attribute__((noinline)) int bare_middle(int n) { return bare_inner(n) + 1; }
