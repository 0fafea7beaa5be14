// What is captured together, and how much at most. Tested by tests/unit/instrument/capture_test.cpp.
#include "runtime/instrument/capture_needs.h"

#include <algorithm>

#include "runtime/process/captured_file.h"

namespace dvm::runtime {
namespace {

constexpr size_t kMostNeeds = 16;     // slots a record; further ones are late reads
constexpr uint32_t kLeast = 256;      // that a string or a copy sized by a word is not cut below for others
constexpr int64_t kMostBetween = 32;  // bytes that are captured in vain to save a slot

bool is_covered(const std::vector<MemoryNeed>& needs, const MemoryNeed& need) {
  return std::any_of(needs.begin(), needs.end(), [&](const MemoryNeed& have) { return have.covers(need); });
}

bool is_fixed(const MemoryNeed& need) { return !need.is_string && !need.sized_by; }
bool is_range(const MemoryNeed& need) { return is_fixed(need) && !need.is_file; }

// Both as one, beginning at a multiple of 8 as words do; nothing if they lie in different objects, too far from each other, or
// where sums would overflow.
std::optional<MemoryNeed> joined(const MemoryNeed& a, const MemoryNeed& b) {
  constexpr int64_t kFar = int64_t{1} << 60;
  if (!is_range(a) || !is_range(b) || a.base != b.base) return std::nullopt;
  if (std::min(a.offset, b.offset) < -kFar || std::max(a.offset, b.offset) > kFar) return std::nullopt;
  const int64_t begin = std::min(a.offset, b.offset) & ~int64_t{7};
  const int64_t end = std::max(a.offset + a.size, b.offset + b.size);
  const int64_t between = std::max(a.offset, b.offset) - std::min(a.offset + a.size, b.offset + b.size);
  if (between > kMostBetween || end - begin > kMostBytes) return std::nullopt;
  return MemoryNeed{a.base, false, begin, static_cast<uint32_t>(end - begin), {}};
}

// The need with what lies beside it in the same object, so that the members of a structure are one read and one slot.
MemoryNeed with_neighbours(const std::vector<MemoryNeed>& needs, MemoryNeed need) {
  for (size_t i = 0; i < needs.size(); i++) {
    const auto both = joined(need, needs[i]);
    if (!both || need.covers(needs[i])) continue;
    need = *both;
    i = static_cast<size_t>(-1);  // what was too far away may be near now
  }
  return need;
}

void add_one(std::vector<MemoryNeed>& needs, const MemoryNeed& wanted) {
  if (wanted.size == 0 || wanted.size > kMostFixed || is_covered(needs, wanted)) return;
  const MemoryNeed need = with_neighbours(needs, wanted);
  std::erase_if(needs, [&](const MemoryNeed& have) { return need.covers(have); });
  if (needs.size() < kMostNeeds) needs.push_back(need);
}

// Adds what captures the word, and the words on the way to it. False: there is no room.
bool add_word(std::vector<MemoryNeed>& needs, const Word& word) {
  if (word.is_argument()) return true;
  if (!add_word(needs, word.pointer())) return false;
  add_one(needs, MemoryNeed::of(word));
  return is_covered(needs, MemoryNeed::of(word));
}

// The needs, the smallest first.
std::vector<MemoryNeed*> by_size(std::vector<MemoryNeed>& needs, bool fixed) {
  std::vector<MemoryNeed*> all;
  for (MemoryNeed& need : needs)
    if (is_fixed(need) == fixed) all.push_back(&need);
  std::stable_sort(all.begin(), all.end(), [](const MemoryNeed* a, const MemoryNeed* b) { return a->size < b->size; });
  return all;
}

}  // namespace

void fit_record(std::vector<MemoryNeed>& needs) {
  const std::vector<MemoryNeed*> fixed = by_size(needs, true), others = by_size(needs, false);
  uint32_t reserved = 0;
  for (const MemoryNeed* need : others) reserved += std::min(need->size, kLeast);
  uint32_t room = kMostRecord;
  for (MemoryNeed* need : fixed) {
    if (need->size + reserved > room) need->size = 0;
    room -= need->size;
  }
  for (size_t i = 0; i < others.size(); i++) {
    const auto share = room / static_cast<uint32_t>(others.size() - i);
    others[i]->size = std::min(others[i]->size, share);
    room -= others[i]->size;
  }
  std::erase_if(needs, [](const MemoryNeed& need) { return need.size == 0; });
}

Word Word::pointer() const {
  Word pointer = *this;
  pointer.depth--;
  pointer.path[pointer.depth] = 0;
  return pointer;
}

Word Word::load(int64_t offset) const {
  Word word = *this;
  word.path[word.depth] = offset;
  word.depth++;
  return word;
}

MemoryNeed MemoryNeed::of_file(const Word& base, int64_t offset) {
  return {.base = base, .offset = offset, .size = sizeof(CapturedFile), .is_file = true};
}

MemoryNeed MemoryNeed::of_command_line() {
  return {.base = Word::zero(), .offset = vm::CapturedMemory::kCommandLine, .size = kMostCommandLine, .is_file = true};
}

MemoryNeed MemoryNeed::of_process_number(unsigned number) {
  return {.base = Word::zero(), .offset = vm::CapturedMemory::kProcessNumber + number, .size = sizeof(int64_t), .is_file = true};
}

MemoryNeed MemoryNeed::of_ancestors() {
  return {.base = Word::zero(), .offset = vm::CapturedMemory::kAncestors, .size = 8 * kMostAncestors, .is_file = true};
}

MemoryNeed MemoryNeed::of_working_directory() { return of_file(Word::zero(), vm::CapturedMemory::kWorkingDirectory); }

// Strings end at a NUL, so only a string stands in for a string; and what a word cuts short, only for what it cuts the same.
bool MemoryNeed::covers(const MemoryNeed& other) const {
  if (base != other.base || is_string != other.is_string || is_file != other.is_file) return false;
  if (sized_by && (sized_by != other.sized_by || more != other.more)) return false;
  if (is_string || sized_by || is_file) return offset == other.offset && size >= other.size;
  const uint64_t ahead = static_cast<uint64_t>(other.offset) - static_cast<uint64_t>(offset);
  return offset <= other.offset && ahead <= size && other.size <= size - ahead;
}

bool CaptureNeeds::has_file() const {
  return std::any_of(memory.begin(), memory.end(), [](const MemoryNeed& need) { return need.is_file; });
}

CaptureNeeds& CaptureNeeds::operator|=(const CaptureNeeds& other) {
  args |= other.args;
  time |= other.time;
  vtime |= other.vtime;
  thread |= other.thread;
  cpu |= other.cpu;
  comm |= other.comm;
  error |= other.error;
  owner |= other.owner;
  parent |= other.parent;
  any_file |= other.any_file;
  command |= other.command;
  process_numbers |= other.process_numbers;
  ancestors |= other.ancestors;
  directory |= other.directory;
  frames = std::max(frames, other.frames);
  kernel_frames = std::max(kernel_frames, other.kernel_frames);
  registers |= other.registers;
  stack_bytes = std::max(stack_bytes, other.stack_bytes);
  for (const MemoryNeed& need : other.memory) add(need);
  for (const KeptWord& kept : other.keeps) add(kept);
  return *this;
}

// All or nothing: words that lead to no memory would be captured in vain.
void CaptureNeeds::add(const MemoryNeed& need) {
  std::vector<MemoryNeed> more = memory;
  const bool known = add_word(more, need.base) && (!need.sized_by || add_word(more, *need.sized_by));
  if (known) add_one(more, need);
  if (is_covered(more, need)) memory = std::move(more);
}

void CaptureNeeds::add(const KeptWord& kept) {
  if (std::find(keeps.begin(), keeps.end(), kept) != keeps.end()) return;
  std::vector<MemoryNeed> more = memory;
  if (!add_word(more, kept.word)) return;
  memory = std::move(more);
  keeps.push_back(kept);
}

}  // namespace dvm::runtime
