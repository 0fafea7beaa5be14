// perf_event_open(2) of execution breakpoints. Covered by tests/runtime/scenarios/test_unprivileged.py.
#include "runtime/instrument/breakpoint/debug_register.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace dvm::runtime {
namespace {

perf_event_attr attributes(uint64_t address) {
  perf_event_attr it{};
  it.size = sizeof it;
  it.type = PERF_TYPE_BREAKPOINT;
  it.bp_type = HW_BREAKPOINT_X;
  it.bp_addr = address;
  it.bp_len = sizeof(long);
  it.sample_period = it.wakeup_events = 1;
  it.exclude_kernel = it.exclude_hv = 1;
  it.disabled = 1;
  it.remove_on_exec = 1;
  return it;
}

// The signal goes to the thread that was interrupted, not to dvm.
bool signal_thread(int event, pid_t tid) {
  const f_owner_ex owner{F_OWNER_TID, tid};
  return fcntl(event, F_SETFL, O_ASYNC | O_NONBLOCK) == 0 && fcntl(event, F_SETSIG, SIGURG) == 0 &&
         fcntl(event, F_SETOWN_EX, &owner) == 0 && ioctl(event, PERF_EVENT_IOC_ENABLE, 0) == 0;
}

int read_number(const char* path) {
  int number = 0;
  std::ifstream(path) >> number;
  return number;
}

}  // namespace

DebugRegister DebugRegister::set(pid_t tid, uint64_t address) {
  perf_event_attr wanted = attributes(address);
  DebugRegister made;
  made.address_ = address;
  made.event_ = FileDescriptor(
      static_cast<int>(syscall(SYS_perf_event_open, &wanted, tid, -1, -1, static_cast<unsigned long>(PERF_FLAG_FD_CLOEXEC))));
  if (made.event_ && !signal_thread(made.event_.get(), tid)) {
    const int error_number = errno;
    made.event_ = FileDescriptor();
    errno = error_number;
  }
  return made;
}

uint64_t DebugRegister::hits() const {
  uint64_t hits = 0;
  return read(event_.get(), &hits, sizeof hits) == sizeof hits ? hits : 0;
}

std::string debug_register_reason(int error_number) {
  const int paranoid = read_number("/proc/sys/kernel/perf_event_paranoid");
  switch (error_number) {
    case EACCES:
    case EPERM:
      return fmt::format(
          "kernel.perf_event_paranoid is {}, which keeps breakpoints from users: it must be 2 or less (sysctl "
          "kernel.perf_event_paranoid=2), or dvm must have CAP_PERFMON",
          paranoid);
    case ENOSPC:
      return "all debug registers are taken, perhaps by a debugger";
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
      return "this processor, or its emulator, has no debug registers";
    default:
      return std::strerror(error_number);
  }
}

}  // namespace dvm::runtime
