// Structures of every kind, as arguments and as data. What it prints of them is what a tracer must find; after each call it
// overwrites what it had passed.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum color { RED, GREEN = 7, BLUE = -2 };

typedef int (*compare_t)(const void*, const void*);

struct list;
struct opaque;

struct bits {
  unsigned low : 3;
  signed mid : 7;
  unsigned long wide : 40;
  unsigned char flag : 1;
};

struct node {
  long value;
  const char* name;
  struct node* next;
  struct list* list;
  char tag[8];
  enum color color;
  struct bits bits;
  union {
    int number;
    unsigned char bytes[4];
  };
  struct {
    short x, y;
  } place;
  compare_t compare;
  double weight;
  struct opaque* hidden;
};

struct list {
  struct node* head;
  size_t count;
  int grid[2][3];
};

typedef struct {
  long double huge;
  uint8_t small;
} odd_t;

struct big {
  long words[4];
};

int counter = 41;
const char* title = "a title";
char greeting[16] = "hello";
struct node static_node = {.value = 99, .name = "static", .color = GREEN};
static struct list list;
int table[4] = {10, 20, 30, 40};
odd_t odd = {1.5L, 200};
_Thread_local int per_thread = 5;

static int by_value(const void* a, const void* b) {
  return (int)(((const struct node*)a)->value - ((const struct node*)b)->value);
}

__attribute__((noinline)) long visit(struct node* node, int depth, double factor, unsigned char small) {
  __asm__ volatile("" ::: "memory");
  return node->value + depth + (factor > 0) + small;
}

__attribute__((noinline)) struct node* find(struct list* in, const char* name, enum color color) {
  __asm__ volatile("" ::: "memory");
  return in->head->color == color && name != NULL ? in->head->next : NULL;
}

__attribute__((noinline)) struct big make_big(long first, struct big by_value, short after) {
  by_value.words[0] = first + after;
  return by_value;
}

__attribute__((noinline)) double halve(double value) { return value / 2; }

__attribute__((noinline)) static int many(int a, int b, int c, int d, int e, int f, int g, short h) {
  return a + b + c + d + e + f + g + h;
}
extern __typeof__(visit) visit_alias __attribute__((alias("visit")));

static void print_layout(void) {
  printf("node %zu: next %zu color %zu number %zu place %zu weight %zu\n", sizeof(struct node), offsetof(struct node, next),
         offsetof(struct node, color), offsetof(struct node, number), offsetof(struct node, place),
         offsetof(struct node, weight));
  printf("list %zu: grid %zu; odd %zu: small %zu; bits %zu\n", sizeof(struct list), offsetof(struct list, grid), sizeof(odd_t),
         offsetof(odd_t, small), sizeof(struct bits));
}

int main(void) {
  char second_name[] = "second", first_name[] = "first";
  struct node second = {.value = -5, .name = second_name, .color = BLUE, .place = {3, -4}, .number = 0x01020304};
  struct node first = {
      .value = 12, .name = first_name, .next = &second, .list = &list, .tag = "tagged", .color = GREEN, .compare = by_value};
  first.bits = (struct bits){5, -33, 0x123456789a, 1};
  list.head = &first, list.count = 2, list.grid[1][2] = 77;
  print_layout();
  printf("first %ld %s %s %d; bits %u %d %#lx %u\n", first.value, first.name, first.tag, first.color, first.bits.low,
         first.bits.mid, (unsigned long)first.bits.wide, first.bits.flag);
  printf("second %ld %s %d place %d,%d number %#x byte %d; grid %d\n", second.value, second.name, second.color, second.place.x,
         second.place.y, second.number, second.bytes[1], list.grid[1][2]);
  fflush(stdout);
  long sum = visit(&first, 3, 2.5, 200);
  struct node* found = find(&list, "wanted", GREEN);
  sum += found == &second;
  struct big big = make_big(100, (struct big){{1, 2, 3, 4}}, 7);
  sum += big.words[0] + (long)halve(4.0) + many(1, 2, 3, 4, 5, 6, -7, -8);
  memset(second_name, 'x', 6), memset(first_name, 'x', 5);
  memset(&second, 0x55, sizeof second), memset(&first, 0x55, sizeof first);
  counter += per_thread;
  return sum == 12 + 3 + 1 + 200 + 1 + 107 + 2 + 6 ? 0 : 1;
}
