// Covered by tests/runtime/scenarios/test_forks.py.

#include "common/descriptor_room.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace dvm {
namespace {

// The kernel hands out the lowest number, so few files have a higher one if this is free.
bool is_free(rlim_t number) {
  const int found = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, static_cast<int>(number));
  if (found >= 0) close(found);
  return found >= 0 && static_cast<rlim_t>(found) == number;
}

}  // namespace

bool make_descriptor_room() {
  constexpr rlim_t kWanted = 256, kNeeded = 16, kMost = 1 << 20;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > kMost) return true;
  if (limit.rlim_cur < limit.rlim_max && !is_free(limit.rlim_cur - std::min(kWanted, limit.rlim_cur / 2))) {
    const rlimit raised{std::min(limit.rlim_max, 2 * limit.rlim_cur + kWanted), limit.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  }
  return is_free(limit.rlim_cur - std::min(kNeeded, limit.rlim_cur));
}

}  // namespace dvm
