// Starts a program under ptrace and lets it run to its entry point. Covered by tests/unit/instrument/process_test.cpp.
//
//   child                      dvm
//   waits on a pipe            seizes it (the kernel kills it should dvm die), writes to the pipe
//   exec                       is told of the exec, or reads errno from a second pipe
//   dynamic linker             has put an int3 at AT_ENTRY
//   int3: stops                puts the original byte and %rip back

#include "runtime/process/start.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>

namespace dvm::runtime {
namespace {

class Pipe {
 public:
  Pipe() { ok_ = pipe2(ends_.data(), O_CLOEXEC) == 0; }
  ~Pipe() {
    close_read();
    close_write();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  bool ok() const { return ok_; }
  int read_end() const { return ends_[0]; }
  int write_end() const { return ends_[1]; }
  void close_read() { close_end(ends_[0]); }
  void close_write() { close_end(ends_[1]); }

 private:
  static void close_end(int& fd) {
    if (fd >= 0) close(fd);
    fd = -1;
  }
  std::array<int, 2> ends_{-1, -1};
  bool ok_ = false;
};

// Kills and reaps the child unless it is released.
class ChildGuard {
 public:
  explicit ChildGuard(pid_t pid) : pid_(pid) {}
  ~ChildGuard() {
    if (pid_ == 0) return;
    kill(pid_, SIGKILL);
    while (waitpid(pid_, nullptr, __WALL) < 0 && errno == EINTR) {
    }
  }
  ChildGuard(const ChildGuard&) = delete;
  ChildGuard& operator=(const ChildGuard&) = delete;
  pid_t pid() const { return pid_; }
  // The process is gone and reaped, or it belongs to another owner now.
  void release() { pid_ = 0; }

 private:
  pid_t pid_;
};

// In the child, between fork and exec: only calls that are safe there.
[[noreturn]] void exec_when_told(char* const* words, char* const* environment, Pipe& go, Pipe& failure) {
  // Otherwise the child would hold the end that dvm writes to and never see dvm close it.
  go.close_write();
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  char byte = 0;
  if (read(go.read_end(), &byte, 1) == 1) execvpe(words[0], words, environment);
  int error = errno;
  ssize_t ignored = write(failure.write_end(), &error, sizeof error);
  _exit(ignored == sizeof error ? 127 : 126);
}

int signal_to_deliver(int status) {
  // An event in the upper half is no signal of the child's.
  return status >> 16 != 0 ? 0 : WSTOPSIG(status);
}

// Waits for the child's next stop. False: it has ended, and was reaped.
bool wait_stop(pid_t pid, int& status) {
  while (waitpid(pid, &status, __WALL) < 0) {
    if (errno != EINTR) return false;
  }
  return WIFSTOPPED(status);
}

bool is_exec_stop(int status) { return status >> 8 == (SIGTRAP | (PTRACE_EVENT_EXEC << 8)); }
bool is_breakpoint_stop(int status) { return status >> 16 == 0 && WSTOPSIG(status) == SIGTRAP; }

// Lets the child run, handing on its signals, until `wanted` is true of a stop. False: it has ended, and was reaped.
template <class Wanted>
bool run_until(pid_t pid, Wanted wanted) {
  for (int status = 0; wait_stop(pid, status);) {
    if (wanted(status)) return true;
    if (ptrace(PTRACE_CONT, pid, 0, signal_to_deliver(status)) != 0 && errno != ESRCH) return false;
  }
  return false;
}

// AT_ENTRY: the address of the program's first instruction, wherever it was loaded.
std::optional<uint64_t> entry_point(pid_t pid) {
  std::ifstream auxv(fmt::format("/proc/{}/auxv", pid), std::ios::binary);
  Elf64_auxv_t entry{};
  while (auxv.read(reinterpret_cast<char*>(&entry), sizeof entry) && entry.a_type != AT_NULL) {
    if (entry.a_type == AT_ENTRY) return entry.a_un.a_val;
  }
  return std::nullopt;
}

bool is_64_bit_program(pid_t pid) {
  std::ifstream exe(fmt::format("/proc/{}/exe", pid), std::ios::binary);
  std::array<char, 5> ident{};
  exe.read(ident.data(), ident.size());
  return exe.good() && ident[EI_CLASS] == ELFCLASS64;
}

// Reads the word at the address; the C library tells an error by errno alone.
bool peek(pid_t pid, uint64_t address, long& word) {
  errno = 0;
  word = ptrace(PTRACE_PEEKTEXT, pid, address, nullptr);
  return errno == 0;
}

// The child is stopped right after its exec. Returns why it could not be brought to its entry point.
std::optional<std::string> run_to_entry(ChildGuard& child) {
  pid_t pid = child.pid();
  if (!is_64_bit_program(pid)) return "it is no 64-bit program";
  std::optional<uint64_t> entry = entry_point(pid);
  long original = 0;
  if (!entry || !peek(pid, *entry, original)) return "its entry point cannot be found";
  long patched = (original & ~0xffL) | 0xcc;
  if (ptrace(PTRACE_POKETEXT, pid, *entry, patched) != 0) return "its entry point cannot be written";
  ptrace(PTRACE_CONT, pid, 0, 0);
  user_regs_struct registers{};
  auto at_entry = [&](int status) {
    return is_breakpoint_stop(status) && ptrace(PTRACE_GETREGS, pid, 0, &registers) == 0 && registers.rip == *entry + 1;
  };
  if (!run_until(pid, at_entry)) {
    child.release();
    return "it ended before its entry point (a library may be missing)";
  }
  registers.rip = *entry;
  if (ptrace(PTRACE_POKETEXT, pid, *entry, original) != 0 || ptrace(PTRACE_SETREGS, pid, 0, &registers) != 0) {
    return "its entry point cannot be restored";
  }
  return std::nullopt;
}

std::string exec_problem(Pipe& failure) {
  int error = 0;
  failure.close_write();
  if (read(failure.read_end(), &error, sizeof error) != sizeof error) return "it was killed";
  return std::strerror(error);
}

// Returns why the program could not be brought to its entry point.
std::optional<std::string> trace_start(ChildGuard& child, Pipe& go, Pipe& failure) {
  pid_t pid = child.pid();
  if (ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC) != 0) {
    return fmt::format("it cannot be traced: {}", std::strerror(errno));
  }
  if (write(go.write_end(), "x", 1) != 1) return std::strerror(errno);
  if (!run_until(pid, is_exec_stop)) {
    child.release();
    return exec_problem(failure);
  }
  return run_to_entry(child);
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (const std::string& text : texts) all.push_back(const_cast<char*>(text.c_str()));
  all.push_back(nullptr);
  return all;
}

}  // namespace

Environment own_environment() {
  Environment all;
  for (char** variable = environ; *variable != nullptr; variable++) all.emplace_back(*variable);
  return all;
}

Result<pid_t> start_stopped(const std::vector<std::string>& words, const Environment& environment) {
  if (words.empty()) return Error{"failed to exec: the command is empty"};
  auto failed = [&](std::string_view why) { return Error{fmt::format("failed to exec {}: {}", words[0], why)}; };
  const std::vector<char*> arguments = pointers(words), variables = pointers(environment);
  Pipe go, failure;
  if (!go.ok() || !failure.ok()) return failed(std::strerror(errno));
  pid_t pid = fork();
  if (pid < 0) return failed(std::strerror(errno));
  if (pid == 0) exec_when_told(arguments.data(), variables.data(), go, failure);
  ChildGuard child(pid);
  if (auto problem = trace_start(child, go, failure)) return failed(*problem);
  child.release();
  return pid;
}

}  // namespace dvm::runtime
