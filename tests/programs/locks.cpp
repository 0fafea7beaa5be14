// Four threads that increment a number under a mutex, for which they wait. "locks COUNT" prints the number: four times COUNT.
// Functions of the C library take the mutex; they leave by jumps to others.
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

int main(int argc, char** argv) {
  const long count = argc > 1 ? std::atol(argv[1]) : 1000;
  std::mutex mutex;
  long number = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++)
    threads.emplace_back([&] {
      for (long n = 0; n < count; n++) {
        const std::lock_guard<std::mutex> guard(mutex);
        number++;
      }
    });
  for (std::thread& thread : threads) thread.join();
  std::printf("%ld\n", number);
}
