// Programs at the birth, the change and the end of processes. Covered by tests/runtime/scenarios/test_forks.py.
#include "runtime/instrument/uprobe/followed.h"

#include <bpf/bpf.h>
#include <unistd.h>

#include <cerrno>

#include "runtime/instrument/uprobe/change_emitter.h"
#include "runtime/instrument/uprobe/kernel_types.h"
#include "runtime/instrument/uprobe/pid_namespace.h"
#include "runtime/instrument/uprobe/pid_numbers.h"

namespace dvm::runtime {
namespace {

constexpr uint32_t kMostProcesses = 16384;

// The fields that programs read of a task_struct passed by a tracepoint.
struct TaskWords {
  Operand child;    // sched_process_fork: the process that the new thread belongs to
  Operand number;   // that process, as dvm knows it; 0: dvm learns of it when it fires
  Operand threads;  // sched_process_exit: threads of the process that have not ended
};

Result<TaskWords> find_words() {
  auto types = KernelTypes::load();
  if (!types) return types.error();
  auto child = (*types)->resolve("sched_process_fork", {Operand::handed(1), "tgid"});
  if (!child) return child.error();
  const PidNamespace pids = own_pid_namespace();
  auto number = resolve_number(pids.is_initial(), **types, "sched_process_fork", {Operand::handed(1), "tgid"});
  if (!number) return number.error();
  auto threads = (*types)->resolve("sched_process_exit", {Operand::handed(0), "signal.live.counter"});
  if (!threads) return threads.error();
  return TaskWords{*child, pids.knows_others() ? *number : Operand::constant(0), *threads};
}

// Registers: r6 the context, r7 the child's root and then the process, r8 the child. Where the stack holds what: fp-8 a key,
// fp-16 the child's key, from fp-32 on what the map has of it, from fp-56 on a record.
class ChangeProgram : ChangeEmitter {
 public:
  ChangeProgram(const ProgramMaps& maps, const TaskWords& words)
      : ChangeEmitter(own_pid_namespace()), maps_(maps), words_(words) {
    free_at_ = kRecord - 24;
  }

  std::vector<bpf_insn> at_fork() {
    begin();
    load(r7, r0, 0);
    kernel_operand(words_.child);
    mov(r8, r1);
    call(BPF_FUNC_get_current_pid_tgid);
    shift_right(r0, 32);
    const Label is_thread = jump_if(BPF_JEQ, r0, r8);
    add_child();
    const Label is_full = jump_if(BPF_JNE, r0, 0);
    kernel_operand(words_.number);
    mov(r8, r1);
    tell_of_this(ProcessChange::What::forked);
    land(is_thread);
    end();
    land(is_full);
    count_drop();
    return code();
  }

  std::vector<bpf_insn> at_exec() {
    begin();
    mov(r8, 0);
    tell_of_this(ProcessChange::What::execed);
    end();
    return code();
  }

  std::vector<bpf_insn> at_exit() {
    mov(r6, r1);
    kernel_operand(words_.threads);
    const Label is_left = jump_if(BPF_JNE, r1, 0);
    find_followed(maps_.followed);
    const Label is_other = jump_if(BPF_JEQ, r0, 0);
    load_map(r1, maps_.followed);
    mov(r2, fp);
    plus(r2, -8);
    call(BPF_FUNC_map_delete_elem);
    land(is_left);
    land(is_other);
    end();
    return code();
  }

 private:
  static constexpr int16_t kKey = -16, kValue = -32, kRecord = kValue - kRecordBytes;

  void begin() {
    mov(r6, r1);
    find_followed(maps_.followed);
    const Label is_followed = jump_if(BPF_JNE, r0, 0);
    end();
    land(is_followed);
  }

  // r0: not 0 if there is no room.
  void add_child() {
    store(fp, kKey, r8);
    store(fp, kValue, r7);
    store(fp, kValue + 8, 0);
    load_map(r1, maps_.followed);
    mov(r2, fp);
    plus(r2, kKey);
    mov(r3, fp);
    plus(r3, kValue);
    mov(r4, 0);
    call(BPF_FUNC_map_update_elem);
  }

  void tell_of_this(ProcessChange::What what) {
    this_thread();
    shift_right(r0, 32);
    mov(r7, r0);
    tell(what, maps_.ring, kRecord);
  }

  void count_drop() {
    load_map_value(r1, maps_.drops, 0);
    mov(r2, 1);
    atomic_add(r1, 0, r2);
    end();
  }

  ProgramMaps maps_;
  TaskWords words_;
};

}  // namespace

Result<std::unique_ptr<Followed>> Followed::make(ProgramMaps maps) {
  const auto words = find_words();
  if (!words) return words.error();
  std::unique_ptr<Followed> followed(new Followed());
  const int fd =
      bpf_map_create(BPF_MAP_TYPE_HASH, "dvm_followed", sizeof(uint64_t), sizeof(FollowedProcess), kMostProcesses, nullptr);
  if (fd < 0) return kernel_error("cannot make a BPF map of processes", errno);
  followed->map_ = FileDescriptor(fd);
  maps.followed = fd;
  const auto make = [&] { return ChangeProgram(maps, *words); };
  if (Status status = followed->attach("sched_process_exit", make().at_exit()); !status) return status.error();
  if (Status status = followed->attach("sched_process_exec", make().at_exec()); !status) return status.error();
  if (Status status = followed->attach("sched_process_fork", make().at_fork()); !status) return status.error();
  return followed;
}

Status Followed::attach(const char* tracepoint, const std::vector<bpf_insn>& code) {
  auto program = load_program({BPF_PROG_TYPE_RAW_TRACEPOINT, "dvm_followed"}, code);
  if (!program) return program.error();
  programs_.push_back(*std::move(program));
  const int link = bpf_raw_tracepoint_open(tracepoint, programs_.back().get());
  if (link < 0) return kernel_error(std::string("cannot follow forks by ") + tracepoint, errno);
  links_.emplace_back(link);
  return {};
}

Status Followed::add(int32_t pid) {
  const auto number = static_cast<uint64_t>(pid);
  const uint64_t key = own_pid_namespace().inode ? kSeenFromInside | number : number;
  const FollowedProcess process{number, 0};
  if (bpf_map_update_elem(map_.get(), &key, &process, BPF_ANY) != 0)
    return kernel_error("cannot fill a BPF map of processes", errno);
  roots_.push_back(key);
  return {};
}

bool Followed::has_descendants() {
  for (const uint64_t key : roots_) bpf_map_delete_elem(map_.get(), &key);
  roots_.clear();
  uint64_t any = 0;
  return bpf_map_get_next_key(map_.get(), nullptr, &any) == 0;
}

}  // namespace dvm::runtime
