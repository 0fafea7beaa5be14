// The program at the dynamic linker, and its answers. Covered by tests/runtime/scenarios/test_late.py.
#include "runtime/instrument/uprobe/load_watch.h"

#include <asm/ptrace.h>
#include <bpf/bpf.h>
#include <link.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "runtime/instrument/uprobe/followed.h"
#include "runtime/instrument/uprobe/kernel_emitter.h"
#include "runtime/instrument/uprobe/kernel_types.h"
#include "runtime/instrument/uprobe/pid_namespace.h"
#include "runtime/instrument/uprobe/shield.h"

namespace dvm::runtime {
namespace {

constexpr int16_t kArrived = 0, kAnswered = 8, kAddingAt = 16, kTracer = 24, kCallersAt = 32;
constexpr int16_t kWaited = kCallersAt + 8 * LoadWatch::kCallers;
constexpr int32_t kIsAdding = 1, kHasAdded = 2;  // files: the linker of a process. Until it removes some, or adds others

// Places where the kernel keeps the state of a thread.
struct StateLayout {
  int32_t state = 0, flags = 0;  // of a task_struct
};

Result<StateLayout> read_state_layout() {
  auto types = KernelTypes::load();
  if (!types) return types.error();
  StateLayout layout;
  for (const auto& [member, at] : {std::pair("__state", &layout.state), {"flags", &layout.flags}}) {
    const auto operand = (*types)->resolve("", {Operand::handed(kThisThread), member});
    if (!operand) return operand.error();
    *at = static_cast<int32_t>(operand->value);
  }
  return layout;
}

// Parameters of the programs at one dynamic linker.
struct LinkerWatch {
  int map = -1, followed = -1, bell = -1;
  int32_t root = 0;
  int64_t state = 0;  // how far behind the function that of the linker lies
  StateLayout tracer;
};

// Registers: r6 the context, r7 what is shared with dvm, r8 how many calls there have been, r9 where it is kept whether the
// linker adds files (kIsAdding). Its state is read to fp-8.
class WatchProgram : KernelEmitter {
 public:
  explicit WatchProgram(const LinkerWatch& watch) : KernelEmitter(own_pid_namespace()), watch_(watch) {}

  std::vector<bpf_insn> make(bool waits) {
    mov(r6, r1);
    load_map_value(r7, watch_.map, 0);
    mov(r9, r7);
    plus(r9, kAddingAt);
    if (watch_.followed >= 0) only_descendants();
    read_state();
    load(r1, fp, -8);
    const Label is_adding = jump_if(BPF_JEQ, r1, r_debug::RT_ADD), is_deleting = jump_if(BPF_JEQ, r1, r_debug::RT_DELETE);
    load(r1, r9, 0);
    load(r8, r7, kArrived);
    const Label has_arrived = jump_if(BPF_JEQ, r1, kHasAdded), has_added_none = jump_if(BPF_JNE, r1, kIsAdding);
    store(r9, 0, kHasAdded);
    arrive();
    land(has_arrived);
    if (waits) wait();
    land(has_added_none);
    leave();
    land(is_adding);
    store(r9, 0, kIsAdding);
    leave();
    land(is_deleting);
    store(r9, 0, 0);
    leave();
    leave_unwanted();
    return code();
  }

  // Run once, in dvm's thread.
  std::vector<bpf_insn> make_greeting() {
    load_map_value(r6, watch_.map, 0);
    call(BPF_FUNC_get_current_task);
    store(r6, kTracer, r0);
    leave();
    return code();
  }

 private:
  void leave() {
    mov(r0, 0);
    exit();
  }

  void only_descendants() {
    only_followed(watch_.followed, watch_.root);
    mov(r9, r0);
    plus(r9, static_cast<int32_t>(offsetof(FollowedProcess, is_adding)));
  }

  // At fp-8: the begun change of the linker, or else of one of its other namespaces (dlmopen), which glibc 2.35 and later link to
  // each other. 0: there is none, or it cannot be read.
  void read_state() {
    constexpr int kMostNamespaces = 16;
    load(r8, r6, offsetof(pt_regs, rip));
    load_constant(r4, watch_.state - static_cast<int64_t>(offsetof(r_debug, r_state)));
    plus(r8, r4);
    std::vector<Label> ends;
    for (int i = 0; i < kMostNamespaces; i++) {
      read_debug(-8, offsetof(r_debug, r_state), sizeof(int));
      ends.push_back(jump_if(BPF_JNE, r1, r_debug::RT_CONSISTENT));
      read_debug(-16, 0, sizeof(int));
      ends.push_back(jump_if(BPF_JLT, r1, 2));  // versions of the structure without a link
      read_debug(-16, sizeof(r_debug), sizeof(uint64_t));
      ends.push_back(jump_if(BPF_JEQ, r1, 0));
      mov(r8, r1);
    }
    for (const Label end : ends) land(end);
  }

  // A member of the structure at r8, to r1 and the stack. Uses no more of the stack than wait(): with 64 bytes, its loop lasted
  // for as long as there was no answer (Linux 6.18).
  void read_debug(int16_t to, int32_t at, int32_t bytes) {
    store(fp, to, 0);
    mov(r1, fp);
    plus(r1, to);
    mov(r2, bytes);
    mov(r3, r8);
    plus(r3, at);
    call(BPF_FUNC_copy_from_user);
    load(r1, fp, to);
  }

  void arrive() {
    mov(r8, 1);
    atomic_take(r7, kArrived, r8);
    this_thread();
    shift_right(r0, 32);
    mov(r1, r8);
    bits_and(r1, LoadWatch::kCallers - 1);
    shift_left(r1, 3);
    mov(r2, r7);
    plus(r2, r1);
    store(r2, kCallersAt, r0);
    plus(r8, 1);
    ring();
  }

  // The contents do not matter, and a full ring has been heard.
  void ring() {
    store(fp, -16, r8);
    load_map(r1, watch_.bell);
    mov(r2, fp);
    plus(r2, -16);
    mov(r3, 8);
    mov(r4, BPF_RB_FORCE_WAKEUP);
    call(BPF_FUNC_ringbuf_output);
  }

  // Reading memory as if it were that of another process lets dvm run meanwhile, also on the same CPU of a kernel that is not
  // preempted. It locks the memory of this process, for which dvm waits at each uprobe that it takes off, so it is not done at
  // each turn of the loop. r9: when it is done next.
  void wait() {
    constexpr int32_t kPauseNs = 100'000;
    mov(r9, 0);
    const Label again = here();
    load(r1, r7, kAnswered);
    const Label is_answered = jump_if(BPF_JGE, r1, r8), has_waited = may_leave();
    call(BPF_FUNC_ktime_get_ns);
    const Label is_due = jump_if(BPF_JGE, r0, r9);
    jump_back(again);
    land(is_due);
    mov(r9, r0);
    plus(r9, kPauseNs);
    constexpr int32_t kStopped = 0x4 | 0x8, kDead = 0x10 | 0x20 | 0x80, kFrozen = 0x8000, kIsExiting = 0x4;
    const Label is_stopped = jump_if_tracer(watch_.tracer.state, kStopped | kDead | kFrozen);
    const Label is_exiting = jump_if_tracer(watch_.tracer.flags, kIsExiting);
    call(BPF_FUNC_get_current_task_btf);
    mov(r4, r0);
    mov(r1, fp);
    plus(r1, -16);
    mov(r2, 1);
    load(r3, r6, offsetof(pt_regs, rsp));
    mov(r5, 0);
    call(BPF_FUNC_copy_from_user_task);
    jump_back(again);
    for (const Label place : {has_waited, is_stopped}) land(place);
    count_turn();
    for (const Label place : {is_answered, is_exiting}) land(place);
  }

  // The cookie is the number of the turn.
  void count_turn() {
    mov(r1, r6);
    call(BPF_FUNC_get_attach_cookie);
    bits_and(r0, LoadWatch::kTurns - 1);
    shift_left(r0, 3);
    mov(r1, r7);
    plus(r1, r0);
    mov(r2, 1);
    atomic_add(r1, kWaited, r2);
  }

  // If one of these bits is set in that word of dvm's thread.
  Label jump_if_tracer(int32_t at, int32_t bits) {
    store(fp, -16, 0);
    mov(r1, fp);
    plus(r1, -16);
    mov(r2, 4);
    load(r3, r7, kTracer);
    plus(r3, at);
    call(BPF_FUNC_probe_read_kernel);
    load(r1, fp, -16);
    return jump_if(BPF_JSET, r1, bits);
  }

  const LinkerWatch& watch_;
};

}  // namespace

Result<std::unique_ptr<LoadWatch>> LoadWatch::make(const LinkerSite& linker, int followed, int bell, bool may_wait) {
  std::unique_ptr<LoadWatch> watch(new LoadWatch());
  watch->root_ = linker.pid;
  auto map = SharedMap::make("dvm_loads", sizeof(Shared), true);
  if (!map) return map.error();
  watch->map_ = std::move(*map);
  const auto layout = read_state_layout();
  if (!layout) return layout.error();
  const LinkerWatch made_for{watch->map_.fd(), followed, bell, linker.pid, linker.state, *layout};
  if (Status run = run_program(WatchProgram(made_for).make_greeting(), "dvm_greeting"); !run) return run.error();
  const auto load_program = [&](bool waits) { return load_sleepable(WatchProgram(made_for).make(waits), "dvm_watch"); };
  auto program = load_program(may_wait);
  watch->waits_ = program && may_wait;
  if (!program && may_wait) program = load_program(false);
  if (!program) return program.error();
  const std::vector<uint64_t> offsets(kTurns, linker.offset), zeros(kTurns);
  std::vector<uint64_t> turns(kTurns);
  std::iota(turns.begin(), turns.end(), uint64_t{0});
  const int32_t pid = followed >= 0 ? 0 : linker.pid;
  LinkResult result;
  shielded([&] { result = link_uprobes({linker.path.c_str(), pid, false, program->get(), offsets, turns, zeros}); });
  if (!result.link) return kernel_error("cannot watch the dynamic linker", result.error_number);
  watch->link_ = std::move(result.link);
  watch->map_.close();
  return watch;
}

LoadWatch::~LoadWatch() {
  if (map_) let_go();
}

// A caller that has its number but is not in its place yet comes with the next ones.
void LoadWatch::take(std::vector<LoadedIn>& all) {
  const uint64_t arrived = shared().arrived.load(std::memory_order_acquire);
  if (arrived - taken_ > kCallers) taken_ = arrived - kCallers;
  for (; taken_ < arrived; taken_++) {
    const uint64_t pid = shared().callers[taken_ % kCallers].exchange(0);
    if (pid == 0) return;
    all.push_back({root_, static_cast<int32_t>(pid)});
  }
}

// The turns come in any order, but all of them. A call that was answered has ended only some without an answer.
uint64_t LoadWatch::take_unanswered() {
  if (!waits_) {
    const uint64_t arrived = shared().arrived.load(std::memory_order_relaxed);
    return arrived - std::exchange(told_, arrived);
  }
  static_assert(offsetof(Shared, waited) == kWaited);
  uint64_t all = UINT64_MAX;
  for (const auto& turn : shared().waited) all = std::min(all, turn.load(std::memory_order_relaxed));
  return all - std::exchange(told_, all);
}

void LoadWatch::answer() { shared().answered.store(taken_, std::memory_order_release); }
void LoadWatch::let_go() { shared().answered.store(UINT64_MAX, std::memory_order_release); }

}  // namespace dvm::runtime
