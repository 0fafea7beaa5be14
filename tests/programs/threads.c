// N threads (standard 4) call work() M times each (standard 10,000); prints each thread's id and count on exit.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static long calls = 10000;

__attribute__((noinline)) long work(long value) {
  __asm__ volatile("" : "+r"(value)::"memory");
  return value + 1;
}

static void* run(void* unused) {
  (void)unused;
  volatile long sum = 0;
  for (long i = 0; i < calls; i++) sum += work(i);
  return (void*)(long)gettid();
}

int main(int argc, char** argv) {
  int threads = argc > 1 ? atoi(argv[1]) : 4;
  if (argc > 2) calls = atol(argv[2]);
  pthread_t ids[64];
  if (threads > 64) threads = 64;
  for (int i = 0; i < threads; i++) pthread_create(&ids[i], NULL, run, NULL);
  for (int i = 0; i < threads; i++) {
    void* tid;
    pthread_join(ids[i], &tid);
    printf("%ld %ld\n", (long)tid, calls);
  }
  return 0;
}
