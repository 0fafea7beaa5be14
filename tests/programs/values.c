// Passes values in registers that hold more than the value, and small structures in one register.
#include <stdbool.h>

#define KEPT __attribute__((noinline))

KEPT int answer(bool yes) { return yes ? 1 : 0; }

struct letters {
  char first[3];
  char last;
};

KEPT int spell(struct letters letters, int next) { return letters.last + next; }

struct __attribute__((packed)) packed {
  char tag;
  int value;
};

KEPT int unpack(struct packed packed, int next) { return packed.value + next; }

struct point {
  int x;
  short y;
};

KEPT struct point point_at(int x) { return (struct point){x, -3}; }

KEPT int on_stack(int a, int b, int c, int d, int e, int f, struct point point) { return a + b + c + d + e + f + point.x; }

enum wide { NONE, HIGH = 0x100000000 };

struct record {
  enum wide wide;
  unsigned char before : 4;
  signed char small : 3;
};

KEPT int take(struct record* record) { return record->small; }

float _Complex amplitude = 2.0F;

KEPT int wave(float _Complex given, int next) { return (int)__real__ given + next; }

int main(void) {
  int (*pass_register)(unsigned long) = (int (*)(unsigned long))(void (*)(void))answer;
  int sum = pass_register(0xff00) + pass_register(0xff01);
  sum += spell((struct letters){"ab", 'c'}, 44);
  sum += unpack((struct packed){'p', 66}, 77);
  sum += on_stack(1, 2, 3, 4, 5, 6, point_at(8));
  sum += take(&(struct record){HIGH, 15, -2});
  sum += wave(amplitude, 55);
  return sum != 1 + 'c' + 44 + 21 + 8 - 2 + 57 + 143;
}
