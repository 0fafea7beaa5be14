/* A program that says it is Go's: with that note behind another in one segment, as where C's linker has made it. */
asm(".pushsection .note.first, \"a\", @note\n.long 4, 4, 77\n.asciz \"Any\"\n.long 0\n.popsection\n"
    ".pushsection .note.go.buildid, \"a\", @note\n.long 4, 4, 4\n.asciz \"Go\\0\"\n.long 0x31323334\n.popsection\n"
    ".text\n.globl go_leaf\n.type go_leaf, @function\ngo_leaf:\n mov %rdi, %rax\n ret\n.size go_leaf, . - go_leaf\n"
    ".globl go_unknown\n.type go_unknown, @function\ngo_unknown:\n test %rdi, %rdi\n je 1f\n jmp *%rax\n 1: ret\n"
    ".size go_unknown, . - go_unknown\n");

int main(void) { return 0; }
