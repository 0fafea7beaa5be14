// Tested by tests/runtime/scenarios/test_agent.py.

#include "runtime/agent/target_check.h"

#include <cpuid.h>
#include <elf.h>
#include <fmt/format.h>
#include <sys/auxv.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include "runtime/agent/rseq_area.h"
#include "runtime/code/restarts.h"
#include "runtime/process/emulated.h"
#include "runtime/process/thread_status.h"

namespace dvm::runtime {
namespace {

constexpr uint32_t kOfGlibc = 0x2d0, kOfMusl = 0x30;

bool is_64_bit(pid_t pid) {
  std::ifstream exe(fmt::format("/proc/{}/exe", pid), std::ios::binary);
  std::array<char, EI_NIDENT> ident{};
  exe.read(ident.data(), ident.size());
  return exe.good() && ident[EI_CLASS] == ELFCLASS64;
}

bool has_bit(unsigned leaf, unsigned bit) {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(leaf, &a, &b, &c, &d) != 0 && (d >> bit & 1) != 0;
}

Status check_machine() {
  constexpr unsigned kExtended = 0x80000001, kPower = 0x80000007, kReadsCpu = 27, kInvariant = 8;
  constexpr unsigned long kReadsThreadPointer = 2;  // of AT_HWCAP2
  if (!has_bit(kExtended, kReadsCpu) || !has_bit(kPower, kInvariant))
    return Error{"this processor has no invariant time stamp counter"};
  if ((getauxval(AT_HWCAP2) & kReadsThreadPointer) == 0)
    return Error{"this kernel does not let programs read their thread pointer (FSGSBASE)"};
  return {};
}

// The soft one, in the kernel's words; empty: not known.
std::string limit_of(pid_t pid, std::string_view name) {
  std::ifstream limits(fmt::format("/proc/{}/limits", pid));
  std::string soft;
  for (std::string line; std::getline(limits, line);)
    if (line.starts_with(name)) std::istringstream(line.substr(name.size())) >> soft;
  return soft;
}

// A file larger than allowed sends the process a signal that ends it.
bool limits_files(pid_t pid) { return limit_of(pid, "Max file size") != "unlimited"; }

// A thread that serves a page fault would wait for itself if it read the page.
bool serves_page_faults(pid_t pid) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(fmt::format("/proc/{}/fd", pid), error)) {
    std::error_code unread;
    if (std::filesystem::read_symlink(entry.path(), unread) == "anon_inode:[userfaultfd]") return true;
  }
  return false;
}

// 0: it is the same. Below 0: that cannot be told.
long compare_memory(pid_t one, pid_t other) {
  constexpr long kCompareMemory = 1;
  return syscall(SYS_kcmp, one, other, kCompareMemory, 0, 0);
}

}  // namespace

bool restricts_calls(pid_t pid) {
  const std::string mode = status_field(pid, "Seccomp:");
  return !mode.empty() && mode != "0";
}

// Before Linux 6.4 the kernel does not tell.
bool restricts_calls(const StoppedProcess& process) {
  constexpr auto kAsk = static_cast<__ptrace_request>(0x4211);  // PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG
  struct {
    uint64_t mode = 0, selector = 0, offset = 0, length = 0;
  } state;
  return restricts_calls(process.pid()) ||
         std::any_of(process.threads().begin(), process.threads().end(),
                     [&](const HeldThread& one) { return ptrace(kAsk, one.tid, sizeof state, &state) == 0 && state.mode != 0; });
}

bool has_other_users(pid_t pid) {
  std::error_code error;
  return !std::filesystem::equivalent(fmt::format("/proc/{}/ns/user", pid), "/proc/self/ns/user", error);
}

bool locks_memory(pid_t pid) {
  const std::string locked = status_field(pid, "VmLck:");
  return !locked.empty() && locked[0] != '0';
}

uint64_t free_address_space(pid_t pid) {
  const std::string limit = limit_of(pid, "Max address space");
  if (limit == "unlimited") return UINT64_MAX;
  const uint64_t most = std::strtoull(limit.c_str(), nullptr, 10);
  const uint64_t used = std::strtoull(status_field(pid, "VmSize:").c_str(), nullptr, 10) * 1024;
  return most > used ? most - used : 0;
}

Status check_target(pid_t pid, bool follows) {
  if (Status machine = check_machine(); !machine) return machine;
  if (!is_64_bit(pid)) return Error{"it is not a 64-bit program, or belongs to another user"};
  if (restricts_calls(pid)) return Error{"a seccomp filter restricts its system calls, and might end it for those of the agent"};
  if (is_emulated(pid)) return Error{std::string(kEmulated)};
  if (limits_files(pid)) return Error{"the size of its files is limited (ulimit -f)"};
  if (serves_page_faults(pid)) return Error{"it serves page faults itself (userfaultfd)"};
  if (follows && has_own_ids(pid)) return Error{"it is in another PID namespace (a container), where an agent follows no forks"};
  return {};
}

bool reads_cpu_number() {
  static const bool does_read = [] {  // cpuid is slow on a virtual machine
    constexpr unsigned kFeatures = 7, kReadsNumber = 22;
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid_count(kFeatures, 0, &a, &b, &c, &d) != 0 && (c >> kReadsNumber & 1) != 0;
  }();
  return does_read;
}

bool counts_leading_zeros() {
  static const bool does_count = [] {
    constexpr unsigned kFeatures = 0x80000001, kCounts = 5;
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(kFeatures, &a, &b, &c, &d) != 0 && (c >> kCounts & 1) != 0;
  }();
  return does_count;
}

std::set<pid_t> apart_from(pid_t pid) {
  std::set<pid_t> apart;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const int other = std::atoi(entry.path().filename().c_str());
    if (other > 0 && compare_memory(pid, other) > 0) apart.insert(other);
  }
  return apart;
}

bool shares_memory(pid_t pid, const std::set<pid_t>& apart) {
  if (compare_memory(pid, pid) != 0) return true;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const int other = std::atoi(entry.path().filename().c_str());
    if (other > 0 && other != pid && !apart.contains(other) && compare_memory(pid, other) == 0) return true;
  }
  return static_cast<bool>(error);
}

uint32_t find_thread_offset(const StoppedProcess& process, const AgentMemory& memory) {
  const bool have_own_ids = has_own_ids(process.pid());
  const auto has_it = [&](const HeldThread& thread, uint32_t offset) {
    uint64_t self = 0;
    int32_t number = 0;
    const uint64_t pointer = thread.registers.fs_base;
    return pointer != 0 && memory.read_object(pointer, self) && self == pointer && memory.read_object(pointer + offset, number) &&
           number == (have_own_ids ? own_id(process.pid(), thread.tid) : thread.tid);
  };
  for (const uint32_t offset : {kOfGlibc, kOfMusl})
    if (std::all_of(process.threads().begin(), process.threads().end(),
                    [&](const HeldThread& one) { return has_it(one, offset); }))
      return offset;
  return 0;
}

std::optional<RseqPlace> find_rseq(const StoppedProcess& process) {
  std::optional<RseqPlace> place;
  for (const HeldThread& thread : process.threads()) {
    const auto its = rseq_area_of(thread.tid);
    if (!its) continue;
    if (its->signature != kRestartSignature) return {};
    const RseqPlace found{its->address - thread.registers.fs_base, its->bytes};
    if (place && (place->offset != found.offset || place->bytes != found.bytes)) return {};
    place = found;
  }
  return place;
}

}  // namespace dvm::runtime
