// The program at sched_process_exec. Tested by tests/runtime/scenarios/test_late.py.
#include "runtime/instrument/uprobe/exec_watch.h"

#include <bpf/bpf.h>

#include <cerrno>
#include <vector>

#include "runtime/instrument/uprobe/kernel_emitter.h"
#include "runtime/instrument/uprobe/pid_namespace.h"

namespace dvm::runtime {
namespace {

// The tracepoint passes the task, and the id that the thread had before.
class ExecProgram : KernelEmitter {
 public:
  ExecProgram() : KernelEmitter(own_pid_namespace()) {}

  std::vector<bpf_insn> make(int map, pid_t pid) {
    load(r8, r1, 8);
    call(BPF_FUNC_get_current_pid_tgid);
    shift_right(r0, 32);
    const Label is_first = jump_if(BPF_JEQ, r0, r8);
    this_thread();
    shift_right(r0, 32);
    const Label is_other = jump_if(BPF_JNE, r0, pid);
    load_map_value(r1, map, 0);
    mov(r2, 1);
    atomic_add(r1, 0, r2);
    land(is_first);
    land(is_other);
    mov(r0, 0);
    exit();
    return code();
  }
};

}  // namespace

Result<std::unique_ptr<ExecWatch>> ExecWatch::make(pid_t pid) {
  auto watch = std::make_unique<ExecWatch>();
  auto count = SharedMap::make("dvm_execs", sizeof(uint64_t));
  if (!count) return count.error();
  watch->count_ = std::move(*count);
  auto program = load_program({BPF_PROG_TYPE_RAW_TRACEPOINT, "dvm_execs"}, ExecProgram().make(watch->count_.fd(), pid));
  if (!program) return program.error();
  watch->link_ = FileDescriptor(bpf_raw_tracepoint_open("sched_process_exec", program->get()));
  if (!watch->link_) return kernel_error("cannot notice programs that threads execute", errno);
  watch->count_.close();
  return watch;
}

bool ExecWatch::has_lost_uprobes() const { return count_.word() != 0; }

}  // namespace dvm::runtime
