#pragma once
// Traces threads by ptrace, and handles their stops. All calls must come from one thread of dvm, the one that started the program
// of -c. When dvm dies, the kernel releases all threads.

#include <sys/types.h>

#include <functional>
#include <optional>
#include <vector>

#include "dvm/common/result.h"
#include "runtime/instrument/uprobe/kernel.h"

namespace dvm::runtime {

struct ThreadStop {
  pid_t tid = 0;
  int signal = 0;        // the signal to be delivered, or the one that stopped its process
  int event = 0;         // PTRACE_EVENT_...; 0: only the signal
  bool is_call = false;  // at the begin or the end of a system call
  bool is_end = false;
};

// The process of a thread; 0: the thread has ended.
pid_t process_of_thread(pid_t tid);
// How a thread continues: to the next signal or breakpoint, or also to the next begin or end of a system call.
enum class Pace : uint8_t { run, calls };

// Becomes the tracer of the thread and of the threads that it starts. True: it is a program that dvm has started, which is
// stopped. The error says what permission is missing. A thread that has ended is not an error.
Result<bool> hold_thread(pid_t tid);
// Requests a stop of the thread, after which it can continue at another pace.
void interrupt_thread(pid_t tid);
// The next pending stop. `mine` returns the traced threads, which are checked if any thread has ended.
std::optional<ThreadStop> next_stop(const std::function<std::vector<pid_t>()>& mine);
// Continues a thread after a stop, and delivers `signal`. If a signal has stopped its process, the thread stays stopped until
// SIGCONT.
void go_on(const ThreadStop& stop, int signal, Pace pace);
// Lets a stopped thread execute one instruction, which may be a system call that waits. A stop with SIGTRAP follows.
void step(pid_t tid);
// Stops the thread and detaches from it. It is released at its next stop, or when dvm ends, if it does not stop in time.
// `keep` gets the stop, and returns the signal to deliver. Without one, the thread goes on to its next stop first.
using KeepStop = std::function<std::optional<int>(const ThreadStop&)>;
struct HowHeld {
  Pace pace = Pace::run;
  // A thread that waits in a system call such as write(2) stays traced until its next stop: a stop might cut the call.
  bool may_stay = false;
  bool steps = false;  // since step()
};
void let_go(pid_t tid, const HowHeld& how, const KeepStop& keep);
// Detaches from a thread that stands in this stop, and that is not traced any more.
void release(const ThreadStop& stop);

// A descriptor that becomes readable when a thread has stopped. Only one can exist at a time.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  int descriptor() const { return event_.get(); }
  void clear();

 private:
  FileDescriptor event_;
};

}  // namespace dvm::runtime
