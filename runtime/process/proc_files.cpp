// Tested by tests/runtime/scenarios/test_containers.py.
#include "runtime/process/proc_files.h"

#include <unistd.h>

#include <array>
#include <string>

namespace dvm::runtime {

Status check_proc() {
  std::array<char, 32> number{};
  const ssize_t size = readlink("/proc/self", number.data(), number.size());
  if (size > 0 && std::string(number.data(), static_cast<size_t>(size)) == std::to_string(getpid())) return {};
  const char* remedy = "mount it with: mount -t proc proc /proc (or start the container by unshare --mount-proc)";
  if (access("/proc/version", F_OK) != 0) return Error{std::string("there is no /proc here; ") + remedy};
  return Error{std::string("/proc shows the processes of another PID namespace; ") + remedy};
}

}  // namespace dvm::runtime
