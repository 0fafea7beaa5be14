// The program at the birth or the end of threads. Covered by tests/runtime/scenarios/test_numbers.py.
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
constexpr const char* kEnd = "sched_process_exit";

// Registers: r6 the context, r7 the process, r8 the thread. The record lies below fp-8, once both are known.
class ThreadProgram : ChangeEmitter {
 public:
  ThreadProgram() : ChangeEmitter(own_pid_namespace()) {}

  std::vector<bpf_insn> at_birth(int ring, const Operand& process, const Operand& thread) {
    mov(r6, r1);
    kernel_operand(process);
    mov(r7, r1);
    kernel_operand(thread);
    mov(r8, r1);
    return told(ring);
  }

  std::vector<bpf_insn> at_end(int ring) {
    this_thread();
    mov(r7, r0);
    shift_right(r7, 32);
    mov(r8, r0);
    shift_left(r8, 32);
    shift_right(r8, 32);
    return told(ring);
  }

 private:
  std::vector<bpf_insn> told(int ring) {
    tell(ProcessChange::What::renumbered, ring, -8 - kRecordBytes);
    end();
    return code();
  }
};

Result<std::vector<bpf_insn>> program_at_birth(int ring, bool is_initial) {
  auto types = KernelTypes::load();
  if (!types) return types.error();
  const auto process = resolve_number(is_initial, **types, kBirth, {Operand::handed(1), "tgid"});
  if (!process) return process.error();
  const auto thread = resolve_number(is_initial, **types, kBirth, {Operand::handed(1), "pid"});
  if (!thread) return thread.error();
  return ThreadProgram().at_birth(ring, *process, *thread);
}

}  // namespace

Result<std::unique_ptr<ThreadWatch>> ThreadWatch::make(const ProgramMaps& maps) {
  const PidNamespace pids = own_pid_namespace();
  const bool sees_births = pids.knows_others();
  const auto code = sees_births ? program_at_birth(maps.ring, pids.is_initial()) : ThreadProgram().at_end(maps.ring);
  if (!code) return code.error();
  auto program = load_program({BPF_PROG_TYPE_RAW_TRACEPOINT, "dvm_threads"}, *code);
  if (!program) return program.error();
  auto watch = std::make_unique<ThreadWatch>();
  watch->program_ = std::move(*program);
  watch->link_ = FileDescriptor(bpf_raw_tracepoint_open(sees_births ? kBirth : kEnd, watch->program_.get()));
  if (!watch->link_) return kernel_error("cannot notice new threads", errno);
  return watch;
}

}  // namespace dvm::runtime
