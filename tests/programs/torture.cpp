// Does what a tracer may break: threads, forks, exec, signals, libraries opened and closed, exceptions and jumps through frames,
// deep recursion. Each round gives the same number or something is broken: "torture LIBRARY" prints "ready", goes round until it
// reads a line, then prints the numbers that there were (one) and "done".
#include <dlfcn.h>
#include <poll.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

extern "C" {

std::atomic<unsigned long> signals_seen;
__attribute__((noinline)) void on_signal(int) { signals_seen++; }

__attribute__((noinline)) unsigned long fibonacci(unsigned n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

__attribute__((noinline)) unsigned long descend(unsigned depth, unsigned long sum) {
  volatile char room[32];
  room[depth % sizeof room] = static_cast<char>(depth);
  return depth == 0 ? sum : descend(depth - 1, sum * 31 + depth) + static_cast<unsigned char>(room[depth % sizeof room]);
}

__attribute__((noinline)) void throw_from(unsigned depth) {
  if (depth == 0) throw std::runtime_error("thrown");
  throw_from(depth - 1);
  std::atomic_signal_fence(std::memory_order_seq_cst);  // no tail call
}

__attribute__((noinline)) unsigned long catch_it(unsigned depth) {
  try {
    throw_from(depth);
  } catch (const std::runtime_error& error) {
    return std::strlen(error.what()) + depth;
  }
  return 0;
}

std::jmp_buf target;
__attribute__((noinline)) void jump_from(unsigned depth) {
  if (depth == 0) std::longjmp(target, 7);
  jump_from(depth - 1);
  std::atomic_signal_fence(std::memory_order_seq_cst);
}
__attribute__((noinline)) unsigned long jump_back() {
  const int landed = setjmp(target);
  if (landed == 0) jump_from(20);
  return static_cast<unsigned long>(landed);
}

__attribute__((noinline)) unsigned long sort_strings(unsigned seed) {
  std::vector<std::string> words;
  for (unsigned i = 0; i < 200; i++) words.push_back(std::to_string((seed = seed * 1103515245 + 12345) >> 8));
  std::sort(words.begin(), words.end());
  unsigned long sum = 0;
  for (const std::string& word : words) sum = sum * 33 + word.size() + static_cast<unsigned char>(word[0]);
  return sum;
}

__attribute__((noinline)) int exit_status_of(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
}

__attribute__((noinline)) unsigned long fork_and_compute() {
  const pid_t child = fork();
  if (child == 0) _exit(static_cast<int>(fibonacci(10) + catch_it(3)));
  return static_cast<unsigned long>(exit_status_of(child));
}

__attribute__((noinline)) unsigned long fork_and_exec() {
  const pid_t child = fork();
  if (child == 0) {
    execl("/proc/self/exe", "torture", "exit", nullptr);
    _exit(99);
  }
  return static_cast<unsigned long>(exit_status_of(child));
}

__attribute__((noinline)) unsigned long open_library(const char* path) {
  void* library = dlopen(path, RTLD_NOW);
  if (library == nullptr) return 0;
  const auto late = reinterpret_cast<int (*)(int)>(dlsym(library, "late_function"));
  const auto result = static_cast<unsigned long>(late(40) + late(2));
  dlclose(library);
  return result;
}

}  // extern "C"

static unsigned long go_round(const char* library) {
  std::vector<unsigned long> sums(3);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < sums.size(); i++)
    threads.emplace_back(
        [&sums, i] { sums[i] = fibonacci(12) + sort_strings(static_cast<unsigned>(i)) + catch_it(5) + descend(500, i); });
  unsigned long sum = descend(10000, 1);
  for (int i = 0; i < 5; i++) std::raise(SIGUSR1);
  sum = sum * 31 + jump_back();
  sum = sum * 31 + open_library(library);
  for (std::thread& thread : threads) thread.join();
  sum = sum * 31 + fork_and_compute();
  sum = sum * 31 + fork_and_exec();
  for (const unsigned long one : sums) sum = sum * 31 + one;
  return sum;
}

static bool is_told_to_stop() {
  pollfd input{0, POLLIN, 0};
  return poll(&input, 1, 0) > 0;
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  if (std::strcmp(argv[1], "exit") == 0) return static_cast<int>(fibonacci(10) + catch_it(2));
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, nullptr);
  sigaction(SIGALRM, &action, nullptr);
  const itimerval often{{0, 2000}, {0, 2000}};
  setitimer(ITIMER_REAL, &often, nullptr);
  std::puts("ready");
  std::fflush(stdout);
  std::set<unsigned long> results;
  unsigned long rounds = 0;
  do results.insert(go_round(argv[1])), rounds++;
  while (!is_told_to_stop());
  for (const unsigned long result : results) std::printf("%lx\n", result);
  std::puts(signals_seen >= 5 * rounds ? "done" : "signals were lost");
  return 0;
}
