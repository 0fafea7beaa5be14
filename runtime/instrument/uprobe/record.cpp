// Layout and decoding of ring records. Tested by tests/unit/instrument/record_test.cpp.
#include "runtime/instrument/uprobe/record.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "runtime/instrument/uprobe/tracer_frames.h"
#include "runtime/process/captured_unreadable.h"

namespace dvm::runtime {
namespace {

constexpr uint32_t kStackBytes = 512 - 8 - 24;  // of a BPF program's stack: the bytes on both sides serve other ends

uint32_t take(RecordLayout& layout, uint32_t bytes) {
  const uint32_t at = layout.size;
  layout.size += (bytes + 7) & ~7u;
  return at;
}

uint64_t word_at(std::span<const std::byte> record, uint32_t at) {
  uint64_t word;
  std::memcpy(&word, record.data() + at, sizeof word);
  return word;
}

// Where a signal interrupts a system call, the kernel returns codes of its own, from ERESTARTSYS to ERESTARTNOHAND and
// ERESTART_RESTARTBLOCK, until it knows if it begins the call anew. If not, the program sees EINTR.
int32_t error_of(uint64_t code) {
  constexpr uint64_t kFirst = 512, kLast = 514, kRestartBlock = 516;
  return static_cast<int32_t>((code >= kFirst && code <= kLast) || code == kRestartBlock ? EINTR : code);
}

// The most bytes that this record's slot can hold.
uint64_t room_of(const MemorySlot& slot, std::span<const std::byte> record) {
  const uint64_t most = slot.need.size;
  return slot.sized_by ? std::min(most, word_at(record, slot.sized_by) + slot.need.more) : most;
}

// A string that filled its slot may have been cut: its last byte, a NUL in either case, is left off, so that only a string that
// ended by itself ends with a NUL.
std::span<const std::byte> slot_bytes(const MemorySlot& slot, std::span<const std::byte> record) {
  const auto length = static_cast<int64_t>(word_at(record, slot.at) & ~(kEndsThere | kBeginsThere));
  if (length <= 0 || length > slot.need.size || slot.at + 8 + static_cast<uint64_t>(length) > record.size()) return {};
  const bool filled = slot.need.is_string && static_cast<uint64_t>(length) >= room_of(slot, record);
  return record.subspan(slot.at + 8, static_cast<size_t>(length) - (filled ? 1 : 0));
}

// A slot without its first bytes.
bool is_end(const MemorySlot& slot, std::span<const std::byte> record, std::span<const std::byte> bytes) {
  return !slot.is_variable() && !bytes.empty() && word_at(record, slot.at) == bytes.size() + kBeginsThere;
}

// Where a byte could not be read, by any means, as a distance from the beginning of the slot.
std::optional<uint64_t> first_unreadable(const MemorySlot& slot, std::span<const std::byte> record,
                                         std::span<const std::byte> bytes) {
  const uint64_t length = word_at(record, slot.at);
  if (slot.need.is_file) return std::nullopt;
  if (length == static_cast<uint64_t>(kUnreadable) || is_end(slot, record, bytes)) return 0;
  if (bytes.empty() || length != bytes.size() + kEndsThere) return std::nullopt;
  return bytes.size();
}

std::span<const vm::CapturedMemory> decode_memory(const RecordLayout& layout, std::span<const std::byte> record,
                                                  std::span<vm::CapturedMemory> memory) {
  size_t count = 0;
  for (const MemorySlot& slot : layout.slots) {
    const std::span<const std::byte> bytes = slot_bytes(slot, record);
    const uint64_t begin = word_at(record, slot.base) + static_cast<uint64_t>(slot.need.offset);
    if (const auto at = first_unreadable(slot, record, bytes)) memory[count++] = {kUnreadableAt | (begin + *at), {}, false, true};
    if (bytes.empty()) continue;
    const uint64_t address = is_end(slot, record, bytes) ? begin + slot.need.size - bytes.size() : begin;
    if (slot.need.is_of_process())
      memory[count++] = {static_cast<uint64_t>(slot.need.offset), bytes, false, true};
    else if (slot.need.is_file)
      memory[count++] = {static_cast<uint32_t>(address), bytes, false, true};
    else
      memory[count++] = {address, bytes, slot.need.is_string};
  }
  return memory.first(count);
}

// Records begin at multiples of 8 bytes, and so does all that they hold.
vm::UserRegisters decode_registers(const RecordLayout& layout, std::span<const std::byte> record) noexcept {
  const auto* first = reinterpret_cast<const uint64_t*>(record.data() + layout.registers);
  return {layout.saved, {first, static_cast<size_t>(std::popcount(layout.saved))}};
}

// The kernel finds callers by the frame pointer, which an entry has not yet set: the caller is known by its return address alone.
// At a return the function is left already.
std::span<const uint64_t> decode_stack(const RecordLayout& layout, std::span<const std::byte> record,
                                       std::span<uint64_t> stack) noexcept {
  const auto bytes = static_cast<int64_t>(word_at(record, layout.stack));
  const uint64_t extra = word_at(record, layout.stack + 8);
  const size_t found = bytes > 0 ? std::min<size_t>(static_cast<size_t>(bytes) / 8, layout.frames) : 0;
  size_t count = 0;
  const auto add = [&](uint64_t address) {
    if (count < layout.frames && address != 0) stack[count++] = address;
  };
  if (layout.shape.kind == SiteKind::return_) add(extra);
  for (size_t i = 0; i < found; i++) {
    const uint64_t address = word_at(record, layout.stack + 16 + static_cast<uint32_t>(8 * i));
    const bool is_named = layout.shape.may_name_caller && address == extra;
    if (layout.shape.kind == SiteKind::entry && i == 1 && !is_named) add(extra);
    add(address);
  }
  if (layout.shape.kind == SiteKind::entry && found == 1) add(extra);
  return stack.first(count);
}

std::span<const uint64_t> decode_kernel_stack(const RecordLayout& layout, std::span<const std::byte> record) noexcept {
  const auto bytes = static_cast<int64_t>(word_at(record, layout.kernel_stack));
  const size_t found = bytes > 0 ? std::min<size_t>(static_cast<size_t>(bytes) / 8, layout.kernel_frames) : 0;
  return {reinterpret_cast<const uint64_t*>(record.data() + layout.kernel_stack + 8), found};
}

// The elements of dvm_process[] that the kernel has in a task_struct.
constexpr uint32_t kNumbersOfTasks = 0
#define DVM_PROCESS_NUMBER(number, members, less) | 1u << number
#define DVM_PROCESS_WORD(number, members) DVM_PROCESS_NUMBER(number, members, 0)
#include "runtime/instrument/uprobe/process_numbers.def"
    ;

// DWARF's numbers of what the rules of frames speak of, by words of struct pt_regs.
struct FrameRegister {
  unsigned word, number;
};
constexpr FrameRegister kFrameWords[] = {
    {0, 15}, {1, 14}, {2, 13}, {3, 12}, {4, kFramePointer}, {5, 3}, {16, kReturnAddress}, {19, kStackPointer}};

// Words must be found before what depends on them: bytes of a fixed size by their depth, then what has no words in it.
std::vector<MemoryNeed> in_order(std::vector<MemoryNeed> needs) {
  const auto rank = [](const MemoryNeed& need) { return need.is_string || need.sized_by ? kMostPointers + 1 : need.base.depth; };
  std::stable_sort(needs.begin(), needs.end(), [&](const MemoryNeed& a, const MemoryNeed& b) { return rank(a) < rank(b); });
  return needs;
}

// Offset of a captured word, and its slot; 0 if it was not captured, or does not lie at a multiple of 8, where BPF may load a
// word.
uint32_t find_word(const RecordLayout& layout, const Word& word, size_t& parent) {
  if (word.is_argument() && word.starts_from_call()) return layout.call[word.call_argument()];
  if (word.is_argument() && word.starts_from_kept()) return layout.kept[word.kept_number()];
  if (word.is_argument()) return word.starts_from_zero() ? layout.zero : layout.args[word.arg];
  const MemoryNeed wanted = MemoryNeed::of(word);
  for (parent = 0; parent < layout.slots.size(); parent++) {
    const MemorySlot& slot = layout.slots[parent];
    if (slot.is_variable() || slot.need.is_file || !slot.need.covers(wanted)) continue;
    const auto inside = static_cast<uint32_t>(wanted.offset - slot.need.offset);
    if (inside % 8 == 0) return slot.at + 8 + inside;
  }
  return 0;
}

void add_slot(RecordLayout& layout, const MemoryNeed& need) {
  MemorySlot slot{need};
  size_t ignored = 0;
  slot.base = find_word(layout, need.base, slot.parent);
  if (need.sized_by) slot.sized_by = find_word(layout, *need.sized_by, ignored);
  if (slot.base == 0 || (need.sized_by && slot.sized_by == 0)) return;
  slot.at = take(layout, 8 + need.size);
  layout.slots.push_back(slot);
}

// The words that the address and the size of a need start from.
bool any_word(const MemoryNeed& need, auto is_such) { return is_such(need.base) || (need.sized_by && is_such(*need.sized_by)); }

bool starts_from(const MemoryNeed& need, SiteKind kind, auto is_there) {
  const auto is_known = [&](const Word& word) {
    if (word.starts_from_call()) return kind == SiteKind::syscall;
    if (word.starts_from_kept()) return can_sleep(kind);
    return word.starts_from_zero() || is_there(word.arg);
  };
  return is_known(need.base) && (!need.sized_by || is_known(*need.sized_by));
}

// Room for the arguments of the system call that addresses and sizes start from.
void take_call_arguments(RecordLayout& layout, const std::vector<MemoryNeed>& needs) {
  for (unsigned n = 0; n < Word::kCallArguments; n++) {
    const auto starts_from = [n](const Word& word) { return word.starts_from_call() && word.call_argument() == n; };
    if (std::any_of(needs.begin(), needs.end(), [&](const MemoryNeed& need) { return any_word(need, starts_from); }))
      layout.call[n] = take(layout, 8);
  }
}

void take_kept_words(RecordLayout& layout, const CaptureNeeds& needs) {
  for (unsigned n = 0; n < Word::kKeptWords; n++) {
    const auto starts_from = [n](const Word& word) { return word.starts_from_kept() && word.kept_number() == n; };
    const auto needs_it = [&](const MemoryNeed& need) { return any_word(need, starts_from); };
    const auto keeps_it = [&](const KeptWord& kept) { return starts_from(kept.word); };
    if (std::any_of(needs.memory.begin(), needs.memory.end(), needs_it) ||
        std::any_of(needs.keeps.begin(), needs.keeps.end(), keeps_it))
      layout.kept[n] = take(layout, 8);
  }
}

void add_kept(RecordLayout& layout, const KeptWord& kept) {
  size_t ignored = 0;
  if (const uint32_t at = find_word(layout, kept.word, ignored); at != 0) layout.keeps.push_back({kept.number, at, kept.offset});
}

bool starts_from_zero(const MemoryNeed& need) {
  return any_word(need, [](const Word& word) { return word.starts_from_zero(); });
}

uint16_t argument_bit(const Word& word) {
  const unsigned bit = word.starts_from_argument() ? 1u << word.arg : 0;
  return static_cast<uint16_t>(bit);
}

}  // namespace

CaptureNeeds possible_needs(CaptureNeeds needs, const SiteShape& shape) {
  const uint16_t known = shape.known_args();
  needs.args &= known;
  if (!can_sleep(shape.kind)) needs.thread = true;  // nothing else says which process it was
  if (shape.kind == SiteKind::timer) std::erase_if(needs.memory, [](const MemoryNeed& need) { return !need.is_file; });
  if (needs.any_file && shape.kind == SiteKind::syscall) needs.add(MemoryNeed::of_file(Word::of_call(0), 0));
  if (needs.command && shape.kind != SiteKind::timer && !shape.thread.is_given()) needs.add(MemoryNeed::of_command_line());
  if (needs.ancestors) needs.add(MemoryNeed::of_ancestors());
  if (needs.directory) needs.add(MemoryNeed::of_working_directory());
  for (uint32_t left = needs.process_numbers & kNumbersOfTasks; left != 0; left &= left - 1)
    needs.add(MemoryNeed::of_process_number(static_cast<unsigned>(std::countr_zero(left))));
  if (can_sleep(shape.kind)) needs.kernel_frames = 0;  // the kernel is not above a probe in a process
  if (shape.thread.is_given()) needs.frames = 0;       // the kernel finds user stacks of the running thread only
  if (shape.thread.is_given()) needs.owner = needs.parent = false;
  if (needs.frames == 0) needs.stack_bytes = 0;
  std::erase_if(needs.memory, [&](const MemoryNeed& need) {
    const auto is_there = [&](unsigned arg) { return arg < kArguments && (known >> arg & 1) != 0; };
    return need.size == 0 || !starts_from(need, shape.kind, is_there);
  });
  std::erase_if(needs.keeps, [&](const KeptWord& kept) {
    const bool is_there = !kept.word.starts_from_argument() || (known >> kept.word.arg & 1) != 0;
    return !is_there || !can_sleep(shape.kind);
  });
  fit_record(needs.memory);
  if (shape.error.kind == Operand::Kind::none) needs.error = false;
  for (const MemoryNeed& need : needs.memory) {
    needs.args |= argument_bit(need.base);
    if (need.sized_by) needs.args |= argument_bit(*need.sized_by);
  }
  for (const KeptWord& kept : needs.keeps) needs.args |= argument_bit(kept.word);
  return needs;
}

RecordLayout make_layout(const CaptureNeeds& possible, const SiteShape& shape) {
  RecordLayout layout;
  layout.shape = shape;
  layout.cpu = possible.cpu;
  if (possible.time) layout.time = take(layout, 8);
  if (possible.vtime) layout.vtime = take(layout, 8);
  if (possible.thread) layout.thread = take(layout, 8);
  if (possible.comm) layout.comm = take(layout, kCommBytes);
  if (possible.error) layout.error = take(layout, 8);
  if (possible.owner) layout.owner = take(layout, 16);
  if (possible.parent) layout.parent = take(layout, 8);
  for (unsigned n = 0; n < layout.args.size(); n++)
    if (possible.args >> n & 1) layout.args[n] = take(layout, 8), layout.captured_args |= 1u << n;
  if (std::any_of(possible.memory.begin(), possible.memory.end(), starts_from_zero)) layout.zero = take(layout, 8);
  take_call_arguments(layout, possible.memory);
  take_kept_words(layout, possible);
  layout.frames = std::min(possible.frames, kMostFrames);
  layout.stack_bytes =
      (std::min(layout.frames ? possible.stack_bytes : 0, kMostStackBytes) + kStackPiece - 1) / kStackPiece * kStackPiece;
  layout.saved = possible.registers;
  for (const FrameRegister& one : kFrameWords)
    if (layout.stack_bytes) layout.saved |= 1u << one.word;
  if (layout.saved) layout.registers = take(layout, 8 * static_cast<uint32_t>(std::popcount(layout.saved)));
  if (layout.frames) layout.stack = take(layout, 16 + (layout.stack_bytes ? 0 : 8 * layout.frames));
  layout.kernel_frames = std::min(possible.kernel_frames, kMostFrames);
  if (layout.kernel_frames && is_in_kernel(shape.kind)) layout.kernel_frames += kMostTracerFrames;
  if (layout.kernel_frames) layout.kernel_stack = take(layout, 8 + 8 * layout.kernel_frames);
  if (layout.stack_bytes) layout.chain = take(layout, 8 + 8 * layout.frames);
  for (const MemoryNeed& need : in_order(possible.memory)) add_slot(layout, need);
  for (const KeptWord& kept : possible.keeps) add_kept(layout, kept);
  if (layout.stack_bytes) layout.stack_at = take(layout, layout.stack_bytes);
  layout.is_on_stack = layout.size <= kStackBytes;
  layout.is_cut = layout.is_on_stack && !layout.slots.empty() && layout.slots.back().is_variable();
  layout.least = layout.is_cut ? layout.slots.back().at + 8 : layout.size;
  return layout;
}

RecordLayouts make_layouts(const CaptureNeeds& possible, const SiteShape& shape) {
  constexpr uint32_t kLarge = 1024;  // bytes of a record from which on a smaller one is worth the longer program
  RecordLayout whole = make_layout(possible, shape);
  if (whole.size < kLarge || whole.frames != 0) return whole;
  for (const uint32_t most : {384u, 256u, 128u, 64u}) {
    CaptureNeeds small = possible;
    for (MemoryNeed& need : small.memory)
      if (need.is_string || need.sized_by) need.size = std::min(need.size, most);
    RecordLayout layout = make_layout(small, shape);
    if (layout.is_on_stack && layout.slots.size() == whole.slots.size()) return {std::move(layout), std::move(whole)};
  }
  return whole;
}

StackCopy stack_copy(const RecordLayout& layout, std::span<const std::byte> record) noexcept {
  StackCopy copy;
  if (static_cast<int64_t>(word_at(record, layout.stack)) < 0) return copy;
  const vm::UserRegisters registers = decode_registers(layout, record);
  for (const FrameRegister& one : kFrameWords) copy.stack.set(one.number, registers[one.word]);
  copy.function = word_at(record, layout.stack + 8);
  copy.stack.address = copy.stack.registers[kStackPointer] & ~uint64_t{kStackPiece - 1};
  if (layout.shape.kind == SiteKind::entry)
    copy.stack.return_at = copy.stack.registers[kStackPointer] + static_cast<uint64_t>(int64_t{layout.shape.stack_moved});
  const uint64_t bytes = std::min<uint64_t>(word_at(record, layout.stack), layout.stack_bytes);
  copy.stack.bytes = record.subspan(layout.stack_at, static_cast<size_t>(bytes));
  const uint64_t links = std::min<uint64_t>(word_at(record, layout.chain), layout.frames);
  copy.stack.chain = record.subspan(layout.chain + 8, static_cast<size_t>(8 * links));
  return copy;
}

void decode(const RecordLayout& layout, std::span<const std::byte> record, FiringRoom& room, vm::Firing& firing) noexcept {
  const uint64_t head = word_at(record, 0);
  firing.probe_id = probe_of(head);
  firing.cpu = cpu_of(head);
  if (layout.time) firing.timestamp = word_at(record, layout.time);
  if (layout.vtime) firing.vtimestamp = word_at(record, layout.vtime);
  if (layout.thread) {
    const uint64_t ids = word_at(record, layout.thread);
    firing.pid = static_cast<int32_t>(ids >> 32);
    firing.tid = static_cast<int32_t>(ids);
  }
  if (layout.comm) {
    const char* comm = reinterpret_cast<const char*>(record.data() + layout.comm);
    firing.execname = {comm, strnlen(comm, kCommBytes - 1)};
  }
  for (unsigned left = layout.captured_args; left != 0; left &= left - 1) {
    const auto n = static_cast<size_t>(std::countr_zero(left));
    firing.args[n] = word_at(record, layout.args[n]);
  }
  if (layout.error) firing.error_number = error_of(word_at(record, layout.error));
  if (layout.owner) {
    firing.uid = static_cast<uint32_t>(word_at(record, layout.owner));
    firing.gid = static_cast<uint32_t>(word_at(record, layout.owner + 8));
  }
  if (layout.parent) firing.ppid = static_cast<int32_t>(word_at(record, layout.parent));
  if (layout.registers) firing.registers = decode_registers(layout, record);
  if (layout.stack && !layout.stack_bytes) firing.stack = decode_stack(layout, record, room.stack);
  if (layout.kernel_stack) firing.kernel_stack = decode_kernel_stack(layout, record);
  firing.memory = decode_memory(layout, record, room.memory);
}

}  // namespace dvm::runtime
