#pragma once
// What programs will cost, from their DIF and a profile; nothing is traced. Clauses with the same description are ECBs of the
// same probe and share its flow:
//
//   Program -> clause, description -> (1) flow, (2) predicate, (3) actions -> (4) a firing -> (7) at its rate
//                                                                        records -> (5) (6) the consumer

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "dvm/dif/program.h"
#include "dvm/vm/path_cost.h"
#include "runtime/cost/firing.h"
#include "runtime/cost/rows.h"
#include "runtime/cost/total.h"
#include "runtime/instrument/capture.h"

namespace dvm::runtime {

// Which of its sources a description's firings come from, and how many of them: 1 is all.
struct SourceShare {
  std::string source;
  double share = 1;
  bool copies_stack = false;  // ustack() copies a piece of the stack, as some code of the process has no frame pointers
};
using SourceShares = std::vector<SourceShare>;
using SourcesOfProbes = std::map<std::string, SourceShares>;  // by the description as text

// Of a number that is printed, where nothing is known of it: as ids of processes have.
inline constexpr unsigned kUsualDigits = 5;

// Of a clause, as a run counted it.
struct MeasuredClause {
  double probability = 0;                           // that its predicate held
  std::vector<vm::InstructionCounts> instructions;  // as EcbAccount has them
};

using ClausePlace = std::tuple<std::string, unsigned, unsigned>;
using MeasuredClauses = std::map<ClausePlace, MeasuredClause>;

struct PredictOptions {
  vm::Sizes sizes;
  std::optional<Execution> execution;   // where clauses run; none: where the profile prices it
  double probability = 0.5;             // that a predicate holds
  MeasuredClauses measured;             // where it is known better, and what instructions do
  std::map<std::string, double> rates;  // firings a second, by the description as text
  std::set<std::string> named_rates;    // of them, those that the name of the probe says
  // Of probes in processes, where the instructions under them are known. Otherwise they are taken to
  // be stepped over, the dearest.
  SourcesOfProbes sources;
  std::optional<uint32_t> stack_bytes;  // the option ustackunwind; none: as much as is usual, where a stack is copied
  double event_bytes = 80;              // of a recording, an event
  double wake_ups = 1;                  // of the consumer, a second
  double ring = 8 << 20;                // bytes of the ring
  double returns = 0;                   // functions that return behind a firing before others are called
  double rests = 0;                     // a second, of all threads: how often one sleeps before it fires again
  double digits = kUsualDigits;         // of a number that is printed
  double keys = 10;                     // of an aggregation, and of a variable that has some, as expected
  bool is_quiet = true;                 // nothing is printed of a record but what the script prints
};

// A row of what the consumer does at an action besides printing its values, and how many things it is priced by.
struct StepUse {
  Row row;
  double things = 0;
};

// What the consumer has to do with a record.
struct RecordShape {
  double bytes = 0;                               // 0: there is none; with strings of the expected size
  double string_bytes = 0;                        // of them
  unsigned actions = 0, values = 0, strings = 0;  // strings: of the values
  double digits = 0;                              // of all numbers
  std::vector<StepUse> steps;
};

struct ClausePrediction {
  dif::SourcePosition position;
  EcbCost cost;
  bool has_dif = false;
  bool has_keys = false;            // of an aggregation
  bool is_measured = false;         // how often its predicate holds and what its instructions do
  RecordShape record;               // of one run of its actions
  std::optional<double> committed;  // of a clause that speculates, how many of its records are printed (speculated.h)
};

struct ProbePrediction {
  std::string description;
  std::string source;            // "pid", or of several: "67 % pid_emulated, 33 % pid"
  bool is_of_process = false;    // a function's or a marker's, not the kernel's
  bool is_assumed = false;       // what is under the probe is not known
  vm::Cost trigger;              // the source's stages
  std::vector<vm::Cost> stages;  // each of them, in the order of flow_stages.def
  vm::Cost capture;              // what the clauses need of the process besides, in the traced thread and in dvm
  vm::Cost thread;               // of both, what passes in the traced thread
  double ring_bytes = 0;         // of a firing, where it waits in the ring
  vm::Cost prepare;              // the firing, its machine state if a clause has DIF to run, each ECB, and the first of its keys
  std::vector<ClausePrediction> clauses;
  vm::CostRange firing;
  double rate = 0;  // firings a second; 0: not known, or none
  bool is_rate_known = false;
  bool is_rate_named = false;  // it is known from the name of the probe
};

struct Prediction {
  std::vector<ProbePrediction> probes;  // in the order of their first clause
  vm::Cost consumer;                    // clocks a second
  vm::Cost printing;                    // of it, chewing and printing records
  vm::Cost waiting;                     // clocks a second that dvm waits for keys and buffers that are in no cache
  vm::Cost rested;                      // what a firing behind a rest of its thread takes more there
  vm::Cost resting;                     // the same, clocks a second of all that do
  Total total;                          // (8), of the probes whose rate is known
  double record_rate = 0;               // bytes a second
  std::set<std::string> missing;        // rows without a price, which cost nothing here
};

inline ClausePlace place_of(const dif::SourcePosition& position) { return {position.file, position.line, position.column}; }

// "pid$target:libc:malloc:entry".
std::string text_of(const dif::ProbeDesc& description);

// Of the probes of the clause, as far as they are known: firings a second.
double rate_of(const dif::EcbDesc& clause, const PredictOptions& options);

// That its actions run.
double probability_of(const dif::EcbDesc& clause, const PredictOptions& options);

// dvm fires these itself, and they cost nobody else anything.
bool is_own_probe(const dif::ProbeDesc& description);

// What the probes of a provider are priced as: pid of pid1234 and pid$target, sched of proc.
std::string source_of(const dif::ProbeDesc& description);

Prediction predict(std::span<const dif::Program* const> programs, const vm::Profile& profile, const PredictOptions& options);

}  // namespace dvm::runtime
