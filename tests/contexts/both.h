#pragma once
// Two threads that begin a piece of work at the same time.

#include <cstddef>
#include <latch>
#include <thread>

namespace dvm {

// Calls work(0) and work(1), each on a thread of its own.
template <class Work>
void on_both(Work work) {
  std::latch begin(2);
  const auto run = [&](size_t thread) {
    begin.arrive_and_wait();
    work(thread);
  };
  std::thread first(run, 0), second(run, 1);
  first.join(), second.join();
}

}  // namespace dvm
