// Emits capture programs. Tested by tests/unit/instrument/uprobe_test.cpp, which loads and runs them.
#include "runtime/instrument/uprobe/capture_program.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "runtime/instrument/uprobe/record_emitter.h"

namespace dvm::runtime {
namespace {

constexpr int32_t kPage = 4096;

// Registers: r6 the context, r7 the record, r8 the length of a slot of variable length, r9 the number of attempts. At a
// tracepoint r9 is the probe, and r6 may be the thread's registers (kernel_emitter.h). On the BPF stack, fp-8 has a byte to
// fault pages into, or a pid pair; below it lies the record, or the addresses that the slow part faults in. In the second case
// the word failed() has what the latest slow part could not fault in: bits 2n and 2n + 1 are the first two pages of slot n.
class CaptureProgram : RecordEmitter {
 public:
  CaptureProgram(const RecordLayouts& layouts, const ProgramMaps& maps, const PidNamespace& pids, const TaskLayout& tasks,
                 const CaptureGate* gate)
      : RecordEmitter(layouts.first, pids, tasks), larger_(layouts.larger), maps_(maps), gate_(gate) {}

  std::vector<bpf_insn> make() {
    mov(r6, r1);
    mov(r9, 0);
    if (maps_.followed >= 0 && !gate_) only_followed(maps_.followed, maps_.root);
    if (gate_) gate(*gate_, layout_);
    if (maps_.counts >= 0) return count_firing(), code();
    record();
    if (!larger_) return code();
    for (const Label jump : to_larger_) land(jump);
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
    if (notes_failed()) store(fp, failed(), 0);
    const Label again = here();
    begin_record();
    head();
    if (layout_.vtime) cpu_time();
    thread_and_time();
    clear_words();
    kept_words(maps_.kept);
    arguments();
    if (layout_.registers) registers();
    if (layout_.stack) layout_.stack_bytes ? stack_bytes() : user_stack();
    if (layout_.kernel_stack) kernel_stack();
    for (const MemorySlot& slot : layout_.slots) read_slot(slot);
    keep_words(maps_.kept, static_cast<int16_t>(layout_.is_on_stack ? -16 - static_cast<int>(layout_.size) : -16));
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

  void begin_record() {
    if (layout_.is_on_stack) {
      mov(r7, fp);
      plus(r7, -static_cast<int32_t>(8 + layout_.size));
      free_at_ = static_cast<int16_t>(-32 - static_cast<int>(layout_.size));
      return;
    }
    free_at_ = -32;
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

  // Words that are read from memory: 0 until they are, for what depends on them looks at them in any case.
  void clear_words() {
    for (const MemorySlot& slot : layout_.slots) {
      if (!slot.need.base.is_argument()) store(r7, at16(slot.base), 0);
      if (slot.need.sized_by && !slot.need.sized_by->is_argument()) store(r7, at16(slot.sized_by), 0);
    }
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

  // True if the other layout has more room for the contents of the slot. Both have the same slots.
  bool is_larger_elsewhere(const MemorySlot& slot) const {
    return larger_ && larger_->slots[index_of(slot)].need.size > slot.need.size;
  }

  bool is_last(const MemorySlot& slot) const { return layout_.is_cut && &slot == &layout_.slots.back(); }

  void read_slot(const MemorySlot& slot) {
    const bool through_pointer = !slot.need.base.is_argument();
    if (slot.need.is_file) return read_file(slot);
    if (is_last(slot)) mov(r8, 0);
    load(r3, r7, at16(slot.base));
    if (!through_pointer) add_offset(r3, slot, r1);
    mov(r1, static_cast<int32_t>(kAbsent));
    store(r7, at16(slot.at), r1);
    const Label null = jump_if(BPF_JLT, r3, kPage);  // nothing is mapped there: not worth the slow part
    if (through_pointer) add_offset(r3, slot, r1);
    slot_size(slot);
    read_memory(slot);
    const Label ok = jump_if(BPF_JSGE, r0, 0);
    if (can_sleep(layout_.shape.kind)) to_slow_.push_back(jump_if(BPF_JLT, r9, kAttempts));
    std::vector<Label> absent;
    read_part(slot, absent);
    absent.push_back(jump());
    land(ok);
    if (is_larger_elsewhere(slot) && slot.need.is_string)
      to_larger_.push_back(jump_if(BPF_JGE, r0, static_cast<int32_t>(slot.need.size)));
    slot_length(slot);
    for (const Label one : absent) land(one);
    land(null);
  }

  // A slot that cannot be read as a whole: its bytes up to the end of the page. A clause may want no more than those: members
  // that several clauses read are one slot. What cannot be read even if the thread waits for it must not be read later.
  void read_part(const MemorySlot& slot, std::vector<Label>& done) {
    slot_address(r3, slot, r1);
    mov(r2, 0);
    minus(r2, r3);
    bits_and(r2, kPage - 1);
    if (is_last(slot)) mov(r1, r8), mov(r8, 0);
    std::vector<Label> none = {jump_if(BPF_JEQ, r2, 0), jump_if(BPF_JGE, r2, static_cast<int32_t>(slot.need.size))};
    if (slot.sized_by) none.push_back(jump_if(BPF_JGE, r2, is_last(slot) ? r1 : r8));
    mov(r8, r2);
    record_address(r1, slot.at + 8);
    call(BPF_FUNC_probe_read_user);
    const Label read = jump_if(BPF_JSGE, r0, 0);
    if (!slot.is_variable() && can_sleep(layout_.shape.kind)) read_end(slot, done);
    mov(r8, 0);
    for (const Label one : none) land(one);
    if (can_sleep(layout_.shape.kind)) {
      unless_failed(slot, Page::first, done);
      store(r7, at16(slot.at), static_cast<int32_t>(kUnreadable));
    }
    done.push_back(jump());
    land(read);
    store(r7, at16(slot.at), r8);
    if (!can_sleep(layout_.shape.kind)) return;
    unless_failed(slot, Page::second, done);
    mark(slot, kEndsThere);
  }

  // Its last bytes, if the first r8 bytes cannot be read: they are in another page, and a clause may want only those.
  void read_end(const MemorySlot& slot, std::vector<Label>& done) {
    slot_address(r3, slot, r1);
    plus(r3, r8);
    mov(r2, static_cast<int32_t>(slot.need.size));
    minus(r2, r8);
    mov(r8, r2);
    record_address(r1, slot.at + 8);
    call(BPF_FUNC_probe_read_user);
    const Label failed = jump_if(BPF_JSLT, r0, 0);
    unless_failed(slot, Page::first, done);
    mark(slot, kBeginsThere);
    done.push_back(jump());
    land(failed);
  }

  // The r8 bytes that were read, with a remark.
  void mark(const MemorySlot& slot, uint64_t remark) {
    load_constant(r1, static_cast<int64_t>(remark));
    bits_or(r1, r8);
    store(r7, at16(slot.at), r1);
  }

  // Of a slot: the page of its first byte, and that of the byte after the r8 bytes that were read.
  enum class Page : unsigned { first, second };

  // Jumps if the page can be read. While room in the ring is taken, all later records wait for it, so the slow part has tried.
  void unless_failed(const MemorySlot& slot, Page page, std::vector<Label>& jumps) {
    if (layout_.is_on_stack) {
      slot_address(r3, slot, r1);
      if (page == Page::second) plus(r3, r8);
      fault_in();
      return jumps.push_back(jump_if(BPF_JSGE, r0, 0));
    }
    if (!notes_failed()) return jumps.push_back(jump());
    load(r1, fp, failed());
    shift_right(r1, static_cast<int32_t>(failed_bit(index_of(slot), page)));
    bits_and(r1, 1);
    jumps.push_back(jump_if(BPF_JEQ, r1, 0));
  }

  bool notes_failed() const { return can_sleep(layout_.shape.kind) && !layout_.is_on_stack && 2 * layout_.slots.size() <= 64; }
  static unsigned failed_bit(size_t slot, Page page) { return 2 * static_cast<unsigned>(slot) + static_cast<unsigned>(page); }
  int16_t failed() const { return std::min<int16_t>(saved(layout_.slots.size()), -40); }
  size_t index_of(const MemorySlot& slot) const { return static_cast<size_t>(&slot - layout_.slots.data()); }

  // r0 is the result of a read of the page.
  void note_failed(size_t index, Page page) {
    if (!notes_failed()) return;
    shift_right(r0, 63);
    shift_left(r0, static_cast<int32_t>(failed_bit(index, page)));
    load(r1, fp, failed());
    bits_or(r1, r0);
    store(fp, failed(), r1);
  }

  void read_file(const MemorySlot& slot) {
    if (slot.need.is_command_line()) return command_line(slot.at);
    if (slot.need.offset == vm::CapturedMemory::kAncestors && slot.need.is_of_process()) return ancestors(slot.at);
    if (slot.need.offset == vm::CapturedMemory::kWorkingDirectory && slot.need.is_of_process()) return working_directory(slot.at);
    if (slot.need.is_of_process())
      return process_number(slot.at, static_cast<unsigned>(slot.need.offset - vm::CapturedMemory::kProcessNumber));
    load(r8, r7, at16(slot.base));
    if (slot.need.offset) plus(r8, static_cast<int32_t>(slot.need.offset));
    open_file(slot.at);
  }

  // So many bytes (r2) at r3; at a tracepoint of the process or, where no process has memory, of the kernel.
  void read_memory(const MemorySlot& slot) {
    Label of_process = 0, done = 0;
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
    if (slot.need.more) plus(r8, slot.need.more);
    const Label fits = jump_if(BPF_JLE, r8, most);
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

  void slow(Label again) {
    for (const Label jump : to_slow_) land(jump);
    plus(r9, 1);
    if (notes_failed()) store(fp, failed(), 0);
    if (!layout_.is_on_stack) give_back();
    for (unsigned n = 0; n < layout_.args.size(); n++)
      if (lies_in_memory(layout_, n)) {
        operand_address(r3, layout_.shape.args[n]);
        fault_in();
      }
    for (size_t i = 0; i < layout_.slots.size(); i++) {
      if (layout_.slots[i].need.is_file) continue;
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

  // Fetches the word that a slot's address starts from, out of the slot before it, faulting its page in. One round thus brings
  // in all pages of a chain. A word that cannot be read becomes 0.
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

  // The first byte, then one byte of each further page that the slot can reach into.
  void fault_pages_in(size_t index) {
    const auto size = static_cast<int32_t>(layout_.slots[index].need.size);
    address_of_slot(r3, index);
    fault_in();
    note_failed(index, Page::first);
    for (int32_t ahead = kPage; ahead < size + kPage; ahead += kPage) {
      address_of_slot(r3, index);
      mov(r8, r3);
      plus(r8, size);
      plus(r3, ahead);
      bits_and(r3, -kPage);
      const Label beyond = jump_if(BPF_JGE, r3, r8);
      fault_in();
      if (ahead == kPage) note_failed(index, Page::second);
      land(beyond);
    }
  }

  // Reads the byte at r3. In the slow part, whether that worked shows when the slot is read again.
  void fault_in() {
    stack_address(r1, -8);
    mov(r2, 1);
    call(BPF_FUNC_copy_from_user);
  }

  std::optional<RecordLayout> larger_;  // used if the first one has too little room
  bool is_larger_ = false;
  ProgramMaps maps_;
  const CaptureGate* gate_;  // null: not at a tracepoint
  std::vector<Label> to_larger_;
  Label full_ = 0;  // the jump that is taken when the ring is full
};

}  // namespace

bool must_sleep(const RecordLayout& layout) {
  if (!can_sleep(layout.shape.kind)) return false;
  if (std::any_of(layout.slots.begin(), layout.slots.end(), [](const MemorySlot& slot) { return !slot.need.is_file; }))
    return true;
  for (unsigned n = 0; n < layout.args.size(); n++)
    if (lies_in_memory(layout, n)) return true;
  return false;
}

std::vector<bpf_insn> make_capture_program(const RecordLayouts& layouts, const ProgramMaps& maps, const PidNamespace& pids,
                                           const TaskLayout& tasks, const CaptureGate* gate) {
  return CaptureProgram(layouts, maps, pids, tasks, gate).make();
}

}  // namespace dvm::runtime
