// Tested by tests/runtime/scenarios/test_prometheus.py.

#include "export/listen.h"

#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

namespace dvm::exporting {
namespace {

struct Address {
  std::string host, port;
};

// [::1]:9464, localhost:9464, :9464
Result<Address> parse(const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos) return Error{"it is not HOST:PORT"};
  Address address{text.substr(0, colon), text.substr(colon + 1)};
  unsigned port = 0;
  const char* end = address.port.data() + address.port.size();
  const auto [stop, failure] = std::from_chars(address.port.data(), end, port);
  if (failure != std::errc() || stop != end || port > 65535) return Error{"the port is not a number from 0 to 65535"};
  std::string& host = address.host;
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  else if (host.find(':') != std::string::npos)
    return Error{"an IPv6 address needs brackets: [::1]:9464"};
  return address;
}

int listen_at(const addrinfo& info) {
  const int fd = socket(info.ai_family, info.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, info.ai_protocol);
  if (fd < 0) return -1;
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (bind(fd, info.ai_addr, info.ai_addrlen) == 0 && listen(fd, SOMAXCONN) == 0) return fd;
  const int reason = errno;
  close(fd);
  errno = reason;
  return -1;
}

}  // namespace

Result<int> listen_at(const std::string& text) {
  const auto failed = [&](const std::string& reason) {
    return Error{fmt::format("cannot serve metrics at '{}': {}", text, reason)};
  };
  const Result<Address> address = parse(text);
  if (!address) return failed(address.error().message);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const char* host = address->host.empty() ? nullptr : address->host.c_str();
  if (const int status = getaddrinfo(host, address->port.c_str(), &hints, &found); status != 0)
    return failed(status == EAI_SYSTEM ? std::strerror(errno) : gai_strerror(status));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(found, freeaddrinfo);
  int fd = -1;
  for (const addrinfo* one = found; fd < 0 && one != nullptr; one = one->ai_next) fd = listen_at(*one);
  if (fd < 0) return failed(std::strerror(errno));
  return fd;
}

std::string bound_address(int fd) {
  sockaddr_storage storage{};
  socklen_t size = sizeof(storage);
  auto* address = reinterpret_cast<sockaddr*>(&storage);
  char host[NI_MAXHOST], port[NI_MAXSERV];
  if (getsockname(fd, address, &size) != 0 ||
      getnameinfo(address, size, host, sizeof(host), port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return "?";
  const bool has_brackets = storage.ss_family == AF_INET6;
  return fmt::format("{}{}{}:{}", has_brackets ? "[" : "", host, has_brackets ? "]" : "", port);
}

}  // namespace dvm::exporting
