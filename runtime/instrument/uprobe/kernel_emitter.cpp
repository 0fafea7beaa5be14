// Emits the gate, and the way to words of the kernel. Tested by tests/runtime/syscall, sched and proc.
#include "runtime/instrument/uprobe/kernel_emitter.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "runtime/instrument/uprobe/task_name.h"

namespace dvm::runtime {
namespace {

constexpr int32_t kMostError = 4095;
constexpr int32_t kCompatible = 2;  // TS_COMPAT: the call is one of i386, with numbers of its own

uint8_t opposite(KernelCondition::Is is) {
  switch (is) {
    case KernelCondition::Is::equal:
      return BPF_JNE;
    case KernelCondition::Is::different:
      return BPF_JEQ;
    case KernelCondition::Is::less:
      return BPF_JSGE;
    case KernelCondition::Is::greater:
      return BPF_JSLE;
  }
  return BPF_JA;
}

}  // namespace

void KernelEmitter::widen(Register value, const Operand& operand) {
  if (operand.shift) shift_right(value, operand.shift);
  if (operand.size == 8) return;
  const int32_t unused = 64 - 8 * operand.size;
  shift_left(value, unused);
  operand.is_signed ? shift_right_signed(value, unused) : shift_right(value, unused);
}

void KernelEmitter::handed_word(Register to, uint8_t word) {
  if (!has_typed_words_) return load(to, r6, static_cast<int16_t>(8 * word));
  mov(r1, fp);
  plus(r1, -8);
  mov(r2, 8);
  mov(r3, r6);
  plus(r3, 8 * word);
  call(BPF_FUNC_probe_read_kernel);
  load(to, fp, -8);
}

void KernelEmitter::follow(const Operand& operand) {
  if (operand.base == kThisThread) {
    call(BPF_FUNC_get_current_task);
    mov(r3, r0);
  } else {
    handed_word(r3, operand.base);
  }
  for (uint8_t i = 0; i < operand.depth; i++) {
    if (operand.path[i]) plus(r3, operand.path[i]);
    mov(r1, fp);
    plus(r1, -8);
    mov(r2, 8);
    call(BPF_FUNC_probe_read_kernel);
    load(r3, fp, -8);
  }
  if (operand.value) plus(r3, static_cast<int32_t>(operand.value));
}

// A thread that lies above the namespace has no such number. Behind its last one lie those of a struct pid that was freed.
void KernelEmitter::number_at() {
  store(fp, -8, r3);
  plus(r3, pids_.level_at);
  mov(r1, fp);
  plus(r1, free_at_);
  mov(r2, 4);
  call(BPF_FUNC_probe_read_kernel);
  load_word(r2, fp, free_at_);
  mov(r1, 0);
  const Label is_above = jump_if(BPF_JLT, r2, pids_.level);
  load(r3, fp, -8);
  plus(r3, pids_.level << kNumberShift);
  mov(r1, fp);
  plus(r1, free_at_);
  mov(r2, 1 << kNumberShift);
  call(BPF_FUNC_probe_read_kernel);
  load(r2, fp, static_cast<int16_t>(free_at_ + 8));
  load_constant(r3, static_cast<int64_t>(pids_.address));
  load_word(r1, fp, free_at_);
  const Label has_one = jump_if(BPF_JEQ, r2, r3);
  mov(r1, 0);
  land(has_one);
  land(is_above);
}

void KernelEmitter::number(const Operand& operand) {
  follow(operand);
  number_at();
  if (operand.kind == Operand::Kind::relative_number) return;
  const Label has_one = jump_if(BPF_JNE, r1, 0);
  store(fp, -8, 0);
  follow(operand);
  mov(r1, fp);
  plus(r1, -8);
  mov(r2, operand.size);
  call(BPF_FUNC_probe_read_kernel);
  load(r2, fp, -8);
  mov(r1, 0);
  minus(r1, r2);
  land(has_one);
}

// -1 for each of the values that mean an error.
void KernelEmitter::result() {
  load(r1, r6, 8 * saved::rax);
  const Label positive = jump_if(BPF_JSGE, r1, 0);
  const Label beyond = jump_if(BPF_JSLT, r1, -kMostError);
  mov(r1, -1);
  land(positive);
  land(beyond);
}

void KernelEmitter::kernel_operand(const Operand& operand) {
  switch (operand.kind) {
    case Operand::Kind::handed:
      handed_word(r1, operand.base);
      break;
    case Operand::Kind::kernel:
      follow(operand);
      store(fp, -8, 0);
      mov(r1, fp);
      plus(r1, -8);
      mov(r2, operand.size);
      call(BPF_FUNC_probe_read_kernel);
      load(r1, fp, -8);
      break;
    case Operand::Kind::kernel_address:
      store(fp, -8, 0);
      follow(operand);
      mov(r1, r3);
      shift_left(r1, 1);
      shift_right(r1, 1);
      break;
    case Operand::Kind::number:
    case Operand::Kind::relative_number:
      number(operand);
      break;
    case Operand::Kind::result:
      result();
      break;
    case Operand::Kind::error: {
      load(r2, r6, 8 * saved::rax);
      mov(r1, 0);
      const Label positive = jump_if(BPF_JSGE, r2, 0);
      const Label beyond = jump_if(BPF_JSLT, r2, -kMostError);
      minus(r1, r2);
      land(positive);
      land(beyond);
      break;
    }
    case Operand::Kind::saved:
      load(r1, r6, static_cast<int16_t>(8 * operand.base));
      break;
    case Operand::Kind::constant:
      load_constant(r1, operand.value);
      break;
    default:
      mov(r1, 0);
  }
  widen(r1, operand);
}

// r0, as this_thread().
void KernelEmitter::number_of_this_thread() {
  const auto process_at = static_cast<int16_t>(free_at_ + 16);
  number(pids_.process);
  store(fp, process_at, r1);
  number(pids_.thread);
  shift_left(r1, 32);  // it may be negative
  shift_right(r1, 32);
  load(r0, fp, process_at);
  shift_left(r0, 32);
  bits_or(r0, r1);
}

// The helper knows only threads whose own namespace this is. It stores pid then tgid, 32 bits each, and zeros on failure: as one
// word that is what the other helper returns.
void KernelEmitter::this_thread() {
  if (pids_.is_initial()) return call(BPF_FUNC_get_current_pid_tgid);
  load_constant(r1, static_cast<int64_t>(pids_.device));
  load_constant(r2, static_cast<int64_t>(pids_.inode));
  mov(r3, fp);
  plus(r3, -8);
  mov(r4, 8);
  call(BPF_FUNC_get_ns_current_pid_tgid);
  load(r0, fp, -8);
  const Label has_numbers = jump_if(BPF_JNE, r0, 0);
  if (pids_.address) number_of_this_thread();
  land(has_numbers);
}

void KernelEmitter::this_name(Register to, int16_t at) {
  const int16_t offset = task_name_offset();
  if (offset == 0) {
    mov(r1, to);
    plus(r1, at);
    mov(r2, kCommBytes);
    return call(BPF_FUNC_get_current_comm);
  }
  call(BPF_FUNC_get_current_task_btf);
  for (int16_t word = 0; word < static_cast<int16_t>(kCommBytes); word += 8) {
    load(r1, r0, static_cast<int16_t>(offset + word));
    store(to, static_cast<int16_t>(at + word), r1);
  }
}

void KernelEmitter::look_up_followed(int map) {
  store(fp, -8, r0);
  load_map(r1, map);
  mov(r2, fp);
  plus(r2, -8);
  call(BPF_FUNC_map_lookup_elem);
}

void KernelEmitter::find_followed(int map) {
  call(BPF_FUNC_get_current_pid_tgid);
  shift_right(r0, 32);
  look_up_followed(map);
  if (pids_.is_initial()) return;
  const Label found = jump_if(BPF_JNE, r0, 0);
  this_thread();
  shift_right(r0, 32);
  load_constant(r1, kSeenFromInside);
  bits_or(r0, r1);
  look_up_followed(map);
  land(found);
}

void KernelEmitter::only_followed(int map, int32_t root) {
  find_followed(map);
  leave_if(BPF_JEQ, r0, 0);
  load(r1, r0, 0);
  leave_if(BPF_JNE, r1, root);
}

// Finds the probe of a system call by its number, in a table of ids that has 0 for calls without a probe.
void KernelEmitter::find_probe(const CaptureGate& gate) {
  call(BPF_FUNC_get_current_task_btf);
  load_word(r8, r0, gate.thread_status);
  mov(r1, r0);
  call(BPF_FUNC_task_pt_regs);
  mov(r6, r0);
  load(r1, r6, 8 * saved::orig_rax);
  leave_if(BPF_JGE, r1, kMostCalls);
  shift_left(r1, 2);
  load_map_value(r2, gate.ids_map, 0);
  plus(r2, r1);
  load_word(r9, r2, 0);
  leave_if(BPF_JEQ, r9, 0);
  leave_if(BPF_JSET, r8, kCompatible);
}

void KernelEmitter::check_process(const CaptureGate& gate, const RecordLayout& layout) {
  const WantedProcesses& wanted = gate.wanted;
  std::vector<Label> found;
  if (gate.not_memory != 0) {
    call(BPF_FUNC_get_current_task_btf);
    load(r1, r0, gate.memory);
    load_constant(r2, static_cast<int64_t>(gate.not_memory));
    unwanted_.push_back(jump_if(BPF_JEQ, r1, r2));
  }
  if (!wanted.pids.empty()) {
    if (layout.shape.thread.is_given()) {
      kernel_operand(layout.shape.thread.process);
    } else {
      this_thread();
      mov(r1, r0);
      shift_right(r1, 32);
    }
    for (const int32_t pid : wanted.pids) found.push_back(jump_if(BPF_JEQ, r1, pid));
  }
  if (!wanted.names.empty()) check_name(wanted.names, layout, found);
  if (!wanted.is_any()) unwanted_.push_back(jump());
  for (const Label place : found) land(place);
}

// The name as the kernel has it, 16 bytes with its NULs, in two words below fp-8, where no record is yet.
void KernelEmitter::check_name(const std::vector<std::string>& names, const RecordLayout& layout, std::vector<Label>& found) {
  constexpr int16_t kAt = -24;
  store(fp, kAt, 0);
  store(fp, kAt + 8, 0);
  if (layout.shape.thread.is_given()) {
    kernel_operand(layout.shape.thread.name);
    load_constant(r3, INT64_MIN);
    bits_or(r3, r1);
  }
  if (layout.shape.thread.is_given()) {
    mov(r1, fp);
    plus(r1, kAt);
    mov(r2, kCommBytes);
    call(BPF_FUNC_probe_read_kernel_str);
  } else {
    this_name(fp, kAt);
  }
  for (const std::string& name : names) {
    std::array<int64_t, 2> words{};
    std::memcpy(words.data(), name.data(), std::min<size_t>(name.size(), kCommBytes - 1));
    load(r2, fp, kAt);
    load_constant(r1, words[0]);
    const Label other = jump_if(BPF_JNE, r1, r2);
    load(r2, fp, kAt + 8);
    load_constant(r1, words[1]);
    found.push_back(jump_if(BPF_JEQ, r1, r2));
    land(other);
  }
}

void KernelEmitter::check(const KernelGateCondition& condition) {
  kernel_operand(condition.left);
  if (condition.mask != -1) bits_and(r1, condition.mask);
  if (!condition.right) return leave_if(opposite(condition.is), r1, static_cast<int32_t>(condition.value));
  mov(r8, r1);
  kernel_operand(*condition.right);
  unwanted_.push_back(jump_if(opposite(condition.is), r8, r1));
}

void KernelEmitter::gate(const CaptureGate& gate, const RecordLayout& layout) {
  if (layout.shape.kind == SiteKind::syscall)
    find_probe(gate);
  else
    mov(r9, static_cast<int32_t>(gate.probe_id));
  check_process(gate, layout);
  for (const KernelGateCondition& condition : gate.when) check(condition);
}

void KernelEmitter::leave_unwanted() {
  if (unwanted_.empty()) return;
  for (const Label place : unwanted_) land(place);
  mov(r0, 0);
  exit();
}

}  // namespace dvm::runtime
