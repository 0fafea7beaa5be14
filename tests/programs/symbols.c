/* Functions with symbols as they are found in the wild: without a size, one inside another, with names that Rust's compilers
   make. Calls each as often as the table in main() says. */
#define FUNCTION(name, size) \
  "\n.globl " name "\n.type " name ", @function\n" name ":\n push %rbp\n mov %rsp, %rbp\n pop %rbp\n ret\n" size

asm(".text\n.p2align 4" FUNCTION("without_size", "")     /* reaches to the next */
    FUNCTION("after_it", ".size after_it, . - after_it") /* */
    "\n.globl outer\n.type outer, @function\nouter:\n push %rbp\n mov %rsp, %rbp\n call inner\n pop %rbp\n ret\n" FUNCTION(
        "inner", ".size inner, . - inner\n nop\n.size outer, . - outer") /* lies in outer */
    FUNCTION("_RNvCs4fqI2P2rA04_5crate5newer", ".size _RNvCs4fqI2P2rA04_5crate5newer, 6")
        FUNCTION("_RNvMCs4fqI2P2rA04_5crateNtB2_4Type6method", ".size _RNvMCs4fqI2P2rA04_5crateNtB2_4Type6method, 6")
            FUNCTION("_ZN5crate5older17h0123456789abcdefE", ".size _ZN5crate5older17h0123456789abcdefE, 6"));

void without_size(void);
void after_it(void);
void outer(void);
void newer(void) asm("_RNvCs4fqI2P2rA04_5crate5newer");
void method(void) asm("_RNvMCs4fqI2P2rA04_5crateNtB2_4Type6method");
void older(void) asm("_ZN5crate5older17h0123456789abcdefE");

int main(void) {
  void (*const called[])(void) = {without_size, after_it, outer, newer, method, older};
  for (int i = 0; i < 6; i++)
    for (int round = 0; round <= i; round++) called[i]();
  return 0;
}
