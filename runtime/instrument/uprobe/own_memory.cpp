// Tested by tests/runtime/scenarios/test_agent_uprobes.py.
#include "runtime/instrument/uprobe/own_memory.h"

#include <bpf/bpf.h>

#include <cerrno>
#include <vector>

#include "runtime/instrument/uprobe/emitter.h"
#include "runtime/instrument/uprobe/kernel.h"

namespace dvm::runtime {
namespace {

std::vector<bpf_insn> memory_program(int16_t member, int map) {
  BpfEmitter e;
  e.call(BPF_FUNC_get_current_task_btf);
  e.load(BpfEmitter::r6, BpfEmitter::r0, member);
  e.load_map_value(BpfEmitter::r1, map, 0);
  e.store(BpfEmitter::r1, 0, BpfEmitter::r6);
  e.mov(BpfEmitter::r0, 0);
  e.exit();
  return e.code();
}

}  // namespace

Result<uint64_t> own_memory(int16_t member) {
  const FileDescriptor map(bpf_map_create(BPF_MAP_TYPE_ARRAY, "dvm_memory", sizeof(uint32_t), sizeof(uint64_t), 1, nullptr));
  if (map.get() < 0) return kernel_error("cannot make a BPF array", errno);
  if (Status run = run_program(memory_program(member, map.get()), "dvm_memory"); !run) return run.error();
  const uint32_t first = 0;
  uint64_t memory = 0;
  if (bpf_map_lookup_elem(map.get(), &first, &memory) != 0 || memory == 0)
    return Error{"this kernel does not run a BPF program on demand"};
  return memory;
}

}  // namespace dvm::runtime
