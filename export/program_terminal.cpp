// Tested by tests/unit/export/program_terminal_test.cpp and tests/runtime/scenarios/test_live.py.

#include "export/program_terminal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace dvm::exporting {
namespace {

constexpr size_t kMostAtOnce = 1 << 20, kLongestLine = 1 << 16;  // bytes

// The relay, between fork and exit: only calls that are safe there.
// Returns how much of it was taken.
size_t hand_over(int to, const char* bytes, size_t size, bool is_socket) {
  size_t done = 0;
  while (done < size) {
    const ssize_t sent = is_socket ? send(to, bytes + done, size - done, MSG_NOSIGNAL) : write(to, bytes + done, size - done);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) break;
    done += static_cast<size_t>(sent);
  }
  return done;
}

[[noreturn]] void relay(int programs, int dvm, int terminal) {
  setsid();
  for (const int ignored : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) std::signal(ignored, SIG_IGN);
  char bytes[16384];
  bool has_dvm = true;
  for (;;) {
    const ssize_t size = read(programs, bytes, sizeof(bytes));
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) _exit(0);  // the last program has closed it
    const auto count = static_cast<size_t>(size);
    const size_t taken = has_dvm ? hand_over(dvm, bytes, count, true) : 0;
    has_dvm = has_dvm && taken == count;
    (void)hand_over(terminal, bytes + taken, count - taken, false);
  }
}

// Closes all other descriptors; these become 0 to 2.
void keep_only(int& programs, int& dvm, int& terminal) {
  const int kept[] = {fcntl(programs, F_DUPFD, 16), fcntl(dvm, F_DUPFD, 16), fcntl(terminal, F_DUPFD, 16)};
  for (int i = 0; i < 3; i++) dup2(kept[i], i);
  close_range(3, ~0U, 0);
  programs = 0, dvm = 1, terminal = 2;
}

// The relay is a grandchild, so that dvm need not wait for it.
bool start_relay(int programs, int dvm, int terminal) {
  const pid_t child = fork();
  if (child < 0) return false;
  if (child == 0) {
    const pid_t its = fork();
    if (its != 0) _exit(its < 0 ? 1 : 0);
    keep_only(programs, dvm, terminal);
    relay(programs, dvm, terminal);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return status == 0;
}

// The end of a sequence that begins with ESC [ at `at`; npos: it is cut off.
size_t end_of_sequence(const std::string& text, size_t at) {
  for (size_t i = at + 2; i < text.size(); i++)
    if (text[i] >= '@' && text[i] <= '~') return i;
  return std::string::npos;
}

}  // namespace

Result<std::unique_ptr<ProgramTerminal>> ProgramTerminal::open(int terminal) {
  int programs = -1, output = -1, ends[2] = {-1, -1};
  winsize size{};
  ioctl(terminal, TIOCGWINSZ, &size);
  termios settings{};
  const bool has_settings = tcgetattr(terminal, &settings) == 0;
  settings.c_oflag &= ~static_cast<tcflag_t>(OPOST);  // the real terminal does that
  if (openpty(&programs, &output, nullptr, has_settings ? &settings : nullptr, &size) != 0)
    return Error{fmt::format("no pseudo-terminal: {}", std::strerror(errno))};
  bool is_started = false;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0) is_started = start_relay(programs, ends[1], terminal);
  const int problem = errno;
  for (const int end : {programs, ends[1]})
    if (end >= 0) close(end);
  fcntl(output, F_SETFD, FD_CLOEXEC);
  auto made = std::unique_ptr<ProgramTerminal>(new ProgramTerminal(output, ends[0]));
  if (!is_started) return Error{fmt::format("no pseudo-terminal: {}", std::strerror(problem))};
  return made;
}

ProgramTerminal::~ProgramTerminal() {
  for (const int end : {output_, from_relay_})
    if (end >= 0) close(end);
}

void ProgramTerminal::read(size_t most) {
  char bytes[16384];
  while (waiting_.size() < most) {
    const ssize_t size = recv(from_relay_, bytes, sizeof(bytes), MSG_DONTWAIT);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return;
    waiting_.append(bytes, static_cast<size_t>(size));
  }
}

std::string ProgramTerminal::take_lines() {
  read(kMostAtOnce);
  const size_t end = waiting_.rfind('\n');
  const bool is_long = end == std::string::npos && waiting_.size() > kLongestLine;
  const size_t size = is_long ? waiting_.size() : end == std::string::npos ? 0 : end + 1;
  std::string lines = without_movement(waiting_.substr(0, size));
  waiting_.erase(0, size);
  if (is_long) lines += '\n';
  return lines;
}

std::string ProgramTerminal::let_go() {
  shutdown(from_relay_, SHUT_RD);
  read(SIZE_MAX);
  return without_movement(std::exchange(waiting_, ""));
}

std::string without_movement(const std::string& text) {
  std::string made;
  bool has_colour = false;
  for (size_t i = 0; i < text.size(); i++) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == '\033' && i + 1 < text.size() && text[i + 1] == '[') {
      const size_t end = end_of_sequence(text, i);
      if (end == std::string::npos) break;
      if (text[end] == 'm') made += text.substr(i, end + 1 - i), has_colour = true;
      i = end;
    } else if ((c >= ' ' && c != 0x7f) || c == '\n' || c == '\t') {
      made += text[i];
    }
  }
  return has_colour ? made + "\033[0m" : made;
}

}  // namespace dvm::exporting
