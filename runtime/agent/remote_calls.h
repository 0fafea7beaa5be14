#pragma once
// System calls that a stopped thread makes, by code that needs no help from dvm once it runs.
//
// One PTRACE_SETREGS directs a thread into the code. It blocks all signals, makes the calls one after the other and waits. Then
// it restores the signal mask, loads every register with a constant, and jumps back. When dvm finds it waiting, it sets its mask
// and registers back at once, so the program does not go on before dvm wants it to. The kernel then restarts the system call in
// which the thread waited, or ends it if a signal handler runs. If dvm is killed at any moment, the wait ends after a second, and
// the thread does all of this by itself. The code is removed only if dvm has restored the thread's registers. Otherwise a signal
// frame may still lead into the code.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "common/file_descriptor.h"
#include "dvm/common/result.h"
#include "runtime/agent/memory.h"
#include "runtime/agent/stopped_process.h"

namespace dvm::runtime {

// An argument may be the result of the first call, or the address of data that lies in the code.
inline constexpr uint64_t kFirstResult = 0xffff'f000'0000'0001;
inline constexpr uint64_t kRemoteText = 0xffff'f000'0000'0002;  // kRemoteTextBegins and dvm's process id
inline constexpr uint64_t kRemoteTime = 0xffff'f000'0000'0003;  // a timespec of one second
inline constexpr uint64_t kRemoteData = 0xffff'f000'0000'0006;  // data that the caller adds

// In place of a system call: raise or lower semaphores, from and up to the addresses in the first two arguments.
inline constexpr uint64_t kRemoteRaise = 0xffff'f000'0000'0004;
inline constexpr uint64_t kRemoteLower = 0xffff'f000'0000'0005;

inline constexpr char kRemoteTextBegins[] = "dvm-agent-";

struct RemoteCall {
  uint64_t number = 0;
  uint64_t arguments[6]{};
  bool is_first = false;   // its result is kept
  bool adds_last = false;  // to its second argument: the result of the call before
};

// A ppoll() in which the thread waits for dvm, for a second at most.
inline constexpr RemoteCall kRemoteWait{271, {0, 0, kRemoteTime, 0, 8, 0}};

// Code of its own, without a last wait: the thread waits until it is released, until the process with the id in the first
// argument has ended, or for some seconds.
inline constexpr RemoteCall kRemoteHold{UINT64_MAX, {}};

struct RemoteCode {
  std::vector<unsigned char> bytes;
  uint64_t last_wait = 0;  // the program counter while it waits for dvm
};

// The code at `address`. mask: the signals that the thread blocks. data: of kRemoteData.
RemoteCode make_remote_code(std::span<const RemoteCall> calls, uint64_t address, const user_regs_struct& back, uint64_t mask,
                            std::span<const std::byte> data = {});

// Makes the calls. Their results are not known: check their effects. In each kRemoteWait the thread waits for at_wait(), which
// says whether it makes the remaining calls. Fails if there is no room for the code, or if it did not run to its end.
Status make_remote_calls(StoppedProcess& process, const AgentMemory& memory, std::span<const RemoteCall> calls,
                         const std::function<bool()>& at_wait, std::span<const std::byte> data = {});

// The place where a thread waits by kRemoteHold.
struct RemoteHold {
  pid_t tid = 0;
  AddressRange code;
  uint64_t since = 0;
  FileDescriptor dvms_end;  // of a process in a container, which cannot see dvm: it is let go as soon as this is closed
};

// Leads a thread there. The caller traces it, and lets it run afterwards. The thread loses its flags, which are not in use at the
// beginning of a program. Nothing: there is no room, or the thread has ended.
std::optional<RemoteHold> hold_inside(pid_t pid, pid_t tid);
// Releases the thread. False: it no longer waited, and was not killed while it waited.
bool release_inside(pid_t pid, const RemoteHold& hold);

}  // namespace dvm::runtime
