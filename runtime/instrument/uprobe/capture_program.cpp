// Emits capture programs. Tested by tests/unit/instrument/uprobe_test.cpp, which loads and runs them.
#include "runtime/instrument/uprobe/capture_program.h"

#include <asm/ptrace.h>

#include <bit>
#include <cerrno>
#include <cstddef>
#include <utility>

#include "runtime/instrument/uprobe/kernel_emitter.h"

namespace dvm::runtime {
namespace {

constexpr int kAttempts = 3;  // slow rounds before memory counts as unreadable
constexpr int32_t kPage = 4096;

constexpr int16_t at_saved(uint8_t word) { return static_cast<int16_t>(8 * word); }

bool lies_in_memory(const RecordLayout& layout, unsigned n) {
  return layout.args[n] != 0 && layout.shape.args[n].kind == Operand::Kind::memory;
}

// Registers throughout: r6 the context, r7 the record, r8 the length of a slot of variable length, r9 the attempts made (at a
// tracepoint the probe, and r6 may be the thread's registers, see kernel_emitter.h). The
// stack: a byte to fault pages into, or a pid pair, at fp-8; below it the record, or else the addresses of what the slow part
// faults in.
class CaptureProgram : KernelEmitter {
 public:
  CaptureProgram(const RecordLayouts& layouts, const ProgramMaps& maps, const PidNamespace& pids, const TaskLayout& tasks,
                 const Gate* gate)
      : layout_(layouts.first), larger_(layouts.larger), maps_(maps), pids_(pids), tasks_(tasks), gate_(gate) {}

  std::vector<bpf_insn> make() {
    mov(r6, r1);
    mov(r9, 0);
    if (maps_.followed >= 0 && !gate_) only_followed(maps_.followed, maps_.root, pids_);
    if (gate_) gate(*gate_, layout_, pids_);
    if (maps_.counts >= 0) return count_firing(), code();
    record();
    if (!larger_) return code();
    for (const Place jump : to_larger_) land(jump);
    layout_ = *std::exchange(larger_, std::nullopt);
    is_larger_ = true;
    to_slow_.clear();
    if (!gate_) mov(r9, 0);
    record();
    return code();
  }

 private:
  // All that makes a record of the layout.
  void record() {
    const Place again = here();
    begin_record();
    head();
    if (layout_.vtime) cpu_time();
    thread_and_time();
    clear_words();
    arguments();
    if (layout_.registers) registers();
    if (layout_.stack) layout_.stack_bytes ? stack_bytes() : user_stack();
    for (const MemorySlot& slot : layout_.slots) read_slot(slot);
    end_record();
    count_drop();
    if (!is_larger_) leave_unwanted();
    if (!to_slow_.empty()) slow(again);
  }

  void count_firing() {
    if (gate_) {
      mov(r0, r9);
    } else {
      mov(r1, r6);
      call(BPF_FUNC_get_attach_cookie);
    }
    bits_and(r0, kProbeCounters - 1);
    add_one(maps_.counts);
    leave_unwanted();
  }

  // To the counter r0 of the map, and ends.
  void add_one(int map) {
    shift_left(r0, 3);
    load_map_value(r1, map, 0);
    plus(r1, r0);
    mov(r2, 1);
    atomic_add(r1, 0, r2);
    mov(r0, 0);
    exit();
  }

  static int16_t at16(uint32_t offset) { return static_cast<int16_t>(offset); }

  void begin_record() {
    if (layout_.is_on_stack) {
      mov(r7, fp);
      plus(r7, -static_cast<int32_t>(8 + layout_.size));
      return;
    }
    load_map(r1, maps_.ring);
    mov(r2, static_cast<int32_t>(layout_.size));
    mov(r3, 0);
    call(BPF_FUNC_ringbuf_reserve);
    full_ = jump_if(BPF_JEQ, r0, 0);
    mov(r7, r0);
  }

  void head() {
    if (gate_) {
      load_constant(r0, static_cast<int64_t>(make_cookie(0, gate_->group)));
      bits_or(r0, r9);
    } else {
      mov(r1, r6);
      call(BPF_FUNC_get_attach_cookie);
    }
    if (is_larger_) {
      load_constant(r1, static_cast<int64_t>(make_cookie(0, 1)));
      plus(r0, r1);
    }
    if (layout_.cpu) {
      mov(r8, r0);
      call(BPF_FUNC_get_smp_processor_id);
      shift_left(r0, 48);
      bits_or(r0, r8);
    }
    store(r7, 0, r0);
  }

  void thread_and_time() {
    if (layout_.time) {
      call(BPF_FUNC_ktime_get_ns);
      store(r7, at16(layout_.time), r0);
    }
    if (layout_.thread) thread();
    if (layout_.comm && layout_.shape.thread.is_given()) {
      kernel_name(layout_.shape.thread.name);
    } else if (layout_.comm) {
      record_address(r1, layout_.comm);
      mov(r2, kCommBytes);
      call(BPF_FUNC_get_current_comm);
    }
  }

  void thread() {
    const OtherThread& other = layout_.shape.thread;
    if (!other.is_given()) {
      this_thread(pids_);
      return store(r7, at16(layout_.thread), r0);
    }
    kernel_operand(other.process);
    mov(r8, r1);
    shift_left(r8, 32);
    kernel_operand(other.thread);
    bits_or(r1, r8);
    store(r7, at16(layout_.thread), r1);
  }

  void kernel_name(const Operand& address) {
    kernel_operand(address);
    mov(r3, r1);
    to_kernel(r3);
    record_address(r1, layout_.comm);
    mov(r2, kCommBytes);
    call(BPF_FUNC_probe_read_kernel);
  }

  // An address without its top bit as the kernel has it.
  void to_kernel(Register address) {
    load_constant(r1, INT64_MIN);
    bits_or(address, r1);
  }

  // Of a thread that has just been given the CPU: its time begins now, so it is what it was (cpu_clock.h has the formula).
  void cpu_time_of_other() {
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
  void cpu_time() {
    if (layout_.shape.thread.is_given()) return cpu_time_of_other();
    call(BPF_FUNC_get_current_task_btf);
    mov(r8, r0);
    read_cpu_time();
    const Place unchanged = jump_if(BPF_JEQ, r1, r2);
    read_cpu_time();
    land(unchanged);
  }

  // Leaves exec_start as it was before, in r1, and is now, in r2.
  void read_cpu_time() {
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

  // Words that are read from memory: 0 until they are, for what depends on them looks at them in any case.
  void clear_words() {
    for (const MemorySlot& slot : layout_.slots) {
      if (!slot.need.base.is_argument()) store(r7, at16(slot.base), 0);
      if (slot.need.sized_by && !slot.need.sized_by->is_argument()) store(r7, at16(slot.sized_by), 0);
    }
  }

  void arguments() {
    if (layout_.zero) store(r7, at16(layout_.zero), 0);
    if (layout_.error) {
      kernel_operand(layout_.shape.error);
      store(r7, at16(layout_.error), r1);
    }
    for (unsigned n = 0; n < layout_.args.size(); n++)  // the slow part may use them before they are read
      if (lies_in_memory(layout_, n)) store(r7, at16(layout_.args[n]), 0);
    for (unsigned n = 0; n < layout_.args.size(); n++)
      if (layout_.args[n]) argument(n);
  }

  void argument(unsigned n) {
    const Operand& operand = layout_.shape.args[n];
    const int16_t at = at16(layout_.args[n]);
    if (is_in_kernel(layout_.shape.kind)) {
      kernel_operand(operand);
      return store(r7, at, r1);
    }
    if (operand.kind == Operand::Kind::memory) return memory_argument(n);
    if (operand.kind == Operand::Kind::constant) load_constant(r1, operand.value);
    if (operand.kind == Operand::Kind::counter) program_counter(r1, operand.value == 1);
    if (operand.kind == Operand::Kind::saved) load(r1, r6, at_saved(operand.base));
    widen(r1, operand);
    store(r7, at, r1);
  }

  // Where a timer interrupted the process or, if not in_process, the kernel; 0 if it was the other one.
  void program_counter(Register to, bool in_process) {
    load(to, r6, offsetof(pt_regs, rip));
    load(r2, r6, offsetof(pt_regs, cs));
    const Place was_in_process = jump_if(BPF_JSET, r2, 3);
    if (in_process) mov(to, 0);
    const Place done = jump();
    land(was_in_process);
    if (!in_process) mov(to, 0);
    land(done);
  }

  // Of the thread in its process. A timer may have interrupted the kernel: then the context has the kernel's registers. A
  // tracepoint's context has none.
  Register user_registers() {
    if (layout_.shape.kind != SiteKind::timer && layout_.shape.kind != SiteKind::tracepoint) return r6;
    call(BPF_FUNC_get_current_task_btf);
    mov(r1, r0);
    call(BPF_FUNC_task_pt_regs);
    return r0;
  }

  void registers() {
    const Register from = user_registers();
    uint32_t at = layout_.registers;
    for (int16_t word = 0; layout_.saved >> word != 0; word++) {
      if ((layout_.saved >> word & 1) == 0) continue;
      load(r1, from, static_cast<int16_t>(8 * word));
      store(r7, at16(at), r1);
      at += 8;
    }
  }

  // Bytes or an error, then the word that the frames do not tell, then the frames.
  void user_stack() {
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

  // In pieces, for above the stack there may be nothing to be read: how many bytes were read is known before each. Threads of the
  // kernel have no such stack.
  void stack_bytes() {
    std::vector<Place> ends;
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
    for (const Place end : ends) land(end);
    chain();
  }

  // What lies behind the bytes is found by frame pointers, as far as those go up. The two words of a frame are read onto the
  // stack.
  void chain() {
    std::vector<Place> ends;
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
    for (const Place end : ends) land(end);
  }

  void store_function() {
    mov(r1, r6);
    call(BPF_FUNC_get_func_ip);
    store(r7, at16(layout_.stack + 8), r0);
  }

  void memory_argument(unsigned n) {
    const Operand& operand = layout_.shape.args[n];
    record_address(r1, layout_.args[n]);
    mov(r2, operand.size);
    operand_address(r3, operand);
    call(BPF_FUNC_probe_read_user);
    const Place ok = jump_if(BPF_JSGE, r0, 0);
    to_slow_.push_back(jump_if(BPF_JLT, r9, kAttempts));
    land(ok);
    if (operand.size == 8 || !operand.is_signed) return;
    load(r1, r7, at16(layout_.args[n]));
    widen(r1, operand);
    store(r7, at16(layout_.args[n]), r1);
  }

  // r1 and r2 are left as they are.
  void operand_address(Register to, const Operand& operand) {
    load_constant(to, operand.value);
    if (operand.base != kNoWord) add_register(to, operand.base, 1);
    if (operand.index != kNoWord) add_register(to, operand.index, operand.scale);
  }

  void add_register(Register to, uint8_t word, uint8_t scale) {
    load(r4, r6, at_saved(word));
    if (scale > 1) shift_left(r4, std::countr_zero(scale));
    plus(to, r4);
  }

  void record_address(Register to, uint32_t offset) {
    mov(to, r7);
    plus(to, static_cast<int32_t>(offset));
  }

  void add_offset(Register to, const MemorySlot& slot, Register scratch) {
    if (slot.need.offset == 0) return;
    load_constant(scratch, slot.need.offset);
    plus(to, scratch);
  }

  void slot_address(Register to, const MemorySlot& slot, Register scratch) {
    load(to, r7, at16(slot.base));
    add_offset(to, slot, scratch);
  }

  // Whether the other layout has more room for what the slot holds. Both have the same slots.
  bool is_larger_elsewhere(const MemorySlot& slot) const {
    return larger_ && larger_->slots[static_cast<size_t>(&slot - layout_.slots.data())].need.size > slot.need.size;
  }

  bool is_last(const MemorySlot& slot) const { return layout_.is_cut && &slot == &layout_.slots.back(); }

  void read_slot(const MemorySlot& slot) {
    const bool through_pointer = !slot.need.base.is_argument();
    if (is_last(slot)) mov(r8, 0);
    load(r3, r7, at16(slot.base));
    if (!through_pointer) add_offset(r3, slot, r1);
    mov(r1, static_cast<int32_t>(kAbsent));
    store(r7, at16(slot.at), r1);
    const Place null = jump_if(BPF_JLT, r3, kPage);  // nothing is mapped there: not worth the slow part
    if (through_pointer) add_offset(r3, slot, r1);
    slot_size(slot);
    read_memory(slot);
    const Place ok = jump_if(BPF_JSGE, r0, 0);
    if (can_sleep(layout_.shape.kind)) to_slow_.push_back(jump_if(BPF_JLT, r9, kAttempts));
    if (is_last(slot) && slot.sized_by) mov(r8, 0);
    const Place absent = jump();
    land(ok);
    if (is_larger_elsewhere(slot) && slot.need.is_string)
      to_larger_.push_back(jump_if(BPF_JGE, r0, static_cast<int32_t>(slot.need.size)));
    slot_length(slot);
    land(absent);
    land(null);
  }

  // So many bytes (r2) at r3; at a tracepoint of the process or, where no process has memory, of the kernel.
  void read_memory(const MemorySlot& slot) {
    Place of_process = 0, done = 0;
    const bool can_be_kernel = layout_.shape.kind == SiteKind::tracepoint;
    if (can_be_kernel) {
      mov(r1, r3);
      shift_right(r1, 47);
      of_process = jump_if(BPF_JEQ, r1, 0);
      to_kernel(r3);
      record_address(r1, slot.at + 8);
      call(slot.need.is_string ? BPF_FUNC_probe_read_kernel_str : BPF_FUNC_probe_read_kernel);
      done = jump();
      land(of_process);
    }
    record_address(r1, slot.at + 8);
    call(slot.need.is_string ? BPF_FUNC_probe_read_user_str : BPF_FUNC_probe_read_user);
    if (can_be_kernel) land(done);
  }

  // r2: how many bytes to read; of a slot that is sized by a word also r8.
  void slot_size(const MemorySlot& slot) {
    const auto most = static_cast<int32_t>(slot.need.size);
    if (!slot.sized_by) return mov(r2, most);
    load(r8, r7, at16(slot.sized_by));
    const Place fits = jump_if(BPF_JLE, r8, most);
    if (is_larger_elsewhere(slot) && !slot.need.is_string)
      to_larger_.push_back(jump());
    else
      mov(r8, most);
    land(fits);
    mov(r2, r8);
  }

  // Stores how many bytes were read: r0, if it is a string.
  void slot_length(const MemorySlot& slot) {
    if (!slot.need.is_string) {
      if (slot.sized_by)
        mov(r0, r8);
      else
        mov(r0, static_cast<int32_t>(slot.need.size));
    }
    store(r7, at16(slot.at), r0);
    if (is_last(slot)) mov(r8, r0);
  }

  void end_record() {
    if (layout_.is_on_stack) {
      output();
    } else {
      mov(r1, r7);
      mov(r2, BPF_RB_NO_WAKEUP);
      call(BPF_FUNC_ringbuf_submit);
    }
    mov(r0, 0);
    exit();
    land(full_);
  }

  void output() {
    load_map(r1, maps_.ring);
    mov(r2, r7);
    if (layout_.is_cut) {
      mov(r3, r8);
      plus(r3, static_cast<int32_t>(layout_.least));
    } else {
      mov(r3, static_cast<int32_t>(layout_.size));
    }
    mov(r4, BPF_RB_NO_WAKEUP);
    call(BPF_FUNC_ringbuf_output);
    full_ = jump_if(BPF_JSLT, r0, 0);
  }

  void count_drop() {
    call(BPF_FUNC_get_smp_processor_id);
    bits_and(r0, kCpuCounters - 1);
    add_one(maps_.drops);
  }

  static int16_t saved(size_t index) { return static_cast<int16_t>(-16 - 8 * static_cast<int>(index)); }

  void slow(Place again) {
    for (const Place jump : to_slow_) land(jump);
    plus(r9, 1);
    if (!layout_.is_on_stack) give_back();
    for (unsigned n = 0; n < layout_.args.size(); n++)
      if (lies_in_memory(layout_, n)) {
        operand_address(r3, layout_.shape.args[n]);
        fault_in();
      }
    for (size_t i = 0; i < layout_.slots.size(); i++) {
      if (!layout_.slots[i].need.base.is_argument()) fetch_word(i);
      fault_pages_in(i);
    }
    jump_back(again);
  }

  // With the record go the arguments in it: the addresses that they make are saved first.
  void give_back() {
    for (size_t i = 0; i < layout_.slots.size(); i++) {
      if (!layout_.slots[i].need.base.is_argument()) continue;
      slot_address(r3, layout_.slots[i], r1);
      store(fp, saved(i), r3);
    }
    mov(r1, r7);
    mov(r2, BPF_RB_NO_WAKEUP);
    call(BPF_FUNC_ringbuf_discard);
  }

  void address_of_slot(Register to, size_t index) {
    if (layout_.is_on_stack)
      slot_address(to, layout_.slots[index], r1);
    else
      load(to, fp, saved(index));
  }

  // The word that a slot's address starts from, out of the slot before it and whatever page it lies in: so one round brings in
  // all pages of a chain. What cannot be read becomes 0.
  void fetch_word(size_t index) {
    const MemorySlot& slot = layout_.slots[index];
    address_of_slot(r3, slot.parent);
    plus(r3, static_cast<int32_t>(slot.base - layout_.slots[slot.parent].at - 8));
    if (layout_.is_on_stack)
      record_address(r1, slot.base);
    else
      stack_address(r1, saved(index));
    mov(r2, 8);
    call(BPF_FUNC_copy_from_user);
    if (layout_.is_on_stack || slot.need.offset == 0) return;
    load(r3, fp, saved(index));
    add_offset(r3, slot, r1);
    store(fp, saved(index), r3);
  }

  void stack_address(Register to, int32_t at) {
    mov(to, fp);
    plus(to, at);
  }

  // The first byte, then one byte of each further page that the slot can reach into.
  void fault_pages_in(size_t index) {
    const auto size = static_cast<int32_t>(layout_.slots[index].need.size);
    address_of_slot(r3, index);
    fault_in();
    for (int32_t ahead = kPage; ahead < size + kPage; ahead += kPage) {
      address_of_slot(r3, index);
      mov(r8, r3);
      plus(r8, size);
      plus(r3, ahead);
      bits_and(r3, -kPage);
      const Place beyond = jump_if(BPF_JGE, r3, r8);
      fault_in();
      land(beyond);
    }
  }

  // Reads the byte at r3; whether that worked shows when the slot is read again.
  void fault_in() {
    stack_address(r1, -8);
    mov(r2, 1);
    call(BPF_FUNC_copy_from_user);
  }

  RecordLayout layout_;                 // that is written for now
  std::optional<RecordLayout> larger_;  // that is taken where this one has too little room
  bool is_larger_ = false;
  ProgramMaps maps_;
  PidNamespace pids_;
  TaskLayout tasks_;
  const Gate* gate_;  // null: not at a tracepoint
  std::vector<Place> to_slow_, to_larger_;
  Place full_ = 0;  // the jump that is taken when there is no room
};

}  // namespace

bool must_sleep(const RecordLayout& layout) {
  if (!can_sleep(layout.shape.kind)) return false;
  if (!layout.slots.empty()) return true;
  for (unsigned n = 0; n < layout.args.size(); n++)
    if (lies_in_memory(layout, n)) return true;
  return false;
}

std::vector<bpf_insn> make_capture_program(const RecordLayouts& layouts, const ProgramMaps& maps, const PidNamespace& pids,
                                           const TaskLayout& tasks, const Gate* gate) {
  return CaptureProgram(layouts, maps, pids, tasks, gate).make();
}

}  // namespace dvm::runtime
