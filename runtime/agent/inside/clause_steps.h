#pragma once
// The steps of clauses that a traced thread runs, and the records that they leave to dvm. Part of the layout of format.h.

#include "runtime/agent/inside/format.h"

namespace dvm::runtime::inside {

// Constants of lquantize(): base, limit, step; of llquantize(): factor, low, high, steps.
struct UpdateShape {
  int64_t parameters[4]{};
  uint64_t words = 0;  // of the state of a key

  bool operator==(const UpdateShape&) const = default;
};

// An aggregation in the thread: `@[keys] = function(value)`. value and SiteKey::code are addresses of machine code, functions of
// the saved registers and the Workspace; 0: there is none.
inline constexpr uint32_t kMostKeys = 8;
struct ThreadAggregation {
  uint64_t value = 0;
  SiteKey keys[kMostKeys]{};
  uint32_t key_count = 0;
  uint32_t clause = 0;    // dvm's number of the aggregation
  uint32_t function = 0;  // a SiteFunction
  uint32_t words = 0;     // of the state of a key
  uint64_t initial = 0;   // of each word
  UpdateShape shape{};
};

// Assigns a string to a thread-local variable: a constant, or one that is read as a key is. is_tried: the step try_text has shown
// that it can be read.
struct TextAssignment {
  SiteKey from{};
  uint32_t is_tried = 0;
  uint32_t variable = 0;
  uint32_t count = 0;  // words of the constant; 0: the string is read
  uint64_t words[kTextWords]{};
};

// A step of the clauses of a probe in the thread:
//
//   assign_text    Makes a TextAssignment.
//   try_text       Fails if the string of a TextAssignment cannot be read, and does nothing else.
//   record         Leaves a record from which dvm runs all clauses.
//   clause_record  Leaves one from which dvm runs the actions of this clause.
//   fault_record   The last step of a clause. If a step of the clause has failed, it leaves a record from which dvm runs the
//                  actions up to the fault. Otherwise it does nothing.
//   see            Reads the variable into Workspace::seen. One of the next steps may change the variable.
//   retry          Follows the step that changes it, and goes back to `see` if Workspace::again is set.
struct ClauseStep {
  enum class Kind {
    predicate,
    evaluate,
    aggregate,
    assign_text,
    try_text,
    time,
    record,
    clause_record,
    fault_record,
    see,
    retry
  };
  Kind kind = Kind::predicate;
  // For a predicate, the number of steps to skip if it is false. For another step, the distance to the fault_record to go to if
  // the step fails; 0: there is none.
  uint32_t skip = 0;
  uint64_t address = 0;  // of the step's code, ThreadAggregation, TextAssignment or ClauseRecord
};

// The head of a record from which dvm runs the actions of one clause. Values follow, then the strings among them as words of
// keys, then the record itself.
inline constexpr uint32_t kClauseMark = ~uint32_t{0} - 1;
struct ClauseRecordHead {
  uint32_t number = 0;  // dvm's number of the ClauseRecord
  uint32_t mark = kClauseMark;
};
struct ClauseRecord {
  RecordPrograms programs;
  uint32_t number = 0;
  uint32_t count = 0;     // of values
  uint16_t ends_run = 0;  // the clause calls exit(): no thread may fire afterwards
  uint16_t is_seen = 0;   // the time of the record is Workspace::seen_at, so that records are in the order of changes
  // The values. They are numbers of thread-local variables, kMostVariables plus those of clause-local ones, or others below.
  uint8_t values[kMostVariables + kMostLocals + 8]{};
};
inline constexpr uint8_t kTimeValue = kMostVariables + kMostLocals;
inline constexpr uint8_t kUnreadableValue = kTimeValue + 1;                            // the address that a fault_record is about
inline constexpr uint8_t kEarlierValue = kTimeValue + 2, kSeenValue = kTimeValue + 3;  // words of the Workspace
// This plus n is the string of thread-local variable n. The value is the number of its words; 0: the variable has no string.
inline constexpr uint8_t kTextValue = kTimeValue + 4;

// The head of a record with one value to be aggregated, because the arena had no room for its key. No cookie equals the mark. The
// words of the key follow.
inline constexpr uint32_t kUpdateMark = ~uint32_t{0};
struct UpdateRecord {
  uint32_t clause = 0;
  uint32_t mark = kUpdateMark;
  uint64_t value = 0;
};

}  // namespace dvm::runtime::inside
