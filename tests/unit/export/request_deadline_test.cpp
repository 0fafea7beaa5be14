// Connections that are late, with sockets of a pair for those of a server.
#include "export/request_deadline.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>

namespace dvm::exporting {
namespace {

constexpr std::chrono::milliseconds kMost(50), kLook(5);

class Connection {
 public:
  Connection() { EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends_.data()), 0); }
  ~Connection() { close(ends_[0]), close(ends_[1]); }
  int server() const { return ends_[0]; }
  // All data that the client reads until the connection ends.
  std::string read_all() const {
    std::string all;
    std::array<char, 256> part{};
    for (ssize_t got; (got = read(ends_[1], part.data(), part.size())) > 0;) all.append(part.data(), static_cast<size_t>(got));
    return all;
  }
  bool is_open() const {
    char byte;
    return recv(ends_[1], &byte, 1, MSG_DONTWAIT) < 0;
  }

 private:
  std::array<int, 2> ends_{};
};

TEST(RequestDeadline, ALateRequestIsToldAndEnded) {
  Connection connection;
  RequestDeadline deadline(kMost, kLook);
  deadline.begins(connection.server());
  EXPECT_TRUE(connection.read_all().starts_with("HTTP/1.1 408 Request Timeout\r\n"));
}

TEST(RequestDeadline, AnAnswerThatIsReadTooSlowlyIsCutShort) {
  Connection connection;
  RequestDeadline deadline(kMost, kLook);
  deadline.begins(connection.server());
  deadline.answers(connection.server());
  EXPECT_EQ(connection.read_all(), "");
}

TEST(RequestDeadline, AClosedConnectionIsLeftAlone) {
  Connection closed, late;
  RequestDeadline deadline(kMost, kLook);
  deadline.begins(closed.server());
  deadline.closed(closed.server());
  deadline.begins(late.server());
  (void)late.read_all();
  EXPECT_TRUE(closed.is_open());
}

TEST(RequestDeadline, EachRequestOfAConnectionHasItsOwn) {
  Connection connection;
  RequestDeadline deadline(std::chrono::seconds(100), kLook);
  for (int i = 0; i < 3; i++) deadline.begins(connection.server()), deadline.answers(connection.server());
  EXPECT_TRUE(connection.is_open());
}

}  // namespace
}  // namespace dvm::exporting
