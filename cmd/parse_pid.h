#pragma once
// The value of -p.

#include <fmt/core.h>
#include <sys/types.h>

#include <charconv>
#include <string_view>

#include "dvm/common/result.h"

namespace dvm::cmd {

inline Result<pid_t> parse_pid(std::string_view text) {
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
  if (error != std::errc() || end != text.data() + text.size() || pid <= 0) return Error{fmt::format("invalid pid: {}", text)};
  return pid;
}

}  // namespace dvm::cmd
