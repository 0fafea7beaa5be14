// Calls functions with memory that it overwrites right after each call and gives back at its end: what a tracer shows of it was
// read while the function ran.
#include <stdlib.h>
#include <string.h>

struct person {
  long age;
  char* name;
  struct person* next;
};

struct piece {
  const char* base;
  size_t length;
};

__attribute__((noinline)) int put(int file, const char* bytes, size_t size) {
  __asm__ volatile("" ::: "memory");
  return file + (bytes[0] != 0) + (size != 0);
}

__attribute__((noinline)) int put_piece(const struct piece* piece) {
  __asm__ volatile("" ::: "memory");
  return piece->length != 0;
}

__attribute__((noinline)) int greet(struct person** who) {
  __asm__ volatile("" ::: "memory");
  return (*who)->age != 0;
}

int main(void) {
  char* text = malloc(1024);
  memset(text, '.', 1024);
  memcpy(text, "a line, of which only a part counts", 35);
  put(1, text, 6);
  put(1, text, 300);
  struct piece piece = {text + 2, 4};
  put_piece(&piece);
  memset(text, 'x', 1024);
  piece.base = "overwritten";

  char ada[] = "Ada", grace[] = "Grace";
  struct person second = {85, grace, NULL}, first = {36, ada, &second}, *start = &first;
  greet(&start);
  start = NULL;
  memset(ada, 'x', 3), memset(grace, 'x', 5);
  memset(&first, 'x', sizeof first), memset(&second, 'x', sizeof second);
  free(text);
  return start == NULL ? 0 : 1;
}
