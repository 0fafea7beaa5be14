// A library whose constructor waits, and says so if that was interrupted.
#include <sys/epoll.h>
#include <unistd.h>

__attribute__((constructor)) static void wait_in_vain(void) {
  struct epoll_event event;
  if (epoll_wait(epoll_create1(0), &event, 1, 300) < 0) (void)!write(1, "interrupted\n", 12);
}
