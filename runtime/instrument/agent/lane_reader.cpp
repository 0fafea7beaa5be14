#include "runtime/instrument/agent/lane_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <x86intrin.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "common/file_bytes.h"
#include "runtime/agent/order_memory.h"

namespace dvm::runtime {
namespace {

constexpr int kAttempts = 3;
constexpr size_t kMostCopies = 1024;       // that wait to be taken
constexpr uint64_t kMostWords = 16 << 20;  // of all copies, before the lanes have to wait
constexpr uint64_t kKeptWords = 1 << 20;   // of those that nothing waits in

// Threads have numbers of their own among all processes; one of another process may have it meanwhile.
bool is_gone(uint64_t tid) { return access(fmt::format("/proc/{}", tid).c_str(), F_OK) != 0 && errno == ENOENT; }

constexpr uint64_t kParts = 64;  // of a ring

// A bit for each part of a ring in which some of so many bytes lie. Their position may be near 2^64.
uint64_t parts_of(uint64_t from, uint64_t bytes, uint64_t ring_bytes) {
  const uint64_t part = ring_bytes / kParts, count = (from % part + std::min(bytes, ring_bytes) + part - 1) / part;
  uint64_t parts = 0;
  for (uint64_t i = 0; i < std::min(count, kParts); i++) parts |= uint64_t{1} << (from / part + i) % kParts;
  return parts;
}

constexpr auto is_later = [](const auto& a, const auto& b) { return a.ticks > b.ticks; };

}  // namespace

LaneReader::LaneReader(int file, uint32_t lanes, uint32_t ring_bytes, ThreadIds* ids)
    : file_(file), ids_(ids), lanes_(lanes), ring_bytes_(ring_bytes), heads_(lane_at(lanes)), tails_(lanes), usages_(lanes) {}

bool LaneReader::read(uint64_t at, std::span<std::byte> to) const { return read_at(file_, at, to); }

// Reads the heads of all lanes at once, then again those of lanes whose threads were writing.
bool LaneReader::read_heads() {
  horizon_ = __rdtsc();
  order_memory_of_threads();  // what was taken before that time is seen to be taken, or given back
  if (!read(0, heads_)) return false;
  for (uint32_t number = 0; number < lanes_; number++)
    if (const uint64_t turns = lane_of(number).turns; turns % 2 != 0 && !read_finished(number, turns)) return false;
  return true;
}

// A firing that was under way at that turn is waited for, but not long: its thread may not run. A later one is none of what was
// taken before the horizon.
bool LaneReader::read_finished(uint32_t number, uint64_t turns) {
  const auto head = std::span(heads_).subspan(lane_at(number), sizeof(inside::Lane));
  for (int attempt = 1; attempt < kAttempts && lane_of(number).turns == turns; attempt++)
    if (!read(lane_at(number), head)) return false;
  return true;
}

inside::Lane LaneReader::lane_of(uint32_t number) const {
  inside::Lane lane;
  std::memcpy(&lane, heads_.data() + lane_at(number), sizeof lane);
  return lane;
}

// Losses are counted also while too much waits to be taken: then most are lost.
void LaneReader::collect() {
  const bool has_room = turns_.size() <= kMostCopies && held_words_ <= kMostWords;
  const uint64_t copied_until = horizon_;
  if (!read_heads()) return;
  if (has_room)
    copied_at_ = __rdtsc();
  else
    horizon_ = copied_until;
  if (ids_ != nullptr) ids_->begin_round();
  inside::DataHeader header;
  std::memcpy(&header, heads_.data(), sizeof header);
  is_left_ |= header.leaving != 0;
  handled_ = header.handled;
  becoming_ = header.becoming;
  uint64_t lost = header.homeless + header.muted;
  for (uint32_t number = 0; number < lanes_; number++) {
    const inside::Lane lane = lane_of(number);
    lost += lane.full + lane.nested;
    if (!has_room || lane.head == tails_[number]) continue;
    if (ids_ != nullptr) ids_->meet(lane.owner);
    copy(number, lane);
  }
  if (!has_ended_) lost_ = std::max(lost_, lost);
}

void LaneReader::answer() {
  is_left_ = false;
  write_value(file_, offsetof(inside::DataHeader, leaving), uint64_t{0});
}

void LaneReader::hold(uint64_t tid) {
  becoming_ = 0;
  write_value(file_, offsetof(inside::DataHeader, becoming), uint64_t{0});
  write_value(file_, offsetof(inside::DataHeader, held), tid);
}

// Where records begin: not before the beginning of the ring if the rest of it is unused. If the thread has moved its tail there,
// it may have used the ring as far as this rest again.
uint64_t LaneReader::used_from(uint32_t number, const inside::Lane& lane) const {
  const uint64_t tail = tails_[number], rest = ring_bytes_ - (tail & (ring_bytes_ - 1));
  if (lane.tail == tail + rest && lane.head >= lane.tail) return lane.tail;
  if (lane.head - tail > ring_bytes_) return tail + rest;  // dvm has written its own tail once more
  uint64_t length = 1;
  const bool goes_on = lane.head - tail > rest && tail % sizeof length == 0;
  if (!goes_on || !read(ring_at(number) + ring_bytes_ - rest, std::as_writable_bytes(std::span(&length, 1)))) return tail;
  return length == 0 ? tail + rest : tail;
}

// A position that cannot be is taken for the new beginning.
void LaneReader::copy(uint32_t number, const inside::Lane& lane) {
  const uint64_t tail = used_from(number, lane);
  tails_[number] = lane.head;
  const uint64_t size = lane.head - tail;
  const bool makes_sense = size <= ring_bytes_ && size % sizeof(uint64_t) == 0 && tail % sizeof(uint64_t) == 0;
  if (makes_sense) usages_[number].parts |= parts_of(tail, size, ring_bytes_);
  Copy& made = spare_copy();
  made.lane = number;
  made.at = 0;
  made.length = 0;
  made.end = makes_sense ? size / sizeof(uint64_t) : 0;
  if (made.words.size() < made.end) {
    held_words_ += made.end - made.words.size();
    made.words.resize(made.end);
  }
  const uint64_t begin = tail & (ring_bytes_ - 1);
  const uint64_t first = std::min<uint64_t>(made.end * sizeof(uint64_t), ring_bytes_ - begin);
  made.wrap = first / sizeof(uint64_t);
  const auto to = std::as_writable_bytes(std::span(made.words).first(made.end));
  const bool is_read = read(ring_at(number) + begin, to.first(first)) && read(ring_at(number), to.subspan(first));
  if (!is_read) made.end = 0;
  if (!makes_sense) nonsense_++;
  bytes_ += made.end * sizeof(uint64_t);
  write_value(file_, lane_at(number) + offsetof(inside::Lane, tail), lane.head);
  Turn turn{0, &made};
  if (!advance(turn)) return give_back(made);
  turns_.push_back(turn);
  std::push_heap(turns_.begin(), turns_.end(), is_later);
}

LaneReader::Copy& LaneReader::spare_copy() {
  if (spare_.empty()) return *copies_.emplace_back(std::make_unique<Copy>());
  Copy& copy = *spare_.back();
  spare_.pop_back();
  return copy;
}

// Its memory stays for the next one, unless firings have waited in much more of it.
void LaneReader::give_back(Copy& copy) {
  if (held_words_ > kKeptWords) held_words_ -= std::exchange(copy.words, {}).size();
  spare_.push_back(&copy);
}

// To the next record of the copy; none reaches over the end of the ring. False: there is none.
bool LaneReader::advance(Turn& turn) {
  Copy& copy = *turn.copy;
  if (copy.length != 0) copy.at += kHeadWords + (copy.length + 7) / sizeof(uint64_t);
  copy.length = 0;
  if (copy.at < copy.wrap && copy.words[copy.at] == 0) copy.at = copy.wrap;
  if (copy.at >= copy.end) return false;
  const size_t end = copy.at < copy.wrap ? copy.wrap : copy.end;
  const uint64_t room = end - copy.at < kHeadWords ? 0 : (end - copy.at - kHeadWords) * sizeof(uint64_t);
  const uint64_t length = copy.words[copy.at];
  if (length == 0 || length > room) return nonsense_++, false;
  copy.length = length;
  turn.ticks = std::min(copy.words[copy.at + 1], copied_at_);
  return true;
}

bool LaneReader::is_empty() const {
  for (uint32_t number = 0; number < lanes_; number++)
    if (lane_of(number).head != tails_[number]) return false;
  return turns_.empty();
}

// To where its next record has its turn, or away if it has none.
void LaneReader::move_first() {
  if (turns_.front().copy->length == 0) {
    give_back(*turns_.front().copy);
    turns_.front() = turns_.back();
    turns_.pop_back();
  }
  for (size_t at = 0;;) {
    size_t least = at;
    for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < turns_.size(); child++)
      if (is_later(turns_[least], turns_[child])) least = child;
    if (least == at) return;
    std::swap(turns_[at], turns_[least]);
    at = least;
  }
}

void LaneReader::free_lanes() {
  if (ids_ != nullptr) ids_->begin_round();
  for (uint32_t number = 0; number < lanes_; number++) {
    const inside::Lane lane = lane_of(number);
    if (lane.owner != 0) shrink(number);
    if (lane.owner == 0 || lane.head != tails_[number] || !has_ended(lane.owner)) continue;
    // A thread may take it over at any moment: it does so before this number is odd, which then is seen here, or not at all.
    const uint64_t retiring = lane.retiring | 1;
    if (!write(number, offsetof(inside::Lane, retiring), retiring)) return;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    inside::Lane now;
    const bool is_same = read(lane_at(number), std::as_writable_bytes(std::span(&now, 1))) && now.owner == lane.owner &&
                         now.head == lane.head && now.turns == lane.turns;
    if (is_same && !free_lane(number, lane)) return;
    if (is_same) gone_.push_back(ids_ != nullptr ? ids_->of_dvm(lane.owner) : static_cast<int32_t>(lane.owner));
    if (!write(number, offsetof(inside::Lane, retiring), retiring + 1)) return;
  }
}

bool LaneReader::has_ended(uint64_t owner) const {
  return ids_ != nullptr && ids_->differ() ? !ids_->lives(owner) : is_gone(owner);
}

// The thread that takes it next has no variables yet.
bool LaneReader::free_lane(uint32_t number, const inside::Lane& lane) {
  const inside::ThreadVariables none;
  const uint64_t variables = inside::variables_at(lanes_) + number * sizeof none;
  if (!write_value(file_, variables, none)) return false;
  fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(ring_at(number)), ring_bytes_);
  const uint64_t turns = (lane.turns + 1) & ~uint64_t{1};  // it may have ended in the midst of a firing
  return write(number, offsetof(inside::Lane, stack) + offsetof(inside::MemoryRange, end), 0) &&
         write(number, offsetof(inside::Lane, frame), 0) && write(number, offsetof(inside::Lane, turns), turns) &&
         write(number, offsetof(inside::Lane, owner), 0);
}

// Its thread goes on with a part of the ring meanwhile, so piece by piece, and not soon again. One that fills as much between two
// calls is too busy.
void LaneReader::shrink(uint32_t number) {
  constexpr uint32_t kMost = 1 << 20, kPiece = 256 << 10;  // bytes
  constexpr uint64_t kFewestParts = 4;                     // of a large ring: it has records in two of these, or in three
  constexpr uint32_t kRests = 30;                          // calls
  Usage& usage = usages_[number];
  const uint64_t tail = tails_[number], taken = tail - std::exchange(usage.checked_at, tail);
  if (usage.rests > 0) return void(usage.rests--);
  const uint64_t room = std::min(ring_bytes_, 4 * kMost) / 8;
  const auto parts = static_cast<uint64_t>(std::popcount(usage.parts));
  if (parts * (ring_bytes_ / kParts) <= kMost || parts <= kFewestParts || taken > room) return;
  for (uint64_t at = room; at < ring_bytes_; at += kPiece) {
    const uint64_t bytes = std::min<uint64_t>(kPiece, ring_bytes_ - at);
    const bool is_used = (parts_of(tail + at, bytes, ring_bytes_) & usage.parts) != 0;
    if (is_used && !free_piece(number, room, at, bytes)) return;
  }
  usage = {parts_of(tail, room, ring_bytes_), tail, kRests};
}

// Of the ring, behind the room that its thread is left. False: the thread may need more.
bool LaneReader::free_piece(uint32_t number, uint64_t room, uint64_t at, uint64_t bytes) const {
  const uint64_t tail = tails_[number];
  inside::Lane lane;
  const bool is_read = read(lane_at(number), std::as_writable_bytes(std::span(&lane, 1)));
  if (!is_read || lane.tail != tail || lane.head - tail > room / 2) return false;
  const bool is_limited = limit(number, room, lane);
  if (is_limited) punch(number, tail + at, bytes);
  return write(number, offsetof(inside::Lane, tail), tail) && is_limited;
}

// False: its thread may have seen that it had more room, or has been writing for long.
bool LaneReader::limit(uint32_t number, uint64_t room, inside::Lane& lane) const {
  const uint64_t tail = tails_[number], limited = tail + room - ring_bytes_;
  const auto to = std::as_writable_bytes(std::span(&lane, 1));
  if (!write(number, offsetof(inside::Lane, tail), limited)) return false;
  order_memory_of_threads();
  if (!read(lane_at(number), to)) return false;
  const uint64_t turns = lane.turns;
  for (int attempt = 0; attempt < kAttempts && turns % 2 != 0 && lane.turns == turns; attempt++)
    if (!read(lane_at(number), to)) return false;
  return (turns % 2 == 0 || lane.turns != turns) && lane.tail == limited && lane.head - tail <= room;
}

// Whole pages of so many bytes of the ring, which dvm owns.
void LaneReader::punch(uint32_t number, uint64_t from, uint64_t bytes) const {
  constexpr uint64_t kPage = 4096;
  for (uint64_t done = 0, length = 0; done < bytes; done += length) {
    const uint64_t at = (from + done) & (ring_bytes_ - 1), place = ring_at(number) + at;
    length = std::min(bytes - done, ring_bytes_ - at);
    const uint64_t begin = (place + kPage - 1) & ~(kPage - 1), stop = (place + length) & ~(kPage - 1);
    if (begin < stop)
      fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(begin), static_cast<off_t>(stop - begin));
  }
}

bool LaneReader::write(uint32_t number, size_t field, uint64_t value) const {
  return write_value(file_, lane_at(number) + field, value);
}

}  // namespace dvm::runtime
