// Passes structures that point at each other to functions and overwrites all of them right after each call: what a tracer shows of
// their members was read at the call. Built as a position-independent and as a static program.
#include <string.h>

struct name {
  short length;
  char* text;
};

struct node {
  int kind;
  unsigned char flags;
  long value;
  struct name* name;
  struct node* next;
  int table[4];
};

__attribute__((noinline)) int visit(struct node* node, const char* why) {
  __asm__ volatile("" ::: "memory");
  return node->kind + why[0];
}

__attribute__((noinline)) int leave(struct node** where) {
  __asm__ volatile("" ::: "memory");
  return (*where)->kind;
}

int main(void) {
  char texts[3][8];
  struct name names[3];
  struct node nodes[3];
  char why[16];
  for (int round = 0; round < 2; round++) {
    strcpy(texts[0], "one"), strcpy(texts[1], "two"), strcpy(texts[2], "three");
    strcpy(why, round == 0 ? "the first" : "the second");
    for (int i = 0; i < 3; i++) {
      names[i] = (struct name){(short)strlen(texts[i]), texts[i]};
      nodes[i] = (struct node){i + 1, 0x80, 100L * (i + 1) + round, &names[i], i < 2 ? &nodes[i + 1] : NULL, {i, -i, i * i, 7}};
    }
    struct node* start = nodes;
    visit(start, why);
    memset(why, 'x', sizeof why);
    leave(&start);
    start = NULL;
    memset(texts, 'x', sizeof texts), memset(names, 'x', sizeof names), memset(nodes, 'x', sizeof nodes);
    __asm__ volatile("" : : "r"(&start) : "memory");
  }
  return 0;
}
