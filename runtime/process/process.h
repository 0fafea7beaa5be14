#pragma once
// A traced process: one that runs already (grab) or one that dvm starts (spawn). Consumer context.
//
//   grab    touches nothing of the process: a pidfd reports its exit
//   spawn   forks, execs under ptrace, and runs to the program's entry point or to another point
//
// At the entry point, the dynamic linker has mapped all libraries and main() has not run. The process is stopped there, so that
// probes can be placed. resume() detaches from it: from then on it runs at full speed and independently of dvm. If dvm dies
// before that, the kernel kills the child.
//
// ptrace ties a child to the thread that started it: spawn, resume and the destructor must run in one thread.

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dvm/common/result.h"
#include "runtime/process/start.h"

namespace dvm::runtime {

// How a process has ended.
struct Ending {
  int status = 0;  // of exit()
  int signal = 0;  // that ended it; 0: none
};

// "pid 12 has exited", "pid 12 exited with status 3", "pid 12 terminated by SIGSEGV", as dtrace says it.
std::string describe_ending(pid_t pid, const std::optional<Ending>& ending);

// True if there is no such process, or all of its threads have exited or do so: it has no files and no memory any more, or soon.
bool is_gone(pid_t pid);

// True if only other threads are left of the process. The kernel then shows none of its memory under the id of the process.
bool has_lost_first_thread(pid_t pid);
inline constexpr std::string_view kLostFirstThread =
    "its first thread has ended, and the kernel shows the memory of such a process under its other threads only";

class Process {
 public:
  // Fails if there is no such process or it may not be traced.
  static Result<Process> grab(pid_t pid);
  // The first word is looked up in PATH. The child has dvm's standard input, output and error.
  static Result<Process> spawn(const std::vector<std::string>& words, const Environment& environment = own_environment(),
                               const StartPoint& point = {});
  // Splits the command at blanks first, as split_command does.
  static Result<Process> spawn(std::string_view command, const Environment& environment = own_environment(),
                               const StartPoint& point = {});

  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;
  // Kills a child that still runs, as dtrace does. A grabbed process continues.
  ~Process();

  pid_t pid() const { return pid_; }
  const std::string& name() const { return name_; }
  bool is_child() const { return is_child_; }
  // Becomes readable when the process exits.
  int wait_fd() const { return pidfd_; }
  // Lets a spawned process run. No effect when called twice, or for a grabbed process. is_held: an instrument is its tracer, and
  // will let it run.
  Status resume(bool is_held = false);
  bool has_exited();
  // How it has ended; nothing: unknown. For a process that is not a child, this needs Linux 6.15, and depends on its parent.
  std::optional<Ending> ending();
  // Ends a child that still runs, and waits for it. A grabbed process is left alone.
  void kill();

 private:
  Process() = default;
  pid_t pid_ = 0;
  int pidfd_ = -1;
  bool is_child_ = false;
  bool is_stopped_ = false;  // spawned and not yet resumed
  bool has_exited_ = false;
  std::optional<Ending> ending_;
  std::string name_;
};

// The file that spawn() would run for the first word of a command.
Result<std::string> find_program(const std::string& word);

// Splits a command line at blanks. '...', "..." and \ quote as in sh. Nothing is expanded.
Result<std::vector<std::string>> split_command(std::string_view command);

}  // namespace dvm::runtime
