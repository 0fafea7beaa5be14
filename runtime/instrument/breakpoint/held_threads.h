#pragma once
// Being the tracer of threads, by ptrace: who is held, and the stops that they
// come to. All of it belongs in one thread of dvm, the one that started the
// program of -c. When dvm dies, the kernel lets go of all.

#include <sys/types.h>

#include <functional>
#include <optional>
#include <vector>

#include "dvm/common/result.h"
#include "runtime/instrument/uprobe/kernel.h"

namespace dvm::runtime {

struct ThreadStop {
  pid_t tid = 0;
  int signal = 0;        // that it is about to take, or that its process was stopped by
  int event = 0;         // PTRACE_EVENT_...; 0: none but the signal
  bool is_call = false;  // at the begin or the end of a system call
  bool is_end = false;
};

// The process that a thread is of; 0: it is gone.
pid_t process_of_thread(pid_t tid);
// How a thread goes on: to the next signal or breakpoint, or also to the next
// begin or end of a system call.
enum class Pace : uint8_t { run, calls };

// Becomes the thread's tracer, and of those that it makes. True: it is a
// program that dvm has started, and waits to go on. An error says who may do
// so; a thread that is gone is none.
Result<bool> hold_thread(pid_t tid);
// Lets the thread come to a stop soon, after which it can go on at another
// pace.
void interrupt_thread(pid_t tid);
// The next stop that waits to be looked at. `mine` are asked for their end if
// anybody has ended.
std::optional<ThreadStop> next_stop(const std::function<std::vector<pid_t>()>& mine);
// After a stop: lets it run, with the signal that it was about to take or
// another. Of a process that is stopped by a signal, the thread stays so until
// it is continued.
void go_on(const ThreadStop& stop, int signal, Pace pace);
// Lets a thread that stands still execute one instruction, and returns the stop behind it, or another one that comes before;
// none: it has ended.
std::optional<ThreadStop> step(pid_t tid);
// Stops the thread and detaches from it. A thread that waits in a system call, and will not stop at its end, is left alone,
// since a stop might end the call; the kernel releases it when dvm ends. The signal of the stop is handed to `keep`, which
// decides what signal the thread gets.
void let_go(pid_t tid, Pace pace, const std::function<int(const ThreadStop&)>& keep);

// A descriptor that becomes readable when a thread has stopped. There can be
// one at a time.
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
