// sorts LIBRARY: calls sort_and_catch(100) of the library (sorted.cpp), which this program in C opens, or is linked with. Prints
// what it returns.
#include <dlfcn.h>
#include <stdio.h>

#ifdef LINKED
long sort_and_catch(long times);
#endif

int main(int argc, char** argv) {
#ifndef LINKED
  void* library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : 0;
  long (*sort_and_catch)(long) = library ? (long (*)(long))dlsym(library, "sort_and_catch") : 0;
  if (!sort_and_catch) return 1;
#else
  (void)argc, (void)argv;
#endif
  printf("caught %ld\n", sort_and_catch(100));
  return 0;
}
