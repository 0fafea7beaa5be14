// Calls a function again and again, and handles a signal every so many microseconds.

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static volatile long handled;

void called(void) {}

static void handle(int signal) {
  (void)signal;
  handled++;
}

int main(int count, char** arguments) {
  const useconds_t every = count > 1 ? (useconds_t)atoi(arguments[1]) : 3000;
  signal(SIGALRM, handle);
  ualarm(every, every);
  for (;;) {
    for (int i = 0; i < 1000; i++) called();
    usleep(1000);
  }
}
