// The plugin of an earlier build: its interface has a version number, which was the same for other tables of subroutines and variables.
static const struct {
  unsigned long interface;
  const char* llvm;
  void (*functions[2])(void);
} kPlugin = {6, "19.1", {0, 0}};

const void* dvm_translator(void) { return &kPlugin; }
