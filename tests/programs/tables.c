// Functions with a jump table: tables KINDS, where each character is a case. Built for any address, and for a fixed one.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEPT __attribute__((noinline, used))

// The table leads back behind the first instruction, to the last instructions, and to the ret itself.
unsigned into_entry(const char* kinds);
unsigned into_exit(const char* kinds);

#ifdef __PIE__
#define JUMP(table) "lea " table "(%rip), %rdx\n movslq (%rdx,%rcx,4), %rcx\n add %rdx, %rcx\n jmp *%rcx\n"
#define ENTRY(to, table) ".long " to " - " table "\n"
#else
#define JUMP(table) "jmp *" table "(,%rcx,8)\n"
#define ENTRY(to, table) ".quad " to "\n"
#endif
#define FUNCTION(name) ".balign 64\n .globl " name "\n .type " name ", @function\n " name ": .cfi_startproc\n"
#define END(name) ".cfi_endproc\n .size " name ", . - " name "\n"

// clang-format off
__asm__(".text\n"
        FUNCTION("into_entry")
        "  xor %eax, %eax\n"
        ".Lagain: inc %eax\n"
        "  movzbl (%rdi), %ecx\n"
        "  inc %rdi\n"
        "  and $3, %ecx\n"
        JUMP(".Lentry_table")
        ".Lten: add $10, %eax\n jmp .Lagain\n"
        ".Lout: ret\n nopl 0(%rax)\n"
        END("into_entry")
        FUNCTION("into_exit")
        "  mov $1, %eax\n"
        "  movzbl (%rdi), %ecx\n"
        "  and $3, %ecx\n"
        JUMP(".Lexit_table")
        ".Lsecond: inc %eax\n"
        ".Lthird: inc %eax\n"
        ".Lret: ret\n"
        ".Ladd: add $40, %eax\n"
        "  jmp .Lsecond\n"
        END("into_exit")
        ".section .rodata\n .balign 8\n"
        ".Lentry_table:\n" ENTRY(".Lout", ".Lentry_table") ENTRY(".Lagain", ".Lentry_table") ENTRY(".Lten", ".Lentry_table")
                           ENTRY(".Lagain", ".Lentry_table")
        ".Lexit_table:\n" ENTRY(".Lret", ".Lexit_table") ENTRY(".Ladd", ".Lexit_table") ENTRY(".Lsecond", ".Lexit_table")
                          ENTRY(".Lthird", ".Lexit_table")
        ".text\n");
// clang-format on

// A machine as compilers make it.
KEPT unsigned machine(const char* kinds) {
  unsigned sum = 1;
  for (;; kinds++) {
    switch (*kinds) {
      case '0':
        sum += (unsigned)atoi(kinds + 1) & 7;
        break;
      case '1':
        sum = sum * 3 + 1;
        break;
      case '2':
        sum ^= 0x55;
        break;
      case '3':
        sum += (unsigned)strlen(kinds);
        break;
      case '4':
        sum = sum << 2 | sum >> 30;
        break;
      case '5':
        if (sum % 2 == 0) return sum;
        break;
      case '6':
        kinds += kinds[1] != 0;
        break;
      case '7':
        putchar('a' + (char)(sum % 26));
        break;
      default:
        return sum;
    }
  }
}

KEPT unsigned once(unsigned kind, unsigned value) {
  switch (kind) {
    case 0:
      return machine("17") + value;
    case 1:
      return value * 3;
    case 2:
      return machine("27") ^ value;
    case 3:
      return value / 3;
    case 4:
      return machine("37") - value;
    case 5:
      return value << 3;
    case 6:
      return machine("47") * value;
    default:
      return value;
  }
}

int main(int count, char** words) {
  const char* kinds = count > 1 ? words[1] : "1223";
  unsigned sum = 0;
  for (unsigned round = 0; round < 200; round++) {
    for (const char* at = kinds; *at != 0; at++) {
      sum = sum * 31 + into_entry(at) + into_exit(at) * 7 + machine(at);
      sum = sum * 3 + once((unsigned)*at & 7, sum);
    }
  }
  printf("\n%u\n", sum);
  return 0;
}
