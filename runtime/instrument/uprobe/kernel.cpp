// bpf(2) and perf_event_open(2). Tested by tests/unit/instrument/uprobe_test.cpp.
#include "runtime/instrument/uprobe/kernel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "common/descriptor_room.h"

namespace dvm::runtime {
namespace {

// Newer than the headers that this may be built with.
constexpr auto kTraceUprobeMulti = static_cast<bpf_attach_type>(48);
constexpr uint32_t kUprobeMultiReturn = 1;
constexpr int kErrorNotSupported = 524;  // ENOTSUPP, which the kernel lets out and no header has

struct LinkCreate {
  uint32_t program;
  uint32_t target;
  uint32_t attach_type;
  uint32_t flags;
  uint64_t path;
  uint64_t offsets;
  uint64_t reference_counters;
  uint64_t cookies;
  uint32_t count;
  uint32_t multi_flags;
  uint32_t pid;
  uint32_t padding;
};
static_assert(sizeof(LinkCreate) == 64);

uint64_t address_of(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

bool kernel_is_locked_down() {
  std::ifstream file("/sys/kernel/security/lockdown");
  std::string modes;
  return std::getline(file, modes) && modes.find("[confidentiality]") != std::string::npos;
}

std::string own_program() {
  std::array<char, 4096> path;
  const ssize_t size = readlink("/proc/self/exe", path.data(), path.size());
  return size > 0 ? std::string(path.data(), static_cast<size_t>(size)) : "dvm";
}

std::string privileges_missing() {
  if (kernel_is_locked_down()) return "the kernel is locked down (confidentiality), which forbids tracing with BPF";
  if (geteuid() == 0) return "needs CAP_BPF and CAP_PERFMON, which this container or sandbox withholds from root";
  return fmt::format(
      "needs root, or CAP_BPF and CAP_PERFMON, and CAP_SYS_PTRACE too for processes of other users; run with sudo, or once: sudo "
      "setcap cap_bpf,cap_perfmon+ep {}",
      own_program());
}

// The verifier's last message: the reason of its refusal.
std::string last_words(std::string_view log) {
  log = log.substr(0, log.find('\0'));
  std::string_view last;
  while (!log.empty()) {
    const std::string_view line = log.substr(0, log.find('\n'));
    log.remove_prefix(std::min(line.size() + 1, log.size()));
    const bool is_statistic =
        line.starts_with("processed ") || line.starts_with("verification time") || line.starts_with("stack depth");
    if (!line.empty() && !is_statistic) last = line;
  }
  return std::string(last);
}

// Only a program of a tracepoint that knows its types is handed threads that it may ask for their stacks.
bpf_prog_type program_type(const RecordLayout& layout) {
  const SiteKind kind = layout.shape.kind;
  if (layout.takes_stack_of_other()) return BPF_PROG_TYPE_TRACING;
  if (is_in_kernel(kind)) return BPF_PROG_TYPE_RAW_TRACEPOINT;
  return kind == SiteKind::timer ? BPF_PROG_TYPE_PERF_EVENT : BPF_PROG_TYPE_KPROBE;
}

}  // namespace

std::string kernel_reason(int error_number) {
  switch (error_number) {
    case EPERM:
      return privileges_missing();
    case EACCES:  // files and the verifier refuse with it too
      return may_load_programs() && !kernel_is_locked_down() ? std::strerror(EACCES) : privileges_missing();
    case ENOSYS:
      return "this kernel was built without BPF";
    case kErrorNotSupported:
      return "the kernel cannot put a probe on this instruction";
    case E2BIG:
    case EINVAL:
      if (lacks_uprobe_multi(kernel_release()))
        return fmt::format("Linux {} is too old: 6.6 or later is needed (multi-uprobe links)", kernel_release());
      return "the kernel rejects it as invalid";
    case ESRCH:
      return "the process does not exist any more";
    default:
      return std::strerror(error_number);
  }
}

std::string kernel_release() {
  utsname names;
  return uname(&names) == 0 ? names.release : "of unknown version";
}

bool lacks_uprobe_multi(const std::string& release) {
  unsigned major = 0, minor = 0;
  return std::sscanf(release.c_str(), "%u.%u", &major, &minor) == 2 && (major < 6 || (major == 6 && minor < 6));
}

Error kernel_error(std::string_view what, int error_number) {
  return Error{fmt::format("{}: {}", what, kernel_reason(error_number))};
}

Result<FileDescriptor> create_ring_map(size_t bytes) {
  const int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "dvm_ring", 0, 0, static_cast<uint32_t>(bytes), nullptr);
  if (fd < 0) return kernel_error("cannot make a BPF ring buffer", errno);
  return FileDescriptor(fd);
}

// Those that are used least make room for others, as those of threads that have ended.
Result<FileDescriptor> create_kept_map() {
  constexpr uint32_t kMostWords = 1 << 16;
  const int fd = bpf_map_create(BPF_MAP_TYPE_LRU_HASH, "dvm_kept", sizeof(uint64_t), sizeof(uint64_t), kMostWords, nullptr);
  if (fd < 0) return kernel_error("cannot create a map of kept words", errno);
  return FileDescriptor(fd);
}

Result<FileDescriptor> create_shared_map(const char* name, uint32_t bytes) {
  bpf_map_create_opts options{};
  options.sz = sizeof options;
  options.map_flags = BPF_F_MMAPABLE;
  const int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, name, sizeof(uint32_t), bytes, 1, &options);
  if (fd < 0) return kernel_error("cannot make a BPF counter", errno);
  return FileDescriptor(fd);
}

// A program that is refused is loaded again for the verifier's reason.
Result<FileDescriptor> load_program(const ProgramKind& kind, std::span<const bpf_insn> code) {
  make_descriptor_room();
  bpf_prog_load_opts options{};
  options.sz = sizeof options;
  options.expected_attach_type = kind.for_uprobes ? kTraceUprobeMulti : bpf_attach_type{};
  if (kind.type == BPF_PROG_TYPE_TRACING) {
    const int id = libbpf_find_vmlinux_btf_id(kind.tracepoint, BPF_TRACE_RAW_TP);
    if (id <= 0)
      return Error{fmt::format("this kernel does not describe the tracepoint {} (/sys/kernel/btf/vmlinux)", kind.tracepoint)};
    options.expected_attach_type = BPF_TRACE_RAW_TP;
    options.attach_btf_id = static_cast<uint32_t>(id);
  }
  options.prog_flags = kind.sleeps ? BPF_F_SLEEPABLE : 0;
  const auto load = [&] { return bpf_prog_load(kind.type, kind.name, "GPL", code.data(), code.size(), &options); };
  if (FileDescriptor loaded(load()); loaded) return loaded;
  const int error_number = errno;
  std::string log(size_t{64} << 10, '\0');
  options.log_buf = log.data(), options.log_size = static_cast<uint32_t>(log.size()), options.log_level = 1;
  if (may_load_programs()) (void)FileDescriptor(load());
  const std::string why = last_words(log);
  if (why.empty()) return kernel_error("cannot load a BPF program", error_number);
  return Error{fmt::format("cannot load a BPF program: the kernel's verifier refuses it: {}", why)};
}

Result<FileDescriptor> load_sleepable(std::span<const bpf_insn> code, const char* name) {
  return load_program({BPF_PROG_TYPE_KPROBE, name, true, true}, code);
}

Result<FileDescriptor> load_program(std::span<const bpf_insn> code, const RecordLayout& layout, const char* tracepoint) {
  const bpf_prog_type type = program_type(layout);
  return load_program({type, "dvm_capture", type == BPF_PROG_TYPE_KPROBE, must_sleep(layout), tracepoint}, code);
}

Result<FileDescriptor> link_tracepoint(const char* tracepoint, int program, const RecordLayout& layout) {
  const bool is_known = layout.takes_stack_of_other();  // to the program
  FileDescriptor link(bpf_raw_tracepoint_open(is_known ? nullptr : tracepoint, program));
  if (!link) return kernel_error(fmt::format("cannot attach to the tracepoint {}", tracepoint), errno);
  return link;
}

bool may_load_programs() {
  constexpr std::array kNothing = {bpf_insn{BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0}, bpf_insn{BPF_JMP | BPF_EXIT, 0, 0, 0, 0}};
  const FileDescriptor program(
      bpf_prog_load(BPF_PROG_TYPE_KPROBE, "dvm_may_load", "GPL", kNothing.data(), kNothing.size(), nullptr));
  return program || (errno != EPERM && errno != EACCES);
}

Status run_program(std::span<const bpf_insn> code, const char* name) {
  const auto program = load_program({BPF_PROG_TYPE_RAW_TRACEPOINT, name}, code);
  if (!program) return program.error();
  bpf_test_run_opts options{};
  options.sz = sizeof options;
  if (bpf_prog_test_run_opts(program->get(), &options) != 0) return kernel_error("cannot run a BPF program", errno);
  return {};
}

LinkResult link_uprobes(const UprobeBatch& batch) {
  LinkCreate request{};
  request.program = static_cast<uint32_t>(batch.program);
  request.attach_type = kTraceUprobeMulti;
  request.path = address_of(batch.path);
  request.offsets = address_of(batch.offsets.data());
  request.cookies = address_of(batch.cookies.data());
  request.reference_counters = address_of(batch.counters.data());
  request.count = static_cast<uint32_t>(batch.offsets.size());
  request.multi_flags = batch.is_return ? kUprobeMultiReturn : 0;
  request.pid = static_cast<uint32_t>(batch.pid);
  const long fd = syscall(SYS_bpf, BPF_LINK_CREATE, &request, sizeof request);
  if (fd < 0) return {FileDescriptor(), errno};
  return {FileDescriptor(static_cast<int>(fd)), 0};
}

Result<ClockEvent> link_cpu_clock(int cpu, uint64_t period_ns, int program, uint64_t cookie) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_CPU_CLOCK;
  attributes.sample_period = period_ns;
  ClockEvent clock;
  clock.event = FileDescriptor(
      static_cast<int>(syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, static_cast<unsigned long>(PERF_FLAG_FD_CLOEXEC))));
  if (!clock.event) return kernel_error(fmt::format("cannot open the clock event of CPU {}", cpu), errno);
  bpf_link_create_opts options{};
  options.sz = sizeof options;
  options.perf_event.bpf_cookie = cookie;
  clock.link = FileDescriptor(bpf_link_create(program, clock.event.get(), BPF_PERF_EVENT, &options));
  if (!clock.link) return kernel_error(fmt::format("cannot attach to the clock event of CPU {}", cpu), errno);
  return clock;
}

}  // namespace dvm::runtime
