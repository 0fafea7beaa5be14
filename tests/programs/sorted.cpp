// Throws exceptions through qsort(), and catches them.
#include <cstdlib>

namespace {
int throws(const void*, const void*) { throw 1; }
}  // namespace

extern "C" __attribute__((visibility("default"))) long sort_and_catch(long times) {
  long caught = 0;
  for (long i = 0; i < times; i++) {
    int values[] = {3, 1, 2};
    try {
      std::qsort(values, 3, sizeof values[0], throws);
    } catch (int one) {
      caught += one;
    }
  }
  return caught;
}
