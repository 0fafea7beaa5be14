// The program at the birth of threads. Covered by tests/runtime/scenarios/test_numbers.py.
#include "runtime/instrument/uprobe/thread_watch.h"

#include <bpf/bpf.h>

#include <cerrno>

#include "runtime/instrument/uprobe/change_emitter.h"
#include "runtime/instrument/uprobe/kernel_types.h"
#include "runtime/instrument/uprobe/pid_namespace.h"
#include "runtime/instrument/uprobe/pid_numbers.h"

namespace dvm::runtime {
namespace {

constexpr const char* kBirth = "sched_process_fork";

// Registers: r6 the context, r7 the process, r8 the thread. The record lies below fp-8, once both are known.
class ThreadProgram : ChangeEmitter {
 public:
  ThreadProgram() : ChangeEmitter(own_pid_namespace()) {}

  std::vector<bpf_insn> make(int ring, const Operand& process, const Operand& thread) {
    mov(r6, r1);
    kernel_operand(process);
    mov(r7, r1);
    kernel_operand(thread);
    mov(r8, r1);
    tell(ProcessChange::What::renumbered, ring, -8 - kRecordBytes);
    end();
    return code();
  }
};

Result<std::vector<bpf_insn>> make_program(int ring) {
  auto types = KernelTypes::load();
  if (!types) return types.error();
  const bool is_initial = own_pid_namespace().is_initial();
  const auto process = resolve_number(is_initial, **types, kBirth, {Operand::handed(1), "tgid"});
  if (!process) return process.error();
  const auto thread = resolve_number(is_initial, **types, kBirth, {Operand::handed(1), "pid"});
  if (!thread) return thread.error();
  return ThreadProgram().make(ring, *process, *thread);
}

}  // namespace

Result<std::unique_ptr<ThreadWatch>> ThreadWatch::make(const ProgramMaps& maps) {
  const auto code = make_program(maps.ring);
  if (!code) return code.error();
  auto program = load_program({BPF_PROG_TYPE_RAW_TRACEPOINT, "dvm_threads"}, *code);
  if (!program) return program.error();
  auto watch = std::make_unique<ThreadWatch>();
  watch->program_ = std::move(*program);
  watch->link_ = FileDescriptor(bpf_raw_tracepoint_open(kBirth, watch->program_.get()));
  if (!watch->link_) return kernel_error("cannot notice new threads", errno);
  return watch;
}

}  // namespace dvm::runtime
