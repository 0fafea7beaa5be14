#include "runtime/process/reaped.h"

#include <sys/wait.h>

#include <map>
#include <mutex>

namespace dvm::runtime {
namespace {

struct KeptStatuses {
  std::mutex mutex;
  std::map<pid_t, std::optional<int>> children;
};

KeptStatuses& kept() {
  static KeptStatuses all;
  return all;
}

}  // namespace

void keep_status(pid_t child) {
  const std::lock_guard lock(kept().mutex);
  kept().children[child].reset();
}

pid_t look_at_thread(pid_t tid, int& status) {
  const pid_t found = waitpid(tid, &status, __WALL | WNOHANG);
  if (found <= 0 || WIFSTOPPED(status)) return found;
  const std::lock_guard lock(kept().mutex);
  if (const auto child = kept().children.find(found); child != kept().children.end()) child->second = status;
  return found;
}

std::optional<int> take_status(pid_t child) {
  const std::lock_guard lock(kept().mutex);
  const auto found = kept().children.extract(child);
  return found ? found.mapped() : std::nullopt;
}

}  // namespace dvm::runtime
