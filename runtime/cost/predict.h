#pragma once
// What programs will cost, from their DIF and a profile; nothing is traced. Clauses with the same description are ECBs of the
// same probe and share its flow:
//
//   Program -> clause, description -> (1) flow, (2) predicate, (3) actions -> (4) a firing -> (7) at its rate
//                                                                        records -> (5) (6) the consumer

#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "runtime/cost/assumptions.h"
#include "runtime/cost/model.h"

namespace dvm::runtime {

// A step of the consumer at an action, besides printing its values, and the number of things that it is priced by.
struct StepUse {
  Row row;
  double things = 0;
};

// The consumer's work on a record.
struct RecordShape {
  double bytes = 0;                               // 0: there is none; with strings of the expected size
  double string_bytes = 0;                        // of them
  unsigned actions = 0, values = 0, strings = 0;  // strings: of the values
  double digits = 0;                              // of all numbers
  std::vector<StepUse> steps;
};

struct ClausePrediction {
  dif::SourcePosition position;
  size_t number = 0;  // from 0, of the clauses of all programs
  size_t difos = 0;
  EcbCost cost;
  bool has_dif = false;             // it starts the machine state
  bool has_dif_alone = false;       // ... where no other clause is on the probe
  bool has_keys = false;            // of an aggregation
  bool is_measured = false;         // how often its predicate holds and what its instructions do
  RecordShape record;               // of one run of its actions
  std::optional<double> committed;  // of a clause that speculates, how many of its records are printed (speculated.h)
};

// Of a probe that an agent takes.
struct AgentPrediction {
  AgentWay way;
  vm::Cost thread, dvm;  // of a firing
};

struct ProbePrediction {
  std::string description;
  std::string source;            // "pid", or several: "67 % pid_emulated, 33 % pid"
  bool is_of_process = false;    // in a function or at a marker of a process
  bool is_assumed = false;       // the probed instruction is unknown
  vm::Cost trigger;              // the source's stages
  std::vector<vm::Cost> stages;  // each of them, in the order of flow_stages.def
  vm::Cost capture;              // capturing what the clauses need, in the traced thread and in dvm
  vm::Cost thread;               // the part of trigger and capture in the traced thread
  double ring_bytes = 0;         // bytes of a firing in the ring
  vm::Cost prepare;              // starting the firing and its ECBs
  std::vector<ClausePrediction> clauses;
  vm::CostRange firing;
  std::optional<AgentPrediction> agent;  // else an instrument of dvm takes it
  double rate = 0;                       // firings a second; 0: not known, or none
  bool is_rate_known = false;
  bool is_rate_named = false;  // the probe's name gives the rate
};

struct Prediction {
  std::vector<ProbePrediction> probes;  // in the order of their first clause
  vm::Cost consumer;                    // clocks a second
  vm::Cost printing;                    // the part that chews and prints records
  vm::Cost waiting;                     // clocks a second to find one of several keys rather than one
  vm::Cost rested;                      // extra cost of a firing after idle time
  vm::Cost resting;                     // the same, in clocks a second
  Total total;                          // (8), of the probes whose rate is known
  double record_rate = 0;               // bytes a second
  std::set<std::string> missing;        // rows without a price, which cost nothing here
};

Prediction predict(std::span<const dif::Program* const> programs, const vm::Profile& profile, const PredictOptions& options);

}  // namespace dvm::runtime
