// Enumerations in bit-fields that these fill. Built with DWARF 2, which does not say whether an enumeration is signed.

enum rank { PRIVATE, GENERAL = 255 };
enum shift { EARLY = -1, LATE };

struct soldier {
  enum rank rank : 8;
  enum shift shift : 2;
};

__attribute__((noinline)) int enlist(struct soldier* soldier) { return soldier->rank + soldier->shift; }

int main(void) {
  struct soldier soldier = {GENERAL, EARLY};
  return enlist(&soldier) != 254;
}
