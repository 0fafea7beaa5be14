#include "runtime/instrument/agent/arena_reader.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

#include "common/clock.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kPatience = 200'000, kLastPatience = 100'000'000;  // ns
constexpr uint64_t kEntryRoom = inside::kArenaBytes - sizeof(inside::Arena);

}  // namespace

ArenaReader::ArenaReader(int file, uint32_t lanes, uint32_t ring_bytes)
    : file_(file), lanes_(lanes), ring_bytes_(ring_bytes), used_(lanes), copy_(kEntryRoom) {}

bool ArenaReader::read(uint64_t at, void* to, size_t bytes) const {
  return pread(file_, to, bytes, static_cast<off_t>(at)) == static_cast<ssize_t>(bytes);
}

inside::Lane ArenaReader::lane(uint32_t number) const {
  inside::Lane lane;
  if (!read(lane_at(number), &lane, sizeof lane)) lane = {};
  return lane;
}

bool ArenaReader::is_used(uint32_t number, uint32_t arena) const {
  uint64_t used = 0;
  return read(arena_at(number, arena), &used, sizeof used) && used != 0;
}

// What a thread does after it was sent to the other arena is in that one. It is out of this one if it does nothing now, or has
// finished a firing since.
bool ArenaReader::has_left(uint32_t number, bool is_last) const {
  const uint64_t until = read_clock(CLOCK_MONOTONIC) + (is_last ? kLastPatience : kPatience);
  do {
    const inside::Lane now = lane(number);
    if (now.busy == 0 || now.rounds != used_[number].rounds) return true;
  } while (read_clock(CLOCK_MONOTONIC) < until);
  return is_last;
}

void ArenaReader::swap(uint32_t number) {
  Used& used = used_[number];
  const uint64_t other = used.arena ^ 1U;
  const uint64_t at = lane_at(number) + offsetof(inside::Lane, arena);
  if (pwrite(file_, &other, sizeof other, static_cast<off_t>(at)) != sizeof other) return;
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  used = {static_cast<uint32_t>(other), true, lane(number).rounds};
}

void ArenaReader::collect(const std::vector<KnownClause>& clauses, const AggregationSource::Visit& visit, bool is_last) {
  for (uint32_t number = 0; number < lanes_; number++) {
    Used& used = used_[number];
    for (int arenas = is_last ? 2 : 1; arenas > 0; arenas--) {
      if (!used.is_pending && is_used(number, used.arena)) swap(number);
      if (!used.is_pending || !has_left(number, is_last)) break;
      take(number, clauses, visit);
      used.is_pending = false;
    }
  }
}

// The arena that the thread does not use: it is empty afterwards.
void ArenaReader::take(uint32_t number, const std::vector<KnownClause>& clauses, const AggregationSource::Visit& visit) {
  const uint64_t at = arena_at(number, used_[number].arena ^ 1U);
  uint64_t used = 0;
  if (!read(at, &used, sizeof used)) return;
  if (used > kEntryRoom) used = 0, nonsense_++;
  if (!read(at + sizeof(inside::Arena), copy_.data(), used)) return;
  const inside::Arena empty;
  if (pwrite(file_, &empty, sizeof empty, static_cast<off_t>(at)) != sizeof empty) return;
  tell(used, clauses, visit);
}

void ArenaReader::tell(uint64_t used, const std::vector<KnownClause>& clauses, const AggregationSource::Visit& visit) {
  for (uint64_t at = 0; at < used;) {
    inside::ArenaEntry entry;
    const uint64_t left = used - at;
    if (left >= sizeof entry) std::memcpy(&entry, copy_.data() + at, sizeof entry);
    const bool is_known = left >= sizeof entry && entry.clause < clauses.size() && entry.words == clauses[entry.clause].words &&
                          left - sizeof entry >= entry.words * sizeof(uint64_t);
    if (!is_known) {
      nonsense_++;
      return;
    }
    const KnownClause& clause = clauses[entry.clause];
    std::vector<uint64_t> words(entry.words);
    std::memcpy(words.data(), copy_.data() + at + sizeof entry, words.size() * sizeof(uint64_t));
    visit({clause.aggregation, std::as_bytes(std::span(entry.keys).first(clause.keys)), words});
    at += sizeof entry + words.size() * sizeof(uint64_t);
  }
}

}  // namespace dvm::runtime
