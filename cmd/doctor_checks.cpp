// Each check tries the thing itself where that is harmless, and reads the setting that decides it otherwise.

#include "cmd/doctor_checks.h"

#include <fmt/format.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "common/file_descriptor.h"
#include "dvm/vm/engine.h"
#include "runtime/instrument/uprobe/bpf_support.h"
#include "runtime/process/proc_files.h"

namespace dvm::cmd {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNewerKernel = "sudo apt-get install -t bookworm-backports linux-image-amd64";

std::string read_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// Nothing: there is no such file, so nothing forbids.
long read_number(const char* path, long otherwise) {
  const std::string line = read_line(path);
  return line.empty() ? otherwise : std::strtol(line.c_str(), nullptr, 10);
}

bool is_before(unsigned major, unsigned minor) {
  utsname name{};
  uname(&name);
  unsigned have_major = 0, have_minor = 0;
  std::sscanf(name.release, "%u.%u", &have_major, &have_minor);
  return have_major < major || (have_major == major && have_minor < minor);
}

bool has_capability(int number) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("CapEff:")) return (std::strtoull(line.c_str() + 7, nullptr, 16) >> number & 1) != 0;
  return false;
}

// Says how dvm gets capabilities, such as "bpf". Root without them is root of a container, where setcap has no effect.
std::string give_capabilities(const std::vector<std::string>& words) {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (geteuid() == 0) return fmt::format("docker run --cap-add={} ...", fmt::join(words, " --cap-add="));
  return fmt::format("sudo setcap cap_{}+ep {}", fmt::join(words, ",cap_"), error ? "dvm" : program.string());
}

std::string give_tracing() { return give_capabilities({"bpf", "perfmon"}); }

// "kernel.kptr_restrict is 2"; "not set" where the kernel has no such setting.
std::string setting(const char* name, const char* path) {
  const std::string value = read_line(path);
  return fmt::format("{} is {}", name, value.empty() ? "not set" : value);
}

constexpr const char* kParanoid = "/proc/sys/kernel/perf_event_paranoid";
constexpr const char* kScope = "/proc/sys/kernel/yama/ptrace_scope";
constexpr const char* kRestrict = "/proc/sys/kernel/kptr_restrict";

std::string paranoid_setting() { return setting("kernel.perf_event_paranoid", kParanoid); }
std::string scope_setting() { return setting("kernel.yama.ptrace_scope", kScope); }
std::string restrict_setting() { return setting("kernel.kptr_restrict", kRestrict); }

Finding refused(const char* what, int error) {
  if (error == EPERM || error == EACCES) return {fmt::format("{}: {}", what, std::strerror(error)), give_tracing(), ""};
  return {fmt::format("{}: {}", what, std::strerror(error)), is_before(6, 6) ? kNewerKernel : "", ""};
}

Finding check_kernel() {
  utsname name{};
  uname(&name);
  if (std::strcmp(name.machine, "x86_64") != 0) return {fmt::format("the machine is {}, not x86_64", name.machine), "", ""};
  if (is_before(6, 6)) return {fmt::format("Linux {} has no uprobe_multi", name.release), kNewerKernel, ""};
  return {"", "", fmt::format("Linux {}", name.release)};
}

Finding check_capabilities() {
  std::string missing;
  for (const auto& [number, name] : {std::pair{CAP_BPF, "CAP_BPF"}, {CAP_PERFMON, "CAP_PERFMON"}})
    if (!has_capability(number)) missing += fmt::format("{}{}", missing.empty() ? "" : " and ", name);
  if (missing.empty()) return {"", "", geteuid() == 0 ? "root" : "CAP_BPF, CAP_PERFMON"};
  return {fmt::format("{} missing", missing), give_tracing(), ""};
}

Finding check_proc() {
  const Status there = runtime::check_proc();
  return there ? Finding{} : Finding{there.error().message, "", ""};
}

Finding check_bpf() {
  const int error = runtime::try_bpf_program();
  return error == 0 ? Finding{} : refused("the kernel loads no BPF program", error);
}

Finding check_uprobe_multi() {
  const int error = runtime::try_uprobe_multi();
  return error == 0 ? Finding{} : refused("the kernel refuses links of uprobe_multi", error);
}

Finding check_tracepoints() {
  for (const char* name : {"sched_switch", "sys_enter"})
    if (const int error = runtime::try_tracepoint(name); error != 0)
      return refused(fmt::format("tracepoint {}", name).c_str(), error);
  return {};
}

long open_event(perf_event_attr attributes, pid_t pid, int cpu) {
  attributes.size = sizeof attributes;
  attributes.disabled = 1;
  return syscall(SYS_perf_event_open, &attributes, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

Finding check_profile() {
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_CPU_CLOCK;
  attributes.sample_period = 1'000'000;
  const Opened event(open_event(attributes, -1, 0));
  return event.file ? Finding{} : refused("no timer on CPU 0", event.error);
}

Finding check_lockdown() {
  const std::string state = read_line("/sys/kernel/security/lockdown");
  if (state.find("[confidentiality]") == std::string::npos) return {};
  return {"lockdown=confidentiality forbids BPF to read memory", "boot with lockdown=integrity, or without Secure Boot", ""};
}

Finding check_memlock() {
  constexpr rlim_t kEnough = 64 << 20;
  rlimit limit{};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  if (!is_before(5, 11) || limit.rlim_cur >= kEnough) return {};
  return {fmt::format("only {} KB may be locked", limit.rlim_cur >> 10), "ulimit -l unlimited", ""};
}

Finding check_breakpoints() {
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_BREAKPOINT;
  attributes.bp_type = 4;  // HW_BREAKPOINT_X
  attributes.bp_addr = reinterpret_cast<uint64_t>(&check_breakpoints);
  attributes.bp_len = sizeof(long);
  attributes.exclude_kernel = attributes.exclude_hv = 1;
  const Opened event(open_event(attributes, 0, -1));
  if (event.file) return {"", "", paranoid_setting()};
  if (read_number(kParanoid, 0) > 2) return {paranoid_setting(), "sudo sysctl kernel.perf_event_paranoid=2", ""};
  return {fmt::format("no breakpoint: {}", std::strerror(event.error)), "", ""};
}

Finding check_ptrace() {
  const long scope = read_number(kScope, 0);
  if (scope == 0 || (scope < 3 && has_capability(CAP_SYS_PTRACE))) return {"", "", scope_setting()};
  if (scope == 3) return {scope_setting() + ", which lasts until the next boot", "", ""};
  return {scope_setting(), "sudo sysctl kernel.yama.ptrace_scope=0", ""};
}

// An agent attaches to the program of -c as its parent, which kernel.yama.ptrace_scope=1 permits too.
Finding check_agent() {
  const pid_t child = fork();
  if (child == 0) prctl(PR_SET_PDEATHSIG, SIGKILL), pause(), _exit(0);
  if (child < 0) return {fmt::format("no child process: {}", std::strerror(errno)), "", ""};
  const int error = ptrace(PTRACE_SEIZE, child, nullptr, nullptr) == 0 ? 0 : errno;
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  if (error == 0) return {};
  const bool is_forbidden = read_number(kScope, 0) == 2;
  return {fmt::format("no ptrace of a child: {}", std::strerror(error)),
          is_forbidden ? "sudo sysctl kernel.yama.ptrace_scope=1" : "", ""};
}

bool shows_addresses() {
  std::ifstream file("/proc/kallsyms");
  for (std::string line; std::getline(file, line);)
    if (std::strtoull(line.c_str(), nullptr, 16) != 0) return true;
  return false;
}

Finding check_kallsyms() {
  if (read_line("/proc/kallsyms").empty()) return {"/proc/kallsyms is missing or empty", "", ""};
  if (shows_addresses()) return {"", "", restrict_setting()};
  if (read_number(kRestrict, 0) > 1)
    return {fmt::format("addresses are hidden: {}", restrict_setting()), "sudo sysctl kernel.kptr_restrict=1", ""};
  return {"addresses are hidden from users without CAP_SYSLOG", give_capabilities({"bpf", "perfmon", "syslog"}), ""};
}

// Debian keeps separate debug files by build id.
Finding check_debug_info() {
  std::error_code error;
  const fs::path folder = "/usr/lib/debug/.build-id";
  if (fs::is_directory(folder, error) && !fs::is_empty(folder, error)) return {"", "", folder.string()};
  return {"no separate debug files are installed", "sudo apt-get install libc6-dbg", ""};
}

#ifdef DVM_WITHOUT_LLVM
constexpr const char* kGetLlvm = "build dvm again after: sudo apt-get install llvm-19-dev libzstd-dev";
#else
constexpr const char* kGetLlvm = "sudo apt-get install dvm-llvm";
#endif

Finding check_llvm() {
  for (const vm::Engine& engine : vm::kEngines)
    if (engine.name == "llvm")
      if (const std::string problem = engine.problem(); !problem.empty())
        return {problem.substr(0, problem.find('\n')), kGetLlvm, ""};
  return {};
}

Finding check_preprocessor() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (access((folder + "/cpp").c_str(), X_OK) == 0) return {"", "", folder + "/cpp"};
  return {"cpp is not in PATH", "sudo apt-get install cpp", ""};
}

}  // namespace

const std::vector<DoctorCheck>& doctor_checks() {
  static const std::vector<DoctorCheck> kChecks = {
#define DVM_CHECK(name, needed, function, text) {#name, needed, function, text},
#include "cmd/doctor_checks.def"
  };
  return kChecks;
}

}  // namespace dvm::cmd
