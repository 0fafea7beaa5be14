// The program at the dynamic linker, and its answers. Covered by tests/runtime/scenarios/test_late.py.
#include "runtime/instrument/uprobe/load_watch.h"

#include <asm/ptrace.h>
#include <link.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <span>
#include <vector>

#include "runtime/instrument/uprobe/emitter.h"
#include "runtime/instrument/uprobe/shield.h"

namespace dvm::runtime {
namespace {

constexpr int16_t kArrived = 0, kAnswered = 8, kIsAdding = 16;
constexpr size_t kPageBytes = 4096;
constexpr size_t kTurns = 8;  // that a thread waits, each a quarter of a second at most: the program is there so often

// Registers: r6 the context, r7 what is shared with dvm, r8 how many calls there have been. The linker's state is read to fp-8.
class WatchProgram : Emitter {
 public:
  WatchProgram(int map, int64_t state, bool waits) : map_(map), state_(state), waits_(waits) {}

  std::vector<bpf_insn> make() {
    mov(r6, r1);
    load_map_value(r7, map_, 0);
    read_state();
    load(r1, fp, -8);
    const Place is_consistent = jump_if(BPF_JNE, r1, r_debug::RT_ADD);
    store(r7, kIsAdding, 1);
    leave();
    land(is_consistent);
    load(r1, r7, kIsAdding);
    const Place has_added_none = jump_if(BPF_JEQ, r1, 0);
    store(r7, kIsAdding, 0);
    mov(r1, 1);
    atomic_add(r7, kArrived, r1);
    land(has_added_none);
    load(r8, r7, kArrived);
    if (waits_) wait();
    leave();
    return code();
  }

 private:
  void leave() {
    mov(r0, 0);
    exit();
  }

  // An int, below 0 bytes that are not read: without a state every call counts as one that has added.
  void read_state() {
    store(fp, -8, 0);
    mov(r1, fp);
    plus(r1, -8);
    mov(r2, sizeof(int));
    load(r3, r6, offsetof(pt_regs, rip));
    load_constant(r4, state_);
    plus(r3, r4);
    call(BPF_FUNC_copy_from_user);
  }

  // Reading memory of the process lets others run meanwhile, also where the kernel is not preempted.
  void wait() {
    const Place again = here();
    load(r1, r7, kAnswered);
    const Place is_answered = jump_if(BPF_JGE, r1, r8);
    mov(r1, fp);
    plus(r1, -16);
    mov(r2, 1);
    load(r3, r6, offsetof(pt_regs, rsp));
    call(BPF_FUNC_copy_from_user);
    const Place has_waited = may_leave();
    jump_back(again);
    land(is_answered);
    land(has_waited);
  }

  int map_;
  int64_t state_;
  bool waits_;
};

Result<FileDescriptor> load_watch_program(int map, int64_t state) {
  auto program = load_sleepable(WatchProgram(map, state, true).make(), "dvm_watch");
  return program ? std::move(program) : load_sleepable(WatchProgram(map, state, false).make(), "dvm_watch");
}

}  // namespace

Result<std::unique_ptr<LoadWatch>> LoadWatch::make(const LinkerSite& linker) {
  std::unique_ptr<LoadWatch> watch(new LoadWatch());
  auto map = create_shared_map("dvm_loads", sizeof(Shared));
  if (!map) return map.error();
  watch->map_ = std::move(*map);
  void* page = mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, watch->map_.get(), 0);
  if (page == MAP_FAILED) return kernel_error("cannot share memory with a BPF program", errno);
  watch->shared_ = static_cast<Shared*>(page);
  auto program = load_watch_program(watch->map_.get(), linker.state);
  if (!program) return program.error();
  watch->program_ = std::move(*program);
  const std::vector<uint64_t> offsets(kTurns, linker.offset), zeros(kTurns);
  LinkResult result;
  shielded([&] {
    result = link_uprobes({linker.path.c_str(), linker.pid, false, watch->program_.get(), offsets, zeros, zeros});
  });
  if (!result.link) return kernel_error("cannot watch the dynamic linker", result.error_number);
  watch->link_ = std::move(result.link);
  return watch;
}

LoadWatch::~LoadWatch() {
  if (shared_ == nullptr) return;
  answer(UINT64_MAX);
  munmap(shared_, kPageBytes);
}

uint64_t LoadWatch::unanswered() const {
  const uint64_t arrived = shared_->arrived.load(std::memory_order_acquire);
  return arrived > shared_->answered.load(std::memory_order_relaxed) ? arrived : 0;
}

void LoadWatch::answer(uint64_t arrived) { shared_->answered.store(arrived, std::memory_order_release); }

}  // namespace dvm::runtime
