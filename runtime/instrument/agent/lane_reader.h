#pragma once
// Reads the lanes of one process. Everything there is written by the process, so all of it is copied first, and nothing of it is
// used without a check: not positions, not lengths. Tested by tests/unit/instrument/lane_reader_test.cpp and
// tests/fuzz/targets/lanes.cpp.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "runtime/agent/inside/format.h"

namespace dvm::runtime {

// A record and its time in ticks of the TSC.
struct LaneRecord {
  uint64_t ticks = 0;
  std::span<std::byte> bytes;  // begins at a multiple of 8
};

class LaneReader {
 public:
  // file: the memfd of the process. It stays the caller's.
  LaneReader(int file, uint32_t lanes, uint32_t ring_bytes);

  // Copies what the lanes hold, up to a number of bytes each, and makes room in them.
  void collect();
  // The earliest of the records that were copied; none: an earlier one may yet come. The order of one lane is kept.
  std::optional<LaneRecord> first() const;
  void take_first();

  uint64_t bytes() const { return bytes_; }  // that were copied in all
  // Firings lost: rings full, nested, no lane, or what makes no sense.
  uint64_t lost() const { return lost_ + nonsense_; }
  // A thread of the process is about to take away what dvm has mapped, and waits until no jump leads there.
  bool is_left() const { return is_left_; }
  // Signals that threads are about to handle. They wait until no instruction under a jump can raise these.
  uint64_t handled() const { return handled_; }
  // A thread of the process that is about to execute a program, and waits until it is held; 0: none.
  uint64_t becoming() const { return becoming_; }
  // Says which thread is held; 0: none is any more.
  void hold(uint64_t tid);
  // Frees the lanes of threads that the process has no more, once they are empty.
  void free_lanes();
  // The threads that had the lanes which were freed since the last call.
  std::vector<int32_t> take_gone() { return std::exchange(gone_, {}); }

 private:
  struct Copy {
    uint32_t lane = 0;
    std::vector<uint64_t> words;  // never shrinks
    size_t end = 0;               // words of it that were copied
    size_t at = 0;                // and taken
    size_t wrap = 0;              // where the beginning of the ring lies
    size_t length = 0;            // bytes of the record at hand
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
  bool free_lane(uint32_t number, const inside::Lane& lane);
  bool write(uint32_t number, size_t field, uint64_t value) const;
  inside::Lane lane_of(uint32_t number) const;
  bool advance(Turn& turn);
  void sink_first();
  Copy& spare_copy();
  uint64_t lane_at(uint32_t number) const { return sizeof(inside::DataHeader) + uint64_t{number} * sizeof(inside::Lane); }
  uint64_t ring_at(uint32_t number) const { return lane_at(lanes_) + uint64_t{number} * ring_bytes_; }

  int file_;
  uint32_t lanes_, ring_bytes_;
  std::vector<std::byte> heads_;  // the header and the lanes, as they were read last
  std::vector<uint64_t> tails_;   // of each lane: dvm's own
  std::vector<Turn> turns_;       // a heap: the earliest first
  std::vector<std::unique_ptr<Copy>> copies_;
  std::vector<Copy*> spare_;  // of these
  uint64_t horizon_ = 0;      // all records up to this time were copied
  uint64_t copied_at_ = 0;    // no record is later
  uint64_t bytes_ = 0, lost_ = 0, nonsense_ = 0;
  bool is_left_ = false;
  uint64_t handled_ = 0;
  uint64_t becoming_ = 0;
  std::vector<int32_t> gone_;  // threads
};

}  // namespace dvm::runtime
