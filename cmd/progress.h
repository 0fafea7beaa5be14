#pragma once
// Shows the progress of a slow command on standard error. On a terminal this is one line that is overwritten and removed at the
// end; elsewhere, such as in a log, it is a new line every few seconds.

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string_view>

namespace dvm::cmd {

class Progress {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kPause{5};  // between two lines

  Progress() : is_terminal_(isatty(STDERR_FILENO) != 0) {}
  ~Progress() {
    if (is_terminal_) fmt::print(stderr, "\r\033[K");
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void say(std::string_view what, size_t done, size_t all) {
    if (is_terminal_) return fmt::print(stderr, "\r\033[Kdvm: {}: {} of {}", what, done, all);
    if (const Clock::time_point now = Clock::now(); now - said_ >= kPause) {
      said_ = now;
      fmt::print(stderr, "dvm: {}: {} of {}\n", what, done, all);
    }
  }

 private:
  bool is_terminal_;
  Clock::time_point said_ = Clock::now();
};

}  // namespace dvm::cmd
