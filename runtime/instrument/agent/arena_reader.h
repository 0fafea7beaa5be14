#pragma once
// Reads the aggregations of the threads of one process. dvm makes a thread use its other arena, waits until it has left the
// current one, then reads and empties that. The process may overwrite everything, so the data are copied first and then checked.
//
// Counts without keys are two words in the lane. dvm takes the increase of the word that the thread does not use. A thread that
// has selected a word may still add to it later; dvm takes that increase the next time.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "runtime/agent/inside/clause_steps.h"
#include "runtime/buffer/sources.h"

namespace dvm::runtime {

// A part of a key of an aggregation: known words, or words that the thread writes.
struct KeyPart {
  enum class Kind : uint8_t { constant, integer, string, stack };
  Kind kind = Kind::integer;
  uint32_t most = 0;  // characters of a string, frames of a stack
  std::vector<uint64_t> words{};
  uint32_t certain = 0;  // frames of a stack that are known without a walk

  bool operator==(const KeyPart&) const = default;
};

// The aggregations of clauses that run at sites, by their numbers.
struct KnownClause {
  uint32_t aggregation = 0;
  uint32_t words = 0;     // of a state
  uint32_t function = 0;  // an inside::SiteFunction
  uint64_t initial = 0;   // of each word
  std::vector<KeyPart> keys{};
  inside::UpdateShape shape{};

  bool operator==(const KnownClause&) const = default;
};

// Returns how many of the first frames can be a stack of the process. Corrects the pid if the thread has written a wrong one.
using StackCheck = std::function<size_t(int32_t& pid, std::span<const uint64_t> frames, size_t certain)>;
inline size_t trust_stack(int32_t&, std::span<const uint64_t> frames, size_t) { return frames.size(); }

// Makes the whole key from the words that a thread wrote. False: these do not fit the parts.
bool make_key(const std::vector<KeyPart>& parts, std::span<const uint64_t> found, std::vector<uint64_t>& key,
              const StackCheck& check);

class ArenaReader {
 public:
  // file: the memfd of the process, owned by the caller.
  ArenaReader(int file, uint32_t lanes, uint32_t ring_bytes, StackCheck check = trust_stack);

  // is_last: no thread fires any more, so it does not wait long for one that seems to be in a firing.
  void collect(const std::vector<KnownClause>& clauses, const AggregationSource::Visit& visit, bool is_last);
  // Discards the aggregations and variables of threads so far.
  void forget();
  uint64_t nonsense() const { return nonsense_; }

 private:
  struct Used {
    // sent: the thread shall use this arena, but may not have noticed yet. pending: the other arena must still be read.
    enum class Phase : uint8_t { idle, sent, pending };
    uint32_t arena = 0;  // the arena that the thread shall use now
    Phase phase = Phase::idle;
    uint64_t turns = 0;     // Lane::turns after which the thread surely uses this arena
    bool is_stale = false;  // the contents of the other arena are discarded
  };
  bool read(uint64_t at, void* to, size_t bytes) const;
  inside::Lane lane(uint32_t number) const;
  void read_lanes() { read(lane_at(0), now_.data(), now_.size() * sizeof now_[0]); }
  uint64_t bytes_used(uint32_t number, uint32_t arena) const;
  bool has_counted(uint32_t number, uint32_t arena) const;
  bool has_left(uint32_t number, bool is_last) const;
  void swap(uint32_t number);
  void swap_used();
  void forget_variables(uint32_t number) const;
  void settle();
  void take(uint32_t number, const std::vector<KnownClause>& clauses, const AggregationSource::Visit& visit);
  bool tell(inside::ArenaEntry entry, std::span<const uint64_t> words, const KnownClause& clause,
            const AggregationSource::Visit& visit);
  void take_counts(uint32_t number, uint32_t arena, const std::vector<KnownClause>& clauses,
                   const AggregationSource::Visit& visit);
  bool tell_count(uint32_t clause, uint64_t count, const std::vector<KnownClause>& clauses,
                  const AggregationSource::Visit& visit);
  void tell(uint64_t used, const std::vector<KnownClause>& clauses, const AggregationSource::Visit& visit);
  uint64_t lane_at(uint32_t number) const { return sizeof(inside::DataHeader) + uint64_t{number} * sizeof(inside::Lane); }
  uint64_t arena_at(uint32_t number, uint32_t arena) const {
    return inside::arenas_at(lanes_, ring_bytes_) + (uint64_t{number} * 2 + arena) * inside::kArenaBytes;
  }

  int file_;
  uint32_t lanes_, ring_bytes_;
  std::vector<Used> used_;
  std::vector<inside::Lane> now_;  // as they were read last
  // The part of their counts that dvm has taken.
  std::vector<std::array<std::array<uint64_t, 2>, inside::kPlainCounts>> taken_;
  std::vector<uint64_t> copy_;
  std::vector<uint64_t> key_;
  StackCheck check_;
  uint64_t nonsense_ = 0;
};

}  // namespace dvm::runtime
