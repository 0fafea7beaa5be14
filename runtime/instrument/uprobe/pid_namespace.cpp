// Tested by tests/runtime/scenarios/test_containers.py.
#include "runtime/instrument/uprobe/pid_namespace.h"

#include <sys/stat.h>

#include "runtime/instrument/uprobe/kernel.h"
#include "runtime/instrument/uprobe/kernel_emitter.h"
#include "runtime/instrument/uprobe/kernel_types.h"
#include "runtime/instrument/uprobe/pid_numbers.h"
#include "runtime/instrument/uprobe/ring.h"

namespace dvm::runtime {
namespace {

// Run once, in dvm's thread: stores how many namespaces lie above its own, and the kernel's address of its own.
class LevelProgram : KernelEmitter {
 public:
  LevelProgram() : KernelEmitter(PidNamespace{}) {}

  std::vector<bpf_insn> make(int map, const Operand& level, const Operand& first) {
    kernel_operand(level);
    load_map_value(r7, map, 0);
    store(r7, 0, r1);
    mov(r8, r1);
    shift_left(r8, kNumberShift);
    follow(first);
    plus(r3, r8);
    mov(r1, fp);
    plus(r1, -8);
    mov(r2, 8);
    call(BPF_FUNC_probe_read_kernel);
    load(r1, fp, -8);
    store(r7, 8, r1);
    mov(r0, 0);
    exit();
    return code();
  }
};

// True if the elements of the array of numbers look as the programs expect.
bool has_known_numbers(const KernelTypes& types) {
  const auto at = [&](std::string_view members) {
    const auto operand = types.resolve("", {Operand::handed(kThisThread), members});
    return operand ? operand->value : 0;
  };
  const int64_t first = at("thread_pid.numbers[0].nr");
  return first != 0 && at("thread_pid.numbers[0].ns") == first + 8 &&
         at("thread_pid.numbers[1].nr") == first + (1 << kNumberShift);
}

// Leaves the address 0 where the kernel does not tell.
void learn_level(PidNamespace& pids) {
  const auto types = KernelTypes::load();
  if (!types || !has_known_numbers(**types)) return;
  const auto level = (*types)->resolve("", {Operand::handed(kThisThread), "thread_pid.level"});
  const auto first = (*types)->resolve("", {Operand::handed(kThisThread), "thread_pid.numbers[0].ns"});
  const auto number = (*types)->resolve("", {Operand::handed(kThisThread), "thread_pid.numbers[0].nr"});
  const auto map = SharedMap::make("dvm_level", 2 * sizeof(uint64_t));
  if (!level || !first || !number || !map) return;
  if (!run_program(LevelProgram().make(map->fd(), *level, *first), "dvm_level")) return;
  pids.level = static_cast<int32_t>(map->word(0)), pids.address = map->word(1);
  pids.level_at = static_cast<int32_t>(level->value) - static_cast<int32_t>(number->value);
  const auto of_this_thread = [&](std::string_view member) {
    const auto operand = resolve_number(false, **types, "", {Operand::handed(kThisThread), member});
    return operand ? *operand : Operand::constant(0);
  };
  pids.process = of_this_thread("tgid"), pids.thread = of_this_thread("pid");
}

PidNamespace find_own() {
  constexpr ino_t kInitial = 0xeffffffc;
  struct stat status;
  if (stat("/proc/self/ns/pid", &status) != 0 || status.st_ino == kInitial) return {};
  return {status.st_dev, status.st_ino};
}

PidNamespace learnt(PidNamespace pids) {
  if (pids.inode != 0) learn_level(pids);
  return pids;
}

}  // namespace

PidNamespace own_pid_namespace() {
  static const PidNamespace first = learnt(find_own());
  const PidNamespace own = find_own();  // a forked process may have another one
  return own.inode == first.inode ? first : learnt(own);
}

}  // namespace dvm::runtime
