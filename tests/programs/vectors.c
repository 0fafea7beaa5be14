// Vector instructions whose opcodes are those of jumps and returns elsewhere: what a tracer must not disturb. Prints whether the
// results were right; "no AVX2" where the processor has none.
#include <stdio.h>
#include <string.h>

typedef unsigned char Bytes[32];

// to = from with each byte that is `value` set to 0xff, by stores, comparisons, shuffles and selections.
void mark(unsigned char *to, const unsigned char *from, int value);
__asm__(".text\n.globl mark\n.type mark, @function\nmark:\n"
        "vmovd %edx, %xmm0\n vpbroadcastb %xmm0, %ymm0\n"  // 78
        "vmovdqu (%rsi), %ymm1\n vpcmpeqb %ymm0, %ymm1, %ymm2\n"  // 74
        "vpshufd $0xe4, %ymm2, %ymm2\n"  // 70
        "vpor %ymm1, %ymm2, %ymm1\n"  // eb
        "vmovdqu %ymm1, (%rdi)\n"  // 7f
        "vmovd %xmm2, %eax\n"  // 7e
        "vzeroupper\n ret\n.size mark, . - mark\n");  // 77

// Begins with an instruction that cannot be probed.
int first_word(const unsigned char *from);
__asm__(".globl first_word\n.type first_word, @function\nfirst_word:\n"
        "vpcmpeqb %xmm0, %xmm0, %xmm0\n mov (%rdi), %eax\n ret\n.size first_word, . - first_word\n");

static int is_right(int value) {
  Bytes from, to;
  for (int i = 0; i < 32; i++) from[i] = (unsigned char)(i * 7 % 16);
  memset(to, 0xaa, sizeof to);
  mark(to, from, value);
  for (int i = 0; i < 32; i++)
    if (to[i] != (from[i] == value ? 0xff : from[i])) return 0;
  int word;
  memcpy(&word, to, sizeof word);
  return first_word(to) == word;
}

int main(void) {
  if (!__builtin_cpu_supports("avx2")) return puts("no AVX2"), 0;
  int right = 0;
  for (int i = 0; i < 100; i++) right += is_right(i % 16);
  char text[200] = "";
  for (int i = 0; i < 100; i++) right += strlen(text) == (size_t)i && strchr(text, 0) == text + i, text[i] = 'x';
  printf("%d of 200 right\n", right);
  return right != 200;
}
