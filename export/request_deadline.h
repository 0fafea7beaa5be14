#pragma once
// Ends connections whose request is not answered within a time, however little by little it comes or its answer is read. The
// server tells of the connections; a thread of its own looks after them once a second. Tested by
// tests/unit/export/request_deadline_test.cpp.

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

  // A connection is there, or waits for its next request. Its socket stays open until closed().
  void begins(int socket);
  // Its answer is on the way, so status 408 is none any more.
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
