#pragma once
// A clause that an instrument may run where it fires: a predicate, expressions, and `@[keys] = function(value)`, on integers.
// Keys may also be strings and user stacks. The plan owns the DIF.

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "dvm/dif/difo.h"
#include "dvm/dif/program.h"
#include "runtime/instrument/capture_needs.h"

namespace dvm::runtime {

struct SiteValue {
  const dif::Difo* difo = nullptr;
  dif::DataType type;   // to which an integer is widened; of a string for a variable: its strsize
  uint32_t frames = 0;  // of a user stack, which has no DIF; 0: it is none
};

struct SiteAggregation {
  std::optional<SiteValue> value;
  std::vector<SiteValue> keys;
  dif::Action function{};
  uint32_t aggregation = 0;           // its id
  std::vector<int64_t> parameters{};  // constants of the function
  uint32_t words = 0;                 // of the state of a key
  uint64_t initial = 0;               // of each word
  uint32_t strsize = 0;               // of a string with its NUL, at most
};

// How dvm runs the actions of a clause from a record of its own, though other clauses of the probe run where it fires. What the
// actions do to variables of the thread, and to those that other clauses see, is done there as well. A record has the global
// variable that the thread sees, too.
struct ClauseRecordPlan {
  uint32_t epid = 0;
  CaptureNeeds needs{};
  std::vector<dif::Variable> variables{};  // of the thread, and those of the clause that other clauses use
  std::vector<SiteValue> values{};         // of its actions, as far as one of them changes such a variable
  bool ends_run = false;                   // it calls exit()
  uint32_t strsize = 0;                    // the most bytes of a string, with its NUL
};

// A global variable that threads keep, and that several DIFOs of the clauses of a probe use. A firing uses it as if at one time.
struct SeenGlobal {
  dif::Variable variable{};
  bool is_first = false;              // of the clauses of the probe, this one uses it first
  bool reads_time = false;            // that clause reads the time, and none before it does
  std::optional<SiteValue> change{};  // of the clause. What is before it neither fails nor changes a variable that it reads
};

struct SiteClause {
  unsigned number = 0;  // in the program
  std::optional<SiteValue> predicate;
  std::vector<std::variant<SiteValue, SiteAggregation>> actions;  // in their order; a value: evaluated for its effect
  bool needs_dvm = false;                                         // only its predicate can run there
  std::optional<ClauseRecordPlan> record{};
  std::optional<SeenGlobal> seen{};
  std::optional<ClauseRecordPlan> fault{};  // for a firing of which it needs a value that cannot be had: dvm finds the fault
};

}  // namespace dvm::runtime
