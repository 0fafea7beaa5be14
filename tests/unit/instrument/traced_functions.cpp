// The functions that the tests of the uprobe instrument trace. Volatile reads and writes keep each call and each argument.
extern "C" {
volatile long traced_sink;
__attribute__((noinline)) long traced_plain(long a) {
  traced_sink = a;
  return a * 2;
}
__attribute__((noinline)) long traced_second(long a) {
  traced_sink = a;
  return a * 3;
}
__attribute__((noinline)) long traced_ten(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j) {
  traced_sink = a + b + c + d + e + f + g + h + i + j;
  return traced_sink;
}
__attribute__((noinline)) long traced_text(const char* text) {
  traced_sink = reinterpret_cast<long>(text);
  return traced_sink;
}
// Their first instructions are not probed by the kernel: one has a lock prefix, the other does not exist in 64-bit mode.
void traced_locked();
void traced_invalid();
asm(".pushsection .text\n.globl traced_locked\n.type traced_locked, @function\ntraced_locked:\n"
    "lock addq $1, (%rsp)\nlock subq $1, (%rsp)\nret\n.size traced_locked, . - traced_locked\n"
    ".globl traced_invalid\n.type traced_invalid, @function\ntraced_invalid:\n"
    ".byte 0x06\nret\n.size traced_invalid, . - traced_invalid\n.popsection");
// With a place inside, where the arguments lie as the test below says.
long traced_inside(const int* numbers, long, long, long, long, long, long seventh, long eighth);
void traced_inside_here();
asm(".pushsection .text\n.globl traced_inside\n.type traced_inside, @function\ntraced_inside:\n"
    "push %rbx\npush %rbp\nmovabs $0x123456789abcdef0, %rax\nmov $2, %ecx\n"
    ".globl traced_inside_here\ntraced_inside_here:\nnop\n"
    "pop %rbp\npop %rbx\nret\n.size traced_inside, . - traced_inside\n.popsection");
}
