// Tested by tests/unit/instrument/record_program_test.cpp.

#include "runtime/instrument/agent/record_program.h"

#include <sys/syscall.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "runtime/agent/inside/format.h"
#include "runtime/process/captured_numbers.h"

namespace dvm::runtime {
namespace {

using inside::RecordStep;

// Those of memory read it by a system call. The answer of a slot is absent instead where it would harm.
bool makes_call(const RecordStep& step) {
  using Kind = RecordStep::Kind;
  if (step.kind == Kind::answer && step.from != 0) return false;
  constexpr Kind kWithout[] = {Kind::constant, Kind::thread, Kind::saved, Kind::xmm, Kind::kept, Kind::keep};
  return std::find(std::begin(kWithout), std::end(kWithout), step.kind) == std::end(kWithout);
}

// The system call that answers a need with its arguments 0.
std::optional<int64_t> call_for(const MemoryNeed& need) {
  constexpr std::pair<unsigned, int64_t> kCalls[] = {
      {process_number::pgid, SYS_getpgid}, {process_number::sid, SYS_getsid},
      {process_number::euid, SYS_geteuid}, {process_number::egid, SYS_getegid},
      {process_number::ppid, SYS_getppid}, {process_number::uid, SYS_getuid},
      {process_number::gid, SYS_getgid},   {process_number::policy, SYS_sched_getscheduler}};
  for (const auto& [number, call] : kCalls)
    if (need == MemoryNeed::of_process_number(number)) return call;
  return std::nullopt;
}

class Steps {
 public:
  explicit Steps(const RecordLayout& layout) : layout_(layout) {}

  std::vector<std::byte> make() {
    add_thread();
    for (size_t n = 0; n < layout_.args.size(); n++)
      if (layout_.args[n] != 0) add_operand(layout_.args[n], layout_.shape.args[n]);
    if (layout_.error != 0) add_constant(layout_.error, 0);
    if (layout_.zero != 0) add_constant(layout_.zero, 0);
    add_kept();
    add_registers();
    for (const MemorySlot& slot : layout_.slots) add_slot(slot);
    if (layout_.stack != 0) add_stack();
    for (const KeptSlot& kept : layout_.keeps) add_keep(kept);
    return bytes();
  }

 private:
  RecordStep& add(RecordStep::Kind kind, uint32_t at) {
    steps_.push_back({.kind = kind, .at = at});
    return steps_.back();
  }
  void add_constant(uint32_t at, int64_t value) { add(RecordStep::Kind::constant, at).value = value; }

  // from: of its slot.
  void add_answer(uint32_t at, int64_t call, uint32_t from = 0) {
    RecordStep& step = add(RecordStep::Kind::answer, at);
    step.value = call;
    step.from = from;
  }

  void add_thread() {
    if (layout_.time != 0) add_constant(layout_.time, 0);
    if (layout_.vtime != 0) add(RecordStep::Kind::vtime, layout_.vtime);
    if (layout_.thread != 0) add(RecordStep::Kind::thread, layout_.thread);
    if (layout_.comm != 0) add(RecordStep::Kind::name, layout_.comm);
    if (layout_.owner != 0) add_answer(layout_.owner, SYS_getuid), add_answer(layout_.owner + 8, SYS_getgid);
    if (layout_.parent != 0) add_answer(layout_.parent, SYS_getppid);
  }

  // Those of kernel events do not occur at instructions.
  void add_operand(uint32_t at, const Operand& operand) {
    const bool is_saved = operand.kind == Operand::Kind::saved && operand.base < inside::kSavedWords;
    const bool is_vector = operand.kind == Operand::Kind::vector;
    if (!is_saved && !is_vector && operand.kind != Operand::Kind::memory)
      return add_constant(at, operand.kind == Operand::Kind::constant ? operand.value : 0);
    using Kind = RecordStep::Kind;
    RecordStep& step = add(is_saved ? Kind::saved : is_vector ? Kind::xmm : Kind::memory, at);
    step.base = operand.base;
    step.index = operand.index;
    step.scale = operand.scale;
    step.size = operand.size;
    step.shift = operand.shift;
    step.is_signed = operand.is_signed;
    step.value = operand.value;
  }

  void add_kept() {
    for (size_t n = 0; n < layout_.kept.size(); n++)
      if (layout_.kept[n] != 0) add(RecordStep::Kind::kept, layout_.kept[n]).base = static_cast<uint8_t>(n);
  }

  void add_keep(const KeptSlot& kept) {
    RecordStep& step = add(RecordStep::Kind::keep, kept.at);
    step.base = kept.number;
    step.from = kept.at;
    step.value = kept.more;
  }

  void add_registers() {
    uint32_t at = layout_.registers;
    for (unsigned n = 0; n < inside::kSavedWords; n++) {
      if ((layout_.saved >> n & 1) == 0) continue;
      add(RecordStep::Kind::saved, at).base = static_cast<uint8_t>(n);
      at += 8;
    }
  }

  void add_slot(const MemorySlot& slot) {
    if (const auto call = call_for(slot.need))
      return add_constant(slot.at, sizeof(int64_t)), add_answer(slot.at + 8, *call, slot.at);
    RecordStep& step = add(RecordStep::Kind::slot, slot.at);
    step.is_string = slot.need.is_string;
    step.from = slot.base;
    step.by = slot.sized_by;
    step.size = slot.need.more;
    step.most = slot.need.size;
    step.value = slot.need.offset;
  }

  // The program counter and, where the function has no frame, what lies in the place of its return address.
  void add_known_frames() {
    add_constant(layout_.stack, sizeof(uint64_t));
    add(RecordStep::Kind::saved, layout_.stack + 16).base = saved::rip;
    if (layout_.shape.kind != SiteKind::entry || layout_.frames < 2) return add_constant(layout_.stack + 8, 0);
    add_operand(layout_.stack + 8, Operand::memory(saved::rsp, layout_.shape.stack_moved));
  }

  void add_frames() {
    RecordStep& step = add(RecordStep::Kind::frames, layout_.stack);
    step.most = layout_.frames;
    step.value = layout_.shape.kind == SiteKind::entry ? layout_.shape.stack_moved : -1;
  }

  void add_stack() {
    if (layout_.stack_bytes == 0) return layout_.frames <= known_frames(layout_.shape.kind) ? add_known_frames() : add_frames();
    add_constant(layout_.stack, 0);
    add_constant(layout_.stack + 8, 0);
    RecordStep& step = add(RecordStep::Kind::stack, layout_.stack_at);
    step.most = layout_.stack_bytes;
    step.value = layout_.stack;
    RecordStep& chain = add(RecordStep::Kind::chain, layout_.chain);
    chain.from = layout_.stack_at;
    chain.most = layout_.frames;
    chain.value = layout_.stack;
  }

  std::vector<std::byte> bytes() const {
    const uint32_t cut_at = layout_.is_cut ? layout_.slots.back().at : 0;
    const uint32_t makes_calls = std::any_of(steps_.begin(), steps_.end(), makes_call);
    const inside::RecordProgram program{static_cast<uint32_t>(steps_.size()), layout_.size, cut_at, makes_calls};
    std::vector<std::byte> made(sizeof program + steps_.size() * sizeof(RecordStep));
    std::memcpy(made.data(), &program, sizeof program);
    std::memcpy(made.data() + sizeof program, steps_.data(), steps_.size() * sizeof(RecordStep));
    return made;
  }

  const RecordLayout& layout_;
  std::vector<RecordStep> steps_;
};

void cut_last(RecordLayout& layout) {
  if (layout.slots.empty() || layout.stack_bytes != 0 || !layout.slots.back().is_variable()) return;
  layout.is_cut = true;
  layout.least = layout.slots.back().at + 8;
}

}  // namespace

RecordLayouts make_agent_layouts(CaptureNeeds possible, const SiteShape& shape) {
  std::erase_if(possible.memory, [](const MemoryNeed& need) { return need.is_of_process() && !call_for(need); });
  RecordLayouts layouts = make_layouts(possible, shape);
  cut_last(layouts.first);
  if (layouts.larger) cut_last(*layouts.larger);
  return layouts;
}

std::vector<std::byte> make_record_program(const RecordLayout& layout) { return Steps(layout).make(); }

}  // namespace dvm::runtime
