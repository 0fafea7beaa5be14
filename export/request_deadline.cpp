#include "export/request_deadline.h"

#include <sys/socket.h>

#include <string_view>

namespace dvm::exporting {
namespace {

constexpr std::string_view kTooLate = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

}  // namespace

RequestDeadline::RequestDeadline(std::chrono::milliseconds most, std::chrono::milliseconds look)
    : most_(most), look_(look), thread_([this] {
        std::unique_lock lock(mutex_);
        while (!ending_.wait_for(lock, look_, [this] { return is_ending_; })) end_late();
      }) {}

RequestDeadline::~RequestDeadline() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  ending_.notify_one();
  thread_.join();
}

void RequestDeadline::begins(int socket) {
  const std::lock_guard lock(mutex_);
  requests_[socket] = {Clock::now(), false};
}

void RequestDeadline::answers(int socket) {
  const std::lock_guard lock(mutex_);
  if (const auto found = requests_.find(socket); found != requests_.end()) found->second.is_answered = true;
}

void RequestDeadline::closed(int socket) {
  const std::lock_guard lock(mutex_);
  requests_.erase(socket);
}

// The server sees the end of the connection, and closes it.
void RequestDeadline::end_late() {
  const Clock::time_point latest = Clock::now() - most_;
  for (const auto& [socket, request] : requests_) {
    if (request.begun > latest) continue;
    if (!request.is_answered) (void)send(socket, kTooLate.data(), kTooLate.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    (void)shutdown(socket, SHUT_RDWR);
  }
}

}  // namespace dvm::exporting
