// Tested by tests/unit/instrument/other_jumps_test.cpp.

#include "runtime/agent/placing_lock.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <string_view>

namespace dvm::runtime {
namespace {

constexpr std::string_view kName = "dvm-places-code";  // behind a zero: in no folder
constexpr int kAttempts = 5000;
constexpr useconds_t kPause = 1000;

}  // namespace

PlacingLock::PlacingLock() {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, kName.data(), kName.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + kName.size());
  FileDescriptor made(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  for (int i = 0; made && i < kAttempts; i++, usleep(kPause)) {
    if (bind(made.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0) continue;
    socket_ = std::move(made);
    return;
  }
}

}  // namespace dvm::runtime
