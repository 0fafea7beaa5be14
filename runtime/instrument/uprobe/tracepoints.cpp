// From events of the kernel to attached programs. Tested by tests/runtime/syscall, sched and proc.
#include "runtime/instrument/uprobe/tracepoints.h"

#include <bpf/bpf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "runtime/instrument/uprobe/kernel.h"
#include "runtime/instrument/uprobe/own_memory.h"
#include "runtime/instrument/uprobe/pid_namespace.h"
#include "runtime/instrument/uprobe/pid_numbers.h"

namespace dvm::runtime {
namespace {

// Looks the members of an event up; the first that is not there is remembered.
class Resolver {
 public:
  Resolver(const KernelTypes& types, const std::string& tracepoint) : types_(types), tracepoint_(tracepoint) {}

  Operand operator()(const KernelWord& word) { return noted(types_.resolve(tracepoint_, word)); }
  // Numbers of threads and processes as dvm sees them. Conditions compare those of the kernel.
  Operand as_seen(const KernelWord& word) {
    const PidNamespace pids = own_pid_namespace();
    const Operand operand = noted(resolve_number(pids.is_initial(), types_, tracepoint_, word));
    const bool is_number = operand.kind == Operand::Kind::number || operand.kind == Operand::Kind::relative_number;
    if (is_number && !pids.knows_others() && status)
      status = Error{"this kernel does not tell the numbers that processes have in this PID namespace"};
    return operand;
  }
  Operand member(const KernelWord& of, std::string_view name) { return as_seen(KernelWord{of.operand, name}); }

  Status status;

 private:
  Operand noted(const Result<Operand>& operand) {
    if (operand) return *operand;
    if (status) status = operand.error();
    return {};
  }

  const KernelTypes& types_;
  const std::string& tracepoint_;
};

OtherThread other_thread(const KernelWord& thread, Resolver& resolve) {
  if (!thread.is_given()) return {};
  return {resolve.member(thread, "tgid"), resolve.member(thread, "pid"), resolve.member(thread, "&comm"),
          resolve.member(thread, "se.sum_exec_runtime"), thread.operand.base};
}

std::vector<KernelGateCondition> conditions(const KernelEvent& event, const KernelTypes& types, Resolver& resolve) {
  std::vector<KernelGateCondition> all;
  for (const KernelCondition& when : event.when) {
    if (when.is_newer && !types.hands_on(event.tracepoint, when.left.operand.base + 1u)) continue;
    KernelGateCondition condition{resolve(when.left), when.is, when.value, {}, when.mask};
    if (when.right) condition.right = resolve(*when.right);
    all.push_back(condition);
  }
  return all;
}

Result<FileDescriptor> create_table(const std::array<uint32_t, kMostCalls>& ids) {
  const int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "dvm_calls", sizeof(uint32_t), sizeof ids, 1, nullptr);
  if (fd < 0) return kernel_error("cannot make a BPF array", errno);
  FileDescriptor table(fd);
  const uint32_t key = 0;
  if (bpf_map_update_elem(fd, &key, ids.data(), BPF_ANY) != 0) return kernel_error("cannot fill a BPF array", errno);
  return table;
}

}  // namespace

bool Tracepoints::Planned::has_room_for(const std::vector<uint16_t>& calls) const {
  return std::all_of(calls.begin(), calls.end(), [&](uint16_t call) { return ids[call] == 0; });
}

bool Tracepoints::Planned::can_share(const Planned& other) const {
  return !program && shape.kind == SiteKind::syscall && tracepoint == other.tracepoint && needs == other.needs &&
         shape == other.shape && gate.when == other.gate.when && gate.wanted == other.gate.wanted;
}

Result<Tracepoints::Planned> Tracepoints::make(const KernelEvent& event, const EnabledProbe& enabled) const {
  Resolver resolve(*types_, event.tracepoint);
  Planned planned;
  planned.tracepoint = event.tracepoint;
  planned.shape.kind = is_system_call(event) ? SiteKind::syscall : SiteKind::tracepoint;
  for (size_t n = 0; n < event.args.size(); n++) planned.shape.args[n] = resolve.as_seen(event.args[n]);
  if (event.tracepoint == "sys_exit") planned.shape.error = Operand::of_kind(Operand::Kind::error);
  planned.shape.thread = other_thread(event.thread, resolve);
  planned.needs = possible_needs(enabled.needs, planned.shape);
  planned.gate.probe_id = enabled.probe->id;
  planned.gate.when = conditions(event, *types_, resolve);
  planned.gate.wanted = enabled.wanted;
  if (is_system_call(event)) {
    const Operand status = resolve({Operand::handed(kThisThread), "thread_info.status"});
    planned.gate.thread_status = static_cast<int16_t>(status.value);
    planned.gate.memory = memory_member_;
    planned.gate.not_memory = own_memory_;
  }
  if (!resolve.status) return resolve.status.error();
  if (!types_->hands_on(event.tracepoint, 0)) return Error{fmt::format("this kernel has no tracepoint {}", event.tracepoint)};
  return planned;
}

Status Tracepoints::add(Planned planned, const std::vector<uint16_t>& calls, Delivery& delivery) {
  auto place = std::find_if(planned_.begin(), planned_.end(),
                            [&](const Planned& other) { return other.can_share(planned) && other.has_room_for(calls); });
  const uint32_t id = planned.gate.probe_id;
  if (place == planned_.end()) {
    if (Status room = delivery.check_room(); !room) return room;
    planned.gate.group = static_cast<uint16_t>(delivery.add(make_layouts(planned.needs, planned.shape), 0));
    place = planned_.insert(planned_.end(), std::move(planned));
  }
  for (const uint16_t call : calls) place->ids[call] = id;
  return {};
}

// Each event of the probe, or those that stand in for it where a user stack is asked for.
std::vector<const KernelEvent*> Tracepoints::events_of(const EnabledProbe& enabled) const {
  const auto exists = [&](const KernelEvent& event) { return types_->hands_on(event.tracepoint, 0); };
  std::vector<const KernelEvent*> events;
  for (const KernelEvent& event : std::get<TracepointSite>(enabled.probe->site).events) {
    const std::vector<KernelEvent>& others = event.in_thread;
    const bool by_others = enabled.needs.frames != 0 && !others.empty() && std::all_of(others.begin(), others.end(), exists);
    if (!by_others) events.push_back(&event);
    for (const KernelEvent& other : others)
      if (by_others) events.push_back(&other);
  }
  return events;
}

Status Tracepoints::learn() {
  auto types = KernelTypes::load();
  if (!types) return types.error();
  const auto member = (*types)->resolve("", {Operand::handed(kThisThread), "mm"});
  if (!member) return member.error();
  memory_member_ = static_cast<int16_t>(member->value);
  const auto memory = own_memory(memory_member_);
  if (!memory) return memory.error();
  own_memory_ = *memory;
  types_ = std::move(*types);
  return {};
}

Status Tracepoints::plan(const EnabledProbe& enabled, Delivery& delivery, std::vector<Refused>& refused) {
  if (!types_)
    if (Status learnt = learn(); !learnt) return learnt;
  for (const KernelEvent* event : events_of(enabled)) {
    auto planned = make(*event, enabled);
    if (planned && planned->needs.kernel_frames != 0)
      if (Status learnt = delivery.tracer_frames().learn(KernelSymbols::of_this_kernel()); !learnt) planned = learnt.error();
    if (!planned) {
      refused.push_back({enabled.probe, planned.error().message});
      return {};
    }
    if (Status status = add(std::move(*planned), event->calls, delivery); !status) return status;
  }
  return {};
}

Status Tracepoints::attach(Planned& planned, const ProgramMaps& maps, const TaskLayout& tasks) {
  if (planned.shape.kind == SiteKind::syscall) {
    auto table = create_table(planned.ids);
    if (!table) return table.error();
    planned.table = std::move(*table);
    planned.gate.ids_map = planned.table.get();
  }
  const RecordLayouts layouts = make_layouts(planned.needs, planned.shape);
  const auto code = make_capture_program(layouts, maps, own_pid_namespace(), tasks, &planned.gate);
  const char* tracepoint = planned.tracepoint.c_str();
  auto program = load_program(code, layouts.first, tracepoint);
  if (!program) return program.error();
  planned.program = std::move(*program);
  auto link = link_tracepoint(tracepoint, planned.program.get(), layouts.first);
  if (!link) return link.error();
  planned.link = std::move(*link);
  return {};
}

Status Tracepoints::attach(const ProgramMaps& maps, const TaskLayout& tasks) {
  std::stable_sort(planned_.begin(), planned_.end(),
                   [](const Planned& a, const Planned& b) { return a.gate.probe_id < b.gate.probe_id; });
  for (Planned& planned : planned_) {
    if (planned.link) continue;
    if (Status status = attach(planned, maps, tasks); !status) return status;
  }
  return {};
}

void Tracepoints::detach() { planned_.clear(); }

}  // namespace dvm::runtime
