// The program at entries with a uretprobe. Tested by tests/runtime/scenarios/test_returns.py.
#include "runtime/instrument/uprobe/return_losses.h"

#include "runtime/instrument/uprobe/kernel_emitter.h"
#include "runtime/instrument/uprobe/kernel_types.h"
#include "runtime/instrument/uprobe/pid_namespace.h"

namespace dvm::runtime {
namespace {

constexpr int32_t kMostReturns = 64;  // MAX_URETPROBE_DEPTH

class LossProgram : KernelEmitter {
 public:
  LossProgram() : KernelEmitter(own_pid_namespace()) {}

  std::vector<bpf_insn> make(const ProgramMaps& maps, int counter, int16_t task, int16_t depth) {
    mov(r6, r1);
    if (maps.followed >= 0) only_followed(maps.followed, maps.root);
    call(BPF_FUNC_get_current_task_btf);
    load(r1, r0, task);
    load_word(r1, r1, depth);
    const Label is_seen = jump_if(BPF_JLT, r1, kMostReturns);
    load_map_value(r1, counter, 0);
    mov(r2, 1);
    atomic_add(r1, 0, r2);
    land(is_seen);
    mov(r0, 0);
    exit();
    leave_unwanted();
    return code();
  }
};

}  // namespace

Result<std::unique_ptr<ReturnLosses>> ReturnLosses::make() {
  auto types = KernelTypes::load();
  if (!types) return types.error();
  const auto depth = (*types)->resolve("", {Operand::handed(kThisThread), "utask.depth"});
  if (!depth) return depth.error();
  if (depth->depth != 1 || depth->size != sizeof(uint32_t))
    return Error{"this kernel's structure uprobe_task has an unknown layout"};
  auto losses = std::make_unique<ReturnLosses>();
  losses->task_ = depth->path[0], losses->depth_ = static_cast<int16_t>(depth->value);
  auto counter = SharedMap::make("dvm_returns", sizeof(uint64_t));
  if (!counter) return counter.error();
  losses->counter_ = std::move(*counter);
  return losses;
}

Result<int> ReturnLosses::program(const ProgramMaps& maps) {
  auto [entry, is_new] = programs_.try_emplace(maps.root);
  if (!is_new) return entry->second.get();
  auto program = load_sleepable(LossProgram().make(maps, counter_.fd(), task_, depth_), "dvm_returns");
  if (!program) return program.error();
  entry->second = std::move(*program);
  return entry->second.get();
}

uint64_t ReturnLosses::count() const { return counter_.word(); }

Status ReturnLossSets::add(const PlannedSite& place, const ProgramMaps& maps, std::vector<std::string>& notes) {
  if (!losses_ && problem_.empty()) {
    auto losses = ReturnLosses::make();
    if (losses)
      losses_ = std::move(*losses);
    else
      problem_ = losses.error().message;
    if (!losses) notes.push_back("returns of calls nested deeper than the kernel follows are not counted: " + problem_);
  }
  if (!losses_) return {};
  const auto program = losses_->program(maps);
  if (!program) return program.error();
  UprobeSet& set = sets_[place.site->path];
  set.is_aside = true;
  set.path = place.site->path;
  set.pid = maps.followed >= 0 ? 0 : place.site->pid;
  set.program = *program;
  set.add(place.offset, 0, 0, place.enabled->probe);
  return {};
}

}  // namespace dvm::runtime
