// Layout of the scheduler's structures, and the offset of its clock. Tested by tests/unit/instrument/uprobe_test.cpp.
#include "runtime/instrument/uprobe/cpu_clock.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <string_view>

#include "common/clock.h"
#include "runtime/instrument/uprobe/btf_types.h"
#include "runtime/instrument/uprobe/emitter.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kMeasureEvery = 5'000'000;  // ns
constexpr int kRounds = 4;
constexpr int kFarthest = std::numeric_limits<int16_t>::max();  // that BPF loads from a pointer

// Offset in bytes of a member that is named directly in the structure; -1: there is none.
int member_offset(const btf* types, const char* structure, std::string_view member) {
  const int id = btf__find_by_name_kind(types, structure, BTF_KIND_STRUCT);
  const btf_type* type = id < 0 ? nullptr : btf__type_by_id(types, static_cast<uint32_t>(id));
  if (!type) return -1;
  const btf_member* members = btf_members(type);
  for (uint32_t i = 0; i < btf_vlen(type); i++) {
    const char* name = btf__name_by_offset(types, members[i].name_off);
    if (!name || member != name) continue;
    return static_cast<int>(btf_member_bit_offset(type, i) / 8);
  }
  return -1;
}

// A member, `base` bytes after the target of the kernel's pointer.
struct MemberOffset {
  const char* structure;
  const char* member;
  int base;
  int16_t* offset;
};

// Writes the time now and the run queue's clock to the map.
std::vector<bpf_insn> reading_program(const TaskLayout& layout, int map) {
  BpfEmitter e;
  e.call(BPF_FUNC_get_current_task_btf);
  e.load(BpfEmitter::r1, BpfEmitter::r0, layout.cfs_rq);
  e.load(BpfEmitter::r1, BpfEmitter::r1, layout.rq);
  e.load(BpfEmitter::r6, BpfEmitter::r1, layout.clock);
  e.call(BPF_FUNC_ktime_get_ns);
  e.load_map_value(BpfEmitter::r1, map, 0);
  e.store(BpfEmitter::r1, 0, BpfEmitter::r0);
  e.store(BpfEmitter::r1, 8, BpfEmitter::r6);
  e.mov(BpfEmitter::r0, 0);
  e.exit();
  return e.code();
}

Result<FileDescriptor> create_reading_map() {
  bpf_map_create_opts options{};
  options.sz = sizeof options;
  options.map_flags = BPF_F_MMAPABLE;
  const int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "dvm_clock", sizeof(uint32_t), 2 * sizeof(uint64_t), 1, &options);
  if (fd < 0) return kernel_error("cannot make a BPF array", errno);
  return FileDescriptor(fd);
}

Result<FileDescriptor> load_reading_program(const TaskLayout& layout, int map) {
  return load_program({BPF_PROG_TYPE_RAW_TRACEPOINT, "dvm_clock"}, reading_program(layout, map));
}

}  // namespace

Result<TaskLayout> read_task_layout() {
  const BtfTypes types(btf__load_vmlinux_btf());
  if (!types) return Error{"this kernel does not describe its types (/sys/kernel/btf/vmlinux)"};
  TaskLayout layout;
  const int entity = std::max(member_offset(types.get(), "task_struct", "se"), 0);
  const MemberOffset fields[] = {{"sched_entity", "exec_start", entity, &layout.exec_start},
                                 {"sched_entity", "sum_exec_runtime", entity, &layout.sum_exec_runtime},
                                 {"sched_entity", "cfs_rq", entity, &layout.cfs_rq},
                                 {"cfs_rq", "rq", 0, &layout.rq},
                                 {"rq", "clock", 0, &layout.clock},
                                 {"rq", "clock_task", 0, &layout.clock_task}};
  for (const MemberOffset& field : fields) {
    const int at = member_offset(types.get(), field.structure, field.member);
    if (at < 0 || field.base + at > kFarthest)
      return Error{fmt::format("this kernel's scheduler has no {}.{}", field.structure, field.member)};
    *field.offset = static_cast<int16_t>(field.base + at);
  }
  return layout;
}

Result<std::unique_ptr<SchedulerClock>> SchedulerClock::make() {
  auto clock = std::make_unique<SchedulerClock>();
  auto layout = read_task_layout();
  if (!layout) return layout.error();
  clock->layout_ = *layout;
  auto map = create_reading_map();
  if (!map) return map.error();
  clock->map_ = std::move(*map);
  auto reading = Mapping::of(clock->map_.get(), 4096, false, 0);
  if (!reading) return reading.error();
  clock->reading_ = std::move(*reading);
  auto program = load_reading_program(clock->layout_, clock->map_.get());
  if (!program) return program.error();
  clock->program_ = std::move(*program);
  if (clock->read().monotonic == 0) return Error{"this kernel does not run a BPF program on demand"};
  return clock;
}

SchedulerClock::Reading SchedulerClock::read() noexcept {
  bpf_test_run_opts options{};
  options.sz = sizeof options;
  if (bpf_prog_test_run_opts(program_.get(), &options) != 0) return {};
  const auto* words = reinterpret_cast<const uint64_t*>(reading_.data());
  return {__atomic_load_n(&words[0], __ATOMIC_RELAXED), __atomic_load_n(&words[1], __ATOMIC_RELAXED)};
}

// Asking for a thread's CPU time makes the scheduler look at its clock, so the second reading's clock was looked at between the
// two times, and the offset lies between two bounds. Each round narrows them.
int64_t SchedulerClock::measure() noexcept {
  int64_t least = std::numeric_limits<int64_t>::min(), most = std::numeric_limits<int64_t>::max();
  for (int i = 0; i < kRounds; i++) {
    const Reading before = read();
    read_clock(CLOCK_THREAD_CPUTIME_ID);
    const Reading after = read();
    if (before.monotonic == 0 || after.monotonic == 0) return offset_;
    least = std::max(least, static_cast<int64_t>(after.clock - after.monotonic));
    most = std::min(most, static_cast<int64_t>(after.clock - before.monotonic));
  }
  return least + (most - least) / 2;
}

int64_t SchedulerClock::offset() noexcept {
  const uint64_t now = read_clock(CLOCK_MONOTONIC);
  if (measured_at_ == 0 || now - measured_at_ >= kMeasureEvery) {
    offset_ = measure();
    measured_at_ = now;
  }
  return offset_;
}

}  // namespace dvm::runtime
