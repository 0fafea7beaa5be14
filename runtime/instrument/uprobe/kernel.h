#pragma once
// The system calls that the uprobe instrument makes, and their errors in plain words.

#include <linux/bpf.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "common/file_descriptor.h"
#include "dvm/common/result.h"
#include "runtime/instrument/uprobe/capture_program.h"

namespace dvm::runtime {

// The meaning of an errno, with the remedy if there is one: "needs root or CAP_BPF and CAP_PERFMON; run with sudo".
std::string kernel_reason(int error_number);
// "cannot load ...: " and that reason.
Error kernel_error(std::string_view what, int error_number);

// True if programs may be loaded, which needs capabilities.
bool may_load_programs();

// "6.1.0-18-amd64", and whether such a kernel is too old to put many uprobes into one link.
std::string kernel_release();
bool lacks_uprobe_multi(const std::string& release);

Result<FileDescriptor> create_ring_map(size_t bytes);
// Words that firings keep for later ones of their thread.
Result<FileDescriptor> create_kept_map();
// Memory that a program and dvm share, zeros at first.
Result<FileDescriptor> create_shared_map(const char* name, uint32_t bytes);

struct ProgramKind {
  bpf_prog_type type;
  const char* name;
  bool for_uprobes = false;  // of multi-uprobe links
  bool sleeps = false;
  const char* tracepoint = nullptr;  // of BPF_PROG_TYPE_TRACING
};
Result<FileDescriptor> load_program(const ProgramKind& kind, std::span<const bpf_insn> code);
// tracepoint: its name, if it is one.
Result<FileDescriptor> load_program(std::span<const bpf_insn> code, const RecordLayout& layout, const char* tracepoint = nullptr);
// A program for uprobes that may wait for pages of the process.
Result<FileDescriptor> load_sleepable(std::span<const bpf_insn> code, const char* name);
// Attaches a program that was loaded for the tracepoint.
Result<FileDescriptor> link_tracepoint(const char* tracepoint, int program, const RecordLayout& layout);
// Runs a program once, in this thread.
Status run_program(std::span<const bpf_insn> code, const char* name);

// Uprobes of one file in one process, all with the same program. Parallel arrays.
struct UprobeBatch {
  const char* path = nullptr;
  int32_t pid = 0;
  bool is_return = false;
  int program = -1;
  std::span<const uint64_t> offsets;
  std::span<const uint64_t> cookies;
  std::span<const uint64_t> counters;  // offsets of semaphores, 0: none
};

// A link, or the errno: the kernel takes all of a batch or nothing.
struct LinkResult {
  FileDescriptor link;
  int error_number = 0;
};
LinkResult link_uprobes(const UprobeBatch& batch);

// A perf event of one CPU's clock with the program attached; the link and the event must both be kept.
struct ClockEvent {
  FileDescriptor event;
  FileDescriptor link;
};
Result<ClockEvent> link_cpu_clock(int cpu, uint64_t period_ns, int program, uint64_t cookie);

}  // namespace dvm::runtime
