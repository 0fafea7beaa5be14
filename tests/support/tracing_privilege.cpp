// bpf(2), perf_event_open(2) and ptrace(2), called as plainly as they can be.

#include "tests/support/tracing_privilege.h"

#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>

namespace dvm::test {
namespace {

constexpr uint32_t kTraceUprobeMulti = 48;  // newer than some headers

// Errors that say "you may not" or "I cannot"; any other may be the caller's fault.
bool is_refusal(int error) {
  switch (error) {
    case EPERM:
    case EACCES:
    case ENOSYS:
    case EOPNOTSUPP:
    case ENODEV:
    case ENOENT:
    case ENOSPC:
      return true;
    default:
      return false;
  }
}

std::string refusal(const char* what, int error) {
  return is_refusal(error) ? std::string("the kernel refuses ") + what + ": " + std::strerror(error) : std::string();
}

std::string line_of(const std::string& path, const std::string& beginning) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(beginning)) return line.substr(beginning.size());
  return "";
}

std::string missing_capability() {
  constexpr int kSysAdmin = 21, kPerfmon = 38, kBpf = 39;
  const uint64_t has = std::strtoull(line_of("/proc/self/status", "CapEff:").c_str(), nullptr, 16);
  const auto lacks = [has](int capability) { return ((has >> capability | has >> kSysAdmin) & 1) == 0; };
  return lacks(kBpf) || lacks(kPerfmon) ? "needs CAP_BPF and CAP_PERFMON (CapEff in /proc/self/status)" : "";
}

std::string old_kernel() {
  utsname names;
  unsigned major = 0, minor = 0;
  if (uname(&names) != 0 || std::sscanf(names.release, "%u.%u", &major, &minor) != 2) return "";
  return major < 6 || (major == 6 && minor < 6) ? std::string("needs Linux 6.6, this is ") + names.release : "";
}

long bpf(bpf_cmd command, void* attributes, unsigned size) { return syscall(SYS_bpf, command, attributes, size); }

// A program that returns 0.
int load_program() {
  bpf_insn code[2]{};
  code[0].code = BPF_ALU64 | BPF_MOV | BPF_K;
  code[1].code = BPF_JMP | BPF_EXIT;
  bpf_attr attributes{};
  attributes.prog_type = BPF_PROG_TYPE_KPROBE;
  attributes.expected_attach_type = static_cast<bpf_attach_type>(kTraceUprobeMulti);
  attributes.insns = reinterpret_cast<uintptr_t>(code);
  attributes.insn_cnt = 2;
  attributes.license = reinterpret_cast<uintptr_t>("GPL");
  return static_cast<int>(bpf(BPF_PROG_LOAD, &attributes, sizeof attributes));
}

void probed() {}

// File offset of a function of this program; 0 if unknown.
uint64_t offset_of_probed() {
  const auto address = reinterpret_cast<uintptr_t>(&probed);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0, end = 0, offset = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx %*s %lx", &begin, &end, &offset) == 3 && begin <= address && address < end)
      return address - begin + offset;
  }
  return 0;
}

// As the kernel's union bpf_attr has it since 6.6.
struct LinkUprobes {
  uint32_t program, target, attach_type, flags;
  uint64_t path, offsets, counters, cookies;
  uint32_t count, multi_flags, pid, padding;
};

int link_program(int program) {
  const uint64_t offset = offset_of_probed();
  LinkUprobes request{};
  request.program = static_cast<uint32_t>(program);
  request.attach_type = kTraceUprobeMulti;
  request.path = reinterpret_cast<uintptr_t>("/proc/self/exe");
  request.offsets = reinterpret_cast<uintptr_t>(&offset);
  request.count = 1;
  request.pid = static_cast<uint32_t>(getpid());
  return static_cast<int>(bpf(BPF_LINK_CREATE, &request, sizeof request));
}

// A process that waits to be killed.
class Sleeper {
 public:
  Sleeper() : pid_(fork()) {
    while (pid_ == 0) pause();
  }
  ~Sleeper() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

int open_breakpoint(pid_t pid) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_BREAKPOINT;
  attributes.bp_type = HW_BREAKPOINT_X;
  attributes.bp_addr = reinterpret_cast<uintptr_t>(&probed);
  attributes.bp_len = sizeof(long);
  attributes.exclude_kernel = attributes.exclude_hv = attributes.disabled = 1;
  return static_cast<int>(syscall(SYS_perf_event_open, &attributes, pid, -1, -1, 0UL));
}

// The error of seizing a process that is no child, as dvm does with -p; 0: none.
int error_of_seizing(pid_t pid) {
  const pid_t tracer = fork();
  if (tracer == 0) _exit(ptrace(PTRACE_SEIZE, pid, nullptr, nullptr) == 0 ? 0 : errno);
  int status = 0;
  waitpid(tracer, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

}  // namespace

std::string why_no_uprobes() {
  for (const std::string& reason : {missing_capability(), old_kernel()})
    if (!reason.empty()) return reason;
  const int program = load_program();
  if (program < 0) return refusal("a BPF program that does nothing", errno);
  const int link = link_program(program);
  const int error = errno;
  close(program);
  if (link < 0) return refusal("a uprobe with that program", error);
  close(link);
  return "";
}

std::string why_no_breakpoints() {
  const Sleeper target;
  const int event = open_breakpoint(target.pid());
  if (event < 0) {
    const int error = errno;
    return refusal("a breakpoint", error);
  }
  close(event);
  return refusal("PTRACE_SEIZE", error_of_seizing(target.pid()));
}

}  // namespace dvm::test
