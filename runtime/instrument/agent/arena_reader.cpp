#include "runtime/instrument/agent/arena_reader.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <utility>

#include "common/clock.h"
#include "common/file_bytes.h"
#include "runtime/agent/inside/aggregate.h"
#include "runtime/agent/order_memory.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kPatience = 200'000, kLastPatience = 100'000'000;  // ns
constexpr uint64_t kEntryRoom = inside::kArenaBytes - sizeof(inside::Arena);

bool is_last_of_text(uint64_t word) {
  constexpr uint64_t kOnes = 0x0101010101010101, kHighs = 0x8080808080808080;
  return ((word - kOnes) & ~word & kHighs) != 0;
}

// Words of the string that these begin with; 0: no string of so many characters, padded with zeros.
size_t words_of_text(std::span<const uint64_t> words, uint32_t most) {
  const auto last = std::find_if(words.begin(), words.end(), is_last_of_text);
  if (last == words.end()) return 0;
  const auto count = static_cast<size_t>(last - words.begin()) + 1;
  const auto* text = reinterpret_cast<const char*>(words.data());
  const size_t length = ::strnlen(text, count * sizeof(uint64_t));
  const bool is_padded = std::all_of(text + length, text + count * sizeof(uint64_t), [](char one) { return one == 0; });
  return is_padded && length <= most ? count : 0;
}

// Appends the stack that these words begin with. Returns how many they are; 0: there is none.
size_t add_stack(const KeyPart& part, std::span<const uint64_t> words, std::vector<uint64_t>& key, const StackCheck& check) {
  const auto end = words.empty() ? words.end() : std::find(words.begin() + 1, words.end(), uint64_t{0});
  if (end == words.end() || static_cast<size_t>(end - words.begin()) > 1 + size_t{part.most}) return 0;
  const std::span<const uint64_t> frames(words.begin() + 1, end);
  auto pid = static_cast<int32_t>(words.front());
  const size_t count = check(pid, frames, part.certain);
  key.push_back(static_cast<uint64_t>(int64_t{pid}));
  key.insert(key.end(), frames.begin(), frames.begin() + static_cast<ptrdiff_t>(count));
  key.push_back(0);
  return frames.size() + 2;
}

}  // namespace

bool make_key(const std::vector<KeyPart>& parts, std::span<const uint64_t> found, std::vector<uint64_t>& key,
              const StackCheck& check) {
  key.clear();
  for (const KeyPart& part : parts) {
    if (part.kind == KeyPart::Kind::constant) {
      key.insert(key.end(), part.words.begin(), part.words.end());
      continue;
    }
    const bool is_stack = part.kind == KeyPart::Kind::stack;
    const size_t count = is_stack                              ? add_stack(part, found, key, check)
                         : part.kind == KeyPart::Kind::integer ? std::min<size_t>(found.size(), 1)
                                                               : words_of_text(found, part.most);
    if (count == 0) return false;
    if (!is_stack) key.insert(key.end(), found.begin(), found.begin() + static_cast<ptrdiff_t>(count));
    found = found.subspan(count);
  }
  return found.empty();
}

ArenaReader::ArenaReader(int file, uint32_t lanes, uint32_t ring_bytes, StackCheck check)
    : file_(file),
      lanes_(lanes),
      ring_bytes_(ring_bytes),
      used_(lanes),
      now_(lanes),
      taken_(lanes),
      copy_(kEntryRoom / sizeof(uint64_t)),
      check_(std::move(check)) {}

bool ArenaReader::read(uint64_t at, void* to, size_t bytes) const {
  return read_at(file_, at, {static_cast<std::byte*>(to), bytes});
}

inside::Lane ArenaReader::lane(uint32_t number) const {
  inside::Lane lane;
  if (!read(lane_at(number), &lane, sizeof lane)) lane = {};
  return lane;
}

// Of its entries.
uint64_t ArenaReader::bytes_used(uint32_t number, uint32_t arena) const {
  static_assert(offsetof(inside::Arena, used) == 0);
  uint64_t used = 0;
  return read(arena_at(number, arena), &used, sizeof used) ? used : 0;
}

bool ArenaReader::has_counted(uint32_t number, uint32_t arena) const {
  for (uint32_t i = 0; i < inside::kPlainCounts; i++)
    if (now_[number].counts[i][arena] != taken_[number][i][arena]) return true;
  return false;
}

// A thread has taken its lane before it looks which arena is its. So once all threads have gone through a memory barrier, those
// that have not are seen to be in the midst of a firing, or go to the other arena. One is out of this arena if it does nothing
// now, or has finished that firing.
bool ArenaReader::has_left(uint32_t number, bool is_last) const {
  const uint64_t until = read_clock(CLOCK_MONOTONIC) + (is_last ? kLastPatience : kPatience);
  do {
    const uint64_t turns = lane(number).turns;
    if (turns % 2 == 0 || turns != used_[number].turns) return true;
  } while (read_clock(CLOCK_MONOTONIC) < until);
  return is_last;
}

void ArenaReader::swap(uint32_t number) {
  Used& used = used_[number];
  const uint64_t other = used.arena ^ 1U;
  if (!write_value(file_, lane_at(number) + offsetof(inside::Lane, arena), other)) return;
  used = {static_cast<uint32_t>(other), Used::Phase::sent};
}

// Threads that were sent to their other arenas go there from now on.
void ArenaReader::settle() {
  const auto is_sent = [](const Used& one) { return one.phase == Used::Phase::sent; };
  if (std::none_of(used_.begin(), used_.end(), is_sent)) return;
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  order_memory_of_threads();  // where the kernel cannot do that, threads take their lanes by locked instructions
  for (uint32_t number = 0; number < lanes_; number++)
    if (is_sent(used_[number])) used_[number].phase = Used::Phase::pending, used_[number].turns = lane(number).turns;
}

void ArenaReader::swap_used() {
  read_lanes();
  for (uint32_t number = 0; number < lanes_; number++) {
    const Used& used = used_[number];
    if (used.phase != Used::Phase::idle) continue;
    if (has_counted(number, used.arena) || bytes_used(number, used.arena) != 0) swap(number);
  }
  settle();
}

void ArenaReader::forget() {
  swap_used();
  for (uint32_t number = 0; number < lanes_; number++) {
    used_[number].is_stale = true;
    if (lane(number).owner != 0) forget_variables(number);
  }
}

void ArenaReader::forget_variables(uint32_t number) const {
  const inside::ThreadVariables none;
  write_value(file_, inside::variables_at(lanes_) + number * sizeof none, none);
}

// A firing that counts and makes entries does so in one collection, since it has left its arena.
void ArenaReader::collect(const std::vector<KnownClause>& clauses, const AggregationSource::Visit& visit, bool is_last) {
  for (int arenas = is_last ? 2 : 1; arenas > 0; arenas--) {
    swap_used();
    for (uint32_t number = 0; number < lanes_; number++) {
      if (used_[number].phase != Used::Phase::pending || !has_left(number, is_last)) continue;
      take(number, clauses, visit);
      used_[number].phase = Used::Phase::idle;
    }
    read_lanes();
    for (uint32_t number = 0; number < lanes_; number++) {
      if (used_[number].phase != Used::Phase::idle) continue;
      take_counts(number, used_[number].arena ^ 1U, clauses, visit);
      if (is_last) take_counts(number, used_[number].arena, clauses, visit);
    }
  }
}

// The arena that the thread does not use: it is empty afterwards.
void ArenaReader::take(uint32_t number, const std::vector<KnownClause>& clauses, const AggregationSource::Visit& visit) {
  const uint64_t at = arena_at(number, used_[number].arena ^ 1U);
  uint64_t used = bytes_used(number, used_[number].arena ^ 1U);
  if (used == 0) return;
  if (used > kEntryRoom) used = 0, nonsense_++;
  if (!read(at + sizeof(inside::Arena), copy_.data(), used)) return;
  if (!write_value(file_, at, inside::Arena())) return;
  if (!used_[number].is_stale) tell(used, clauses, visit);
}

// What has been added to them, by the lanes as they were read last.
void ArenaReader::take_counts(uint32_t number, uint32_t arena, const std::vector<KnownClause>& clauses,
                              const AggregationSource::Visit& visit) {
  const bool is_stale = used_[number].is_stale && arena != used_[number].arena;
  for (uint32_t i = 0; i < inside::kPlainCounts; i++) {
    const uint64_t now = now_[number].counts[i][arena], count = now - std::exchange(taken_[number][i][arena], now);
    if (count != 0 && !is_stale && !tell_count(i, count, clauses, visit)) nonsense_++;
  }
}

// False: it is none of a clause.
bool ArenaReader::tell_count(uint32_t clause, uint64_t count, const std::vector<KnownClause>& clauses,
                             const AggregationSource::Visit& visit) {
  const bool is_one = clause < clauses.size() && clauses[clause].function == static_cast<uint32_t>(inside::SiteFunction::count);
  return is_one && tell({clause, 1}, std::span(&count, 1), clauses[clause], visit);
}

// The words of the entries, one after another.
void ArenaReader::tell(uint64_t used, const std::vector<KnownClause>& clauses, const AggregationSource::Visit& visit) {
  constexpr size_t kHeadWords = sizeof(inside::ArenaEntry) / sizeof(uint64_t);
  for (std::span<const uint64_t> left = std::span(copy_).first(used / sizeof(uint64_t)); !left.empty();) {
    inside::ArenaEntry entry;
    if (left.size() >= kHeadWords) std::memcpy(&entry, std::as_bytes(left).data(), sizeof entry);
    const uint64_t size = kHeadWords + uint64_t{entry.key_words} + entry.words;
    const bool is_known = left.size() >= std::max(size, kHeadWords) && entry.clause < clauses.size();
    if (!is_known || !tell(entry, left.subspan(kHeadWords, size - kHeadWords), clauses[entry.clause], visit)) {
      nonsense_++;
      return;
    }
    left = left.subspan(size);
  }
}

// False: no thread writes such an entry.
bool ArenaReader::tell(inside::ArenaEntry entry, std::span<const uint64_t> words, const KnownClause& clause,
                       const AggregationSource::Visit& visit) {
  if (entry.words != clause.words || !make_key(clause.keys, words.first(entry.key_words), key_, check_)) return false;
  visit({clause.aggregation, std::as_bytes(std::span(key_)), words.subspan(entry.key_words)});
  return true;
}

}  // namespace dvm::runtime
