#include "runtime/process/interrupted_call.h"

#include <signal.h>
#include <sys/ptrace.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "runtime/process/thread_status.h"

namespace dvm::runtime {
namespace {

constexpr int64_t kRestart = 512, kRestartNoInterrupt = 513, kRestartNoHandler = 514,
                  kRestartBlock = 516;  // errors of the kernel
constexpr uint64_t kRestartSyscall = 219, kSyscallBytes = 2;

uint64_t signals(pid_t pid, pid_t tid, std::string_view name) {
  return std::strtoull(status_field(pid, tid, name).c_str(), nullptr, 16);
}

constexpr uint64_t bit_of(int signal) { return uint64_t{1} << (signal - 1); }

// Unless it is traced, the process does not even notice them.
uint64_t ignored_signals(pid_t pid, pid_t tid) {
  constexpr uint64_t kByDefault = bit_of(SIGCHLD) | bit_of(SIGCONT) | bit_of(SIGURG) | bit_of(SIGWINCH);
  return (kByDefault | signals(pid, tid, "SigIgn:")) & ~handled_signals(pid);
}

uint64_t pending_signals(pid_t pid, pid_t tid) {
  return (signals(pid, tid, "SigPnd:") | signals(pid, tid, "ShdPnd:")) & ~ignored_signals(pid, tid);
}

bool has_signal(pid_t pid, pid_t tid) { return (pending_signals(pid, tid) & ~blocked_signals(pid, tid)) != 0; }

}  // namespace

uint64_t blocked_signals(pid_t pid, pid_t tid) { return signals(pid, tid, "SigBlk:"); }

bool only_call_blocks_signals(pid_t pid, pid_t tid, uint64_t mask_of_call) {
  const uint64_t pending = pending_signals(pid, tid);
  return (pending & ~mask_of_call) == 0 && (pending & ~blocked_signals(pid, tid)) != 0;
}

bool is_ended_by_stop(pid_t pid, pid_t tid, const user_regs_struct& registers) {
  const bool is_interrupted = static_cast<int64_t>(registers.rax) == -EINTR && static_cast<int64_t>(registers.orig_rax) >= 0;
  return is_interrupted && !has_signal(pid, tid);
}

user_regs_struct made_again(user_regs_struct registers) {
  registers.rax = static_cast<uint64_t>(-kRestartNoHandler);
  return registers;
}

void make_call_again(pid_t tid, int signal, StopAt where) {
  if (signal != 0 && (ignored_signals(tid, tid) & bit_of(signal)) == 0) return;
  user_regs_struct registers{};
  if (ptrace(PTRACE_GETREGS, tid, 0, &registers) != 0 || !is_ended_by_stop(tid, tid, registers)) return;
  registers = where == StopAt::call_end ? resumed(made_again(registers)) : made_again(registers);
  ptrace(PTRACE_SETREGS, tid, 0, &registers);
}

user_regs_struct resumed(user_regs_struct registers) {
  if (static_cast<int64_t>(registers.orig_rax) < 0) return registers;
  const int64_t error = -static_cast<int64_t>(registers.rax);
  const bool again = error == kRestart || error == kRestartNoInterrupt || error == kRestartNoHandler;
  if (again || error == kRestartBlock) {
    registers.rax = again ? registers.orig_rax : kRestartSyscall;
    registers.rip -= kSyscallBytes;
  }
  registers.orig_rax = UINT64_MAX;
  return registers;
}

}  // namespace dvm::runtime
