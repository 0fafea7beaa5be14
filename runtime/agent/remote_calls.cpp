// Tested by tests/runtime/scenarios/test_agent.py.

#include "runtime/agent/remote_calls.h"

#include <fmt/format.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <utility>

#include "common/clock.h"
#include "runtime/agent/aborted_sequence.h"
#include "runtime/agent/code_bytes.h"
#include "runtime/agent/fork_guard.h"
#include "runtime/agent/remote_room.h"
#include "runtime/agent/semaphore_code.h"
#include "runtime/agent/unstopped.h"
#include "runtime/process/interrupted_call.h"
#include "runtime/process/thread_status.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kSetMask = 14, kSetMaskHow = 2, kMaskBytes = 8;
constexpr uint64_t kKill = 62, kHoldRounds = 5000;
constexpr uint64_t kHighest = 0x7ffffffff000;  // an address for which code is longest
constexpr uint64_t kRoundTime = 1'000'000;     // ns

// The data before the first instruction.
struct Preface {
  uint64_t mark = kRemoteMark, size = 0;
  uint64_t all_signals = UINT64_MAX, mask = 0;
  uint64_t seconds = 1, nanoseconds = 0;
  union {
    char text[24]{};
    uint32_t is_released;  // of a hold
  };
};
static_assert(sizeof(Preface) == kRemoteEntry);
constexpr uint64_t kDataAt = sizeof(Preface) + 5;  // behind a jump
constexpr uint32_t kReleased = 1;

void add_argument(CodeWriter& code, GeneralRegister reg, uint64_t value, uint64_t address) {
  if (value == kFirstResult) return code.copy_from_rbx(reg);
  if (value == kRemoteText) value = address + offsetof(Preface, text);
  if (value == kRemoteData) value = address + kDataAt;
  if (value == kRemoteTime) value = address + offsetof(Preface, seconds);
  code.load(reg, value);
}

void add_call(CodeWriter& code, const RemoteCall& call, uint64_t address) {
  constexpr GeneralRegister kArguments[] = {GeneralRegister::rdi, GeneralRegister::rsi, GeneralRegister::rdx,
                                            GeneralRegister::r10, GeneralRegister::r8,  GeneralRegister::r9};
  const auto change = call.number == kRemoteRaise ? SemaphoreChange::raise : SemaphoreChange::lower;
  if (call.number == kRemoteRaise || call.number == kRemoteLower)
    return add_semaphore_loop(code, change, call.arguments[0], call.arguments[1]);
  for (size_t i = 0; i < std::size(kArguments); i++) add_argument(code, kArguments[i], call.arguments[i], address);
  if (call.adds_last) code.add({0x48, 0x8d, 0x34, 0x06});  // lea (%rsi,%rax), %rsi
  code.load(GeneralRegister::rax, call.number);
  code.add({0x0f, 0x05});
  if (call.is_first) code.add({0x48, 0x89, 0xc3});  // mov %rax, %rbx
}

// The first call waits, the second one asks whether the tracer exists.
void add_hold(CodeWriter& code, uint64_t tracer, uint64_t address) {
  code.load(GeneralRegister::rbx, kHoldRounds);
  const uint64_t again = code.here();
  add_call(code, kRemoteWait, address);
  add_call(code, {kKill, {tracer, 0, 0, 0, 0, 0}}, address);
  code.add({0x83, 0xf8, static_cast<unsigned char>(-ESRCH)});  // cmp $-ESRCH, %eax
  const size_t has_ended = code.jump_ahead({0x0f, 0x84});
  code.add({0x83, 0x3d}, address + offsetof(Preface, is_released) - (code.here() + 7));  // cmpl $0, is_released(%rip)
  code.add({0});
  const size_t is_released = code.jump_ahead({0x0f, 0x85});
  code.add({0x48, 0xff, 0xcb});                       // dec %rbx
  code.add({0x0f, 0x85}, again - (code.here() + 6));  // jnz
  code.land(has_ended);
  code.land(is_released);
}

RemoteCall set_mask(uint64_t mask_address) { return {kSetMask, {kSetMaskHow, mask_address, 0, kMaskBytes, 0, 0}}; }

// The comparisons of a hold change them. The overflow flag is set if 1 becomes 0x80.
void restore_flags(CodeWriter& code, uint64_t flags) {
  constexpr uint64_t kOfSahf = 0xd5, kAlwaysSet = 2, kOverflow = 11;  // sign, zero, adjust, parity and carry
  code.load(GeneralRegister::rax, ((flags & kOfSahf) | kAlwaysSet) << 8 | (flags >> kOverflow & 1));
  code.add({0x04, 0x7f});  // add $0x7f, %al
  code.add({0x9e});        // sahf
}

// A system call changes only these registers and its result; %rbx keeps the first one.
void restore(CodeWriter& code, const user_regs_struct& back) {
  restore_flags(code, back.eflags);
  code.load(GeneralRegister::rax, back.rax);
  code.load(GeneralRegister::rbx, back.rbx);
  code.load(GeneralRegister::rcx, back.rcx);
  code.load(GeneralRegister::rdx, back.rdx);
  code.load(GeneralRegister::rsi, back.rsi);
  code.load(GeneralRegister::rdi, back.rdi);
  code.load(GeneralRegister::r8, back.r8);
  code.load(GeneralRegister::r9, back.r9);
  code.load(GeneralRegister::r10, back.r10);
  code.load(GeneralRegister::r11, back.r11);
  code.jump_far(back.rip);
}

std::optional<uint64_t> signal_mask(pid_t tid) {
  uint64_t mask = 0;
  if (ptrace(PTRACE_GETSIGMASK, tid, sizeof mask, &mask) != 0) return std::nullopt;
  return mask;
}

Preface preface_of(uint64_t mask, bool holds) {
  Preface preface;
  preface.mask = mask;
  if (holds)
    preface.seconds = 0, preface.nanoseconds = kRoundTime;
  else
    snprintf(preface.text, sizeof preface.text, "%s%d", kRemoteTextBegins, tracer_pid());
  return preface;
}

// The program counter of a thread that waits in a system call; 0: it runs, or is gone.
uint64_t waits_at(pid_t pid, pid_t tid) {
  std::ifstream file(fmt::format("/proc/{}/task/{}/syscall", pid, tid));
  std::string word, last;
  while (file >> word) last = word;
  return std::strtoull(last.c_str(), nullptr, 16);
}

// The number of the process whose end ends a hold.
pid_t holder_of(pid_t pid) {
  constexpr pid_t kOwnGroup = 0;  // always exists; a process in a container cannot see dvm
  return has_own_ids(pid) ? kOwnGroup : tracer_pid();
}

// If dvm is killed, another process lets a process in a container go.
std::optional<RemoteHold> make_hold(pid_t pid, pid_t tid, const AddressRange& code) {
  RemoteHold hold{tid, code, read_clock(CLOCK_MONOTONIC), {}};
  if (!has_own_ids(pid)) return hold;
  auto dvms_end = write_at_end(pid, code.begin + offsetof(Preface, is_released), kReleased);
  if (!dvms_end) return std::nullopt;
  hold.dvms_end = *std::move(dvms_end);
  return hold;
}

}  // namespace

RemoteCode make_remote_code(std::span<const RemoteCall> calls, uint64_t address, const user_regs_struct& back, uint64_t mask,
                            std::span<const std::byte> data) {
  const bool holds = !calls.empty() && calls.front().number == kRemoteHold.number;
  Preface preface = preface_of(mask, holds);
  CodeWriter code(address + sizeof preface);
  if (!data.empty()) {
    const size_t over = code.jump_ahead({0xe9});
    code.add({reinterpret_cast<const unsigned char*>(data.data()), data.size()});
    code.land(over);
  }
  add_call(code, set_mask(address + offsetof(Preface, all_signals)), address);
  if (holds) {
    add_hold(code, calls.front().arguments[0], address);
  } else {
    for (const RemoteCall& call : calls) add_call(code, call, address);
    add_call(code, kRemoteWait, address);
  }
  const uint64_t last_wait = code.here();
  add_call(code, set_mask(address + offsetof(Preface, mask)), address);
  restore(code, back);
  const std::vector<unsigned char> instructions = code.take();
  preface.size = sizeof preface + instructions.size();
  std::vector<unsigned char> bytes(sizeof preface);
  std::memcpy(bytes.data(), &preface, sizeof preface);
  bytes.insert(bytes.end(), instructions.begin(), instructions.end());
  return {std::move(bytes), last_wait};
}

Status make_remote_calls(StoppedProcess& process, const AgentMemory& memory, std::span<const RemoteCall> calls,
                         const std::function<bool()>& at_wait, std::span<const std::byte> data) {
  if (process.threads().empty()) return Error{"the process has ended"};
  const HeldThread& led = process.threads().front();
  const user_regs_struct before_calls = out_of_sequence(led.tid, led.registers), back = resumed(before_calls);
  const auto mask = signal_mask(process.threads().front().tid);
  if (!mask) return Error{"the process has ended"};
  const size_t size = make_remote_code(calls, kHighest, back, *mask, data).bytes.size();
  const auto room = find_remote_room(process.pid(), memory, size);
  if (!room) return Error{"no executable file of the process has room for the code that starts the agent"};
  const RemoteCode code = make_remote_code(calls, *room, back, *mask, data);
  std::vector<std::byte> before(code.bytes.size());
  if (!memory.read(*room, before) || !memory.write(*room, std::as_bytes(std::span(code.bytes))))
    return Error{"the code of the process cannot be written"};
  user_regs_struct begin = back;
  begin.rip = *room + kRemoteEntry;
  begin.orig_rax = UINT64_MAX;
  const RemoteRun run{begin, before_calls, *mask, {*room, *room + code.bytes.size()}, code.last_wait};
  const bool is_through = process.run_through(run, at_wait);
  const user_regs_struct& now = process.threads().front().registers;  // at_wait() may have added threads
  if (now.rip == before_calls.rip && now.rsp == before_calls.rsp) memory.write(*room, before);
  if (!is_through) return Error{"no thread of the process could run the code that starts the agent"};
  return {};
}

// No handler of the program may run before the code has blocked all signals.
std::optional<RemoteHold> hold_inside(pid_t pid, pid_t tid) {
  const auto memory = AgentMemory::open(pid);
  const auto mask = signal_mask(tid);
  user_regs_struct registers{};
  if (!memory || !mask || ptrace(PTRACE_GETREGS, tid, 0, &registers) != 0) return std::nullopt;
  const user_regs_struct back = out_of_sequence(tid, resumed(registers));
  RemoteCall call = kRemoteHold;
  call.arguments[0] = static_cast<uint64_t>(holder_of(pid));
  const std::span<const RemoteCall> hold(&call, 1);
  const auto room = find_remote_room(pid, *memory, make_remote_code(hold, kHighest, back, *mask).bytes.size());
  if (!room) return std::nullopt;
  const std::vector<unsigned char> code = make_remote_code(hold, *room, back, *mask).bytes;
  if (!memory->write(*room, std::as_bytes(std::span(code)))) return std::nullopt;
  auto made = make_hold(pid, tid, {*room, *room + code.size()});
  if (!made) return std::nullopt;
  user_regs_struct begin = back;
  begin.rip = *room + kRemoteEntry;
  begin.orig_rax = UINT64_MAX;
  constexpr uint64_t kAll = UINT64_MAX;
  const bool is_led = ptrace(PTRACE_SETREGS, tid, 0, &begin) == 0 && ptrace(PTRACE_SETSIGMASK, tid, sizeof kAll, &kAll) == 0;
  return is_led ? std::move(made) : std::nullopt;
}

// A round lasts a millisecond, unless a stop shortens it.
bool release_inside(pid_t pid, const RemoteHold& hold) {
  constexpr uint64_t kSurelyHeld = kHoldRounds * kRoundTime / 10 * 9;
  const auto memory = AgentMemory::open(pid);
  const uint64_t at = waits_at(pid, hold.tid);
  const bool is_surely_held = read_clock(CLOCK_MONOTONIC) - hold.since < kSurelyHeld;
  uint64_t mark = 0;
  const bool is_there = memory && memory->read_object(hold.code.begin, mark) && mark == kRemoteMark;
  if (!is_there || !memory->write_object(hold.code.begin + offsetof(Preface, is_released), kReleased)) return is_surely_held;
  return is_surely_held || (at >= hold.code.begin && at < hold.code.end);
}

}  // namespace dvm::runtime
