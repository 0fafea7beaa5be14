#pragma once
// Records of single clauses, whose predicates and variables are those of the traced thread (runtime/agent/inside/format.h,
// ClauseRecord). Tested by tests/unit/instrument/clause_records_test.cpp.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "runtime/agent/inside/clause_steps.h"
#include "runtime/instrument/instrument.h"

namespace dvm::runtime {

// A clause that has records of its own.
struct KnownRecord {
  uint32_t epid = 0;
  uint64_t cookies[2] = {};                    // Those of its records. The second one may be 0.
  std::vector<vm::VariableValue> variables{};  // The first values of a record. That of a string is the number of its words.
  bool has_time = false;                       // The value behind the variables is a time.
  bool has_fault = false;                      // The last value is an address that could not be read, or 0.
  bool ends_run = false;                       // The thread has ended the run.
  bool is_seen = false;                        // The time of the record is from before the value behind the variables.

  // Without their strings, which follow.
  size_t value_bytes() const {
    return sizeof(inside::ClauseRecordHead) + (variables.size() + has_time + has_fault) * sizeof(uint64_t);
  }
};

class ClauseRecords {
 public:
  static constexpr uint64_t kApart = 1'000'000;  // ns: what two clocks may be apart

  // Returns its number.
  uint32_t add(KnownRecord known);

  struct Found {
    ClauseFiring clause;           // valid until the next call
    std::optional<uint64_t> time;  // of the firing, if it was read in the thread
    std::span<std::byte> record;   // behind the values
    bool ends_run = false, is_seen = false;

    // The time of the firing, bounded, because the process may have written anything.
    uint64_t time_of(uint64_t record_time, uint64_t now) const {
      return std::min(time.value_or(record_time), (is_seen ? now : record_time) + kApart);
    }
  };
  // Nothing: no thread writes such a record.
  std::optional<Found> read(std::span<std::byte> bytes, uint32_t number);

 private:
  std::vector<KnownRecord> all_;
};

// Hands a firing over as one of a single clause.
class ClauseSink final : public EventSink {
 public:
  ClauseSink(EventSink& to, const ClauseFiring& clause) : to_(to), clause_(clause) {}
  bool fire(vm::Firing& firing) noexcept override { return to_.fire_clause(firing, clause_); }
  bool change(const ProcessChange& change) noexcept override { return to_.change(change); }

 private:
  EventSink& to_;
  ClauseFiring clause_;
};

}  // namespace dvm::runtime
