// Covered by tests/runtime/scenarios/test_predict_live.py.

#include "cmd/waiting.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <mutex>
#include <utility>

namespace dvm::cmd {
namespace {

using namespace std::chrono_literals;

// Signals are the business of the thread that waits.
void tell_each_second(const std::stop_token& stop, const std::string& what) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  std::mutex mutex;
  std::condition_variable_any changed;
  std::unique_lock lock(mutex);
  const auto is_over = [&](auto time) { return changed.wait_for(lock, stop, time, [&] { return stop.stop_requested(); }); };
  if (is_over(2s)) return;
  for (int seconds = 2; !stop.stop_requested(); seconds++) {
    fmt::print(stderr, "\r\033[Kdvm: {} ({} s)", what, seconds);
    if (is_over(1s)) break;
  }
  fmt::print(stderr, "\r\033[K");
}

}  // namespace

WaitMessage::WaitMessage(std::string what) {
  if (isatty(STDERR_FILENO) != 0)
    thread_ = std::jthread([what = std::move(what)](const std::stop_token& stop) { tell_each_second(stop, what); });
}

WaitMessage::~WaitMessage() = default;

}  // namespace dvm::cmd
