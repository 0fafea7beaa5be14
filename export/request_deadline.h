#pragma once
// Ends connections whose request is not answered within a time limit, even if the client keeps sending or reading slowly. The
// server reports its connections; a thread checks them once a second. Tested by tests/unit/export/request_deadline_test.cpp.

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

namespace dvm::exporting {

class RequestDeadline {
 public:
  using Clock = std::chrono::steady_clock;

  explicit RequestDeadline(std::chrono::milliseconds most, std::chrono::milliseconds look = std::chrono::seconds(1));
  ~RequestDeadline();
  RequestDeadline(const RequestDeadline&) = delete;
  RequestDeadline& operator=(const RequestDeadline&) = delete;

  // A connection has been opened, or waits for its next request. Its socket stays open until closed().
  void begins(int socket);
  // Its answer has begun, so status 408 can no longer be sent.
  void answers(int socket);
  void closed(int socket);

 private:
  struct Connection {
    Clock::time_point begun;
    bool is_answered = false;
  };
  void end_late();

  const std::chrono::milliseconds most_, look_;
  std::mutex mutex_;
  std::condition_variable ending_;
  std::map<int, Connection> requests_;  // by socket
  bool is_ending_ = false;
  std::thread thread_;  // the last member: it uses the others
};

}  // namespace dvm::exporting
