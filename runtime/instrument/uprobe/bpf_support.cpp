// Covered by tests/runtime/scenarios/test_doctor.py.
#include "runtime/instrument/uprobe/bpf_support.h"

#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <iterator>

#include "common/file_descriptor.h"

namespace dvm::runtime {
namespace {

// As <linux/bpf.h> of Linux 6.6 has it; Debian 12's is older.
constexpr uint32_t kTraceUprobeMulti = 48;

long load_nothing(bpf_prog_type type, uint32_t attach) {
  bpf_insn code[] = {{BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0}, {BPF_JMP | BPF_EXIT, 0, 0, 0, 0}};
  bpf_attr attributes{};
  attributes.prog_type = type;
  attributes.insns = reinterpret_cast<uint64_t>(code);
  attributes.insn_cnt = std::size(code);
  attributes.license = reinterpret_cast<uint64_t>("GPL");
  attributes.expected_attach_type = static_cast<bpf_attach_type>(attach);
  return syscall(SYS_bpf, BPF_PROG_LOAD, &attributes, sizeof attributes);
}

// The part of bpf_attr that makes a link of uprobe_multi.
struct UprobeMultiLink {
  uint32_t program = 0, target = 0, attach = kTraceUprobeMulti, flags = 0;
  uint64_t path = 0, offsets = 0, counts = 0, cookies = 0;
  uint32_t count = 0, multi_flags = 0, pid = 0, unused = 0;
};

}  // namespace

int try_bpf_program() { return Opened(load_nothing(BPF_PROG_TYPE_KPROBE, 0)).error; }

// As libbpf asks: a kernel that has these links refuses "/" with EBADF, since it is not a regular file.
int try_uprobe_multi() {
  const Opened program(load_nothing(BPF_PROG_TYPE_KPROBE, kTraceUprobeMulti));
  if (program.error != 0) return program.error;
  const uint64_t offset = 0;
  UprobeMultiLink link;
  link.program = static_cast<uint32_t>(program.file.get());
  link.path = reinterpret_cast<uint64_t>("/");
  link.offsets = reinterpret_cast<uint64_t>(&offset);
  link.count = 1;
  const Opened made(syscall(SYS_bpf, BPF_LINK_CREATE, &link, sizeof link));
  return made.error == EBADF ? 0 : made.error;
}

int try_tracepoint(const char* name) {
  const Opened program(load_nothing(BPF_PROG_TYPE_RAW_TRACEPOINT, 0));
  if (program.error != 0) return program.error;
  bpf_attr attributes{};
  attributes.raw_tracepoint.name = reinterpret_cast<uint64_t>(name);
  attributes.raw_tracepoint.prog_fd = static_cast<uint32_t>(program.file.get());
  return Opened(syscall(SYS_bpf, BPF_RAW_TRACEPOINT_OPEN, &attributes, sizeof attributes)).error;
}

}  // namespace dvm::runtime
