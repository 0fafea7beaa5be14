// Functions that others enter behind their first instruction, and before their last one, in ways that no compiler uses: entered
// ROUNDS prints what they return. Built for any address, with packed relocations, and for a fixed address.
#include <stdio.h>
#include <stdlib.h>

// The way that leads into each of them. Addresses: tables that the dynamic linker relocates.
#define FOR_EACH(DO)        \
  DO(by_constants)          \
  DO(by_variables)          \
  DO(by_operand)            \
  DO(by_words)              \
  DO(by_bytes)              \
  DO(by_variable_distances) \
  DO(behind_unused)         \
  DO(by_sum)                \
  DO(by_call)               \
  DO(by_return)

#ifdef __PIE__
#define TAKE(address, to) "lea " address "(%rip), " to "\n"
#else
#define TAKE(address, to) "mov $" address ", " to "\n"
#endif
#define FUNCTION(name) ".balign 64\n .globl " name "\n .type " name ", @function\n " name ": .cfi_startproc\n"
#define END(name) ".cfi_endproc\n .size " name ", . - " name "\n"
// Two instructions each lie in the first five bytes, and in the five bytes where it returns.
#define ENTERED(name)                                                                                            \
  FUNCTION(name)                                                                                                 \
  "mov %edi, %eax\n .L" name "_in: add $3, %eax\n imul $5, %eax\n test %edi, %edi\n je .L" name "_add\n .L" name \
  "_go: inc %eax\n .L" name "_out: inc %eax\n ret\n .L" name "_add: add $40, %eax\n jmp .L" name "_go\n" END(name)
// The first argument: 0, behind the first instruction; 1, before the last.
#define WAY(name, code) FUNCTION("way_" name) "mov $7, %eax\n mov %edi, %edi\n" code END("way_" name)
#define TABLE(name, entry, end) \
  ".L" name "_table: " entry " (.L" name "_in - .L" name "_table)" end ", (.L" name "_out - .L" name "_table)" end "\n"

// clang-format off
__asm__(".text\n"
        ENTERED("by_constants")
        WAY("by_constants", TAKE(".Lby_constants_table", "%rdx") "jmp *(%rdx,%rdi,8)\n")
        ".section .data.rel.ro, \"aw\"\n .balign 8\n .Lby_constants_table: .quad .Lby_constants_in, .Lby_constants_out\n .text\n"

        ENTERED("by_variables")
        WAY("by_variables", TAKE(".Lby_variables_table", "%rdx") "lea (%rdx,%rdi,8), %rdx\n jmp *(%rdx)\n")
        ".data\n .balign 8\n .Lby_variables_table: .quad .Lby_variables_in, .Lby_variables_out\n .text\n"

        ENTERED("by_operand")
        WAY("by_operand", TAKE(".Lby_operand_in", "%rdx") TAKE(".Lby_operand_out", "%rcx")
                          "test %edi, %edi\n cmovne %rcx, %rdx\n jmp *%rdx\n")

        // Beside the table, as words do not reach further.
        ENTERED("by_words")
        ".balign 2\n" TABLE("by_words", ".short", "")
        WAY("by_words", TAKE(".Lby_words_table", "%rdx") "movswq (%rdx,%rdi,2), %rcx\n add %rdx, %rcx\n jmp *%rcx\n")

        ".balign 64\n" TABLE("by_bytes", ".byte", " / 2")
        ENTERED("by_bytes")
        WAY("by_bytes", TAKE(".Lby_bytes_table", "%rdx") "movzbl (%rdx,%rdi), %ecx\n lea (%rdx,%rcx,2), %rcx\n jmp *%rcx\n")

        ENTERED("by_variable_distances")
        WAY("by_variable_distances", TAKE(".Lby_variable_distances_table", "%rdx")
            "movslq (%rdx,%rdi,4), %rcx\n add %rdx, %rcx\n jmp *%rcx\n")
        ".data\n .balign 4\n" TABLE("by_variable_distances", ".long", "") ".text\n"

        // Entries before them are never used.
        ENTERED("behind_unused")
        WAY("behind_unused", TAKE(".Lbehind_unused_table", "%rdx") "movslq 12(%rdx,%rdi,4), %rcx\n add %rdx, %rcx\n jmp *%rcx\n")
        ".section .rodata\n .balign 4\n .Lbehind_unused_table: .long 0x7fffffff, 1, 2, .Lbehind_unused_in - .Lbehind_unused_table, "
        ".Lbehind_unused_out - .Lbehind_unused_table\n .text\n"

        // Computed from the address of another place of the function.
        ENTERED("by_sum")
        WAY("by_sum", TAKE(".Lby_sum_add", "%rdx") "imul $.Lby_sum_out - .Lby_sum_in, %rdi, %rdi\n"
                      "lea .Lby_sum_in - .Lby_sum_add(%rdx,%rdi), %rdx\n jmp *%rdx\n")

        ENTERED("by_call")
        WAY("by_call", "sub $8, %rsp\n .cfi_adjust_cfa_offset 8\n" TAKE(".Lby_call_in", "%rdx") TAKE(".Lby_call_out", "%rcx")
            "test %edi, %edi\n cmovne %rcx, %rdx\n call *%rdx\n add $8, %rsp\n .cfi_adjust_cfa_offset -8\n ret\n")

        ENTERED("by_return")
        WAY("by_return", TAKE(".Lby_return_table", "%rdx") "push (%rdx,%rdi,8)\n .cfi_adjust_cfa_offset 8\n ret\n")
        ".section .data.rel.ro, \"aw\"\n .balign 8\n .Lby_return_table: .quad .Lby_return_in, .Lby_return_out\n .text\n");
// clang-format on

#define DECLARE(name)        \
  unsigned name(unsigned n); \
  unsigned way_##name(unsigned which);
FOR_EACH(DECLARE)

static const struct {
  const char* name;
  unsigned (*function)(unsigned);
  unsigned (*way)(unsigned);
} kEntered[] = {
#define ROW(name) {#name, name, way_##name},
    FOR_EACH(ROW)};

int main(int count, char** words) {
  const int rounds = count > 1 ? atoi(words[1]) : 1;
  for (size_t i = 0; i < sizeof kEntered / sizeof *kEntered; i++) {
    unsigned sum = 0;
    for (int round = 0; round < rounds; round++)
      sum = sum * 31 + kEntered[i].function(round & 1) + kEntered[i].way(0) * 3 + kEntered[i].way(1) * 7;
    printf("%s %u\n", kEntered[i].name, sum);
    fflush(stdout);
  }
  return 0;
}
