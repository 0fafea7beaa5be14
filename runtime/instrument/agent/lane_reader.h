#pragma once
// Reads the lanes of one process. The process may write anything there, so the data are copied first, and all positions and
// lengths are checked.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "runtime/agent/inside/format.h"
#include "runtime/instrument/agent/thread_ids.h"

namespace dvm::runtime {

// A record and its time in ticks of the TSC.
struct LaneRecord {
  uint64_t ticks = 0;
  std::span<std::byte> bytes;  // begins at a multiple of 8
};

class LaneReader {
 public:
  // file: the memfd of the process, owned by the caller. ids: of its threads, likewise; null: they know themselves as dvm does.
  LaneReader(int file, uint32_t lanes, uint32_t ring_bytes, ThreadIds* ids = nullptr);

  // Copies what the lanes hold, and makes room in them, unless too much of it waits to be taken already.
  void collect();
  // The earliest copied record. Nothing: an earlier one may still arrive. Records of one lane keep their order.
  std::optional<LaneRecord> first() const {
    LaneRecord record;
    return has_first_before(UINT64_MAX, record) ? std::optional(record) : std::nullopt;
  }
  // True if there is such a record and it is earlier than these ticks. Stores it.
  bool has_first_before(uint64_t ticks, LaneRecord& record) const {
    if (turns_.empty() || turns_.front().ticks > horizon_ || turns_.front().ticks >= ticks) return false;
    record = {turns_.front().ticks, turns_.front().copy->record()};
    return true;
  }
  // Mostly the next record of the lane is the earliest again, and nothing moves.
  void take_first() {
    if (!advance(turns_.front()) || turns_.size() > 1) move_first();
  }
  // Nothing was left by the last collect(), and all of it was taken.
  bool is_empty() const;

  uint64_t bytes() const { return bytes_; }  // copied in total
  // Firings lost: the ring was full, the firing was nested, no lane was free, or the data were invalid.
  uint64_t lost() const { return lost_ + nonsense_ - lost_before_; }
  // The run has not begun: no earlier firing is one of it, so none of them is lost.
  void forget_losses() { collect(), lost_before_ = lost_ + nonsense_; }
  // The run has ended: a later firing is none of it, so it cannot be lost.
  void end_losses() { has_ended_ = true; }
  // True if a thread is about to unmap or change memory of dvm, and waits until no jump leads there.
  bool is_left() const { return is_left_; }
  // Threads have been given what they wait for. Those that come later, or still wait, say so again.
  void answer();
  // Signals for which threads are about to install handlers. They wait until no instruction under a jump can raise these.
  uint64_t handled() const { return handled_; }
  // A thread of the process that is about to execute a program, and waits until it is held; 0: none.
  uint64_t becoming() const { return becoming_; }
  // Tells the process which thread is held; 0: none.
  void hold(uint64_t tid);
  // Frees the lanes of threads that have ended, if they are empty. Gives back memory of rings of others: a
  // thread that does not always write much uses more than a MiB only while dvm is late.
  void free_lanes();
  // The threads that had the lanes which were freed since the last call.
  std::vector<int32_t> take_gone() { return std::exchange(gone_, {}); }

 private:
  static constexpr size_t kHeadWords = sizeof(inside::RecordHead) / sizeof(uint64_t);
  struct Copy {
    uint32_t lane = 0;
    std::vector<uint64_t> words;
    size_t end = 0;     // words of it that were copied
    size_t at = 0;      // and taken
    size_t wrap = 0;    // where the beginning of the ring lies
    size_t length = 0;  // bytes of the record at hand

    std::span<std::byte> record() {
      return std::as_writable_bytes(std::span(words)).subspan((at + kHeadWords) * sizeof(uint64_t), length);
    }
  };
  // A copy that has records left, by the time of the next one.
  struct Turn {
    uint64_t ticks = 0;
    Copy* copy = nullptr;
  };
  bool read(uint64_t at, std::span<std::byte> to) const;
  uint64_t used_from(uint32_t number, const inside::Lane& lane) const;
  void copy(uint32_t number, const inside::Lane& lane);
  bool read_heads();
  bool read_finished(uint32_t number, uint64_t turns);
  bool has_ended(uint64_t owner) const;
  bool free_lane(uint32_t number, const inside::Lane& lane);
  void shrink(uint32_t number);
  bool free_piece(uint32_t number, uint64_t room, uint64_t at, uint64_t bytes) const;
  bool limit(uint32_t number, uint64_t room, inside::Lane& lane) const;
  void punch(uint32_t number, uint64_t from, uint64_t bytes) const;
  bool write(uint32_t number, size_t field, uint64_t value) const;
  inside::Lane lane_of(uint32_t number) const;
  bool advance(Turn& turn);
  void move_first();
  Copy& spare_copy();
  void give_back(Copy& copy);
  uint64_t lane_at(uint32_t number) const { return sizeof(inside::DataHeader) + uint64_t{number} * sizeof(inside::Lane); }
  uint64_t ring_at(uint32_t number) const { return inside::rings_at(lanes_) + uint64_t{number} * ring_bytes_; }

  int file_;
  ThreadIds* ids_;
  uint32_t lanes_, ring_bytes_;
  std::vector<std::byte> heads_;  // the header and the lanes, as they were read last
  struct Usage {
    uint64_t parts = 0;       // a bit for each part of the ring in which there were records
    uint64_t checked_at = 0;  // its tail at the last call of shrink()
    uint32_t rests = 0;       // the next calls that leave it alone
  };
  std::vector<uint64_t> tails_;  // of each lane: dvm's own
  std::vector<Usage> usages_;    // likewise
  std::vector<Turn> turns_;      // a heap: the earliest first
  std::vector<std::unique_ptr<Copy>> copies_;
  std::vector<Copy*> spare_;  // of these
  uint64_t held_words_ = 0;   // of all copies
  uint64_t horizon_ = 0;      // all records up to this time were copied
  uint64_t copied_at_ = 0;    // no record is later
  uint64_t bytes_ = 0, lost_ = 0, lost_before_ = 0, nonsense_ = 0;
  bool is_left_ = false, has_ended_ = false;
  uint64_t handled_ = 0;
  uint64_t becoming_ = 0;
  std::vector<int32_t> gone_;  // threads
};

}  // namespace dvm::runtime
