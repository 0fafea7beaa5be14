// A library whose constructor blocks a signal.
#include <signal.h>

__attribute__((constructor)) static void block(void) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR2);
  sigprocmask(SIG_BLOCK, &signals, 0);
}
