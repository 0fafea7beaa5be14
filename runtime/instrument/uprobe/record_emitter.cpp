// Tested by tests/unit/instrument/uprobe_test.cpp, which loads and runs capture programs.
#include "runtime/instrument/uprobe/record_emitter.h"

#include <asm/ptrace.h>

#include <bit>
#include <cerrno>
#include <cstddef>
#include <optional>

#include "runtime/instrument/uprobe/task_name.h"
#include "runtime/process/captured_file.h"

namespace dvm::runtime {
namespace {

constexpr int16_t at_saved(uint8_t word) { return static_cast<int16_t>(8 * word); }

}  // namespace

void RecordEmitter::thread_and_time() {
  if (layout_.time) {
    call(BPF_FUNC_ktime_get_ns);
    store(r7, at16(layout_.time), r0);
  }
  if (layout_.thread) thread();
  if (layout_.comm && layout_.shape.thread.is_given()) {
    kernel_name(layout_.shape.thread.name);
  } else if (layout_.comm) {
    this_name(r7, at16(layout_.comm));
  }
  if (layout_.owner) owner();
  if (layout_.parent) parent();
}

// The helper returns both, 32 bits each.
void RecordEmitter::owner() {
  call(BPF_FUNC_get_current_uid_gid);
  mov(r1, r0);
  shift_left(r1, 32);
  shift_right(r1, 32);
  store(r7, at16(layout_.owner), r1);
  shift_right(r0, 32);
  store(r7, at16(layout_.owner + 8), r0);
}

void RecordEmitter::parent() {
  const std::optional<Operand> number = parent_of_this_thread(pids_);
  if (!number) return store(r7, at16(layout_.parent), -1);
  kernel_operand(*number);
  store(r7, at16(layout_.parent), r1);
}

// At fp-8: the number of the thread, then that of the variable, which has 8 bits.
void RecordEmitter::kept_key(unsigned number) {
  call(BPF_FUNC_get_current_pid_tgid);
  shift_left(r0, 32);
  shift_right(r0, 24);
  plus(r0, static_cast<int32_t>(number));
  store(fp, -8, r0);
}

void RecordEmitter::kept_words(int map) {
  for (unsigned n = 0; n < Word::kKeptWords; n++) {
    if (layout_.kept[n] == 0) continue;
    store(r7, at16(layout_.kept[n]), 0);
    if (map < 0) continue;
    kept_key(n);
    load_map(r1, map);
    stack_address(r2, -8);
    call(BPF_FUNC_map_lookup_elem);
    const Label none = jump_if(BPF_JEQ, r0, 0);
    load(r1, r0, 0);
    store(r7, at16(layout_.kept[n]), r1);
    land(none);
  }
}

void RecordEmitter::keep_words(int map, int16_t value_at) {
  if (map < 0) return;
  for (const KeptSlot& kept : layout_.keeps) {
    kept_key(kept.number);
    load(r1, r7, at16(kept.at));
    load_constant(r2, kept.more);
    plus(r1, r2);
    store(fp, value_at, r1);
    load_map(r1, map);
    stack_address(r2, -8);
    stack_address(r3, value_at);
    mov(r4, BPF_ANY);
    call(BPF_FUNC_map_update_elem);
  }
}

void RecordEmitter::thread() {
  const OtherThread& other = layout_.shape.thread;
  if (!other.is_given()) {
    this_thread();
    return store(r7, at16(layout_.thread), r0);
  }
  kernel_operand(other.process);
  mov(r8, r1);
  shift_left(r8, 32);
  kernel_operand(other.thread);
  shift_left(r1, 32);  // it may be negative
  shift_right(r1, 32);
  bits_or(r1, r8);
  store(r7, at16(layout_.thread), r1);
}

// r8: where it ends. The beginning of one that is too long is captured; without it the length is kAbsent.
void RecordEmitter::command_line(uint32_t at) {
  store(r7, at16(at), static_cast<int32_t>(kAbsent));
  const std::optional<CommandLinePlace> place = command_line_of_this_thread();
  if (!place) return;
  kernel_operand(place->end);
  mov(r8, r1);
  kernel_operand(place->begin);
  minus(r8, r1);
  mov(r3, r1);
  mov(r2, r8);
  const Label fits = jump_if(BPF_JLE, r2, static_cast<int32_t>(kMostCommandLine));
  mov(r2, static_cast<int32_t>(kMostCommandLine));
  land(fits);
  mov(r8, r2);
  record_address(r1, at + 8);
  call(BPF_FUNC_probe_read_user);
  const Label absent = jump_if(BPF_JSLT, r0, 0);
  store(r7, at16(at), r8);
  land(absent);
}

void RecordEmitter::process_number(uint32_t at, unsigned number) {
  store(r7, at16(at), static_cast<int32_t>(kAbsent));
  std::optional<ProcessNumber> known = process_number_of_this_thread(pids_, number);
  if (!known) return;
  if (layout_.shape.thread.is_given()) known->place.base = layout_.shape.thread.task;
  kernel_operand(known->place);
  if (known->less) plus(r1, -known->less);
  store(r7, at16(at + 8), r1);
  store(r7, at16(at), 8);
}

// r8: the task_struct of one after the other. The first process of all is the last.
void RecordEmitter::ancestors(uint32_t at) {
  store(r7, at16(at), static_cast<int32_t>(kAbsent));
  const std::optional<AncestorPlace> place = ancestors_of_threads(pids_);
  if (!place) return;
  for (uint32_t n = 0; n < kMostAncestors; n++) store(r7, at16(at + 8 + 8 * n), 0);
  task_address(r8);
  std::vector<Label> ends;
  for (uint32_t n = 0; n < kMostAncestors; n++) {
    kernel_word(r8, r8, place->parent);
    if (!pids_.is_initial()) {
      kernel_word(r1, r8, place->number.path[0]);
      kernel_word(r1, r1, place->number.path[1]);
      mov(r3, r1);
      plus(r3, static_cast<int32_t>(place->number.value));
      number_at();
    } else {
      kernel_word(r1, r8, static_cast<int32_t>(place->number.value), 4);
    }
    store(r7, at16(at + 8 + 8 * n), r1);
    ends.push_back(jump_if(BPF_JLE, r1, 1));
  }
  for (const Label end : ends) land(end);
  store(r7, at16(at), static_cast<int32_t>(8 * kMostAncestors));
}

void RecordEmitter::kernel_name(const Operand& address) {
  kernel_operand(address);
  mov(r3, r1);
  to_kernel(r3);
  record_address(r1, layout_.comm);
  mov(r2, kCommBytes);
  call(BPF_FUNC_probe_read_kernel);
}

void RecordEmitter::to_kernel(Register address) {
  load_constant(r1, INT64_MIN);
  bits_or(address, r1);
}

// For a thread that has just been given the CPU: its time has not grown since it last ran (cpu_clock.h has the formula).
void RecordEmitter::cpu_time_of_other() {
  kernel_operand(layout_.shape.thread.run_time);
  mov(r8, r1);
  call(BPF_FUNC_get_current_task_btf);
  load(r1, r0, tasks_.cfs_rq);
  load(r1, r1, tasks_.rq);
  load(r1, r1, tasks_.clock);
  minus(r8, r1);
  call(BPF_FUNC_ktime_get_ns);
  plus(r0, r8);
  store(r7, at16(layout_.vtime), r0);
}

// A tick between the first load and the last would be counted twice or not at all; it shows in exec_start, then once more.
void RecordEmitter::cpu_time() {
  if (layout_.shape.thread.is_given()) return cpu_time_of_other();
  call(BPF_FUNC_get_current_task_btf);
  mov(r8, r0);
  read_cpu_time();
  const Label unchanged = jump_if(BPF_JEQ, r1, r2);
  read_cpu_time();
  land(unchanged);
}

// Leaves exec_start as it was before, in r1, and is now, in r2.
void RecordEmitter::read_cpu_time() {
  load(r1, r8, tasks_.exec_start);
  store(fp, -8, r1);
  load(r2, r8, tasks_.sum_exec_runtime);
  minus(r2, r1);
  load(r1, r8, tasks_.cfs_rq);
  load(r1, r1, tasks_.rq);
  load(r3, r1, tasks_.clock_task);
  plus(r2, r3);
  load(r3, r1, tasks_.clock);
  minus(r2, r3);
  store(r7, at16(layout_.vtime), r2);
  call(BPF_FUNC_ktime_get_ns);
  load(r1, r7, at16(layout_.vtime));
  plus(r0, r1);
  store(r7, at16(layout_.vtime), r0);
  load(r1, fp, -8);
  load(r2, r8, tasks_.exec_start);
}

void RecordEmitter::arguments() {
  if (layout_.zero) store(r7, at16(layout_.zero), 0);
  for (unsigned n = 0; n < Word::kCallArguments; n++) {
    if (!layout_.call[n]) continue;
    load(r1, r6, at_saved(kSyscallRegisters[n]));
    store(r7, at16(layout_.call[n]), r1);
  }
  if (layout_.error) {
    kernel_operand(layout_.shape.error);
    store(r7, at16(layout_.error), r1);
  }
  for (unsigned n = 0; n < layout_.args.size(); n++)  // the slow part may use them before they are read
    if (lies_in_memory(layout_, n)) store(r7, at16(layout_.args[n]), 0);
  for (unsigned n = 0; n < layout_.args.size(); n++)
    if (layout_.args[n]) argument(n);
}

void RecordEmitter::argument(unsigned n) {
  const Operand& operand = layout_.shape.args[n];
  const int16_t at = at16(layout_.args[n]);
  if (is_in_kernel(layout_.shape.kind)) {
    kernel_operand(operand);
    return store(r7, at, r1);
  }
  if (operand.kind == Operand::Kind::memory) return memory_argument(n);
  if (operand.kind == Operand::Kind::constant) load_constant(r1, operand.value);
  if (operand.kind == Operand::Kind::vector) mov(r1, 0);  // such a probe is refused (site_plan.cpp)
  if (operand.kind == Operand::Kind::counter) program_counter(r1, operand.value == 1);
  if (operand.kind == Operand::Kind::saved) load(r1, r6, at_saved(operand.base));
  widen(r1, operand);
  store(r7, at, r1);
}

// The place where a timer interrupted the process or, if not in_process, the kernel; 0 if it interrupted the other one.
void RecordEmitter::program_counter(Register to, bool in_process) {
  load(to, r6, offsetof(pt_regs, rip));
  load(r2, r6, offsetof(pt_regs, cs));
  const Label was_in_process = jump_if(BPF_JSET, r2, 3);
  if (in_process) mov(to, 0);
  const Label done = jump();
  land(was_in_process);
  if (!in_process) mov(to, 0);
  land(done);
}

// The user registers of the thread. If a timer has interrupted the kernel, the context has the kernel's registers; the context
// of a tracepoint has none.
RecordEmitter::Register RecordEmitter::user_registers() {
  if (layout_.shape.kind != SiteKind::timer && layout_.shape.kind != SiteKind::tracepoint) return r6;
  call(BPF_FUNC_get_current_task_btf);
  mov(r1, r0);
  call(BPF_FUNC_task_pt_regs);
  return r0;
}

void RecordEmitter::registers() {
  const Register from = user_registers();
  uint32_t at = layout_.registers;
  for (int16_t word = 0; layout_.saved >> word != 0; word++) {
    if ((layout_.saved >> word & 1) == 0) continue;
    load(r1, from, static_cast<int16_t>(8 * word));
    store(r7, at16(at), r1);
    at += 8;
  }
}

// Bytes or an error, then the word that the frames lack, then the frames.
void RecordEmitter::user_stack() {
  const SiteKind kind = layout_.shape.kind;
  if (kind == SiteKind::timer || kind == SiteKind::inside || is_in_kernel(kind)) store(r7, at16(layout_.stack + 8), 0);
  if (layout_.shape.kind == SiteKind::entry) {
    record_address(r1, layout_.stack + 8);
    mov(r2, 8);
    load(r3, r6, offsetof(pt_regs, rsp));
    if (layout_.shape.stack_moved) plus(r3, layout_.shape.stack_moved);
    call(BPF_FUNC_probe_read_user);
  }
  if (layout_.shape.kind == SiteKind::return_) store_function();
  if (is_in_kernel(kind))
    call(BPF_FUNC_get_current_task_btf);
  else
    mov(r0, r6);
  mov(r1, r0);
  record_address(r2, layout_.stack + 16);
  mov(r3, static_cast<int32_t>(8 * layout_.frames));
  mov(r4, BPF_F_USER_STACK);
  call(is_in_kernel(kind) ? BPF_FUNC_get_task_stack : BPF_FUNC_get_stack);
  store(r7, at16(layout_.stack), r0);
}

// Of a system call the context is gone: the registers of the process stand in its place.
void RecordEmitter::kernel_stack() {
  const bool is_of_other = layout_.takes_stack_of_other();
  const bool is_of_task = is_of_other || layout_.shape.kind == SiteKind::syscall;
  if (is_of_other)
    load(r0, r6, static_cast<int16_t>(8 * layout_.shape.thread.task));
  else if (is_of_task)
    call(BPF_FUNC_get_current_task_btf);
  mov(r1, is_of_task ? r0 : r6);
  record_address(r2, layout_.kernel_stack + 8);
  mov(r3, static_cast<int32_t>(8 * layout_.kernel_frames));
  mov(r4, 0);
  call(is_of_task ? BPF_FUNC_get_task_stack : BPF_FUNC_get_stack);
  store(r7, at16(layout_.kernel_stack), r0);
}

// In pieces, since the stack may end before the room does: the number of bytes so far is stored before each piece. Threads of the
// kernel have no such stack.
void RecordEmitter::stack_bytes() {
  std::vector<Label> ends;
  store(r7, at16(layout_.stack + 8), 0);
  if (layout_.shape.kind == SiteKind::return_) store_function();
  const Register from = user_registers();
  if (!can_sleep(layout_.shape.kind)) {
    store(r7, at16(layout_.stack), -EFAULT);
    load(r1, from, offsetof(pt_regs, cs));
    bits_and(r1, 3);
    ends.push_back(jump_if(BPF_JEQ, r1, 0));
  }
  load(r8, from, offsetof(pt_regs, rsp));
  bits_and(r8, -static_cast<int32_t>(kStackPiece));
  for (uint32_t done = 0; done < layout_.stack_bytes; done += kStackPiece) {
    store(r7, at16(layout_.stack), static_cast<int32_t>(done));
    record_address(r1, layout_.stack_at + done);
    mov(r2, static_cast<int32_t>(kStackPiece));
    mov(r3, r8);
    plus(r3, static_cast<int32_t>(done));
    call(BPF_FUNC_probe_read_user);
    ends.push_back(jump_if(BPF_JSLT, r0, 0));
  }
  store(r7, at16(layout_.stack), static_cast<int32_t>(layout_.stack_bytes));
  for (const Label end : ends) land(end);
  chain();
}

// Frames beyond the bytes are found by frame pointers, as long as those ascend. The two words of a frame are read onto the
// stack.
void RecordEmitter::chain() {
  std::vector<Label> ends;
  store(r7, at16(layout_.chain), 0);
  load(r8, user_registers(), offsetof(pt_regs, rbp));
  for (uint32_t count = 0; count < layout_.frames; count++) {
    stack_address(r1, -16);
    mov(r2, 16);
    mov(r3, r8);
    call(BPF_FUNC_probe_read_user);
    ends.push_back(jump_if(BPF_JSLT, r0, 0));
    load(r1, fp, -8);
    store(r7, at16(layout_.chain + 8 + 8 * count), r1);
    store(r7, at16(layout_.chain), static_cast<int32_t>(count + 1));
    load(r1, fp, -16);
    ends.push_back(jump_if(BPF_JLE, r1, r8));
    mov(r8, r1);
  }
  for (const Label end : ends) land(end);
}

void RecordEmitter::store_function() {
  mov(r1, r6);
  call(BPF_FUNC_get_func_ip);
  store(r7, at16(layout_.stack + 8), r0);
}

void RecordEmitter::memory_argument(unsigned n) {
  const Operand& operand = layout_.shape.args[n];
  record_address(r1, layout_.args[n]);
  mov(r2, operand.size);
  operand_address(r3, operand);
  call(BPF_FUNC_probe_read_user);
  const Label ok = jump_if(BPF_JSGE, r0, 0);
  to_slow_.push_back(jump_if(BPF_JLT, r9, kAttempts));
  land(ok);
  if (operand.size == 8 || !operand.is_signed) return;
  load(r1, r7, at16(layout_.args[n]));
  widen(r1, operand);
  store(r7, at16(layout_.args[n]), r1);
}

void RecordEmitter::operand_address(Register to, const Operand& operand) {
  load_constant(to, operand.value);
  if (operand.base != kNoWord) add_register(to, operand.base, 1);
  if (operand.index != kNoWord) add_register(to, operand.index, operand.scale);
}

void RecordEmitter::add_register(Register to, uint8_t word, uint8_t scale) {
  load(r4, r6, at_saved(word));
  if (scale > 1) shift_left(r4, std::countr_zero(scale));
  plus(to, r4);
}

void RecordEmitter::record_address(Register to, uint32_t offset) {
  mov(to, r7);
  plus(to, static_cast<int32_t>(offset));
}

void RecordEmitter::stack_address(Register to, int32_t at) {
  mov(to, fp);
  plus(to, at);
}

}  // namespace dvm::runtime
