#pragma once
// The value of -p.

#include <fmt/core.h>
#include <sys/types.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "dvm/common/result.h"

namespace dvm::cmd {

// Blanks before the number are skipped, as dtrace does: scripts pass '-p 12' as one word.
inline Result<pid_t> parse_pid(std::string_view text) {
  const std::string_view digits = text.substr(std::min(text.size(), text.find_first_not_of(" \t\n")));
  if (digits.empty()) return Error{"invalid pid: the value is empty"};
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), pid);
  if (error == std::errc() && end == digits.data() + digits.size() && pid > 0) return pid;
  const bool are_several = error == std::errc() && digits.find_first_of(" \n") != std::string_view::npos;
  return Error{fmt::format("invalid pid: {}{}", text, are_several ? "\n    hint: -p takes a single process id" : "")};
}

}  // namespace dvm::cmd
