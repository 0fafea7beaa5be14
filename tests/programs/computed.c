// Functions that others enter behind their first instruction, and before their last one, by addresses that code computes. None
// lies within reach of another, so each way must be found by itself: computed [ROUNDS [WAY]] prints what they return. The last
// ones leave by a `ret` or a jump that does not always leave.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

#define FOR_EACH(DO)      \
  DO(by_popped)           \
  DO(by_popped_table)     \
  DO(by_changed_return)   \
  DO(by_sum_and_return)   \
  DO(by_distant_entries)  \
  DO(by_frame)            \
  DO(by_variable)         \
  DO(by_landing)          \
  DO(by_thunk)            \
  DO(by_steps)

#define FAR ".skip 0x20000, 0xcc\n"
#define FUNCTION(name) ".balign 64\n .globl " name "\n .type " name ", @function\n " name ": .cfi_startproc\n"
#define END(name) ".cfi_endproc\n .size " name ", . - " name "\n"
// Two instructions each lie in the first five bytes, and in the five bytes where it returns.
#define ENTERED(name)                                                                                            \
  FAR FUNCTION(name)                                                                                             \
  "mov %edi, %eax\n .L" name "_in: add $3, %eax\n imul $5, %eax\n test %edi, %edi\n je .L" name "_add\n .L" name \
  "_go: inc %eax\n .L" name "_out: inc %eax\n ret\n .L" name "_add: add $40, %eax\n jmp .L" name "_go\n" END(name)
// The first argument: 0, behind the first instruction; 1, before the last.
#define WAY(name, code) FUNCTION("way_" name) "mov $7, %eax\n mov %edi, %edi\n" code END("way_" name)
#define STEP(name) "imul $.L" name "_out - .L" name "_in, %rdi, %rdi\n"

// clang-format off
__asm__(".text\n"
        ENTERED("by_popped")
        WAY("by_popped", "call .Lby_popped_next\n .Lby_popped_next: pop %rdx\n" STEP("by_popped")
            "lea .Lby_popped_in - .Lby_popped_next(%rdx,%rdi), %rdx\n jmp *%rdx\n")

        ENTERED("by_popped_table")
        WAY("by_popped_table", "call .Lby_popped_table_next\n .Lby_popped_table_table:\n"
            ".long .Lby_popped_table_in - .Lby_popped_table_table, .Lby_popped_table_out - .Lby_popped_table_table\n"
            ".Lby_popped_table_next: pop %rdx\n movslq (%rdx,%rdi,4), %rcx\n add %rcx, %rdx\n jmp *%rdx\n")

        ENTERED("by_changed_return")
        WAY("by_changed_return", STEP("by_changed_return") "call .Lby_changed_return_next\n .Lby_changed_return_next:\n"
            "add %rdi, (%rsp)\n addq $.Lby_changed_return_in - .Lby_changed_return_next, (%rsp)\n ret\n")

        ENTERED("by_sum_and_return")
        WAY("by_sum_and_return", "lea .Lby_sum_and_return_out(%rip), %rdx\n" STEP("by_sum_and_return")
            "push %rdx\n addq $.Lby_sum_and_return_in - .Lby_sum_and_return_out, (%rsp)\n add %rdi, (%rsp)\n nop\n ret\n")

        ENTERED("by_distant_entries")
        WAY("by_distant_entries", "lea .Lby_distant_entries_table(%rip), %rdx\n"
            "movslq 64(%rdx,%rdi,4), %rcx\n add %rdx, %rcx\n jmp *%rcx\n")
        ".section .rodata\n .balign 4\n .Lby_distant_entries_table: .fill 16, 4, 0x7fffffff\n"
        ".long .Lby_distant_entries_in - .Lby_distant_entries_table, .Lby_distant_entries_out - .Lby_distant_entries_table\n .text\n"

        ENTERED("by_frame")
        WAY("by_frame", "push %rbp\n mov %rsp, %rbp\n sub $32, %rsp\n lea .Lby_frame_out(%rip), %rdx\n mov %rdx, -16(%rbp)\n"
            STEP("by_frame") "add %rdi, -16(%rbp)\n mov -16(%rbp), %rcx\n"
            "lea .Lby_frame_in - .Lby_frame_out(%rcx), %rcx\n leave\n jmp *%rcx\n")

        ENTERED("by_variable")
        WAY("by_variable", "lea .Lby_variable_out(%rip), %rdx\n mov %rdx, .Lby_variable_word(%rip)\n"
            STEP("by_variable") "mov .Lby_variable_word(%rip), %rcx\n"
            "lea .Lby_variable_in - .Lby_variable_out(%rcx,%rdi), %rcx\n jmp *%rcx\n")
        ".data\n .balign 8\n .Lby_variable_word: .quad 0\n .text\n"

        // Entered by the unwinder, as landing pads of two calls.
        FAR FUNCTION("by_landing") ".cfi_personality 0x9b, .Lpersonality\n .cfi_lsda 0x1b, .Lby_landing_table\n"
        "mov %edi, %eax\n .Lby_landing_in: mov $3, %eax\n cmpl $1, throws(%rip)\n jb .Lby_landing_go\n ja .Lby_landing_second\n"
        ".Lby_landing_first: call throw_it\n .Lby_landing_second: call throw_it\n"
        ".Lby_landing_go: mov $5, %eax\n mov %ecx, %ecx\n .Lby_landing_out: xor %eax, %eax\n ret\n" END("by_landing")
        ".section .gcc_except_table, \"a\"\n .balign 4\n .Lby_landing_table: .byte 0xff, 0xff, 1\n"
        ".uleb128 .Lby_landing_end - .Lby_landing_calls\n .Lby_landing_calls:\n"
        ".uleb128 .Lby_landing_first - by_landing, 5, .Lby_landing_in - by_landing, 0\n"
        ".uleb128 .Lby_landing_second - by_landing, 5, .Lby_landing_out - by_landing, 0\n"
        ".Lby_landing_end: .data\n .balign 8\n .Lpersonality: .quad __gcc_personality_v0\n .text\n"

        // A compiler calls a pointer so that the processor cannot predict where to.
        FAR FUNCTION("by_thunk") "lea way_by_thunk(%rip), %rax\n sub $8, %rsp\n .cfi_adjust_cfa_offset 8\n jmp 4f\n"
        "1: call 3f\n 2: pause\n lfence\n jmp 2b\n 3: mov %rax, (%rsp)\n ret\n"
        "4: call 1b\n add $8, %rsp\n .cfi_adjust_cfa_offset -8\n ret\n" END("by_thunk")
        FUNCTION("way_by_thunk") "lea 1(%rdi), %eax\n ret\n" END("way_by_thunk")

        // An interpreter of two instructions.
        FAR FUNCTION("by_steps") "mov %edi, %eax\n lea .Lby_steps_table(%rip), %rdx\n jmp *(%rdx)\n"
        ".Lby_steps_in: inc %eax\n add $8, %rdx\n mov %eax, %eax\n jmp *(%rdx)\n .Lby_steps_out: inc %eax\n ret\n" END("by_steps")
        ".section .data.rel.ro, \"aw\"\n .balign 8\n .Lby_steps_table: .quad .Lby_steps_in, .Lby_steps_out\n .text\n"
        FUNCTION("way_by_steps") "lea 1(%rdi), %eax\n ret\n" END("way_by_steps")
        FAR);
// clang-format on

unsigned throws;  // 0, or which call of by_landing()

static _Unwind_Reason_Code go_on(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
                                 struct _Unwind_Exception* exception, struct _Unwind_Context* context, void* word) {
  (void)version, (void)actions, (void)class, (void)exception, (void)context, (void)word;
  return _URC_NO_REASON;
}
// Called with a stack that is not aligned.
__attribute__((force_align_arg_pointer)) void throw_it(void) {
  static struct _Unwind_Exception exception;
  memset(&exception, 0, sizeof exception);
  throws = 0;
  _Unwind_ForcedUnwind(&exception, go_on, NULL);
}
#define DECLARE(name)        \
  unsigned name(unsigned n); \
  unsigned way_##name(unsigned which);
FOR_EACH(DECLARE)

unsigned way_by_landing(unsigned which) {
  throws = which + 1;
  return by_landing(0);
}

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
    if (count > 2 && strcmp(words[2], kEntered[i].name) != 0) continue;
    unsigned sum = 0;
    for (int round = 0; round < rounds; round++)
      sum = sum * 31 + kEntered[i].function(round & 1) + kEntered[i].way(0) * 3 + kEntered[i].way(1) * 7;
    printf("%s %u\n", kEntered[i].name, sum);
    fflush(stdout);
  }
  return 0;
}
