#pragma once
// How far a command is that takes longer than people wait without a word: a line on standard error, where that is a terminal,
// which is written over and gone at the end.

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <string_view>

namespace dvm::cmd {

class Progress {
 public:
  Progress() : shown_(isatty(STDERR_FILENO) != 0) {}
  ~Progress() {
    if (shown_) fmt::print(stderr, "\r\033[K");
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void say(std::string_view what, size_t done, size_t all) const {
    if (shown_) fmt::print(stderr, "\r\033[Kdvm: {}: {} of {}", what, done, all);
  }

 private:
  bool shown_;
};

}  // namespace dvm::cmd
