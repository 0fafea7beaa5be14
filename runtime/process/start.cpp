// Starts a program under ptrace and lets it run to its entry point, to its constructors, or to main. Covered by
// tests/unit/instrument/process_test.cpp and tests/runtime/scenarios/test_process.py.
//
//   child                      dvm
//   waits on a pipe            seizes it (the kernel kills it should dvm die), writes to the pipe
//   exec                       is told of the exec, or reads errno from a second pipe
//   dynamic linker             has put an int3 at AT_ENTRY
//   int3: stops                puts the original byte and %rip back; for main, once more
// For constructors it stops by a debug register in the dynamic linker's _dl_debug_state() instead.

#include "runtime/process/start.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
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
[[noreturn]] void exec_when_told(char* const* words, char* const* environment, int terminal, Pipe& go, Pipe& failure) {
  // Otherwise the child would hold the end that dvm writes to and never see dvm close it.
  go.close_write();
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int output : {STDOUT_FILENO, STDERR_FILENO})
    if (terminal >= 0 && isatty(output) != 0) dup2(terminal, output);
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

// Reads the word at the address; the C library tells an error by errno alone.
bool peek(pid_t pid, uint64_t address, long& word) {
  errno = 0;
  word = ptrace(PTRACE_PEEKTEXT, pid, address, nullptr);
  return errno == 0;
}

using Problem = std::optional<std::string>;

// Lets the stopped child run to an address, with the registers that it has there. Returns why it could not be brought there;
// `what` names the place.
Problem run_to(ChildGuard& child, uint64_t address, std::string_view what, user_regs_struct& registers) {
  const pid_t pid = child.pid();
  long original = 0;
  if (!peek(pid, address, original)) return fmt::format("{} cannot be found", what);
  const long patched = (original & ~0xffL) | 0xcc;
  if (ptrace(PTRACE_POKETEXT, pid, address, patched) != 0) return fmt::format("{} cannot be written", what);
  ptrace(PTRACE_CONT, pid, 0, 0);
  const auto is_there = [&](int status) {
    return is_breakpoint_stop(status) && ptrace(PTRACE_GETREGS, pid, 0, &registers) == 0 && registers.rip == address + 1;
  };
  if (!run_until(pid, is_there)) {
    child.release();
    return fmt::format("it ended before {} (a library may be missing)", what);
  }
  registers.rip = address;
  if (ptrace(PTRACE_POKETEXT, pid, address, original) != 0 || ptrace(PTRACE_SETREGS, pid, 0, &registers) != 0)
    return fmt::format("{} cannot be restored", what);
  return std::nullopt;
}

// Lets the stopped child stop before it executes the instruction there; 0: no longer. By a debug register, as a tracer that
// follows other processes may have a uprobe on the same instruction of the dynamic linker: the kernel would take an int3 for
// that. False: there is no such register.
bool stop_at(pid_t pid, uint64_t address) {
  constexpr uint64_t kExecuted = 1;  // register 0, and instructions
  const size_t at = offsetof(user, u_debugreg), control = at + 7 * sizeof(uint64_t);
  return ptrace(PTRACE_POKEUSER, pid, control, 0) == 0 &&
         (address == 0 ||
          (ptrace(PTRACE_POKEUSER, pid, at, address) == 0 && ptrace(PTRACE_POKEUSER, pid, control, kExecuted) == 0));
}

// Lets the child run to where it is told to stop. False: it has ended.
bool run_to_stop(ChildGuard& child, uint64_t address, user_regs_struct& registers) {
  ptrace(PTRACE_CONT, child.pid(), 0, 0);
  const auto is_there = [&](int status) {
    return is_breakpoint_stop(status) && ptrace(PTRACE_GETREGS, child.pid(), 0, &registers) == 0 && registers.rip == address;
  };
  const bool is_stopped = run_until(child.pid(), is_there);
  if (!is_stopped) child.release();
  return is_stopped;
}

// The child is stopped right after its exec, and stops at the function. The linker calls that when it begins to map files, and
// once it has done so; an auditing library may have it called before. In the end, the child has left the function.
Problem run_to_loaded(ChildGuard& child, const LoadedPlace& place) {
  user_regs_struct registers{};
  for (bool has_begun = false;;) {
    long state = 0, caller = 0;
    if (!run_to_stop(child, place.function, registers)) return "it ended before its entry point (a library may be missing)";
    if (!peek(child.pid(), place.state, state) || !peek(child.pid(), registers.rsp, caller) ||
        !stop_at(child.pid(), static_cast<uint64_t>(caller)))
      return "the state of its dynamic linker cannot be read";
    if (!run_to_stop(child, static_cast<uint64_t>(caller), registers)) return "it ended in its dynamic linker";
    const bool is_consistent = static_cast<int>(state) == r_debug::RT_CONSISTENT;
    const bool is_loaded = has_begun && is_consistent;
    has_begun |= !is_consistent;
    stop_at(child.pid(), is_loaded ? 0 : place.function);
    if (is_loaded) return std::nullopt;
  }
}

// The child is stopped at its entry point.
Problem run_to_main(ChildGuard& child, const StartPoint& point) {
  const Result<MainPlace> place = point.find_main(child.pid());
  if (!place) return place.error().message;
  user_regs_struct registers{};
  Problem problem = run_to(child, place->address, "main", registers);
  return problem || !place->is_argument ? problem : run_to(child, registers.rdi, "main", registers);
}

// The child is stopped right after its exec.
Problem run_to_point(ChildGuard& child, const StartPoint& point) {
  if (!is_64_bit_program(child.pid())) return "it is not a 64-bit program";
  if (point.at_exec) return std::nullopt;
  const auto loaded = point.find_loaded ? point.find_loaded(child.pid()) : std::nullopt;
  if (loaded && stop_at(child.pid(), loaded->function)) return run_to_loaded(child, *loaded);
  const std::optional<uint64_t> entry = entry_point(child.pid());
  if (!entry) return "its entry point cannot be found";
  user_regs_struct registers{};
  Problem problem = run_to(child, *entry, "its entry point", registers);
  return problem || !point.find_main ? problem : run_to_main(child, point);
}

// The child is stopped by the SIGTRAP of a breakpoint or a step, which would end it if dvm were killed after it has given up
// PTRACE_O_EXITKILL. Moves the child to a stop without a signal; it executes nothing in between.
Problem settle(ChildGuard& child) {
  const pid_t pid = child.pid();
  const auto is_settled = [](int status) { return status >> 16 == PTRACE_EVENT_STOP; };
  if (ptrace(PTRACE_INTERRUPT, pid, 0, 0) != 0 || ptrace(PTRACE_CONT, pid, 0, 0) != 0) return "it cannot be stopped";
  if (run_until(pid, is_settled)) return std::nullopt;
  child.release();
  return "it was killed";
}

std::string exec_problem(Pipe& failure) {
  int error = 0;
  failure.close_write();
  if (read(failure.read_end(), &error, sizeof error) != sizeof error) return "it was killed";
  return std::strerror(error);
}

Problem trace_start(ChildGuard& child, Pipe& go, Pipe& failure, const StartPoint& point) {
  pid_t pid = child.pid();
  if (ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC) != 0) {
    return fmt::format("it cannot be traced: {}", std::strerror(errno));
  }
  if (write(go.write_end(), "x", 1) != 1) return std::strerror(errno);
  if (!run_until(pid, is_exec_stop)) {
    child.release();
    return exec_problem(failure);
  }
  Problem problem = run_to_point(child, point);
  return problem || point.at_exec ? problem : settle(child);
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (const std::string& text : texts) all.push_back(const_cast<char*>(text.c_str()));
  all.push_back(nullptr);
  return all;
}

}  // namespace

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

Environment own_environment() {
  Environment all;
  for (char** variable = environ; *variable != nullptr; variable++) all.emplace_back(*variable);
  return all;
}

Result<pid_t> start_stopped(const std::vector<std::string>& words, const Environment& environment, const StartPoint& point) {
  if (words.empty()) return Error{"failed to exec: the command is empty"};
  auto failed = [&](std::string_view why) { return Error{fmt::format("failed to execute {}: {}", words[0], why)}; };
  const std::vector<char*> arguments = pointers(words), variables = pointers(environment);
  Pipe go, failure;
  if (!go.ok() || !failure.ok()) return failed(std::strerror(errno));
  pid_t pid = fork();
  if (pid < 0) return failed(std::strerror(errno));
  if (pid == 0) exec_when_told(arguments.data(), variables.data(), point.terminal, go, failure);
  ChildGuard child(pid);
  if (auto problem = trace_start(child, go, failure, point)) return failed(*problem);
  child.release();
  return pid;
}

}  // namespace dvm::runtime
