#pragma once
// The record that a capture program leaves in the ring, and its conversion to a firing. Every field is 8-byte aligned and
// present only if the layout has it:
//
//   | head | time | CPU time | pid, tid | comm (16 bytes) | errno | argN ... | 0 | call | registers | stack | kernel stack |
//   chain | | slot ... | stack bytes |
//
//   head   probe id in bits 0 to 31, group in 32 to 47, CPU in 48 to 63
//   CPU time  of the thread, but for the offset that cpu_clock.h measures
//   call  arguments of the system call that begins or ends; then words that earlier firings of the thread have kept
//   registers  those of layout.saved, in the order of struct pt_regs
//   stack  bytes of program counters or an error < 0 | entry: the return address; return: the function | program counters ...
//          or, where the stack itself is captured: its bytes, or an error < 0 | entry: 0; return: the function
//   kernel stack  bytes of program counters or an error < 0 | program counters ...
//   chain  where the stack itself is captured: how many return addresses, then those, found by frame pointers from %rbp on
//   stack bytes  from the last multiple of kStackPiece that is not above %rsp on, as far as they can be read
//   slot   length in bytes (kAbsent or kUnreadable: it could not be read; with kEndsThere: nor could what follows; with
//          kBeginsThere: these are its last bytes, and the first one could not be read), then room for `size` bytes, padded to
//          8. Slots whose length is not known come last (strings, and bytes that are sized by a word); the record may end with
//          the bytes of the last one, without its room
//
// The word that an address starts from is an argument or lies in an earlier slot, at a known distance; so does the word that
// gives a size. An absent slot holds zeros for such words, so the slots that depend on it are absent as well:
//
//   | head | arg1 | 8, word | length, string ... |        copyinstr(*(uintptr_t *)copyin(arg1 + 8, 8))
//              └─ + 8 ─^ └── + 0 ──> the string

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "dvm/vm/host.h"
#include "runtime/instrument/capture.h"
#include "runtime/instrument/uprobe/site_shape.h"
#include "runtime/symbol/unwinder.h"

namespace dvm::runtime {

inline constexpr int64_t kAbsent = -1;
inline constexpr int64_t kUnreadable = -2;                 // no page can be brought in for its first byte
inline constexpr uint64_t kEndsThere = uint64_t{1} << 32;  // the same of the byte after the last one
inline constexpr uint64_t kBeginsThere = uint64_t{1} << 33;
inline constexpr uint32_t kHeadBytes = 8;
inline constexpr uint32_t kCommBytes = 16;
inline constexpr uint32_t kStackPiece = 512;  // divides a page, so that a piece can be read or cannot

struct MemorySlot {
  MemoryNeed need;
  uint32_t at = 0;        // offset of the length, which the bytes follow
  uint32_t base = 0;      // offset of the word need.base
  uint32_t sized_by = 0;  // offset of the word need.sized_by; 0: none
  size_t parent = 0;      // index of the slot with the base, if it is no argument

  // Its length may be less than the most.
  bool is_variable() const { return need.is_string || need.sized_by; }
  friend bool operator==(const MemorySlot&, const MemorySlot&) = default;
};

// The word at an offset in the record that is kept, with `more` added, as thread-local variable `number`.
struct KeptSlot {
  uint8_t number = 0;
  uint32_t at = 0;
  int64_t more = 0;
  friend bool operator==(const KeptSlot&, const KeptSlot&) = default;
};

// Offsets in the record; 0: not captured, for the head lies there.
struct RecordLayout {
  SiteShape shape = SiteKind::entry;
  bool cpu = false;
  uint32_t time = 0, vtime = 0, thread = 0, comm = 0, error = 0, stack = 0;
  uint32_t owner = 0;          // uid, then gid, a word each
  uint32_t parent = 0;         // a process id; negative: not known
  uint32_t frames = 0;         // frames that the stack has room for
  uint32_t kernel_stack = 0;   // offset
  uint32_t kernel_frames = 0;  // frames that the kernel stack has room for
  std::array<uint32_t, std::tuple_size_v<Operands>> args{};
  uint32_t zero = 0;                                  // a word that is 0, the base of addresses of variables
  std::array<uint32_t, Word::kCallArguments> call{};  // arguments of the system call
  std::array<uint32_t, Word::kKeptWords> kept{};      // thread-local variables that addresses and sizes start from
  uint32_t captured_args = 0;                         // bit n: argument n

  uint32_t registers = 0;  // the first register
  uint32_t saved = 0;      // bit n: word n of struct pt_regs

  uint32_t stack_at = 0;     // bytes of the stack itself
  uint32_t stack_bytes = 0;  // room for them; 0: program counters instead
  uint32_t chain = 0;        // the number of return addresses, at most frames
  std::vector<MemorySlot> slots;
  std::vector<KeptSlot> keeps;
  uint32_t size = kHeadBytes;
  uint32_t least = kHeadBytes;  // bytes that every record has
  bool is_on_stack = true;      // small enough for the BPF stack: made there, then copied into the ring
  bool is_cut = false;          // such a record ends with a slot of variable length, whose room is not sent

  bool takes_stack_of_other() const { return kernel_stack != 0 && shape.thread.is_given(); }
  friend bool operator==(const RecordLayout&, const RecordLayout&) = default;
};

inline constexpr uint32_t kMostStackBytes = 64 * 1024;

// The needs that can be captured at a site of this shape: its arguments, and memory reached from them; no memory at a timer.
CaptureNeeds possible_needs(CaptureNeeds needs, const SiteShape& shape);
RecordLayout make_layout(const CaptureNeeds& possible, const SiteShape& shape);

// The layouts of a program. Most firings use the first. If strings or copies may be far larger than usual, a second layout has
// the same slots with room for them. The first is then built on the BPF stack and has no padding in the ring.
struct RecordLayouts {
  RecordLayout first;
  std::optional<RecordLayout> larger = {};

  RecordLayouts(RecordLayout only) : first(std::move(only)) {}  // not explicit: most have one
  RecordLayouts(RecordLayout small, RecordLayout large) : first(std::move(small)), larger(std::move(large)) {}
};
RecordLayouts make_layouts(const CaptureNeeds& possible, const SiteShape& shape);

// In the place of a group, in the head of records that tell of processes instead: a ProcessChange, the process and its child.
inline constexpr uint16_t kChangesGroup = 0xffff;
inline constexpr size_t kMostGroups = kChangesGroup;

constexpr uint64_t make_cookie(uint32_t probe_id, uint16_t group) { return probe_id | static_cast<uint64_t>(group) << 32; }
constexpr uint32_t probe_of(uint64_t head) { return static_cast<uint32_t>(head); }
constexpr uint16_t group_of(uint64_t head) { return static_cast<uint16_t>(head >> 32); }
constexpr uint16_t cpu_of(uint64_t head) { return static_cast<uint16_t>(head >> 48); }
constexpr uint64_t cookie_of(uint64_t head) { return head & ~(uint64_t{0xffff} << 48); }

// Room for the parts of a firing that its record does not hold in final form: two entries per slot, its bytes and the end of what
// could be read, and layout.frames program counters.
struct FiringRoom {
  std::vector<vm::CapturedMemory> memory;
  std::vector<uint64_t> stack;

  void fit(const RecordLayout& layout) {
    memory.resize(std::max(memory.size(), 2 * layout.slots.size()));
    stack.resize(std::max<size_t>(stack.size(), layout.frames));
  }
};

// The stack of a record whose layout has its bytes: what the unwinder starts from, and the function that has returned, or 0.
struct StackCopy {
  CapturedStack stack;
  uint64_t function = 0;
};
StackCopy stack_copy(const RecordLayout& layout, std::span<const std::byte> record) noexcept;

// Fills the firing from a record of at least layout.least bytes: the same fields for every record of a layout, but for a stack
// that is yet to be unwound. Views point into the record and the room.
void decode(const RecordLayout& layout, std::span<const std::byte> record, FiringRoom& room, vm::Firing& firing) noexcept;

}  // namespace dvm::runtime
