// Checks that an instruction between two readings of the flags changes none of them, for all combinations of the flags.
#include <stdint.h>
#include <stdio.h>

uint64_t kept(uint64_t flags);
__asm__(
    ".text\n"
    ".type kept, @function\n"
    "kept:\n"
    "  pushq %rdi\n"
    "  popfq\n"
    "  nopl 0(%rax,%rax,1)\n"  // five bytes, at offset 2
    "  pushfq\n"
    "  popq %rax\n"
    "  pushq $0x202\n"
    "  popfq\n"
    "  ret\n"
    ".size kept, . - kept\n");

int main(void) {
  static const uint64_t flags[] = {0x1, 0x4, 0x10, 0x40, 0x80, 0x400, 0x800, 0x40000};  // CF PF AF ZF SF DF OF AC
  enum { kFlags = sizeof flags / sizeof flags[0], kRounds = 100 };
  uint64_t all = 0;
  unsigned changed = 0;
  for (unsigned n = 0; n < kFlags; n++) all |= flags[n];
  for (unsigned round = 0; round < kRounds; round++)
    for (unsigned set = 0; set < 1U << kFlags; set++) {
      uint64_t given = 0x202;
      for (unsigned n = 0; n < kFlags; n++)
        if ((set >> n & 1) != 0) given |= flags[n];
      changed += ((kept(given) ^ given) & all) != 0;
    }
  printf("%u of %u changed\n", changed, kRounds << kFlags);
  return changed != 0;
}
